"""Groups as ellipsoidal clouds: one Gaussian per group, its covariance held near the common one.

The second opinion in prediction, and the better one where clusters are large and ellipsoidal. Also
here: where a cloud ends, which decides what lies beyond all of them. (The guide of certify fits its
clouds without labels, `samecluster.recovery.certify.guide`.)
"""

from __future__ import annotations

import copy

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray

_ROUNDNESS = 0.02  # share of a sphere in the common covariance: flat data must stay invertible
_TRIMMED = 0.02  # twice the 1 % background of benchmarks/imperfect
_FULL_ENOUGH = 4.0  # members per direction from which on a quantile of distances means something
_SHAPED = 4  # members per direction from which on the farthest one is near the group's edge


class Clouds:
    """A mean and a covariance for each group of points (n, r), and how well points suit them.

    A group's covariance counts as many pseudo-points of the common covariance as there are
    directions, twice over: small groups borrow their shape. The farthest fiftieth of a large group
    is left out of its mean and covariance.
    """

    def __init__(self, points: FloatArray, groups: IntArray, n_groups: int) -> None:
        self.points, self.groups = points, groups
        n, r = points.shape
        self.inside = np.ones(n, dtype=np.bool_)
        self.borrowed = 2.0 * (r + 2)
        self._fit(n_groups)
        self._trim()
        self._fit(n_groups)

    def _fit(self, n_groups: int) -> None:
        r = self.points.shape[1]
        self.sizes = np.bincount(self.groups[self.inside], minlength=n_groups)
        self.means = np.zeros((n_groups, r))
        scatters = np.zeros((n_groups, r, r))
        for group in np.flatnonzero(self.sizes):
            members = self.points[self.inside & (self.groups == group)]
            self.means[group] = members.mean(axis=0)
            offsets = members - self.means[group]
            scatters[group] = offsets.T @ offsets
        common = scatters.sum(axis=0) / max(int(self.sizes.sum()) - n_groups, 1)
        sphere = max(float(np.trace(common)) / r, 1e-12) * np.eye(r)
        self.common = (1.0 - _ROUNDNESS) * common + _ROUNDNESS * sphere
        weights = self.sizes + self.borrowed
        covariances = (scatters + self.borrowed * self.common) / weights[:, None, None]
        self._factors = np.linalg.inv(np.linalg.cholesky(covariances))
        self._logs = -2.0 * np.log(np.diagonal(self._factors, axis1=1, axis2=2)).sum(axis=1)

    def _trim(self) -> None:
        r = self.points.shape[1]
        for group in np.flatnonzero(self.sizes > _FULL_ENOUGH * r):
            members = np.flatnonzero(self.groups == group)
            away = self.squares(self.points[members], int(group))
            self.inside[members[away > np.quantile(away, 1.0 - _TRIMMED)]] = False

    def squares(self, points: FloatArray, group: int) -> FloatArray:
        """(m,) squared distances of points from a group's mean, as its covariance measures."""
        whitened = (points - self.means[group]) @ self._factors[group].T
        return np.asarray(np.sum(whitened**2, axis=1))

    def scores_of(self, points: FloatArray) -> FloatArray:
        """(m, k) log likelihood plus log size for points that were not counted."""
        found = np.full((len(points), len(self.sizes)), -np.inf)
        for group in np.flatnonzero(self.sizes):
            squares = self.squares(points, int(group))
            found[:, group] = np.log(self.sizes[group]) - (squares + self._logs[group]) / 2.0
        return found

    def frozen(self) -> Clouds:
        """The same clouds without the points that they were fitted to, for a worker elsewhere."""
        light = copy.copy(self)
        light.points, light.groups, light.inside = (
            self.points[:0],
            self.groups[:0],
            self.inside[:0],
        )
        return light

    def misfits(self) -> FloatArray:
        """(n,) how much better another group's cloud suits each of the points than its own."""
        if len(self.sizes) == 1:
            return self.squares(self.points, 0)
        scores = self.scores()
        rows = np.arange(len(self.points))
        own = scores[rows, self.groups]
        scores[rows, self.groups] = -np.inf
        return np.asarray(scores.max(axis=1) - own)

    def scores(self) -> FloatArray:
        """(n, k) the same for the points themselves, each as if it had not been counted.

        A point's own share is taken out of its group in closed form: with a = m/(m−1) the mean
        moves away by x − mean' = a (x − mean), and the covariance loses a multiple of
        (x−mean)(x−mean)ᵀ, a rank-one change. −inf for a group that has no other point. (What it
        gave to the common covariance stays.)
        """
        found = self.scores_of(self.points)
        r = self.points.shape[1]
        for group in np.flatnonzero(self.sizes):
            size, weight = float(self.sizes[group]), float(self.sizes[group]) + self.borrowed
            own = np.flatnonzero(self.inside & (self.groups == group))
            if size < 2:
                found[own, group] = -np.inf
                continue
            a = size / (size - 1.0)
            squares = self.squares(self.points[own], int(group))
            left = np.maximum(1.0 - a / weight * squares, 1e-9)
            squares *= (weight - 1.0) / weight * a**2 / left
            logs = self._logs[group] + r * np.log(weight / (weight - 1.0)) + np.log(left)
            found[own, group] = np.log(size - 1.0) - (squares + logs) / 2.0
        return found


def edges_of(clouds: Clouds, members: FloatArray, groups: IntArray, margin: float) -> FloatArray:
    """(k,) the squared distance beyond which nothing belongs to each group, by its members (m, r).

    That is the farthest member, as the group's own ellipsoid measures, times 1 + margin. A group
    with few members has no edge that tells, and nothing is beyond it: infinity. A single member
    has no shape at all, and may be a stray itself: -infinity, so that it claims nothing, unless
    all groups are like that.
    """
    r = members.shape[1]
    sizes = np.bincount(groups, minlength=len(clouds.sizes))
    edges = np.where(sizes > 1, np.inf, -np.inf)
    for group in np.flatnonzero(sizes >= _SHAPED * (r + 1)):
        own = members[groups == group]
        edges[group] = (1.0 + margin) * float(clouds.squares(own, int(group)).max())
    return edges if (sizes > 1).any() else np.full(len(edges), np.inf)


def beyond_all(clouds: Clouds, edges: FloatArray, points: Array) -> BoolArray:
    """Which points (m, r) lie beyond the edges (`edges_of`) of all groups."""
    if not np.isfinite(edges).any() or np.isposinf(edges).any():
        return np.zeros(len(points), dtype=np.bool_)
    beyond = np.ones(len(points), dtype=np.bool_)
    for group in np.flatnonzero(np.isfinite(edges)):
        beyond &= clouds.squares(points, int(group)) > edges[group]
    return beyond
