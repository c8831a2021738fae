"""Exact arithmetic on floats: a finite float is an integer times a power of two.

What must be right for certificates and for margins of given metrics.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array, FloatArray
from samecluster.errors import InvalidInputError

_MANTISSA_BITS = 53


def as_integers(values: FloatArray) -> Array:
    """The values times one power of two that makes all of them integers, as Python's own.

    >>> [number // 2**52 for number in as_integers(np.array([0.5, -3.0, 0.0]))]
    [1, -6, 0]
    """
    if not np.isfinite(values).all():
        raise InvalidInputError("exact arithmetic needs finite numbers")
    mantissa, exponent = np.frexp(values)
    whole = np.ldexp(mantissa, _MANTISSA_BITS).astype(np.int64).astype(object)
    lowest = exponent.min(where=mantissa != 0, initial=np.iinfo(exponent.dtype).max)
    return np.asarray(whole << np.where(mantissa == 0, 0, exponent - lowest).astype(object))


def is_psd(matrix: list[list[int]]) -> bool:
    """Whether a symmetric matrix is positive semidefinite; what it holds is overwritten.

    Elimination without fractions (Bareiss): pivots are minors, and all divisions are exact.
    """
    size, before = len(matrix), 1
    for k, row in enumerate(matrix):
        pivot = row[k]
        if pivot < 0 or (pivot == 0 and any(row[k:])):
            return False
        if pivot == 0:
            continue
        for i in range(k + 1, size):
            factor, lower = row[i], matrix[i]
            for j in range(i, size):
                lower[j] = (lower[j] * pivot - factor * row[j]) // before
        before = pivot
    return True
