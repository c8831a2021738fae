"""Labels of new points by old ones: how far they are from planes through members of groups."""

from __future__ import annotations

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.recovery.distances import nearest
from samecluster.recovery.predict.calibration import Calibration
from samecluster.recovery.predict.similarity import whitening

_NEIGHBOURS = 12  # that a plane goes through; 8 to 20 are as good on halves of digits
_PRICE = 0.5  # of going far along a plane, in units of the spread of its points; 0.1 is as good
_PLANES = 4  # groups near a point that planes are laid through; others are as far as their members
# Share of old rows that are nearer to their kin than what is beyond all groups: less than 2 % of
# the new rows of known groups are beyond then, on halves of digits and optdigits.
_BEYOND = 0.981
# Rows of a group that nobody has met lie between others: being nearer to one group than to the next
# counts this much, and what is usual in the group this much (0.25 to 0.75, and 0.25, on digits).
_APART, _USUAL = 0.5, 0.25
# Share of old rows that whitened features must place better: plain ones find more of the rows of a
# group that nobody has met (digits: .78 of them with this, .72 with 0.001)
_WHITER = 0.005
_SHARPNESS = 4.0  # of logarithms of squared distances, before anything is calibrated
_OLD = 20_000  # old points that new ones are compared with at most
_SURE = 0.5  # probability from which on a predicted label teaches
_AT_ONCE = 20_000  # planes at a time: at 50 features about 100 MB


class LocalPlanes:
    """How far points are from each group nearby: from the plane through its nearest members.

    A plane through a few neighbours says where the group goes on between and beyond them, which
    votes of neighbours do not. ``groups`` (n,) of old points (n, r) are from 0 to k−1; those that
    are hardly ``sure`` (n,) do not count where others do. Points are taken times ``shape`` (r, r).
    Old points are measured without themselves: ``error`` is the share of them that are nearer to
    another group, and it calibrates the probabilities and says where a group ends. Those that are
    hardly sure count there, too: new points are like all old ones, not like the sure ones.
    """

    def __init__(
        self, points: FloatArray, groups: IntArray, sure: FloatArray, k: int, shape: FloatArray
    ) -> None:
        some = np.sort(np.random.default_rng(0).permutation(len(points))[:_OLD])
        self.shape = shape
        self.members, self._sure = [], []
        for group in range(k):
            mine = some[groups[some] == group]
            trusted = mine[sure[mine] >= _SURE]
            kept = trusted if len(trusted) else mine
            self.members.append(points[kept] @ shape)
            self._sure.append(sure[kept])
        self._all, self._all_sure = points[some] @ shape, sure[some]
        known = np.concatenate([np.full(len(m), g) for g, m in enumerate(self.members)])
        gaps = np.concatenate([self._gaps(m, own=g)[0] for g, m in enumerate(self.members)])
        has_kin = np.isfinite(gaps[np.arange(len(known)), known])
        self._learn(gaps[has_kin], known[has_kin])

    @classmethod
    def fitted(cls, points: FloatArray, groups: IntArray, sure: FloatArray, k: int) -> LocalPlanes:
        """Of the points as they are; whitened by their groups if that places old ones better."""
        plain = cls(points, groups, sure, k, np.eye(points.shape[1]))
        if plain.error <= _WHITER:
            return plain
        taught = sure >= _SURE
        whiter = cls(points, groups, sure, k, whitening(points[taught], groups[taught]))
        return whiter if whiter.error + _WHITER < plain.error else plain

    def _learn(self, gaps: FloatArray, known: IntArray) -> None:
        """Where groups end, and how far what is inside can be trusted, by old points."""
        self.error = float(np.mean(gaps.argmin(axis=1) != known)) if len(known) else 0.0
        depth, met = _depth(gaps, known), np.unique(known)
        self._usual = np.zeros(gaps.shape[1])
        for group in met:
            self._usual[group] = _USUAL * np.median(depth[known == group])
        self._usual[met] -= self._usual[met].mean() if len(met) else 0.0
        away = depth - self._usual[known]
        unsure = self._all[self._all_sure < _SURE]
        both = np.concatenate([away, self._away(self._gaps(unsure)[0])]) if len(unsure) else away
        self._edge = np.quantile(both, _BEYOND) if len(both) > _NEIGHBOURS else np.inf
        inside = away <= self._edge
        self.trust = Calibration.fitted(_scores(gaps[inside]), known[inside], _SHARPNESS)

    def chances(self, points: FloatArray) -> tuple[FloatArray, BoolArray]:
        """(m, k) probabilities, and which of the points lie beyond their group.

        The labels of the members may be wrong themselves: a point is as doubtful as those near it.
        """
        seen = points @ self.shape
        gaps, sure = self._gaps(seen)
        kin = sure[np.arange(len(points)), gaps.argmin(axis=1)]
        if (self._all_sure < _SURE).any():
            near = nearest(seen, self._all, min(_NEIGHBOURS, len(self._all)))[0]
            kin = self._all_sure[near].mean(axis=1)
        kin = kin[:, None]
        found = kin * self.trust.probabilities(_scores(gaps)) + (1.0 - kin) / len(self.members)
        return found, self._away(gaps) > self._edge

    def _away(self, gaps: FloatArray) -> FloatArray:
        """(m,) how far points are from their nearest group, as is usual there."""
        best = gaps.argmin(axis=1)
        return np.asarray(_depth(gaps, best) - self._usual[best])

    def _gaps(self, points: FloatArray, own: int = -1) -> tuple[FloatArray, FloatArray]:
        """(m, k) squared distances from the groups, and how sure the labels nearby are.

        ``own`` is the group that the points are of.
        """
        sure = np.ones((len(points), len(self.members)))
        found = np.full((len(points), len(self.members)), np.inf)
        near = {}
        for group, members in enumerate(self.members):
            count = min(_NEIGHBOURS, len(members) - (group == own))
            if count > 0:
                near[group], squares = nearest(points, members, count, own=group == own)
                found[:, group] = squares.mean(axis=1)
                sure[:, group] = self._sure[group][near[group]].mean(axis=1)
        few = min(_PLANES, len(self.members))
        closest = np.argpartition(found, few - 1, axis=1)[:, :few]
        for group, numbers in near.items():
            rows = np.flatnonzero((closest == group).any(axis=1))
            for first in range(0, len(rows), _AT_ONCE):
                some = rows[first : first + _AT_ONCE]
                found[some, group] = _from_plane(points[some], self.members[group][numbers[some]])
        return found, sure


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


def _depth(gaps: FloatArray, groups: IntArray) -> FloatArray:
    """(m,) how far points are from their groups (m,), less where all others are farther."""
    rows = np.arange(len(gaps))
    logs = -_scores(gaps)
    own = logs[rows, groups]
    logs[rows, groups] = np.inf
    others = logs.min(axis=1)
    return np.asarray(own - _APART * np.where(np.isfinite(others), others - own, 0.0))


def _scores(gaps: FloatArray) -> FloatArray:
    return np.asarray(-np.log(np.maximum(gaps, 1e-300)))
