"""Whitening: coordinates in which a cluster is about round, and how exact they are in floats."""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach.checks import whitening_noise

_LEAST_VARIANCE = 1e-60  # of a column measured by its largest entry: far below what occurs
_FIRST_BUMP = 1e-15  # on the diagonal of a correlation matrix: about its rounding


class Whitening:
    """Coordinates z = (x - centre) T, in which a cluster has the ``mean`` (d,).

    No point of the data is farther from the centre than ``box`` (d,). Where some are far beyond
    all others, these are within ``near``: their coordinates are known better. ``noise`` (D,) bounds
    the error of all columns, and of points that are near.
    """

    def __init__(self, centre: Array, tau: Array, box: Array, near: Array | None) -> None:
        self.centre, self.near = centre, near
        self._whole_box = np.maximum(box, tau)
        self._near_box = self._whole_box if near is None else np.maximum(near, tau)

    def fit(self, members: Array, thickness: Array) -> None:
        """Choose T so that members (m, d) have covariance 1/(d + 2).

        A ball filled uniformly then has radius 1, whatever d. T is triangular. The thickness (d,)
        keeps it finite while few members are known.
        """
        offsets = members - self.centre
        # By powers of two, so that no square overflows or underflows.
        unit = np.exp2(np.frexp(np.maximum(np.abs(offsets).max(axis=0), thickness))[1])
        offsets, tau = offsets / unit, thickness / unit
        spread = offsets.T @ offsets / len(offsets) + np.diag(tau**2)
        mean = offsets.mean(axis=0)
        spread -= np.outer(mean, mean)
        scale = np.sqrt(np.maximum(np.diag(spread), np.maximum(tau**2, _LEAST_VARIANCE)))
        lower = _cholesky(spread / np.outer(scale, scale) + np.diag((tau / scale) ** 2))
        self.T = np.tril(np.linalg.inv(lower)).T / (scale * unit)[:, None] / np.sqrt(len(tau) + 2)
        self.mean = (mean * unit) @ self.T
        self.mean32 = self.mean.astype(np.float32)
        self._noise_box = self._near_box
        self.noise = whitening_noise(self._noise_box, self.T)

    @property
    def shift(self) -> Array:
        """What to take from x T for the place relative to the mean."""
        return np.asarray(self.centre @ self.T + self.mean)

    def cover(self, points: Array) -> None:
        """Points (p, d) become columns: the noise bounds their error, too."""
        if self.near is not None:
            sizes = np.abs(points - self.centre).max(axis=0)
            self._noise_box = np.maximum(self._noise_box, sizes)
            self.noise = whitening_noise(self._noise_box, self.T)

    def lift(self, points: Array) -> Array:
        """Whitened coordinates (p, D) of points (p, d), with a last column of ones."""
        return self.lift_offsets(points - self.centre, np.empty((len(points), len(self.T) + 1)))

    def lift32(self, points: Array) -> Array:
        """The same in single precision."""
        return self.lift(points).astype(np.float32)

    def lift_offsets(self, offsets: Array, out: Array) -> Array:
        """Those of points less the centre, written to ``out``."""
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(offsets, self.T, out=out[:, :-1])
        out[:, -1] = 1.0
        return out

    def from_mean(self, points: Array) -> Array:
        """How far points (p, d) are from the mean in whitened coordinates, (p, d)."""
        return np.asarray(self.lift(points)[:, :-1] - self.mean)

    def lift_axes(self, lengths: Array) -> Array:
        """Steps (d, D) of these lengths (d,) along the axes; their last column is zero."""
        out = np.zeros((len(lengths), len(lengths) + 1))
        out[:, :-1] = self.T * lengths[:, None]
        return out

    def noise_of(self, *points: Array) -> Array:
        """The noise (1, D) of all columns and points, or (p, D) of each if some points are far."""
        if self.near is None:
            return np.atleast_2d(self.noise)
        far = np.zeros(1, np.bool_)
        for x in points:
            far = far | (np.abs(x - self.centre) > self.near).any(axis=1)
        return np.where(far[:, None], whitening_noise(self._whole_box, self.T), self.noise)


def _cholesky(matrix: Array) -> Array:
    """Cholesky with a floor under the diagonal: a correlation that is singular in floats."""
    bump = _FIRST_BUMP
    while True:
        try:
            return np.linalg.cholesky(matrix + bump * np.eye(len(matrix)))
        except np.linalg.LinAlgError:
            bump *= 10.0
