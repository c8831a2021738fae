"""The resolution of data: for each column a length below which differences carry no meaning.

A declared margin is one at this resolution (theory, section 3): no boundary of a cluster is sharper
than τ_j along column j. A few extreme values must not move it, so it is measured by the column's
*spread* s, the 10 % quantile of the distances from the median that are not 0, and not by its range.
The checker of proofs computes the spread itself, with code of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import FloatArray, IntArray

FAR = 2.0**20
"""Times the spread: values this far from the median are called far.

Doubles have 53 bits: beyond it, sums of a far value and a usual one have lost what the resolution
keeps of the usual one. Of the data of the documentation and of the benchmarks no column comes near.
"""

# Of the spread, which is about a hundredth to a tenth of the range. 2⁻³⁰ no longer covers the
# rounding of a plane in 8 columns: one question more on two of three instances.
_FINEST, _COARSEST = 2.0**-26, 2.0**-20
_STORED = 4  # spacings of floats at the size of the values: what a few operations round by
_UNSEEN = 2.0**-100  # of the range, where a sample shows one value of a column that has others
_QUANTILE = 10  # the least tenth of the distances
_MOST_ROWS = 2**17  # looked at; more would not change a quantile noticeably
_LISTED = 3  # rows named in a sentence before it gets too long
_LARGEST = np.finfo(np.float64).max


def column_range(low: FloatArray, high: FloatArray) -> FloatArray:
    """Largest less smallest value of each column; finite, whatever they are."""
    with np.errstate(over="ignore"):
        return np.minimum(high - low, _LARGEST)


def column_spread(X: FloatArray) -> FloatArray:
    """The spread s (d,) of each column of X (n, d); 0 where all values are the same.

    >>> column_spread(np.array([[0.0, 7.0], [1.0, 7.0], [2.0, 7.0], [1e300, 7.0]]))
    array([1., 0.])
    """
    rows = _rows_looked_at(X)
    found = np.array([_spread(X[rows, j]) for j in range(X.shape[1])])
    if not isinstance(rows, slice):
        for j in np.flatnonzero(found == 0.0):  # values that only few rows have
            found[j] = _spread(X[:, j])
    return found


def _rows_looked_at(X: FloatArray) -> IntArray | slice:
    if len(X) <= _MOST_ROWS:
        return slice(None)
    return np.sort(np.random.default_rng(0).choice(len(X), _MOST_ROWS, replace=False))


def _spread(column: FloatArray) -> float:
    away = _distances(column)
    away = away[away > 0.0]
    if not len(away):
        return 0.0
    tenth = (len(away) - 1) // _QUANTILE
    return float(np.partition(away, tenth)[tenth])


def _distances(column: FloatArray) -> FloatArray:
    """How far each value is from the median; finite, whatever they are."""
    with np.errstate(over="ignore"):
        return np.minimum(np.abs(column - _median(column)), _LARGEST)


def _median(column: FloatArray) -> float:
    """The lower median: a value that occurs, so that distances of 0 are those of ties."""
    middle = (len(column) - 1) // 2
    return float(np.partition(column, middle)[middle])


def resolution_of(
    X: FloatArray, share: float | None = None, extent: FloatArray | None = None
) -> FloatArray:
    """τ (d,) of each column of X (n, d), or of data with ranges ``extent`` that X is a sample of.

    Without a ``share`` of the spread it is 2⁻²⁶ of it, and up to 2⁻²⁰ where values far from 0 are
    stored no better: four spacings of floats at their median size. Where a column has one value
    only, all weights of τ are 0, and any length will do.

    >>> resolution_of(np.array([[0.0], [1.0], [2.0], [1e300]])) == 2.0**-26
    array([ True])
    """
    spread = column_spread(X)
    if share is not None:
        tau = share * spread
    else:
        rows = _rows_looked_at(X)
        size = np.array([_median(np.abs(X[rows, j])) for j in range(X.shape[1])])
        stored = _STORED * np.spacing(np.minimum(size, _LARGEST / 2))
        tau = np.clip(stored, _FINEST * spread, _COARSEST * spread)
    for j in np.flatnonzero(spread == 0.0):
        value = abs(float(X[0, j]))
        if extent is None or not extent[j] > 0.0:
            tau[j] = _FINEST * (value or 1.0)
        else:  # rows that the sample does not have differ from it by half a spacing at least
            tau[j] = _FINEST * np.spacing(value) if value else _UNSEEN * extent[j]
    return np.asarray(tau)


def usual_range(
    X: FloatArray, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, FloatArray] | None:
    """The range of the values that are not far, None if none is far; ``low`` and ``high`` are that
    of all values, of X (n, d) or of data that X is a sample of."""
    spread = column_spread(X)
    far = (spread > 0.0) & (column_range(low, high) / FAR > spread)
    if not far.any():
        return None
    low, high = low.copy(), high.copy()
    for j in np.flatnonzero(far):
        usual = X[_distances(X[:, j]) <= FAR * spread[j] / 2, j]
        low[j], high[j] = usual.min(), usual.max()
    return low, high


def without_far_values(X: FloatArray) -> FloatArray:
    """X (n, d) with far values moved to as far beyond the others as these range."""
    usual = usual_range(X, X.min(axis=0), X.max(axis=0))
    if usual is None:
        return X
    low, high = usual
    width = column_range(low, high)
    with np.errstate(over="ignore"):
        return np.clip(X, low - width, high + width)


@dataclass(frozen=True, eq=False)
class FarValues:
    """Values of one column that are far from all others.

    ``rows`` (m,) have them, ``example`` is the first of them, ``spread`` that of the column.
    """

    column: int
    rows: IntArray
    example: float
    spread: float

    def said(self, column: str, rows: str = "") -> str:
        """A sentence that names the column and the rows, as they are called."""
        listed = ", ".join(map(str, self.rows[:_LISTED].tolist()))
        more = f" and {len(self.rows) - _LISTED:,} more" if len(self.rows) > _LISTED else ""
        rows = rows or f"row{'s' * (len(self.rows) > 1)} {listed}{more}"
        return (
            f"Column {column} is far beyond its other values in {rows}: {self.example:g}, where "
            f"others differ by about {self.spread:.2g}. If that stands for something unknown, "
            "leave these rows out; a measured value may need another scale, such as its logarithm."
        )


def far_values(X: FloatArray) -> tuple[FarValues, ...]:
    """The columns of X (n, d) whose range is far beyond their spread, and the rows behind it.

    >>> (found,) = far_values(np.array([[0.0], [1.0], [2.0], [1e12]]))
    >>> print(found.said("'age'"))
    Column 'age' is far beyond its other values in row 3: 1e+12, where others differ by about 1. \
If that stands for something unknown, leave these rows out; a measured value may need another \
scale, such as its logarithm.
    """
    spread, found = column_spread(X), []
    extent = column_range(X.min(axis=0), X.max(axis=0))
    for j in np.flatnonzero((spread > 0.0) & (extent / FAR > spread)):
        rows = np.flatnonzero(_distances(X[:, j]) > FAR * spread[j] / 2)
        found.append(FarValues(int(j), rows, float(X[rows[0], j]), float(spread[j])))
    return tuple(found)
