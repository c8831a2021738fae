"""Run all tools on all instances, two at a time, print the tables and write `results.md`.

``python -m benchmarks.peers [--seed 0] [--only TOOL or INSTANCE ...]``; with ``--only`` nothing is
written.
"""

from __future__ import annotations

import argparse
import datetime
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import product
from pathlib import Path

from benchmarks.peers.course import Course, read_course
from benchmarks.peers.instances import INSTANCES
from benchmarks.peers.report import report
from benchmarks.peers.tools import TOOLS

RESULTS = Path(__file__).with_name("results.md")
SIDE_BY_SIDE = 2


def run(tool: str, instance: str, seed: int) -> Course:
    """One run in a process of its own; what it had found is kept if it is cut off."""
    command = [sys.executable, "-m", "benchmarks.peers.one_run", tool, instance, str(seed)]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaints:
        code = subprocess.run(command, stdout=out, stderr=complaints, check=False).returncode
        out.seek(0)
        course = read_course(out)
        if code not in (0, -signal.SIGXCPU):
            complaints.seek(0)
            last = complaints.read().strip().splitlines()[-1:]
            course.failure = last[0] if last else f"exit code {code}"
    return course


def chosen(only: list[str]) -> list[tuple[str, str]]:
    """Pairs of tool and instance; instances first, so that slow tools are spread out."""
    tools = [tool for tool in TOOLS if tool in only] or list(TOOLS)
    instances = [name for name in INSTANCES if name in only] or list(INSTANCES)
    return [(tool, instance) for instance, tool in product(instances, tools)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", default=[], choices=[*TOOLS, *INSTANCES])
    options = parser.parse_args()
    pairs = chosen(options.only)
    courses: dict[tuple[str, str], Course] = {}
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        running = {pool.submit(run, *pair, options.seed): pair for pair in pairs}
        for done in as_completed(running):
            tool, instance = running[done]
            course = courses[tool, instance] = done.result()
            print(
                f"{len(courses)}/{len(pairs)} {instance}, {tool}: {course.asked:,} questions, "
                f"{course.seconds:.1f} s, {course.failure or course.ended or 'cut off'}",
                flush=True,
            )
    page = report(courses, datetime.date.today().isoformat(), options.seed)
    print(page)
    if not options.only:
        RESULTS.write_text(page)


if __name__ == "__main__":
    main()
