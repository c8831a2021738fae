"""Where a fault goes, and a copy of the source that has it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests.mutants.faults import Fault

ROOT = Path(__file__).resolve().parents[2]


def place_of(fault: Fault, package: Path = ROOT / "src" / "samecluster") -> Path:
    """The one file that has the fault's old text; ValueError if none or more than one place has."""
    found = [
        (path, count)
        for path in sorted(package.rglob("*.py"))
        if (count := path.read_text("utf-8").count(fault.old))
    ]
    if not found:
        raise ValueError(f"{fault.name}: its old text is nowhere in {package}")
    if sum(count for _, count in found) > 1:
        places = ", ".join(f"{path.relative_to(package)} ({count})" for path, count in found)
        raise ValueError(f"{fault.name}: its old text is there more than once: {places}")
    return found[0][0]


def copy_with(fault: Fault | None, copy: Path) -> bool:
    """Make ``copy`` a fresh copy of src with the fault in it; whether that is in compiled code.

    Times of files are kept: what numba has compiled of unchanged files is found again.
    """
    if copy.exists():
        shutil.rmtree(copy)
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    if fault is None:
        return False
    path = place_of(fault, copy / "samecluster")
    text, before = path.read_text("utf-8"), path.stat()
    path.write_text(text.replace(fault.old, fault.new), "utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    return "njit" in text
