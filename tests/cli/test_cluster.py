"""`samecluster cluster` with programs that answer, in processes of their own.

Where nothing is killed, the command runs in this process to save time.
"""

import csv
import io
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from samecluster.cli.main import app, main
from samecluster.instances import make_ellipsoids

ROOT = Path(__file__).parents[2]
N = 120

# Answers by the column `hint`, notes every question it sees, and fails as often as it is told to.
PROGRAM = """
import json, os, sys, time
seen = os.open("seen.txt", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
crash_after = int(os.environ.get("CRASH_AFTER", 10**9))
delay = float(os.environ.get("DELAY", 0))
for number, line in enumerate(sys.stdin):
    if number >= crash_after:
        print("out of credit", file=sys.stderr)
        sys.exit(3)
    question = json.loads(line)
    one, two = question["item"], question["comparator"]
    os.write(seen, json.dumps([os.getpid(), one, two]).encode() + b"\\n")
    time.sleep(delay)
    same = one["fields"]["hint"] == two["fields"]["hint"]
    answer = {"id": question["id"], "verdict": "same" if same else "different"}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with data and a program that answers about it."""
    made = make_ellipsoids(N, 2, 3, random_state=0)
    with (tmp_path / "shells.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shell", "width", "height", "hint", "kind"])
        for row, (point, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
            writer.writerow([f"shell {row}", *point, "abc"[label], f"kind {label}"])
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


PROGRAM_ANSWERS = ("--oracle-cmd", shlex.join([sys.executable, "program.py"]))
KIND_ANSWERS = ("--truth", "kind")


def begin(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "samecluster", "cluster", "shells.csv", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "100", **environment},
    )


def run(
    folder: Path, *arguments: str, code: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """The command in this process; programs that answer are processes of their own."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as changed, redirect_stdout(out), redirect_stderr(err):
        changed.chdir(folder)
        for name, value in {"NO_COLOR": "1", "COLUMNS": "100", **environment}.items():
            changed.setenv(name, value)
        changed.setattr(sys, "argv", ["samecluster", "cluster", "shells.csv", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    found = int(ended.value.code or 0)
    assert found == code, err.getvalue()
    assert "Traceback" not in err.getvalue()
    return subprocess.CompletedProcess(sys.argv, found, out.getvalue(), err.getvalue())


def facts(folder: Path, *arguments: str, **environment: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(
        run(folder, *arguments, "--json", code=0, **environment).stdout
    )
    return told


@pytest.fixture
def here(folder, monkeypatch, capfd) -> Callable[..., tuple[str, str]]:
    """Runs the command in this process; what it wrote to standard output and standard error."""
    monkeypatch.chdir(folder)

    def run_here(*arguments: str, code: int = 0) -> tuple[str, str]:
        monkeypatch.setattr(sys, "argv", ["samecluster", "cluster", "shells.csv", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capfd.readouterr()
        assert (ended.value.code or 0) == code, err
        return out, err

    return run_here


def seen(folder: Path) -> list[frozenset[str]]:
    """The pairs that the programs saw, in order."""
    path = folder / "seen.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return [frozenset(item["key"] for item in json.loads(line)[1:]) for line in lines]


def labels(path: Path) -> list[str]:
    with path.open(newline="") as file:
        return [row["cluster"] for row in csv.DictReader(file)]


def groups(found: list[str]) -> set[frozenset[int]]:
    """Which rows are together, whatever the clusters are called."""
    return {
        frozenset(row for row, label in enumerate(found) if label == name) for name in set(found)
    }


def true_groups(folder: Path) -> set[frozenset[int]]:
    with (folder / "shells.csv").open(newline="") as file:
        return groups([row["kind"] for row in csv.DictReader(file)])


def test_truth_answers_and_the_error_is_printed(folder, here) -> None:
    out, _ = here("--id", "shell", *KIND_ANSWERS, "--margin", "1", "-o", "out.csv")
    assert "Error against the truth: 0.00% of the labels are wrong." in out
    assert "labels are proven if every cluster has margin 1" in out
    assert "--audit 0.01" in out
    assert groups(labels(folder / "out.csv")) == true_groups(folder)
    assert (folder / "shells.csv.samecluster").exists()


def test_nothing_declared_says_how_the_margin_was_found(folder, here) -> None:
    out, _ = here(*KIND_ANSWERS, "--no-session")
    assert "Nobody declared a margin:" in out
    assert not (folder / "shells.csv.samecluster").exists()


def test_audit_sentence(here) -> None:
    told = json.loads(here(*KIND_ANSWERS, "--audit", "0.1,0.9", "--json")[0])
    assert told["audit"]["met"]
    assert told["audit"]["sentence"].startswith("at most ")
    assert any(told["audit"]["sentence"] in line for line in told["rests_on"])
    assert "Audit, whatever the labels rest on: at most " in here(*KIND_ANSWERS)[0]


def test_a_program_sees_only_what_is_shown(folder) -> None:
    shown = ("--show", "hint,width")
    run(folder, *PROGRAM_ANSWERS, "--id", "shell", "--truth", "kind", "--margin", "1", *shown)
    first = json.loads((folder / "seen.txt").read_text().splitlines()[0])[1]
    assert first["key"].startswith("shell ")
    assert first["fields"].keys() == {"hint", "width"}
    assert isinstance(first["fields"]["width"], float)


def test_a_session_begun_without_the_truth_does_not_show_it_later(folder) -> None:
    run(folder, *PROGRAM_ANSWERS, "--id", "shell", "--ignore", "kind", "--max-questions", "2")
    run(folder, *PROGRAM_ANSWERS, "--truth", "kind", "--max-questions", "4")
    for line in (folder / "seen.txt").read_text().splitlines():
        assert "kind" not in json.loads(line)[1]["fields"]


def test_the_example_that_is_like_a_language_model_answers(folder) -> None:
    program = ROOT / "examples" / "oracle_llm_like.py"
    command = shlex.join([sys.executable, str(program), "--threshold", "0.5"])
    told = facts(
        folder, "--oracle-cmd", command, "--show", "hint", "--margin", "1", "--truth", "kind"
    )
    assert told["labelled"] == N
    assert told["error"] == 0


def test_several_programs_at_a_time(folder) -> None:
    told = facts(
        folder,
        *PROGRAM_ANSWERS,
        *("--id", "shell", "--truth", "kind", "--margin", "1", "--parallel", "3"),
        DELAY="0.05",
    )
    lines = [json.loads(line) for line in (folder / "seen.txt").read_text().splitlines()]
    assert len({process for process, *_ in lines}) == 3
    assert told["error"] == 0
    pairs = seen(folder)
    assert len(pairs) == len(set(pairs)) == told["questions"]


def test_a_budget_is_kept_by_several_programs_and_a_larger_one_goes_on(folder) -> None:
    options = (*PROGRAM_ANSWERS, "--id", "shell", "--margin", "1", "--parallel", "3")
    done = run(folder, *options, "--max-questions", "4")
    assert len(seen(folder)) == 4
    assert "the budget of 4 questions is spent" in done.stdout
    assert "a larger --max-questions" in done.stdout
    told = facts(folder, *options, "--max-questions", "none", "-o", "out.csv")
    assert told["ended"] == "nothing is left to ask"
    assert groups(labels(folder / "out.csv")) == true_groups(folder)
    assert len(seen(folder)) == len(set(seen(folder))) == told["questions"]


def test_a_program_that_fails_costs_no_answer(folder) -> None:
    """It fails after three answers for good; the second run asks only what is left."""
    options = (*PROGRAM_ANSWERS, "--id", "shell", "--margin", "1")
    failed = run(folder, *options, "--retries", "0", code=1, CRASH_AFTER="3")
    assert "out of credit" in failed.stderr
    assert "3 answers kept in shells.csv.samecluster; the same command goes on" in failed.stderr
    told = facts(folder, *options, "-o", "out.csv")
    assert groups(labels(folder / "out.csv")) == true_groups(folder)
    assert len(seen(folder)) == len(set(seen(folder))) == told["questions"]


def test_a_program_that_fails_now_and_then_is_started_again(folder) -> None:
    told = facts(folder, *PROGRAM_ANSWERS, "--truth", "kind", "--margin", "1", CRASH_AFTER="2")
    assert told["error"] == 0


def wait_until_seen(folder: Path, process: subprocess.Popen[str], count: int) -> None:
    while process.poll() is None and len(seen(folder)) < count:
        time.sleep(0.01)


def test_interrupted_and_continued(folder) -> None:
    """Ctrl-C ends the run with a sentence; what was answered is not asked again."""
    options = (*PROGRAM_ANSWERS, "--id", "shell", "--margin", "1")
    process = begin(folder, *options, DELAY="0.5")
    wait_until_seen(folder, process, 3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130, err
    assert "All answers are kept; the same command goes on." in err
    n_before = len(seen(folder))
    told = facts(folder, *options)
    # The question that was under way when it stopped is put again, and no other.
    assert len(set(seen(folder))) == told["questions"]
    assert len(seen(folder)) - len(set(seen(folder))) <= 1
    assert n_before >= 3


def test_killed_again_and_again_it_ends_as_if_it_had_not_been(folder, tmp_path_factory) -> None:
    """A session killed with -9 at several moments ends like its copy that ran on undisturbed."""
    options = (*PROGRAM_ANSWERS, "--id", "shell", "--margin", "0.2")
    chance = random.Random(0)
    undisturbed = tmp_path_factory.mktemp("undisturbed") / "copy"
    kills = 0
    while kills < 3:
        process = begin(folder, *options, DELAY="0.1")
        wait_until_seen(folder, process, len(seen(folder)) + 2)
        time.sleep(chance.random() * 0.2)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL, "it was done before it was killed"
        kills += 1
        if not undisturbed.exists():
            # The copy has the same seed, and so asks the same.
            shutil.copytree(folder, undisturbed)
    told = facts(folder, *options, "-o", "out.csv")
    assert len(set(seen(folder))) == told["questions"]
    assert len(seen(folder)) - len(set(seen(folder))) <= kills
    told_undisturbed = facts(undisturbed, *options, "-o", "out.csv")
    assert set(seen(folder)) == set(seen(undisturbed))
    assert told_undisturbed["questions"] == told["questions"]
    assert (folder / "out.csv").read_bytes() == (undisturbed / "out.csv").read_bytes()


def test_proof_and_report_are_written_and_the_proof_holds(folder, here) -> None:
    files = ("--proof", "proof.jsonl.gz", "--report", "report.html", "-o", "out.jsonl")
    out, _ = here(*KIND_ANSWERS, "--margin", "1", *files)
    check = next(line for line in out.splitlines() if "samecluster verify" in line)
    words = shlex.split(check.partition("samecluster ")[2])
    verified = CliRunner().invoke(app, words)
    assert verified.exit_code == 0, verified.output
    assert "The proof holds" in verified.output
    assert (folder / "report.html").read_text().startswith("<!")
    assert json.loads((folder / "out.jsonl").read_text().splitlines()[0]).keys() >= {"cluster"}


def test_labels_to_standard_output_leave_the_words_to_standard_error(here) -> None:
    out, err = here(*KIND_ANSWERS, "--margin", "1", "-o", "-")
    assert len(list(csv.DictReader(out.splitlines()))) == N
    assert "items have a label" in err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "somebody must answer"),
        (["--truth", "sort"], "no column 'sort'"),
        (["--oracle-cmd", "no-such-program-here"], "no-such-program-here"),
        ([*KIND_ANSWERS, "--json", "-o", "-"], "only one of --json, -o and --report"),
        ([*KIND_ANSWERS, "--session", "s", "--no-session"], "exclude each other"),
        ([*KIND_ANSWERS, "-o", "nowhere/out.csv"], "there is no folder nowhere"),
        ([*KIND_ANSWERS, "-o", "out.docx"], "out.docx"),
        ([*KIND_ANSWERS, "--audit", "often"], "--audit must be"),
        ([*PROGRAM_ANSWERS, "--parallel", "0"], "parallel must be at least 1"),
        ([*PROGRAM_ANSWERS, "--show", "colour"], "no column 'colour'"),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_question(folder, here, arguments, told) -> None:
    _, err = here(*arguments, code=2)
    assert told in err
    assert err.count("samecluster: ") == 1
    assert not seen(folder)
    assert not list(folder.glob("*.samecluster*")), "it could not be begun with other options"


def test_a_blank_truth_is_named(folder, here) -> None:
    path = folder / "shells.csv"
    path.write_text(path.read_text().replace("kind 1", "", 1))
    assert "column 'kind': the truth is blank" in here(*KIND_ANSWERS, code=2)[1]
