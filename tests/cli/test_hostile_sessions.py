"""Sessions with hostile events and digests that fit: every command says one line and ends."""

import pytest

from samecluster.errors import InvalidInputError
from samecluster.tables import read_table
from samecluster.tables.display import columns_to_show
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from samecluster.workspace.stored_preparation import StoredPreparation
from tests.cases.campaign import runs
from tests.cases.command_line import run
from tests.cases.hostile_sessions import BAD, Row, mutants, rows_of, write_session
from tests.web.served import Data, write_data

LONGEST = 3
"""Lines of an error: what is wrong, and what to do."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Data, list[Row]]:
    data = write_data(tmp_path_factory.mktemp("hostile"), n=40)
    with open_session(Request(str(data.path), id_column="shell")) as opened:
        session = opened.session
        for number in range(6):
            (question,) = session.ask("ann")
            same = data.truth[question.item] == data.truth[question.comparator]
            verdict = "same" if same else "different"
            session.tell(question.id, verdict, "ann", key=f"answer-{number}")
        session.undo("ann")
        (question,) = session.ask("ann")
        session.flag(question.id, "blurred", "ann")
        session.name(0, "zero", "ann")
        session.import_answers([("s1", "s2", "unsure")], "elsewhere")
        session.set_parameters(max_questions=50)
        session.make_exception("s5", "ann", "odd")
        session.finish("ann")
    return data, rows_of(data.session)


def check(data: Data, name: str, rows: list[Row], number: int) -> None:
    for left in data.session.parent.glob("*.samecluster*"):
        left.unlink()
    write_session(data.session, rows)
    commands: list[list[object]] = [
        ["status", data.session],
        ["label", data.path],
        ["export", data.session, "-o", data.path.with_name("labels.csv"), "--force"],
        ["history", data.session],
        ["doctor", data.session],
    ]
    for command in (commands[number % 5], commands[(number + 1) % 5]):
        done = run(*command, text="q\n")  # an error that is not expected fails here
        if done.returncode:
            said = done.stderr.strip() or done.stdout.strip()
            assert 0 < len(said.splitlines()) <= LONGEST, (name, command[0], said)
            assert "Traceback" not in said


def test_no_event_makes_a_command_fail_without_a_word(made: tuple[Data, list[Row]]) -> None:
    data, rows = made
    for number, (name, changed) in enumerate(mutants(rows, runs(60, 1_500))):
        check(data, name, changed, number)


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000 + "]" * 100_000,
        "[]",
        "null",
        "{",
        '{"a": NaN}',
        '{"verdict": {"a": 1}, "items": ["s1", "s2"], "role": []}',
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_a_body_that_is_no_record_is_one_line(
    made: tuple[Data, list[Row]], body: str, at: int
) -> None:
    data, rows = made
    changed = [*rows[:at], (*rows[at][:4], body), *rows[at + 1 :]]
    for number in (0, 2):
        check(data, body[:20], changed, number)


def test_events_in_an_impossible_order_are_one_line(made: tuple[Data, list[Row]]) -> None:
    data, rows = made
    swapped = [rows[0], (2, *rows[6][1:]), (3, *rows[5][1:])]
    no_beginning = [(1, *rows[1][1:])]
    twice = [rows[0], (2, *rows[0][1:])]
    retracts_nothing = [rows[0], (2, "retracted", rows[1][2], "ann", {"sequence": 99})]
    for number, changed in enumerate((swapped, no_beginning, twice, retracts_nothing)):
        check(data, str(number), list(changed), number)


def test_readings_of_another_kind_are_one_line(made: tuple[Data, list[Row]]) -> None:
    """Found by 1,500 mutants: the columns to show were a number."""
    data, (first, *rest) = made
    preparation = first[4]["preparation"]
    number = 0
    for name in preparation["reading"]:
        for value in (0.5, {"a": 1}, [[1]]):
            reading = {**preparation["reading"], name: value}
            body = {**first[4], "preparation": {**preparation, "reading": reading}}
            check(data, f"{name} {value}", [(*first[:4], body), *rest], number := number + 1)


def test_options_of_another_kind_are_one_line(made: tuple[Data, list[Row]]) -> None:
    """Case "mutant 113, history" of the corpus: columns to ignore that were no list."""
    data, (first, *rest) = made
    table = read_table(data.path)
    preparation = first[4]["preparation"]
    for name, before in preparation["wanted"].items():
        for value in BAD:
            wanted = {**preparation["wanted"], name: value}
            stored = {**preparation, "wanted": wanted}
            try:
                options = StoredPreparation.from_json(stored).options
            except (TypeError, ValueError, InvalidInputError):
                continue
            assert columns_to_show(table, options), (name, value, before)
    for number, name in ((0, "ignore"), (1, "texts"), (2, "features"), (3, "ignore")):
        stored = {**preparation, "wanted": {**preparation["wanted"], name: None if number else 7}}
        body = {**first[4], "preparation": stored}
        check(data, name, [(*first[:4], body), *rest], number)
