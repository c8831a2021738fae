"""``python -m tests.project.wheel``: tests against the built wheel, as users install it.

Without extras and without the source beside it, in environments of their own: every Python from
3.11 on that is at hand with the versions of requirements-dev.txt, and the oldest of these Pythons
with the lowest versions that pyproject.toml allows.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
OLDEST, NEWEST = 11, 20  # minor versions that are looked for
SELECTION = (
    "tests/project/test_installed.py",
    "tests/questions/test_ledger.py",
    "tests/questions/test_run.py",
    "tests/proof/test_checker.py",
    "tests/oracles/test_oracles.py",
    "tests/sessions/test_golden_sessions.py",
    "tests/testing/test_store_suite.py",
    "tests/test_estimator.py",
)
_LEFT_OUT = ("PYTHONPATH", "SAMECLUSTER_TESTS")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def lowest_versions() -> list[str]:
    """Constraints that pin each dependency to its lower bound."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    bounds = [re.fullmatch(r"([\w-]+)>=([\d.]+)", one) for one in project["dependencies"]]
    assert all(bounds), project["dependencies"]
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def pythons() -> dict[int, str]:
    """Python 3.11 and newer by minor version: on the search path, or installed by pyenv."""
    found = {}
    for minor in range(OLDEST, NEWEST):
        for candidate in _candidates(minor):
            code = f"import sys, venv, ensurepip; assert sys.version_info[:2] == (3, {minor})"
            if subprocess.run([candidate, "-c", code], capture_output=True).returncode == 0:
                found[minor] = candidate
                break
    return found


def _candidates(minor: int) -> Iterator[str]:
    name = f"python3.{minor}"
    if sys.version_info.minor == minor:
        yield sys.executable
    if (path := shutil.which(name)) is not None:
        yield path
    # A shim of pyenv runs only the version that is chosen; the others are in folders of their own.
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for folder in sorted(home.glob(f"versions/3.{minor}.*"), reverse=True):
        if (folder / "bin" / name).is_file():
            yield str(folder / "bin" / name)


@dataclass(frozen=True)
class Environment:
    """A Python, and the versions that it gets."""

    name: str
    python: str
    constraints: Path

    def test(self, wheel: Path, source: Path, folder: Path) -> str | None:
        """What went wrong, or None."""
        place = folder / self.name
        tests = place / "tests_only"
        shutil.copytree(source / "tests", tests / "tests")
        (tests / "pytest.ini").write_text("[pytest]\n")
        settings = {key: value for key, value in os.environ.items() if key not in _LEFT_OUT}
        settings |= {**dict.fromkeys(_ONE_THREAD, "1"), "SAMECLUSTER_INSTALLED": str(place)}
        python = str(place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
        # The pip of this environment serves them all, and only what tests import is compiled.
        quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
        pip = (sys.executable, "-m", "pip", "--python", python, "install", *quiet)
        pytest = (python, "-m", "pytest", "-q", "--import-mode=importlib", "-p", "no:cacheprovider")
        for command in (
            (self.python, "-m", "venv", "--without-pip", str(place / "env")),
            (*pip, "--only-binary", ":all:", "-c", str(self.constraints), str(wheel)),
            (*pip, "-c", str(ROOT / "requirements-dev.txt"), "pytest", "hypothesis"),
            (*pytest, *SELECTION),
        ):
            done = subprocess.run(command, cwd=tests, env=settings, capture_output=True, text=True)
            if done.returncode:
                return f"{' '.join(command[:6])} …\n{done.stdout}{done.stderr}"
        return None


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel, and the source distribution unpacked."""
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,), (packed,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        archive.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    return wheel, source


def environments(folder: Path, *, only_this: bool = False) -> list[Environment]:
    found = {sys.version_info.minor: sys.executable} if only_this else pythons()
    pinned = ROOT / "requirements-dev.txt"
    made = [Environment(f"3.{minor}", python, pinned) for minor, python in found.items()]
    if not only_this:
        lowest = folder / "lowest.txt"
        lowest.write_text("\n".join(lowest_versions()) + "\n")
        oldest = min(found)
        made.append(Environment(f"3.{oldest}-lowest", found[oldest], lowest))
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.project.wheel", description=__doc__)
    parser.add_argument("--only-this", action="store_true", help="only the Python that runs this")
    options = parser.parse_args(arguments)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, source = build(folder)

        def tested(one: Environment) -> tuple[Environment, str | None, float]:
            begin = time.monotonic()
            return one, one.test(wheel, source, folder), time.monotonic() - begin

        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            for one, trouble, seconds in pool.map(
                tested, environments(folder, only_this=options.only_this)
            ):
                outcome = "passes" if trouble is None else f"FAILS\n{trouble}"
                print(f"the wheel on {one.name} ({seconds:.0f} s): {outcome}", flush=True)
                failed += trouble is not None
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
