"""What all of the data looks like: size, extremes, fingerprint; and the pass that finds them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from samecluster._resolution import column_range
from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.lifts.lift import ColumnMap
from samecluster.points.block_work import is_remote, over_blocks
from samecluster.points.protocol import Points


@dataclass(frozen=True, eq=False)
class Survey:
    """The size of the data and the smallest and largest number of each column.

    ``fingerprint`` is that of proofs, empty where none was asked for.
    """

    n: int
    low: FloatArray
    high: FloatArray
    fingerprint: str = ""

    @classmethod
    def of(cls, X: FloatArray) -> Survey:
        """A survey of data in memory (n, d)."""
        return cls(len(X), X.min(axis=0), X.max(axis=0))

    @property
    def extent(self) -> FloatArray:
        """The range of each column; finite, whatever the numbers are."""
        return column_range(self.low, self.high)


# Rows that `_reduced` takes as one: long enough for NumPy's inner loop, short enough for the cache.
# In 8 columns 64 and 256 are fastest, 16 and 1024 take twice as long, and 1 takes 16 times as long.
_ROWS_PER_LINE = 64


@dataclass(frozen=True, eq=False)
class _BlockSummary:
    """What one block looks like; ``first_non_finite`` is a row, a column and what is there."""

    low: FloatArray
    high: FloatArray
    rows: Array
    first_non_finite: tuple[int, int, float] | None
    whole: Array | None


@dataclass(frozen=True)
class _SurveyWork:
    """Summarise a block; ``take_all`` if it is hashed for a fingerprint, which needs it here."""

    take_all: bool

    def __call__(self, block: Array, wanted: IntArray) -> _BlockSummary:
        low, high = _reduced(np.minimum, block), _reduced(np.maximum, block)
        bad = None
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            row, column = (int(index) for index in np.argwhere(~np.isfinite(block))[0])
            bad = row, column, float(block[row, column])
        return _BlockSummary(low, high, block[wanted], bad, block if self.take_all else None)


def _reduced(extreme: np.ufunc, block: Array) -> FloatArray:
    """Extremes of the columns. Many rows are joined to one: NumPy is slow along short rows."""
    whole = len(block) - len(block) % _ROWS_PER_LINE
    if whole:
        lines = block[:whole].reshape(-1, _ROWS_PER_LINE * block.shape[1])
        first = extreme.reduce(lines, axis=0).reshape(_ROWS_PER_LINE, -1)
        block = np.concatenate([first, block[whole:]])
    return np.asarray(extreme.reduce(block, axis=0))


def surveyed(
    points: Points,
    rows: IntArray,
    size: int,
    with_fingerprint: bool,
    on_block: Callable[[int], None] = lambda _: None,
    threads: int = 1,
) -> tuple[Survey, FloatArray]:
    """One pass: the survey, and some rows (m, d) in the order asked for.

    Every number is checked. ``on_block`` is called with the number of rows done so far.
    """
    if with_fingerprint and is_remote(points):
        raise InvalidInputError(
            "a proof needs a fingerprint of all rows in order, which tasks on Dask cannot take; "
            "leave proof out, or recover the files on one machine"
        )
    order = np.argsort(rows, kind="stable")
    ranked = rows[order]
    found = np.empty((len(rows), points.d))
    low, high = np.full(points.d, np.inf), np.full(points.d, -np.inf)
    hashed = hashlib.sha256(repr((points.n, points.d)).encode())

    def wanted(begin: int, end: int) -> IntArray:
        return np.asarray(ranked[slice(*np.searchsorted(ranked, [begin, end]))] - begin)

    done = taken = 0
    for count, seen in over_blocks(points, _SurveyWork(with_fingerprint), wanted, size, threads):
        assert seen is not None
        if seen.first_non_finite is not None:
            raise _not_finite(points, done, *seen.first_non_finite)
        low, high = np.minimum(low, seen.low), np.maximum(high, seen.high)
        if seen.whole is not None:
            hashed.update(np.ascontiguousarray(seen.whole, dtype="<f8").data)
        found[order[taken : taken + len(seen.rows)]] = seen.rows
        taken += len(seen.rows)
        done += count
        on_block(done)
    points.check_unchanged()
    mark = hashed.hexdigest() if with_fingerprint else ""
    return Survey(points.n, low, high, mark), found


@dataclass(frozen=True, eq=False)
class _LiftWork:
    """The smallest and largest numbers of the lifted columns of a block."""

    lift: ColumnMap

    def __call__(self, block: Array, _: object) -> tuple[FloatArray, FloatArray]:
        lifted = self.lift.apply(block)
        return _reduced(np.minimum, lifted), _reduced(np.maximum, lifted)


def lifted_survey(
    points: Points, survey: Survey, lift: ColumnMap | None, size: int, threads: int = 1
) -> Survey:
    """The survey of lifted columns, by one more pass; the fingerprint stays that of the data."""
    if lift is None:
        return survey
    found = [
        seen
        for _, seen in over_blocks(points, _LiftWork(lift), lambda *_: True, size, threads)
        if seen is not None
    ]
    low = np.min([low for low, _ in found], axis=0)
    high = np.max([high for _, high in found], axis=0)
    return Survey(survey.n, low, high, survey.fingerprint)


def _not_finite(
    points: Points, before: int, row: int, column: int, value: float
) -> InvalidInputError:
    told = "; in blocks missing values are not filled in: write the data without them"
    return InvalidInputError(
        f"{points.place(before + row)}, column {points.column(column)} is {value}; "
        f"only finite numbers are allowed{told if np.isnan(value) else ''}"
    )
