"""``python -m tests.mutants``: put one fault after the other into the source, and run the tests.

Prints for each fault the first test that fails, or that it SURVIVED. The source itself is not
touched: the tests see a copy.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.applying import ROOT, copy_with, place_of
from tests.mutants.faults import FAULTS, Fault

_PASSED, _FAILED, _INTERRUPTED = 0, 1, 2  # exit codes of pytest; others say that it did not run
_NO_END = "no end"
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Bench:
    """A folder to work in, and how tests are run there."""

    folder: Path
    workers: int
    minutes: float

    def noticed(self, fault: Fault, tests: Sequence[str]) -> str | None:
        """The first test that fails with the fault, and fails again by itself; None if none does.

        On a busy machine tests that wait for something may fail whatever the source is.
        """
        passed_over: list[str] = []
        while True:
            found = self.first_failure(fault, [*tests, *passed_over])
            if found is None or found.startswith(_NO_END):
                return found
            if self.first_failure(fault, [found]):
                return found
            passed_over += ["--deselect", found]

    def first_failure(self, fault: Fault | None, tests: Sequence[str]) -> str | None:
        """The first test that fails on a copy of the source with the fault; None if all pass."""
        copy = self.folder / "src"
        compiled = copy_with(fault, copy)
        # A compiled function that calls a changed one is not compiled anew by itself.
        cache = self.folder / (f"numba-{fault.name}" if fault and compiled else "numba")
        path = os.pathsep.join([str(copy), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {
            **os.environ,
            **dict.fromkeys(_ONE_THREAD, "1"),
            "PYTHONPATH": path,
            "NUMBA_CACHE_DIR": str(cache),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-rfE", "--tb=no"]
        command += ["-p", "no:cacheprovider", *(["-n", str(self.workers)] if self.workers else [])]
        # Doctests are those of the copy.
        command += [str(copy) if test == "src" else test for test in tests]
        return self._run(command, environment)

    def _run(self, command: Sequence[str], environment: dict[str, str]) -> str | None:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=60 * self.minutes)
        except subprocess.TimeoutExpired:
            return f"{_NO_END} within {self.minutes:g} minutes"
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        if process.returncode == _PASSED:
            return None
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
        if process.returncode not in (_FAILED, _INTERRUPTED) or failed is None:
            raise RuntimeError(f"the tests did not run: {shlex.join(command)}\n{output[-3000:]}")
        return failed[1]


def tried(bench: Bench, fault: Fault, *, all_tests: bool) -> str | None:
    """The first test that notices a fault: of those likely to, then of all; None if none does."""
    found = bench.noticed(fault, shlex.split(fault.tests))
    if found is None and all_tests:
        found = bench.noticed(fault, ["tests", "src"])
    return found


def control(bench: Bench) -> int:
    """Whether all tests that faults name pass without one, as an exit code."""
    failed = 0
    for tests in dict.fromkeys(fault.tests for fault in FAULTS):
        found = bench.first_failure(None, shlex.split(tests))
        print(f"{tests}: {'passes' if found is None else 'FAILS at ' + found}", flush=True)
        failed += found is not None
    print(f"{failed} fail without a fault")
    return int(failed > 0)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these faults only")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--all-tests", action="store_true", help="all tests for what the likely ones do not notice"
    )
    which.add_argument(
        "--quick-first-only", action="store_true", help="the likely tests only (the default)"
    )
    parser.add_argument("--control", action="store_true", help="the likely tests without a fault")
    parser.add_argument("--floor", type=int, default=38, help="fewer caught is a failure")
    parser.add_argument("--workers", type=int, default=0, help="processes of pytest; 0 for one")
    parser.add_argument("--minutes", type=float, default=60.0, help="tests that take longer fail")
    options = parser.parse_args(arguments)
    unknown = set(options.only or ()) - {fault.name for fault in FAULTS}
    if unknown:
        parser.error(f"there is no fault {', '.join(sorted(unknown))}")
    chosen = [fault for fault in FAULTS if not options.only or fault.name in options.only]
    for fault in chosen:
        place_of(fault)  # all that cannot be applied are known before the first takes minutes
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        bench = Bench(Path(folder), options.workers, options.minutes)
        if options.control:
            return control(bench)
        n_caught = 0
        for fault in chosen:
            begin = time.monotonic()
            found = tried(bench, fault, all_tests=options.all_tests)
            n_caught += found is not None
            outcome = "SURVIVED" if found is None else f"caught by {found}"
            print(f"{fault.name}: {outcome} ({time.monotonic() - begin:.0f} s)", flush=True)
    print(f"caught {n_caught} of {len(chosen)}")
    # Of a part of the faults, as many may be missed as of all.
    return int(len(chosen) - n_caught > len(FAULTS) - options.floor)


if __name__ == "__main__":
    sys.exit(main())
