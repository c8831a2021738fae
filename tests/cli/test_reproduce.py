"""``samecluster reproduce`` as a user meets it, and that it goes on after whatever stopped it."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from samecluster.cli.commands.reproduce import run_reproduce
from samecluster.experiments.experiment import Task
from samecluster.experiments.recoveries import ellipsoids_task
from samecluster.experiments.running import ResultStore, missing_tasks, run_tasks
from tests.cases.command_line import PLAIN, command, run, run_apart

TASKS = [ellipsoids_task("recur-published", 2000, 3, 3, seed) for seed in range(24)]
RUN = """
import sys
from pathlib import Path
from samecluster.experiments.recoveries import ellipsoids_task
from samecluster.experiments.running import ResultStore, run_tasks
tasks = [ellipsoids_task("recur-published", 2000, 3, 3, seed) for seed in range(24)]
run_tasks(tasks, ResultStore(Path(sys.argv[1])), workers=2)
"""


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def wait_for_lines(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    while len(lines(path)) < count:
        assert process.poll() is None, "it ended before it could be stopped"
        time.sleep(0.02)


def children_of(process: subprocess.Popen[str]) -> list[int]:
    """Where the system tells, which is Linux."""
    told = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(child) for child in told.read_text().split()] if told.exists() else []


def is_alive(process: int) -> bool:
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return run_tasks(
        TASKS, ResultStore(tmp_path_factory.mktemp("whole") / "results.jsonl"), workers=1
    )


def test_killed_in_the_middle_it_goes_on_and_ends_with_the_same_results(
    uninterrupted, tmp_path
) -> None:
    path = tmp_path / "results.jsonl"
    process = subprocess.Popen([sys.executable, "-c", RUN, str(path)], text=True)
    wait_for_lines(path, 3, process)
    workers = children_of(process)
    process.kill()
    process.wait()
    before = ResultStore(path).load()
    assert 3 <= len(before) < len(TASKS)
    done: list[Task] = []
    assert run_tasks(TASKS, ResultStore(path), workers=1, on_done=done.append) == uninterrupted
    assert len(done) == len(TASKS) - len(before)
    assert not {task.key for task in done} & set(before)
    # Workers notice that they are orphans.
    patience = time.monotonic() + 60
    while any(is_alive(worker) for worker in workers):
        assert time.monotonic() < patience
        time.sleep(0.1)


def test_a_line_that_was_cut_off_is_computed_again_and_no_other(uninterrupted, tmp_path) -> None:
    store = ResultStore(tmp_path / "results.jsonl")
    for task in TASKS:
        store.append(task, uninterrupted[task.key])
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:-40])
    assert [task.key for task in missing_tasks(TASKS, store)] == [TASKS[-1].key]
    done: list[Task] = []
    assert run_tasks(TASKS, store, workers=1, on_done=done.append) == uninterrupted
    assert [task.key for task in done] == [TASKS[-1].key]
    assert not missing_tasks(TASKS, store)


def test_results_of_other_settings_stay_apart(tmp_path) -> None:
    store = ResultStore(tmp_path / "results.jsonl")
    small, large = (ellipsoids_task("certify", n, 2, 3, 0) for n in (100, 200))
    run_tasks([small], store, workers=1)
    assert missing_tasks([small, large, large], store) == [large]
    found = run_tasks([large], store, workers=1)
    assert set(found) == {small.key, large.key}
    records = [json.loads(line) for line in lines(store.path)]
    assert [record["settings"]["n"] for record in records] == [100, 200]


def test_an_error_in_a_worker_stops_the_run_and_names_the_task(tmp_path) -> None:
    store = ResultStore(tmp_path / "results.jsonl")
    bad = [ellipsoids_task("recur", 2, 2, 5, seed) for seed in range(2)]
    with pytest.raises(Exception, match="n must be at least k"):
        run_tasks([*TASKS[:4], *bad], store, workers=2)
    assert len(missing_tasks(bad, store)) == 2


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(tmp_path, monkeypatch, capsys) -> None:
    out = tmp_path / "figures"
    words = ["reproduce", "figure1", "--quick", "--runs", "1", "--out", str(out)]
    process = subprocess.Popen(
        command(*words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | PLAIN,
        start_new_session=True,
    )
    wait_for_lines(out / "results.jsonl", 1, process)
    # As from a keyboard: the command and its workers all get it.
    os.killpg(process.pid, signal.SIGINT)
    told, errors = process.communicate()
    assert process.returncode == 130, errors
    assert re.search(f"To go on from there: .*samecluster {' '.join(words)}", told)
    assert errors == ""
    before = lines(out / "results.jsonl")

    again = run(*words)
    assert again.returncode == 0, again.stderr
    assert f"{len(before)} of 12 measurements are there already." in again.stdout
    assert "12 of 12 measurements" in again.stdout
    assert "0:00:00 left" in again.stdout
    assert lines(out / "results.jsonl")[: len(before)] == before
    assert len(lines(out / "results.jsonl")) == 12
    names = {path.name for path in out.iterdir()}
    assert {"report.md", "figure1.png", "figure1.svg", "figure1.csv"} <= names
    text = (out / "report.md").read_text()
    assert "![Figure 1: three aligned clusters](figure1.png)" in text
    assert re.search(r"\| side by side \| certify \| [67]\.\d \|", text)

    # Without matplotlib the tables and the report are still written.
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    (out / "figure1.png").unlink()
    assert run_reproduce("figure1", 1, True, out)
    assert "pip install samecluster[plots]" in capsys.readouterr().out
    assert "![" not in (out / "report.md").read_text()
    assert not (out / "figure1.png").exists()


def test_help_and_errors(tmp_path) -> None:
    told = run("reproduce", "--help").stdout
    for words in ("figure1, figure3, statements, theory or all", "--quick", "Example: samecluster"):
        assert words in told
    unknown = run_apart("reproduce", "figure2")
    assert unknown.returncode == 2
    assert "figure2" in unknown.stderr
    none = run("reproduce", "figure1", "--runs", "0", "--out", tmp_path)
    assert none.returncode == 2
    assert none.stderr.strip() == "samecluster: runs must be at least 1, got 0"
    taken = tmp_path / "taken"
    taken.write_text("")
    refused = run("reproduce", "figure1", "--out", taken)
    assert refused.returncode == 2
    assert refused.stderr.strip() == f"samecluster: cannot write to {taken}: File exists"
