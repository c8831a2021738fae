"""Data in memory: validation, and the scaling that geometry works in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError


def validated(X: Any) -> FloatArray:
    """X as a (n, d) float array with n ≥ 2, d ≥ 1 and only finite numbers; X itself if it is one.

    Raises InvalidInputError that names the row and column at fault.
    """
    columns = getattr(X, "columns", None)
    array = np.asarray(X)
    if array.ndim != 2:
        raise InvalidInputError(
            f"X must have two dimensions (rows are points), got shape {array.shape}"
        )
    if array.shape[0] == 0 or array.shape[1] == 0:
        raise InvalidInputError(f"X is empty: its shape is {array.shape}")
    if array.shape[0] == 1:
        raise InvalidInputError("X has only one point (n_samples=1); at least 2 are needed")
    numbers = _as_floats(array, columns)
    # What is not finite shows in the extremes, without a mask as large as the data.
    if not (np.isfinite(numbers.min()) and np.isfinite(numbers.max())):
        bad = np.argwhere(~np.isfinite(numbers))
        row, column = (int(index) for index in bad[0])
        more = f" ({len(bad)} such entries in all)" if len(bad) > 1 else ""
        raise InvalidInputError(
            f"X has {numbers[row, column]} at row {row}, column {_name(columns, column)}; "
            f"only finite numbers are allowed{more}{_advice(numbers[row, column])}"
        )
    return np.ascontiguousarray(numbers)


def _as_floats(array: np.ndarray[Any, Any], columns: Any) -> FloatArray:
    if array.dtype.kind in "fiub":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind == "c":
        raise InvalidInputError("X holds complex numbers; only real numbers are allowed")
    for column in range(array.shape[1]):
        for row in range(array.shape[0]):
            try:
                float(array[row, column])
            except (TypeError, ValueError):
                value = array[row, column]
                value = value.item() if isinstance(value, np.generic) else value
                raise InvalidInputError(
                    f"X has {value!r} at row {row}, column "
                    f"{_name(columns, column)}; only numbers are allowed"
                ) from None
    return array.astype(np.float64)


def _advice(value: float) -> str:
    if not np.isnan(value):
        return ""
    return (
        "; missing values are filled in or left out by samecluster.tables: Preparation.fit(table, "
        "FeatureOptions(missing='median')), or missing='drop'"
    )


def _name(columns: Any, column: int) -> str:
    return repr(columns[column]) if columns is not None else str(column)


@dataclass(frozen=True, eq=False)
class UnitScaling:
    """A move and a scaling by powers of two, column by column; clusters and margins do not change.

    It can be kept and applied to points that come later.
    """

    middle: FloatArray
    exponent: IntArray

    @classmethod
    def of(cls, X: FloatArray) -> UnitScaling:
        """The scaling that brings each column of X (n, d) to about unit range around zero."""
        low, high = X.min(axis=0), X.max(axis=0)
        middle = low / 2.0 + high / 2.0
        half_range = high / 2.0 - low / 2.0
        return cls(middle, np.where(half_range > 0, np.frexp(half_range)[1] + 1, 0))

    def apply(self, X: FloatArray) -> FloatArray:
        return np.asarray(np.ldexp(X - self.middle, -self.exponent))


def unit_scaled(X: FloatArray) -> FloatArray:
    """X (n, d) moved to the middle of each column and scaled by powers of two to about unit range.

    Clusters and margins do not change under this; numbers of any size become harmless.
    """
    return UnitScaling.of(X).apply(X)
