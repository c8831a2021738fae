"""Ellipsoids, possibly flat: a centre, orthonormal axes and their lengths.

A flat ellipsoid (rank r below the dimension d) lives in its affine span, as in the paper's
section "Recovery of a single cluster": r takes the place of d everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """The points ``centre + axes @ (lengths * u)`` with ``|u| <= 1``.

    Parameters
    ----------
    centre : (d,) array
    axes : (d, r) array with orthonormal columns
    lengths : (r,) array of positive semi-axis lengths

    Examples
    --------
    >>> import numpy as np
    >>> flat = Ellipsoid(np.zeros(2), np.array([[1.0], [0.0]]), np.array([3.0]))
    >>> flat.rank, flat.contains(np.array([[2.0, 0.0], [4.0, 0.0], [0.0, 1.0]])).tolist()
    (1, [True, False, False])
    """

    centre: FloatArray
    axes: FloatArray
    lengths: FloatArray

    @property
    def dimension(self) -> int:
        return int(self.axes.shape[0])

    @property
    def rank(self) -> int:
        return int(self.axes.shape[1])

    @property
    def matrix(self) -> FloatArray:
        """W (d, d) with ``d_W(x, centre) <= 1`` inside; zero across the span of a flat one."""
        scaled = self.axes / self.lengths
        return scaled @ scaled.T

    def whiten(self, X: FloatArray) -> FloatArray:
        """Coordinates (n, r) along the axes in which the ellipsoid is the unit ball."""
        return (X - self.centre) @ (self.axes / self.lengths)

    def off_span(self, X: FloatArray) -> FloatArray:
        """How far each point (n, d) lies off the affine span, as the largest column difference."""
        if self.rank == self.dimension:
            return np.zeros(len(X))
        offsets = X - self.centre
        residual = offsets - (offsets @ self.axes) @ self.axes.T
        return np.asarray(np.abs(residual).max(axis=1, initial=0.0))

    def norms(self, X: FloatArray) -> FloatArray:
        """Distance (n,) from the centre within the span; 1 on the surface."""
        return np.asarray(np.linalg.norm(self.whiten(X), axis=1))

    def contains(self, X: FloatArray, *, off_span: float = 0.0, slack: float = 0.0) -> BoolArray:
        """Which points (n, d) lie inside, up to ``slack`` in norm and ``off_span`` across."""
        inside = self.norms(X) <= 1.0 + slack
        if self.rank < self.dimension:
            inside &= self.off_span(X) <= off_span
        return inside

    def scaled(self, factor: float) -> Ellipsoid:
        """The same centre and axes, with lengths multiplied by ``factor``."""
        return Ellipsoid(self.centre, self.axes, self.lengths * factor)
