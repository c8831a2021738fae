"""``samecluster doubt``, ``merge`` and ``split``: questions in the terminal, with their effects."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samecluster.sessions.conflicts import Effect
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request
from tests.cases.command_line import run, run_apart
from tests.cli.test_label import terminal

STRAY = "c89"
"""An item that lies amid the a's, whose label is then proven to be theirs."""


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three clear groups and a stray, and a session that was answered by ids."""
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0, 0], [30, 0, 0], [0, 30, 9]])
    points = centres[np.arange(90) % 3] + rng.normal(size=(90, 3))
    points[89] = 0.0
    names = [f"{'abc'[number % 3]}{number}" for number in range(90)]
    lines = [",".join([name, *map(str, x)]) for name, x in zip(names, points, strict=True)]
    folder = tmp_path_factory.mktemp("answered")
    data = folder / "shells.csv"
    data.write_text("\n".join(["shell,length,width,weight", *lines]) + "\n")
    request = Request(str(data), id_column="shell", margin="0.5", clusters="3")
    with open_session(request) as opened:
        while questions := opened.session.ask():
            one, two = questions[0].item, questions[0].comparator
            opened.session.tell(questions[0].id, "same" if one[0] == two[0] else "different")
        assert opened.session.snapshot().how[89] == "proven"
    return folder


@pytest.fixture
def session(answered: Path, tmp_path: Path) -> Path:
    shutil.copytree(answered, tmp_path, dirs_exist_ok=True)
    return tmp_path / "shells.csv.samecluster"


def said(*arguments: object, keys: str = "") -> str:
    """What a command prints, given these keys, a line each."""
    done = run(*arguments, text="\n".join(keys) + "\n")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return re.sub(r"\s+", " ", done.stdout)


def facts(session: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(run("status", session, "--json").stdout)
    return told


def numbers(session: Path) -> dict[str, int]:
    """The number of each group's cluster, by the letter of its anchor."""
    return {one["anchor"][0]: one["number"] for one in facts(session)["clusters"]}


def test_same_ends_a_doubt_with_the_label_as_it_was(session: Path) -> None:
    told = said("doubt", session, STRAY, keys="y")
    number = numbers(session)["a"]
    assert told.count("Same group?") == 1
    assert f"{STRAY}: cluster {number} (proven) -> cluster {number} (asked)." in told
    assert facts(session)["labelled"] == 90


def test_an_answer_that_refutes_is_previewed_and_ends_in_remedies(session: Path) -> None:
    """The preview is what then happens to the labels."""
    number = numbers(session)["a"]
    told = said("doubt", session, STRAY, keys="nc")
    effect = re.search(r"If n: (\d+) labels become undecided\.", told)
    assert effect is not None
    now = facts(session)
    assert now["labelled"] == 90 - int(effect[1])
    assert len(now["trouble"]) == 1
    assert "1 thing to look at" in told
    assert f"{STRAY}: cluster {number} (proven) -> undecided." in told


def test_a_remedy_is_chosen_by_its_number_and_an_exception_is_asked_no_further(
    session: Path,
) -> None:
    told = said("doubt", session, STRAY, keys="n1")
    assert f"1 make {STRAY} an exception: 89 labels become known" in told
    assert told.count("Same group?") == 1
    now = facts(session)
    assert now["exceptions"] == [STRAY]
    assert now["trouble"] == []
    assert now["labelled"] == 89


def test_taking_the_new_answer_back_leaves_all_as_it_was(session: Path) -> None:
    before = facts(session)
    told = said("doubt", session, STRAY, "--who", "ann", keys="n2q")
    assert re.search(rf"2 take back answer \d+: {STRAY} and \w+ different \(ann\)", told)
    assert "as before" in told
    after = facts(session)
    for name in ("labelled", "clusters", "by_how", "trouble", "questions"):
        assert after[name] == before[name], name


def test_a_merge_asks_one_pair_and_the_lower_number_stays(session: Path) -> None:
    a, b = numbers(session)["a"], numbers(session)["b"]
    told = said("merge", session, a, b, keys="y")
    assert told.count("Same group?") == 1
    assert re.search(r"If y: \d+ labels change\.", told)
    assert f"cluster {max(a, b)} (asked) -> cluster {min(a, b)} (asked)." in told
    assert {one["number"] for one in facts(session)["clusters"]} == {0, 1, 2} - {max(a, b)}


def test_clusters_that_are_not_one_stay(session: Path) -> None:
    before = facts(session)["clusters"]
    told = said("merge", session, 0, 1, keys="n")
    assert told.count("as before.") == 2
    assert facts(session)["clusters"] == before


def test_a_split_asks_each_item_once_against_the_anchor(session: Path) -> None:
    """Items that belong after all become asked ones; what quits the rest keeps what was said."""
    number = numbers(session)["a"]
    told = said("split", session, number, "a3", "a6", "a3", "a9", keys="yuq")
    assert told.count("Same group?") == 3
    assert f"a3: cluster {number} (proven) -> cluster {number} (asked)." in told
    anchor = next(one["anchor"] for one in facts(session)["clusters"] if one["number"] == number)
    told = said("split", session, number, anchor)
    assert f"There is nothing to ask: {anchor} is what cluster {number} is known by" in told


def test_only_chosen_columns_are_shown_and_other_keys_refused(session: Path) -> None:
    told = said("doubt", session, STRAY, "--show", "shell,width", keys="xy")
    assert "unsure: another pair comes instead" in told
    assert "width" in told
    assert "length" not in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("doubt", "nobody"), "there is no item 'nobody' in shells.csv; name one by its id"),
        (("merge", "0", "0"), "two different clusters are needed, got 0 twice"),
        (("split", "17", STRAY), "cluster must be one of 0, 1, 2, got 17"),
        (("doubt", STRAY, "--show", "colour"), "colour"),
    ],
)
def test_what_is_not_there_is_named_and_nothing_is_asked(session: Path, words, message) -> None:
    name, *others = words
    refused = run(name, session, *others, text="n\n")
    assert refused.returncode == 2
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert "Same group?" not in refused.stdout


def test_data_that_is_elsewhere_has_to_be_named(session: Path) -> None:
    moved = session.with_name("moved.samecluster")
    session.rename(moved)
    refused = run_apart("doubt", moved, STRAY, text="y\n")
    assert (refused.returncode, "--data FILE" in refused.stderr) == (2, True)
    assert "(asked)" in said(
        "doubt", moved, STRAY, "--data", session.with_name("shells.csv"), keys="y"
    )


def test_a_key_press_is_enough_and_an_interrupt_loses_nothing(session: Path) -> None:
    before = facts(session)["questions"]
    with terminal("doubt", session, STRAY) as screen:
        screen.until("? help: ")
        screen.press("u")
        screen.until("? help: ")
        screen.press("\x03")
        screen.until("All answers are kept.")
        assert screen.exit_code() == 130
    assert facts(session)["questions"] == before + 1


def test_an_interrupt_ends_any_command_on_a_session_alike(session: Path, monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("samecluster.workspace.status.session_facts", interrupted)
    done = run("status", session)
    assert (done.returncode, done.stdout) == (130, "\nStopped. All answers are kept.\n")


@pytest.mark.parametrize(
    ("effect", "words"),
    [
        (Effect(0, 0, 0), "no label changes"),
        (Effect(1, 0, 0), "1 label becomes undecided"),
        (Effect(0, 0, 59), "59 labels change"),
        (Effect(12304, 1, 2), "12,304 labels become undecided, 1 becomes known, 2 change"),
    ],
)
def test_effects_are_said_in_words(effect: Effect, words: str) -> None:
    assert str(effect) == words
