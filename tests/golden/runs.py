"""Golden runs: what every door, method and family does today, to compare a changed program with.

    python -m tests.golden.runs --check [-j 2] [NAME ...]    compare with runs.json
    python -m tests.golden.runs --write [-j 2]               write it

Whoever means to change no behaviour finds every line unchanged; whoever changes some writes the
file anew and says why. Only public names are used, so that modules may move.

Outcomes are those of the compiled kernel and of one thread of BLAS. The first run, "arithmetic",
tells whether this machine computes as the one did where the file was made: if not, for another
processor or other versions of NumPy and SciPy, choices between equals may fall otherwise. Write the
file before the change then, and compare after it.
"""

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.golden.cases import RUNS
from tests.golden.outcomes import Outcome

FILE = Path(__file__).with_name("runs.json")


def expected() -> dict[str, Outcome]:
    """The outcomes in the file, by the names of the runs."""
    read: dict[str, Outcome] = json.loads(FILE.read_text())
    return read


def computed(names: Iterable[str], processes: int = 1) -> Iterator[tuple[str, Outcome, float]]:
    """The outcome of each run, and the seconds of processor time that it took."""
    if processes == 1:
        yield from map(_timed, names)
        return
    # Fresh interpreters: what one run leaves in memory must not matter to another.
    spawning = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=spawning) as pool:
        yield from pool.map(_timed, names)


def differences(name: str, outcome: Outcome, golden: dict[str, Outcome]) -> list[str]:
    """What is not as it was, a line for each field."""
    if name not in golden:
        return [f"{name}: not in {FILE.name}"]
    before = golden[name]
    return [
        f"{name}: {field} was {before.get(field)!r}, is {outcome.get(field)!r}"
        for field in sorted({*before, *outcome})
        if before.get(field) != outcome.get(field)
    ]


def write(outcomes: dict[str, Outcome]) -> None:
    """The file anew, a line for each run."""
    lines = [f"{json.dumps(name)}: {json.dumps(outcomes[name])}" for name in sorted(outcomes)]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main() -> None:
    given = _arguments()
    if unknown := set(given.names) - set(RUNS):
        sys.exit(f"no such run: {', '.join(sorted(unknown))}")
    names = given.names or sorted(RUNS)
    golden = {} if given.write else expected()
    outcomes: dict[str, Outcome] = {}
    found: list[str] = []
    seconds = 0.0
    for name, outcome, took in computed(names, given.j):
        outcomes[name] = outcome
        seconds += took
        if given.times:
            print(f"{took:7.2f} s  {name}")
        if given.check:
            found += differences(name, outcome, golden)
    print(f"{len(outcomes)} runs, {seconds:.0f} seconds of processor time")
    if given.write:
        write(outcomes)
        return
    if not given.names:
        found += [f"{name}: there is no such run any more" for name in set(golden) - set(RUNS)]
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


def _timed(name: str) -> tuple[str, Outcome, float]:
    begin = time.process_time()
    outcome = RUNS[name].outcome()
    # As it is read from the file: tuples are lists there.
    return name, json.loads(json.dumps(outcome)), time.process_time() - begin


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.golden.runs")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="compare with the file")
    action.add_argument("--write", action="store_true", help="write the file anew")
    parser.add_argument("--times", action="store_true", help="print what each run takes")
    parser.add_argument("-j", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("names", nargs="*", help="only these runs; with --check")
    given = parser.parse_args()
    if given.write and given.names:
        parser.error("--write is about all runs")
    return given


if __name__ == "__main__":
    main()
