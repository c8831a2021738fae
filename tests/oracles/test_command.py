"""A program as oracle: real processes that answer, fail, hang and lie, and none survives."""

import gc
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from samecluster import Question, Verdict, start
from samecluster.errors import ContradictionError, InvalidInputError, OracleError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import CommandOracle, LabelOracle, ShownItem, command_process
from samecluster.oracles.base import checked_answers
from samecluster.oracles.command_protocol import question_line, read_reply
from samecluster.questions.drive import drive_looks
from samecluster.questions.run import Run

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "oracle_command.schema.json").read_text())["$defs"]

# Every program logs its process number, so that tests can see that it is gone.
LOOP = """
import json, os, sys, time
from pathlib import Path
here = Path(sys.argv[1])
def log(name, text):
    with open(here / name, "a") as file:
        file.write(str(text) + chr(10))
def logged(name):
    return (here / name).read_text().split() if (here / name).exists() else []
def say(**answer):
    print(json.dumps(answer))
log("started", os.getpid())
{before}
for line in sys.stdin:
    question = json.loads(line)
    number = question["id"]
    one, two = (question[side]["fields"].get("label") for side in ("item", "comparator"))
    right = "same" if one == two else "different"
    log("put", number)
{body}
"""
LABELS = np.arange(60) % 3


def shown(row: int) -> ShownItem:
    return ShownItem(f"row {row}", {"label": LABELS[row]})


@pytest.fixture
def program(tmp_path):
    """Makes oracles of programs, given the body of their loop; at the end none may be left."""
    made: list[CommandOracle] = []

    def make(body: str, before: str = "", **options: Any) -> CommandOracle:
        indented = "\n".join("    " + line for line in body.splitlines())
        (tmp_path / "program.py").write_text(LOOP.format(before=before, body=indented))
        command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path)]
        made.append(CommandOracle(command, shown, **options))
        return made[-1]

    yield make
    for oracle in made:
        oracle.close()
    assert not [number for number in started(tmp_path) if is_alive(number)]


def logged(folder: Path, name: str) -> list[str]:
    return (folder / name).read_text().split() if (folder / name).exists() else []


def started(folder: Path) -> list[int]:
    return [int(number) for number in logged(folder, "started")]


def is_alive(process: int) -> bool:
    """Whether it runs; what ended but was not yet waited for does not (where Linux tells)."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


ECHO = "say(id=number, verdict=right)"
QUESTIONS = [Question(i, j) for i in range(12) for j in range(i)]


def truth(question: Question) -> Verdict:
    return Verdict.of(bool(LABELS[question.item] == LABELS[question.comparator]))


def test_one_program_answers_many_questions_and_is_started_once(program, tmp_path) -> None:
    oracle = program(ECHO)
    assert all(oracle.answer(question) is truth(question) for question in QUESTIONS)
    assert len(started(tmp_path)) == 1
    assert logged(tmp_path, "put") == [str(n + 1) for n in range(len(QUESTIONS))]


def test_questions_have_the_documented_form_and_hold_shown_fields_only(tmp_path, program) -> None:
    oracle = program("(here / 'line').write_text(line)\n" + ECHO)
    oracle.answer(Question(4, 1))
    assert json.loads((tmp_path / "line").read_text()) == {
        "version": 1,
        "id": "1",
        "item": {"key": "row 4", "fields": {"label": 1}},
        "comparator": {"key": "row 1", "fields": {"label": 1}},
    }


def test_answers_come_in_any_order_and_reach_their_questions(program, tmp_path) -> None:
    """The first question is answered only after all others have been told."""
    waiting = "while number == '1' and not logged('others'): time.sleep(0.005)\n"
    oracle = program(waiting + ECHO, parallel=3)
    answers = oracle.answer_many(QUESTIONS)
    others = [next(answers) for _ in QUESTIONS[1:]]
    (tmp_path / "others").write_text("told")
    (first,) = answers
    assert first == (QUESTIONS[0], truth(QUESTIONS[0]))
    assert dict(others) == {question: truth(question) for question in QUESTIONS[1:]}
    assert len(started(tmp_path)) == 3


def test_no_more_questions_are_taken_than_programs_can_answer(program) -> None:
    taken: list[Question] = []

    def questions() -> Iterator[Question]:
        for question in QUESTIONS:
            taken.append(question)
            yield question

    oracle = program(ECHO, parallel=3)
    for told, _ in enumerate(oracle.answer_many(questions())):
        assert len(taken) <= told + 3
    assert taken == QUESTIONS


def test_a_crash_is_followed_by_a_restart_and_nothing_is_lost(program, tmp_path) -> None:
    oracle = program(
        "if number == '3' and len(started) == 1: os._exit(7)\n" + ECHO,
        "started = logged('started')",
    )
    assert [oracle.answer(question) for question in QUESTIONS[:6]] == [*map(truth, QUESTIONS[:6])]
    assert len(started(tmp_path)) == 2
    assert logged(tmp_path, "put") == ["1", "2", "3", "3", "4", "5", "6"]


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ("print('thinking ...')", r"no JSON object.*'thinking \.\.\.'"),
        ("print('[1]')", "no JSON object"),
        ("sys.stdout.buffer.write(bytes([255, 10]))", "no JSON object"),
        ("print('[' * 100_000)", "no JSON object"),
        ("say(id='wrong', verdict=right)", '"id": "2".*wrong'),
        ("say(id=2, verdict=right)", '"id": "2"'),
        ("say(verdict=right)", '"id": "2"'),
        ("say(id=number, verdict='Same')", "same, different, unsure.*Same"),
        ("say(id=number, verdict=['same'])", "same, different, unsure"),
        ("say(id=number)", "same, different, unsure"),
        ("say(id=number, verdict=right, note=7)", '"note" must be text'),
        ("print('x' * 1_100_000)", "more than 1,048,576 bytes"),
        ("print()", "no JSON object"),
    ],
)
def test_a_malformed_line_is_no_answer(program, tmp_path, said, complaint) -> None:
    """One is survived by a restart; one a try is an error that shows it."""
    body = f"if number == '2' and len(logged('put')) < 2 + bad:\n    {said}\nelse:\n    {ECHO}"
    oracle = program(body, "bad = int(here.joinpath('bad').read_text())", retries=1)
    (tmp_path / "bad").write_text("1")
    assert [oracle.answer(question) for question in QUESTIONS[:3]] == [*map(truth, QUESTIONS[:3])]
    assert len(started(tmp_path)) == 2
    (tmp_path / "put").unlink()
    (tmp_path / "bad").write_text("9")
    again = CommandOracle(oracle._arguments, shown, retries=1)
    with again, pytest.raises(OracleError, match=f"(?s)row 2 and row 0.*2 tries.*{complaint}"):
        list(again.answer_many(QUESTIONS[:3]))
    assert len(started(tmp_path)) == 4


def test_a_program_that_exits_at_once_is_tried_so_often_and_its_words_are_told(
    program, tmp_path
) -> None:
    leave = "print('no licence', file=sys.stderr)\nsys.exit(3)"
    oracle = program(ECHO, leave, retries=2)
    with pytest.raises(OracleError, match=r"(?s)3 tries.*exit code 3.*no licence"):
        oracle.answer(Question(0, 1))
    assert len(started(tmp_path)) == 3


def test_a_flood_on_standard_error_neither_blocks_nor_grows_the_message(program) -> None:
    flood = "for i in range(20_000): print('x' * 60, i, file=sys.stderr)"
    oracle = program(flood + "\n" + ECHO + "\nif number == '2': os._exit(1)", retries=0)
    assert oracle.answer(QUESTIONS[0]) is truth(QUESTIONS[0])
    assert oracle.answer(QUESTIONS[1]) is truth(QUESTIONS[1])
    with pytest.raises(OracleError, match="x 19999") as error:
        oracle.answer(QUESTIONS[2])
    assert len(str(error.value)) < 2000


def test_a_program_that_never_answers_is_ended_with_all_that_it_started(program, tmp_path) -> None:
    child = "import subprocess\nlog('started', subprocess.Popen(['sleep', '600']).pid)"
    oracle = program("time.sleep(600)", child, timeout=3.0, retries=1)
    with pytest.raises(OracleError, match=r"(?s)2 tries.*within 3 seconds.*flush"):
        oracle.answer(Question(0, 1))
    assert len(started(tmp_path)) == 4
    wait_until(lambda: not any(map(is_alive, started(tmp_path))))


@pytest.mark.parametrize("waits", ["time.sleep(1000)", "sys.exit(3)", "log('no', 'answer')"])
def test_what_leaves_its_group_holds_nobody(program, tmp_path, monkeypatch, waits) -> None:
    """A process of its own session keeps all pipes open; it still runs when the error is there."""
    monkeypatch.setattr(command_process, "_GRACE", 0.3)  # it is waited for in vain
    code = "import sys, time; time.sleep(40); open(sys.argv[1], 'w')"
    started = [sys.executable, "-c", code, str(tmp_path / "ended")]
    escape = f"subprocess.Popen({started!r}, start_new_session=True).pid"
    oracle = program(waits, f"import subprocess\nlog('escaped', {escape})", retries=0, timeout=1)
    with pytest.raises(OracleError, match="gave no answer"):
        oracle.answer(Question(0, 1))
    oracle.close()
    assert not (tmp_path / "ended").exists()
    os.kill(int((tmp_path / "escaped").read_text()), signal.SIGKILL)


def test_a_program_that_never_reads_is_ended_too(program, tmp_path) -> None:
    """The question is larger than a pipe, so that writing it blocks."""
    program(ECHO, "time.sleep(600)")
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path)]
    large = ShownItem("a", {"text": "x" * 1_000_000})
    oracle = CommandOracle(command, lambda row: large, timeout=1.0, retries=0)
    with oracle, pytest.raises(OracleError, match="within 1 seconds"):
        oracle.answer(Question(0, 1))


def test_a_slow_answer_within_the_time_is_an_answer(program) -> None:
    oracle = program("time.sleep(0.3)\n" + ECHO, timeout=60, retries=0)
    assert oracle.answer(QUESTIONS[0]) is truth(QUESTIONS[0])


def test_a_failure_does_not_lose_the_answers_that_are_under_way(program, tmp_path) -> None:
    """Question 1 fails while others are thinking: all that were put are given, and then it ends."""
    body = (
        "if number == '1':\n    while len(logged('put')) < 3: time.sleep(0.005)\n    os._exit(1)\n"
        "time.sleep(0.2)\n" + ECHO
    )
    oracle = program(body, parallel=3, retries=1)
    given: list[Question] = []

    def listen() -> None:
        for question, _ in oracle.answer_many(QUESTIONS):
            given.append(question)

    with pytest.raises(OracleError, match="row 1 and row 0"):
        listen()
    put = {int(number) for number in logged(tmp_path, "put")}
    assert Counter(given) == Counter(QUESTIONS[number - 1] for number in put - {1})
    assert 3 <= len(put) < len(QUESTIONS)
    assert oracle.answer(QUESTIONS[3]) is truth(QUESTIONS[3]), "the oracle can be used on"


def test_whoever_stops_listening_leaves_no_program_at_work(program, tmp_path) -> None:
    body = "if number != '1': time.sleep(600)\n" + ECHO
    oracle = program(body, parallel=3, timeout=None)
    answers = oracle.answer_many(QUESTIONS)
    next(answers)
    answers.close()
    assert sum(map(is_alive, started(tmp_path))) <= 1, "only the idle one is kept"


def test_programs_end_with_their_oracle_also_if_nobody_closes_it(program, tmp_path) -> None:
    program(ECHO)
    command = [sys.executable, str(tmp_path / "program.py"), str(tmp_path)]
    oracle = CommandOracle(command, shown)
    oracle.answer(Question(0, 1))
    assert all(map(is_alive, started(tmp_path)))
    del oracle
    gc.collect()
    assert not any(map(is_alive, started(tmp_path)))


def test_close_ends_a_program_that_does_not_leave_and_a_later_question_starts_another(
    program, tmp_path
) -> None:
    oracle = program(ECHO + "\nif number == '1':\n    time.sleep(600)")
    oracle.answer(QUESTIONS[0])
    oracle.close()
    assert not any(map(is_alive, started(tmp_path)))
    assert oracle.answer(QUESTIONS[1]) is truth(QUESTIONS[1])
    assert len(started(tmp_path)) == 2


INTERRUPTED = """
import sys
from samecluster import Question
from samecluster.oracles import CommandOracle
oracle = CommandOracle([sys.executable, *sys.argv[1:]], parallel=3, timeout=None)
list(oracle.answer_many([Question(0, i) for i in range(1, 9)]))
"""


def test_ctrl_c_leaves_no_process_behind(program, tmp_path) -> None:
    program("time.sleep(600)")
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "program.py"), str(tmp_path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: len(logged(tmp_path, "put")) == 3)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate()
    assert "KeyboardInterrupt" in told
    assert process.returncode != 0
    assert len(started(tmp_path)) == 3
    wait_until(lambda: not any(map(is_alive, started(tmp_path))))


def wait_until(true: Any) -> None:
    patience = time.monotonic() + 60
    while not true():
        assert time.monotonic() < patience
        time.sleep(0.01)


def test_notes_are_kept(program) -> None:
    oracle = program("say(id=number, verdict='unsure', note='blurred' + number, more=[1])")
    assert oracle.answer(Question(0, 1)) is Verdict.UNSURE
    assert oracle.notes == {Question(0, 1): "blurred1"}


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("no-such-program --fast", "'no-such-program' is neither on the search path"),
        ("", "must name a program"),
        ([], "must name a program"),
        ("sh -c 'oops", "command cannot be read: No closing quotation"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused_before_any_question(command, complaint) -> None:
    with pytest.raises(InvalidInputError, match=complaint):
        CommandOracle(command)


def test_a_file_that_the_system_cannot_run_is_an_oracle_error(tmp_path) -> None:
    path = tmp_path / "program"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o755)
    with pytest.raises(OracleError, match="cannot be started"):
        CommandOracle([str(path)]).answer(Question(0, 1))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("parallel", 0),
        ("timeout", 0),
        ("timeout", math.inf),
        ("timeout", math.nan),
        ("retries", -1),
    ],
)
def test_impossible_options_are_refused(option, value) -> None:
    with pytest.raises(InvalidInputError, match=option):
        CommandOracle("sh", **{option: value})


@for_all(
    st.text(),
    st.dictionaries(
        st.text(),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
        | st.floats(width=32).map(np.float32) | st.dates() | st.lists(st.integers()),
    ),
)  # fmt: skip
def test_any_field_makes_one_line_that_keeps_to_the_schema(key, fields) -> None:
    line = question_line("1", ShownItem(key, fields), ShownItem("b"))
    assert line.count(b"\n") == 1
    question = json.loads(line, parse_constant=pytest.fail)
    assert follows(SCHEMA["question"], question)
    assert list(question["item"]["fields"]) == list(fields)


@for_all(st.binary() | st.text().map(str.encode) | st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["id", "verdict", "note"]), inner | st.sampled_from(["1", "same", "unsure"])
    ),
).map(lambda said: json.dumps(said).encode()))  # fmt: skip
def test_a_line_is_taken_exactly_if_it_keeps_to_the_schema(line) -> None:
    try:
        verdict, _ = read_reply(line, "1")
    except OracleError:
        try:
            said = json.loads(line)
        except ValueError:
            return
        assert not follows(SCHEMA["answer"], said) or said["id"] != "1"
    else:
        assert follows(SCHEMA["answer"], json.loads(line))
        assert verdict.value == json.loads(line)["verdict"]


KINDS: dict[str, Any] = {
    "object": dict,
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def follows(schema: dict[str, Any], value: Any) -> bool:
    """Whether a value keeps to a schema, as far as ours goes."""
    if "$ref" in schema:
        return follows(SCHEMA[schema["$ref"].split("/")[-1]], value)
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(isinstance(value, KINDS[kind]) for kind in kinds):
        return False
    if not isinstance(value, dict):
        return True
    known = schema.get("properties", {})
    other = schema.get("additionalProperties", True)
    return set(schema.get("required", [])) <= set(value) and all(
        follows(known[name], of) if name in known
        else other if isinstance(other, bool) else follows(other, of)
        for name, of in value.items()
    )  # fmt: skip


def test_a_batch_put_at_once_ends_as_one_put_one_by_one(program, tmp_path) -> None:
    """Same labels as by the simulated oracle, with real programs side by side."""
    made = make_ellipsoids(n=400, d=2, k=3, random_state=0)
    oracle = program(ECHO, parallel=3)
    oracle._shown = lambda row: ShownItem(str(row), {"label": made.labels[row]})
    batched, single = (
        start(made.X, n_clusters=3, margin=made.margin, random_state=0) for _ in range(2)
    )
    calls: list[int] = []
    found = drive_looks(
        batched,
        lambda questions: checked_answers(oracle, questions),
        lambda: calls.append(batched.n_questions),
    )
    truth = LabelOracle(made.labels)
    expected = drive_looks(single, lambda questions: checked_answers(truth, questions))
    assert len(np.unique(np.column_stack([found.labels, expected.labels]), axis=0)) == 3
    assert calls[-1] == found.n_questions == len(set(found.answers))
    assert len(logged(tmp_path, "put")) >= found.n_questions


def asking(*pairs: tuple[int, int]) -> Any:
    return (yield [Question(*pair) for pair in pairs])


def test_what_answers_of_the_batch_imply_is_not_put() -> None:
    put: list[Question] = []

    def answer_many(questions):
        for question in questions:
            put.append(question)
            yield question, Verdict.SAME

    run = Run(asking((0, 1), (1, 2), (0, 2), (2, 0), (3, 4)))
    assert drive_looks(run, answer_many) == [Verdict.SAME] * 5
    assert put == [Question(0, 1), Question(1, 2), Question(3, 4)]


def test_late_answers_are_taken_if_they_agree_and_else_show_the_contradiction() -> None:
    def all_at_once(verdicts):
        def answer_many(questions):
            yield from zip(list(questions), verdicts, strict=True)

        return answer_many

    same, different = Verdict.SAME, Verdict.DIFFERENT
    run = Run(asking((0, 1), (1, 2), (0, 2)))
    assert drive_looks(run, all_at_once([same, same, same])) == [same] * 3
    assert run.n_questions == 2
    with pytest.raises(ContradictionError):
        drive_looks(Run(asking((0, 1), (1, 2), (0, 2))), all_at_once([same, same, different]))


def test_an_oracle_that_answers_nothing_is_not_asked_for_ever() -> None:
    def silent(questions):
        yield from ()

    with pytest.raises(OracleError, match="none of 1 questions was answered"):
        drive_looks(Run(asking((0, 1))), silent)


def test_checked_answers_name_what_failed() -> None:
    with pytest.raises(OracleError, match="failed on 0 and 1: IndexError"):
        list(checked_answers(LabelOracle([0]), [Question(0, 1)]))

    class Shouting(LabelOracle):
        def answer(self, question: Question) -> Any:
            return str(super().answer(question))

    with pytest.raises(OracleError, match=r"it said 'Verdict\.SAME'"):
        list(checked_answers(Shouting([0, 0]), [Question(0, 1)]))


def test_the_example_answers_by_likeness_and_admits_what_it_cannot_tell() -> None:
    people: list[dict[str, Any]] = [
        {"name": "Anna Schmidt", "born": 1911},
        {"name": "Anna Schmid", "born": 1911},
        {"name": "Otto", "born": None},
        {"name": None, "born": None},
    ]
    command = [sys.executable, str(ROOT / "examples" / "oracle_llm_like.py")]
    with CommandOracle(command, lambda row: ShownItem(str(row), people[row]), parallel=2) as oracle:
        said = dict(oracle.answer_many([Question(0, 1), Question(0, 2), Question(0, 3)]))
    assert [said[Question(0, j)].value for j in (1, 2, 3)] == ["same", "different", "unsure"]
    assert re.fullmatch(r"\d+% alike in 2 of 2 fields", oracle.notes[Question(0, 1)])
