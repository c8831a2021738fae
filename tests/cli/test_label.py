"""``samecluster label`` in a terminal, with real key presses; the small commands after it."""

import json
import os
import pty
import re
import select
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samecluster.cli.markdown import commands_as_markdown
from samecluster.errors import DataMismatchError, InvalidInputError
from samecluster.questions.pair import Verdict
from samecluster.workspace.open import open_session, reopen
from samecluster.workspace.request import Request
from tests.cases.command_line import PLAIN, command, run, run_apart

PROMPT = "? help: "
SECONDS = 300  # how long a silent process is waited for, so that a failure is no endless wait


@pytest.fixture
def shells(tmp_path: Path) -> Path:
    """Three clear groups in three columns, and an id that says the group."""
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0, 0], [30, 0, 0], [0, 30, 9]])
    lines = ["shell,length,width,weight"]
    for number in range(90):
        x = centres[number % 3] + rng.normal(size=3)
        lines.append(f"{'abc'[number % 3]}{number},{x[0]:.3f},{x[1]:.3f},{x[2]:.3f}")
    path = tmp_path / "shells.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


class Terminal:
    """A process behind a pseudo-terminal: press keys, read what it shows."""

    def __init__(self, arguments: list[str]) -> None:
        self._end, theirs = pty.openpty()
        self._process = subprocess.Popen(
            arguments,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, **PLAIN},
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(theirs)
        self.shown = ""

    def until(self, words: str) -> str:
        """What is shown from now up to these words."""
        while words not in self.shown:
            ready, _, _ = select.select([self._end], [], [], SECONDS)
            assert ready, f"nothing came after: {self.shown}"
            part = self._read()
            assert part, f"it ended after: {self.shown}"
            self.shown += part
        before, _, self.shown = self.shown.partition(words)
        return before + words

    def press(self, key: str) -> None:
        os.write(self._end, key.encode())

    def exit_code(self) -> int:
        while part := self._read():
            self.shown += part
        return self._process.wait(SECONDS)

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._end)

    def _read(self) -> str:
        try:
            return os.read(self._end, 65536).decode()
        except OSError:  # what Linux says when the other end is closed
            return ""


def _own_terminal() -> None:
    """Make the pseudo-terminal the controlling one, so that Ctrl-C is a signal."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def terminal(*arguments: object) -> Iterator[Terminal]:
    opened = Terminal(command(*arguments))
    try:
        yield opened
    finally:
        opened.close()


def pair_in(shown: str) -> tuple[str, str]:
    """The ids of the last pair that is shown."""
    one, two = re.findall(r"^shell +(\w+) +(\w+)", shown, re.MULTILINE)[-1]
    return one, two


def right_key(shown: str) -> str:
    one, two = pair_in(shown)
    return "y" if one[0] == two[0] else "n"


def answers_of(session: Path) -> list[dict[str, object]]:
    lines = run("history", session, "--json").stdout.splitlines()
    return [e for e in map(json.loads, lines) if e["kind"] in ("answered", "unsure", "retracted")]


def test_keys_undo_quit_resume_and_interrupt_in_a_terminal(shells: Path) -> None:
    """Single presses without Enter; what was undone comes back first, also after a restart; Ctrl-C
    loses nothing; a question is never put twice."""
    with terminal("label", shells, "--id", "shell") as screen:
        first = screen.until(PROMPT)
        assert "90 items with 3 features" in first, "the inspection comes before the first question"
        screen.press(right_key(first))
        second = screen.until(PROMPT)
        assert "It is too early to say how many questions are left." in second
        screen.press("b")
        again = screen.until(PROMPT)
        assert pair_in(again) == pair_in(first)
        assert "You said" in again
        screen.press("q")
        screen.until("-m samecluster label")
        assert screen.exit_code() == 0
    session = Path(f"{shells}.samecluster")
    with terminal("label", shells) as screen:
        resumed = screen.until(PROMPT)
        assert pair_in(resumed) == pair_in(first)
        screen.press(right_key(resumed))
        shown = screen.until(PROMPT)
        screen.press("u")
        screen.until(PROMPT)
        screen.press("\x03")
        screen.until("-m samecluster label")
        assert screen.exit_code() == 130
    kinds = [event["kind"] for event in answers_of(session)]
    assert kinds == ["answered", "retracted", "answered", "unsure"]
    with terminal("label", shells) as screen:
        assert pair_in(screen.until(PROMPT)) not in (pair_in(shown), pair_in(first))
        screen.press("b")
        assert pair_in(screen.until(PROMPT)) == pair_in(shown), "undone across restarts"


def test_a_session_is_answered_to_its_end_and_offers_choices_with_prices(shells: Path) -> None:
    with terminal("label", shells, "--id", "shell", "--margin", "1", "--clusters", "3") as screen:
        while "What next?" not in (shown := _until_either(screen)):
            screen.press(right_key(shown))
        choices = shown
        assert re.search(r"audit: about \d+ more questions", choices)
        assert "stop here" in choices
        screen.press("s")
        assert screen.exit_code() == 0
    session = Path(f"{shells}.samecluster")
    facts = json.loads(run("status", session, "--json").stdout)
    assert facts["labelled"] == 90
    assert facts["ended"] == "finished"
    assert len(facts["clusters"]) == 3
    _named_exported_and_reported(shells, session, facts)


def _until_either(screen: Terminal) -> str:
    seen = ""
    while True:
        seen += screen.until(": ")
        if seen.endswith(PROMPT) or seen.endswith("b, q: "):
            return seen


def _named_exported_and_reported(shells: Path, session: Path, facts: dict[str, Any]) -> None:
    assert run("name", session, 0, "whelk").returncode == 0
    out = shells.with_name("out.csv")
    assert run("export", session, "-o", out, "--proof", shells.with_name("p.gz")).returncode == 0
    rows = [line.split(",") for line in out.read_text().splitlines()[1:]]
    assert {(row[0][0], row[4]) for row in rows} == {
        (anchor["anchor"][0], "whelk" if anchor["number"] == 0 else str(anchor["number"]))
        for anchor in facts["clusters"]
    }
    assert run("verify", shells.with_name("p.points.npy"), shells.with_name("p.gz")).returncode == 0
    page = shells.with_name("r.html")
    assert run("report", session, "-o", page).returncode == 0
    assert "whelk" in page.read_text()


def test_answers_come_from_a_pipe_too(shells: Path) -> None:
    done = run("label", shells, "--id", "shell", "--show", "shell,width", text="n\nx\nu\n")
    assert done.returncode == 0, done.stderr
    assert "unsure: another pair comes instead" in done.stdout
    assert not re.search(r"^length  ", done.stdout, re.MULTILINE)
    assert len(answers_of(Path(f"{shells}.samecluster"))) == 2


def test_a_spent_budget_is_said_and_can_be_lifted(shells: Path) -> None:
    options = ("--id", "shell", "--max-questions", "2")
    done = run("label", shells, *options, text="u\nu\ng\nu\nq\n")
    assert "the budget of 2 questions is spent" in " ".join(done.stdout.split())
    assert len(answers_of(Path(f"{shells}.samecluster"))) == 3


@pytest.mark.parametrize(
    ("changed", "flag"),
    [
        ({"features": ["length"]}, "--features"),
        ({"id_column": "width"}, "--id"),
        ({"scale": False}, "--no-scale"),
        ({"reduce": 2}, "--reduce"),
        ({"drop_missing": True}, "--drop-missing"),
        ({"labels": "length"}, "--labels"),
        ({"vectors": Path("v.npy")}, "--vectors"),
    ],
)
def test_other_features_are_refused_by_the_name_of_the_flag(shells: Path, changed, flag) -> None:
    open_session(Request(str(shells), id_column="shell")).session.close()
    with pytest.raises(InvalidInputError, match=flag):
        open_session(Request(str(shells), **changed))


def test_what_is_declared_may_change_and_features_come_back_bit_for_bit(shells: Path) -> None:
    with open_session(Request(str(shells), id_column="shell")) as first:
        X = first.data.X
    with open_session(Request(str(shells), margin="0.5", max_questions="9")) as again:
        assert (again.data.X == X).all()
        assert again.session.state.parameters == {"margin": 0.5, "max_questions": 9}


def test_data_that_cannot_be_used_leaves_no_session(tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("a,b\n1,2\n3,x\n4,5\n5,6\n")
    done = run_apart("label", bad, "--features", "a,b")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["bad.csv"]
    bad.write_text("a,b\n1,2\n3,9\n4,5\n5,6\n")
    assert run("label", bad, "--clusters", "99").returncode == 2
    assert [file.name for file in tmp_path.iterdir()] == ["bad.csv"]


def test_update_keeps_answers_and_sets_those_about_changed_rows_aside(shells: Path) -> None:
    with open_session(Request(str(shells), id_column="shell")) as opened:
        (question,) = opened.session.ask()
        opened.session.tell(question.id, "same")
    session = Path(f"{shells}.samecluster")
    lines = shells.read_text().splitlines()
    row = next(n for n, line in enumerate(lines) if line.startswith(f"{question.item},"))
    lines[row] = f"{question.item},1.5,2.5,3.5"
    shells.write_text("\n".join([*lines, "d1,1.0,1.0,1.0"]) + "\n")
    with pytest.raises(DataMismatchError, match=r"samecluster update .*shells\.csv\.samecluster"):
        reopen(session)
    seen = json.loads(run("update", session, shells, "--dry-run", "--json").stdout)
    assert (seen["added"], seen["changed"], seen["removed"]) == (["d1"], [question.item], [])
    assert json.loads(run("update", session, shells, "--json").stdout)["set_aside"] == 1
    before = run("update", session, shells, "--confirm")
    assert before.returncode == 2
    assert "write update --keep-answers" in before.stderr
    kept = json.loads(run("update", session, shells, "--keep-answers", "--json").stdout)
    assert kept["set_aside"] == 0


def test_imports_happen_once_and_go_as_a_whole(shells: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("a0,a3,same\na0,b1,different\n")
    for _ in range(2):
        with open_session(Request(str(shells), id_column="shell", pairs=pairs)) as opened:
            assert len(list(opened.session.state.answers())) == 2
            assert opened.session.state.n_questions == 0
    session = Path(f"{shells}.samecluster")
    more = tmp_path / "more.csv"
    more.write_text("a3,b1,same\n")
    refused = run("import", session, more)
    assert refused.returncode == 1
    assert "cannot all be right" in refused.stderr
    more.write_text("a6,a3,same\n")
    event = json.loads(run("import", session, more, "--json").stdout)["event"]
    other = tmp_path / "other.samecluster"
    open_session(Request(str(shells), id_column="shell", session=other)).session.close()
    taken = run("import", other, session, "--data", shells, "--json")
    assert json.loads(taken.stdout)["imported"] == 3
    assert run("undo", session, "--event", event).returncode == 0
    with reopen(session) as opened:
        assert {said.verdict for said in opened.session.state.answers()} == {
            Verdict.SAME,
            Verdict.DIFFERENT,
        }


def test_doctor_finds_damage_and_saves_the_rest(shells: Path, tmp_path: Path) -> None:
    import sqlite3

    with open_session(Request(str(shells), id_column="shell")) as opened:
        (question,) = opened.session.ask()
        opened.session.tell(question.id, "same")
    session = Path(f"{shells}.samecluster")
    assert run("doctor", session).returncode == 0
    with sqlite3.connect(session) as connection:
        connection.execute("UPDATE events SET who = 'eve' WHERE sequence = 2")
    connection.close()
    rescued = tmp_path / "rescued.samecluster"
    done = run_apart("doctor", session, "--save", rescued, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["saved"] == 1
    assert run("status", rescued, "--data", shells).returncode == 0


def test_every_command_is_in_the_documents_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "commands.md"
    assert page.read_text() == commands_as_markdown(), (
        "run python -m samecluster.cli.markdown > docs/commands.md"
    )
    for section in page.read_text().split("\n## ")[1:]:
        assert re.search(r"```\nsamecluster ", section), f"no example: {section[:40]}"
