"""What a start takes until the first question beside importing pandas and reading the same file.

A CSV of 100,000 rows: an id and ten columns of numbers with all their digits. `samecluster
cluster` is started on it with a program that leaves the moment it is asked: reading, preparing,
opening the session and finding the first question are all in the time, and so is starting that
program. `samecluster label` does the same work and then waits for a key. Goal: at most 4 times.

Without a number of clusters, mixtures of more and more components are fitted before the first
question; the second ratio, with a number, says how much of the time that is. The ratio of processor
time is the one to go by where other programs keep the machine busy.

pandas is no dependency: it is looked for in this Python, or in the one named by PANDAS_PYTHON.
"""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.startup_table import PANDAS, pandas_python, seconds, write_table

REPEATS, GOAL = 5, 4.0
DECLARED = {"nothing declared": (), "--clusters 5": ("--clusters", "5")}
ASKED = "asked"
# A question has come when there is a line; what follows is not part of the start.
LEAVER = f"import pathlib, sys\nif sys.stdin.readline(): pathlib.Path({ASKED!r}).touch()\n"


# An installed package has been compiled to bytecode, like pandas.
AS_INSTALLED = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}


def processor_time() -> float:
    """Seconds that all programs started and ended so far have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(action: Callable[[], float]) -> tuple[float, float]:
    """The seconds that an action reports, and the processor time of what it started."""
    before = processor_time()
    taken = action()
    return taken, processor_time() - before


def until_first_question(folder: Path, data: str, *declared: str) -> float:
    """Seconds from the start of the command to the first question, which a program receives."""
    asked, session = folder / ASKED, folder / "session.samecluster"
    asked.unlink(missing_ok=True)
    session.unlink(missing_ok=True)
    program = shlex.join([sys.executable, "-S", "-c", LEAVER])
    options = ["--id", "id", "--session", session.name, "--oracle-cmd", program, "--retries", "0"]
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "samecluster", "cluster", data, *options, *declared],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=AS_INSTALLED,
    )
    while not asked.exists() and process.poll() is None:
        time.sleep(0.005)
    taken = time.perf_counter() - start
    _, said = process.communicate()
    if not asked.exists():
        raise RuntimeError(f"no question came: {said.decode()}")
    return taken


def main() -> None:
    python = pandas_python()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "table.csv"
        write_table(path)
        until_first_question(folder, path.name)  # compiled to bytecode once
        pandas: list[tuple[float, float]] = []
        ours: dict[str, list[tuple[float, float]]] = {said: [] for said in DECLARED}
        for _ in range(REPEATS):  # alternating, so that all meet the same noise
            pandas.append(timed(partial(seconds, python, PANDAS, path)))
            for said, declared in DECLARED.items():
                start = partial(until_first_question, folder, path.name, *declared)
                ours[said].append(timed(start))
    for said, taken in ours.items():
        clock, processor = (
            min(one) / min(other)
            for one, other in zip(zip(*taken, strict=True), zip(*pandas, strict=True), strict=True)
        )
        print(
            f"from start to the first question, {said} / import pandas and read = {clock:.2f} "
            f"by the clock, {processor:.2f} in processor time (goal: at most {GOAL:g})"
        )


if __name__ == "__main__":
    main()
