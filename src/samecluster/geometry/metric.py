"""A cluster's own distance d_W(x, c), and the margin that it shows in exact arithmetic.

`samecluster.geometry.margin` looks for a distance by semidefinite programming; here one is given,
so any dimension will do. Floats are rationals: on integers with a common power of two as unit
nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.exact import as_integers


@dataclass(frozen=True, eq=False)
class LatentMetric:
    """d_W(x, c) = |A(x − c)| with W = AᵀA: positive semidefinite whatever the floats in A are.

    Parameters
    ----------
    factor : (r, d) array A
    centre : (d,) array c

    Examples
    --------
    >>> metric = LatentMetric(np.diag([0.5, 1.0]), np.zeros(2))
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    >>> members = np.array([True, True, False])
    >>> metric.has_margin(X, members, 2.9), metric.has_margin(X, members, 3.0)
    (True, False)
    """

    factor: FloatArray
    centre: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """W = AᵀA (d, d), rounded: an exact check must use the factor."""
        return np.asarray(self.factor.T @ self.factor)

    def has_margin(self, X: FloatArray, members: BoolArray, margin: float | Fraction) -> bool:
        """Whether d_W(y,c)² > (1+γ)·d_W(x,c)² for all members x and other rows y, exactly.

        The inequality is strict, as in the paper's definition of the margin.
        """
        if members.shape != (len(X),) or members.dtype.kind != "b" or not members.any():
            raise InvalidInputError(f"members must be {len(X)} booleans, one or more of them True")
        if members.all():
            return True
        squares = self._squares(X)
        gamma = Fraction(margin)
        nearest, farthest = squares[~members].min(), squares[members].max()
        return bool(nearest * gamma.denominator > farthest * (gamma.denominator + gamma.numerator))

    def _squares(self, X: FloatArray) -> Array:
        """d_W(x,c)² of each row as an integer, all in one unit."""
        both = as_integers(np.vstack([X, self.centre]))
        offsets = both[:-1] - both[-1]
        total = np.zeros(len(X), dtype=object)
        for row in as_integers(self.factor):
            used = np.flatnonzero(row)  # one only, in a diagonal factor of many columns
            if len(used):
                total = total + (offsets[:, used] @ row[used]) ** 2
        return total
