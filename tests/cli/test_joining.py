"""Simulated answers stay among themselves, and a program joins people only when told to."""

import csv
import shlex
import shutil
import sys
from pathlib import Path

import pytest

from samecluster.instances import make_ellipsoids
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.cases.command_line import run

PROGRAM = """
import json, sys
for line in sys.stdin:
    question = json.loads(line)
    same = question["item"]["fields"]["kind"] == question["comparator"]["fields"]["kind"]
    answer = {"id": question["id"], "verdict": "same" if same else "different"}
    print(json.dumps(answer), flush=True)
"""
GOLDEN = Path(__file__).parents[1] / "golden" / "tables"
SIMULATED = ("cluster", "d.csv", "--truth", "kind", "--max-questions", "9")
BY_PROGRAM = ("cluster", "d.csv", "--oracle-cmd", shlex.join([sys.executable, "-c", PROGRAM]),
              "--features", "a,b", "--max-questions", "9")  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = make_ellipsoids(100, 2, 3, random_state=0)
    with (tmp_path / "d.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b", "kind"])
        for row, (point, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
            writer.writerow([f"i{row}", *point, "xyz"[label]])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def label(*who: str, text: str = "y\nn\nn\nq\n") -> None:
    done = run("label", "d.csv", "--id", "id", "--features", "a,b", *who, text=text)
    assert done.returncode == 0, done.stderr


def events(name: str = "d.csv.samecluster") -> list[tuple[str, str | None]]:
    store = SqliteStore(name, read_only=True)
    found = [(event.kind, event.who) for event in store.read()]
    store.close()
    return found


def answering(name: str = "d.csv.samecluster") -> set[str | None]:
    return {who for kind, who in events(name) if kind == "answered"}


@pytest.mark.parametrize("who", [(), ("--who", "ann")], ids=["nobody", "ann"])
def test_simulated_answers_never_enter_a_persons_session(folder, who) -> None:
    label(*who)
    before = events()
    for more in ((), ("--margin", "1"), ("--force",), ("--join",)):
        done = run(*SIMULATED, *more)
        assert done.returncode == 2
        assert "simulated ones are never mixed with others" in done.stderr
    assert run(*SIMULATED, "--who", "ann").returncode == 2
    assert events() == before
    assert run(*SIMULATED, "--no-session").returncode == 0
    assert run(*SIMULATED, "--session", "other.samecluster").returncode == 0
    assert answering("other.samecluster") == {"column kind"}


def test_a_simulation_goes_on_with_its_own_answers_and_what_was_known(folder) -> None:
    (folder / "pairs.csv").write_text("i1,i2,same\n")
    known = ("--id", "id", "--pairs", "pairs.csv")
    assert run(*SIMULATED, *known, "--max-questions", "3").returncode == 0
    assert run(*SIMULATED, "--max-questions", "6").returncode == 0
    assert answering() == {"column kind"}
    done = run("label", "d.csv", "--max-questions", "9", "--who", "ann", text="y\nq\n")
    assert done.returncode == 0, done.stderr
    assert answering() == {"column kind", "ann"}
    assert "has answers of ann" in run(*SIMULATED, "--max-questions", "12").stderr


def test_simulated_answers_do_not_join_imported_ones(folder) -> None:
    (folder / "pairs.csv").write_text("i1,i2,same\n")
    label("--pairs", "pairs.csv", text="q\n")
    done = run(*SIMULATED)
    assert done.returncode == 2
    assert "pairs in pairs.csv" in done.stderr
    assert run(*SIMULATED, "--pairs", "pairs.csv").returncode == 0


def test_a_program_joins_people_under_a_name_of_its_own_when_told_to(folder) -> None:
    label("--who", "ann")
    before = events()
    for more in ((), ("--who", "ann"), ("--who", "gpt"), ("--join",)):
        done = run(*BY_PROGRAM, *more)
        assert done.returncode == 2, more
        assert "has answers of ann" in done.stderr
    assert events() == before
    done = run(*BY_PROGRAM, "--who", "ann", "--join")
    assert done.returncode == 0, done.stderr
    assert answering() == {"ann", "program ann"}
    assert run(*BY_PROGRAM, "--who", "ann").returncode == 2
    assert run(*BY_PROGRAM, "--who", "gpt", "--join", "--max-questions", "12").returncode == 0
    assert answering() == {"ann", "program ann", "program gpt"}


@pytest.mark.parametrize("who", [(), ("--who", "gpt")], ids=["unnamed", "named"])
def test_program_sessions_go_on(folder, who) -> None:
    assert run(*BY_PROGRAM, *who, "--max-questions", "3").returncode == 0
    assert run(*BY_PROGRAM, *who, "--max-questions", "6").returncode == 0
    assert answering() == {"program gpt" if who else "program"}


def test_a_named_programs_session_of_before_names_of_programs_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made with ``--oracle-cmd ... --who gpt --max-questions 4`` when it was stored as "gpt"."""
    for name in ("named-program.csv", "named-program.csv.samecluster"):
        shutil.copy(GOLDEN / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    path = "named-program.csv.samecluster"
    program = PROGRAM.replace('["kind"]', '["a"] > 10')
    command = ("cluster", "named-program.csv", "--oracle-cmd",
               shlex.join([sys.executable, "-c", program]))  # fmt: skip
    assert answering(path) == {"gpt"}
    for who in ((), ("--who", "ann")):
        done = run(*command, *who, "--max-questions", "5")
        assert done.returncode == 2
        assert "has answers of gpt" in done.stderr
    for most in ("5", "6"):
        done = run(*command, "--who", "gpt", "--max-questions", most)
        assert done.returncode == 0, done.stderr
    assert answering(path) == {"gpt", "program gpt"}
    assert [kind for kind, _ in events(path)].count("answered") == 6
