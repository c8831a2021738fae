"""Labels of new points by old ones: features that stay as they are, and planes through members."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.recovery.predict.calibration import Calibration
from samecluster.recovery.predict.graph import nearest

_COMPONENTS, _FLATTEST = 50, 1e-6  # as in `samecluster.recovery.predict.similarity`
_UNLIKE_UNITS = 5.0
_SAMPLE = 4_000  # rows that the directions are found by
_NEIGHBOURS = 12  # that a plane goes through; 8 to 20 are as good on halves of digits
_PRICE = 0.5  # of going far along a plane, in units of the spread of its points; 0.1 is as good
_PLANES = 4  # groups near a point that planes are laid through; others are as far as their members
# Share of old rows that are nearer to their kin than what is beyond all groups: on halves of digits
# 1.9 % of the new rows are beyond then, and .79 of the rows of a group that was left out.
_BEYOND = 0.976
_SHARPNESS = 4.0  # of logarithms of squared distances, before anything is calibrated
_OLD = 20_000  # old points that new ones are compared with at most
_SURE = 0.5  # probability from which on a predicted label teaches
_AT_ONCE = 20_000  # planes at a time: at 50 features about 100 MB


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """At most 50 principal components of old rows, as a map that takes new rows as well."""

    middle: FloatArray
    scale: FloatArray
    directions: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> FeatureMap:
        middle, spread = X.mean(axis=0), X.std(axis=0)
        alive = np.sort(spread[spread > 0])
        if not len(alive):
            return cls(middle, np.ones(X.shape[1]), np.zeros((X.shape[1], 1)))
        one_unit = alive[-1] <= _UNLIKE_UNITS * alive[(len(alive) - 1) // 2]
        scale = np.full(X.shape[1], alive[-1]) if one_unit else np.where(spread > 0, spread, 1.0)
        rows = np.random.default_rng(0).permutation(len(X))[:_SAMPLE]
        _, values, axes = np.linalg.svd((X[rows] - middle) / scale, full_matrices=False)
        kept = values[:_COMPONENTS] > _FLATTEST * values[0]
        directions = axes[:_COMPONENTS][kept].T
        size = np.sqrt(np.mean(np.sum((((X[rows] - middle) / scale) @ directions) ** 2, axis=1)))
        return cls(middle, scale * (size or 1.0), directions)

    def __call__(self, rows: FloatArray) -> FloatArray:
        return np.asarray(((rows - self.middle) / self.scale) @ self.directions)


class LocalPlanes:
    """How far points are from each group nearby: from the plane through its nearest members.

    A plane through a few neighbours says where the group goes on between and beyond them, which
    votes of neighbours do not. ``groups`` (n,) of old points (n, r) are from 0 to k−1; those that
    are hardly ``sure`` (n,) do not count where others do. Old points are measured without
    themselves: that calibrates the probabilities, and says where a group ends.
    """

    def __init__(self, points: FloatArray, groups: IntArray, sure: FloatArray, k: int) -> None:
        some = np.sort(np.random.default_rng(0).permutation(len(points))[:_OLD])
        self.members = []
        for group in range(k):
            mine = some[groups[some] == group]
            trusted = mine[sure[mine] >= _SURE]
            self.members.append(points[trusted if len(trusted) else mine])
        known = np.concatenate([np.full(len(m), g) for g, m in enumerate(self.members)])
        gaps = np.concatenate([self._gaps(m, own=g) for g, m in enumerate(self.members)])
        has_kin = np.isfinite(gaps[np.arange(len(known)), known])
        gaps, known = gaps[has_kin], known[has_kin]
        self.trust = Calibration.fitted(_scores(gaps), known, _SHARPNESS)
        own = -_scores(gaps[np.arange(len(known)), known])
        usual = np.zeros(k)
        for group in np.unique(known):
            usual[group] = np.median(own[known == group])
        # Half by the group's own scale and half by that of all: one group has few rows at its edge.
        usual = (usual - usual.mean()) / 2
        many = len(own) > _NEIGHBOURS
        edge = np.quantile(own - usual[known], _BEYOND) if many else np.inf
        self.edges = np.exp(usual + edge)

    def chances(self, points: FloatArray) -> tuple[FloatArray, BoolArray]:
        """(m, k) probabilities, and which of the points lie beyond their group."""
        gaps = self._gaps(points)
        best = gaps.argmin(axis=1)
        return self.trust.probabilities(_scores(gaps)), gaps.min(axis=1) > self.edges[best]

    def _gaps(self, points: FloatArray, own: int = -1) -> FloatArray:
        """(m, k) squared distances from the groups; ``own`` is the one that the points are of."""
        found = np.full((len(points), len(self.members)), np.inf)
        near = {}
        for group, members in enumerate(self.members):
            count = min(_NEIGHBOURS, len(members) - (group == own))
            if count > 0:
                near[group], squares = nearest(points, members, count, own=group == own)
                found[:, group] = squares.mean(axis=1)
        few = min(_PLANES, len(self.members))
        closest = np.argpartition(found, few - 1, axis=1)[:, :few]
        for group, numbers in near.items():
            rows = np.flatnonzero((closest == group).any(axis=1))
            for first in range(0, len(rows), _AT_ONCE):
                some = rows[first : first + _AT_ONCE]
                found[some, group] = _from_plane(points[some], self.members[group][numbers[some]])
        return found


def _from_plane(points: FloatArray, near: FloatArray) -> FloatArray:
    """Squared distances of points (m, r) from planes through (m, c, r), far points of which cost.

    Without that price a plane would go through any point, given enough neighbours.
    """
    middle = near.mean(axis=1)
    across, offset = near - middle[:, None], points - middle
    gram = across @ across.transpose(0, 2, 1)
    count = near.shape[1]
    price = _PRICE * np.trace(gram, axis1=1, axis2=2) / count + np.finfo(np.float64).tiny
    gram[:, np.arange(count), np.arange(count)] += price[:, None]
    weights = np.linalg.solve(gram, across @ offset[:, :, None])
    missed = offset - (weights.transpose(0, 2, 1) @ across)[:, 0]
    return np.asarray(np.sum(missed**2, axis=1) + price * np.sum(weights[:, :, 0] ** 2, axis=1))


def _scores(gaps: FloatArray) -> FloatArray:
    return np.asarray(-np.log(np.maximum(gaps, 1e-300)))
