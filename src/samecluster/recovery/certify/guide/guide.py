"""A guess at the clusters, to choose questions by. Never trusted for a label.

A Gaussian mixture fitted without labels to a sample gives components; as answers come, components
become clusters, split or merge, and points move to the group that suits them best. A wrong guess
costs questions and nothing else.
"""

from __future__ import annotations

import numpy as np

from samecluster._resolution import without_far_values
from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.points.array import unit_scaled
from samecluster.recovery.certify.guide.connected_groups import connected_groups
from samecluster.recovery.certify.guide.mixture import components
from samecluster.recovery.hints import hinted_components

UNCLAIMED = 1 << 30
"""Groups from this number on are components of the mixture that no cluster has claimed yet."""

_FEWEST = 2  # components where clusters may be curved and nobody says how many there are
_MOMENT_POINTS = 2000  # of a group, for its mean and covariance: to within a few per cent
_FLATTEST = 1e-10  # of the largest variance; a flat group is not infinitely thin
_TINIEST = 1e-30  # variance of a group of identical points
_NEWS = 0.01  # share of the sample that must become known for another fit
_ROUNDS = 4  # of moving points to the group that suits them best; most moves are in the first
_FEW_MOVE = 5e-4  # share of the points; when fewer move, the groups are settled
_DEEP = 2.0  # times the expected squared distance from the mean
_SPLIT = 0.5  # of the squared distance: only points that are clearly nearer change sides
_SHOWN = 200  # known members of either side of a split
# A group of fewer points per column than this borrows a shape: the usual one, much smaller, since
# a new group is most often a small piece.
_SMALL, _BORROWED = 2, 0.02


class Guide:
    """Groups of the sample ``points`` (m, d): numbers of clusters, or UNCLAIMED and up.

    ``labels`` (m,) and ``outside`` (m, k) are views of what is known about the sample; the guide
    reads them and never writes. ``components`` (m,) is the mixture as it was at first, or the
    groups of ``hints`` (m,) where there are any. Where clusters may be curved, as in a lift, these
    are points ``unlifted`` (m, d) that hang together, if they tell.
    """

    def __init__(
        self,
        points: FloatArray,
        n_clusters: int | None,
        seed: int,
        hints: IntArray | None = None,
        unlifted: FloatArray | None = None,
    ) -> None:
        self.points = points
        # Groups that hang together are kept, whatever their shape, until an answer surprises.
        self._stays = False
        if hints is None and unlifted is not None:
            hints = connected_groups(unit_scaled(without_far_values(unlifted)), n_clusters)
            self._stays = hints is not None
            # A mixture of more components cuts curved clusters; answers find those that two hide.
            n_clusters = n_clusters or _FEWEST
        hinted = None if hints is None else hinted_components(points, hints)
        self.components = components(points, n_clusters, seed) if hinted is None else hinted
        self.groups: IntArray = UNCLAIMED + self.components
        self._shapes: dict[int, tuple[FloatArray, FloatArray, float]] = {}
        self._known = 0

    def alive(self) -> list[int]:
        """The groups that have points."""
        return [int(group) for group in np.unique(self.groups)]

    def refit(self, labels: IntArray, outside: BoolArray, rounds: int = _ROUNDS) -> None:
        """Move unlabelled points to the group that suits them best, until few move."""
        known = labels >= 0
        self._known = int(np.count_nonzero(known))
        self.groups[known] = labels[known]
        unknown = np.flatnonzero(~known)
        for _ in range(rounds):
            self._measure()
            if not len(unknown):
                return
            alive = self.alive()
            scores = np.stack([self.score(group, unknown) for group in alive], axis=1)
            for column, group in enumerate(alive):
                if group < outside.shape[1]:
                    scores[outside[unknown, group], column] = np.inf
            if self._stays:
                at = np.searchsorted(alive, self.groups[unknown])
                kept = np.flatnonzero(np.isfinite(scores[np.arange(len(unknown)), at]))
                scores[kept, at[kept]] = -np.inf
            moved = np.array(alive)[scores.argmin(axis=1)]
            changed = float((moved != self.groups[unknown]).mean())
            self.groups[unknown] = moved
            if changed < _FEW_MOVE:
                break
        self._measure()

    def score(self, group: int, which: IntArray) -> FloatArray:
        """Squared Mahalanobis distance plus log volume: small is plausible."""
        whitened = self.whiten(group, self.points[which])
        return np.asarray(np.einsum("pi,pi->p", whitened, whitened) + self._shapes[group][2])

    def whiten(self, group: int, points: FloatArray) -> FloatArray:
        """Coordinates in which the group has mean 0 and spread 1."""
        mean, map_, _ = self._shapes[group]
        return np.asarray((points - mean) @ map_)

    def mean(self, group: int) -> FloatArray:
        return self._shapes[group][0]

    def learn(self, at: int, cluster: int, labels: IntArray, outside: BoolArray) -> None:
        """Sample point ``at`` was placed in a cluster by answers."""
        group = int(self.groups[at])
        known = labels >= 0
        if group == cluster and np.count_nonzero(known) - self._known < _NEWS * len(labels):
            # As expected, and little followed from it.
            self.groups[known] = labels[known]
            if not self._shapes.keys() >= set(self.alive()):
                self._measure()
            return
        if group != cluster:
            mates = np.flatnonzero((self.groups == group) & (labels < 0))
            self.groups[at] = cluster
            if group >= UNCLAIMED:
                is_first_claim = np.count_nonzero((self.groups == cluster) & (labels < 0)) == 0
                if is_first_claim or self._deep(group, at):
                    self.groups[mates] = cluster
            else:
                self._stays = False
                self._split(mates, group, cluster, labels, outside)
        self.refit(labels, outside)

    def _deep(self, group: int, at: int) -> bool:
        """Whether a point lies so deep in a component that all of it is likely its cluster."""
        if group not in self._shapes:
            return True
        inner = self.whiten(group, self.points[at][None, :])[0]
        return float(inner @ inner) < _DEEP * len(inner)

    def _split(
        self, mates: IntArray, group: int, cluster: int, labels: IntArray, outside: BoolArray
    ) -> None:
        """A group turned out to hold two clusters: points go with the nearer known member."""
        if group not in self._shapes or not len(mates):
            return
        whitened = self.whiten(group, self.points[mates])

        def nearest(label: int) -> FloatArray:
            known = np.flatnonzero(labels == label)[-_SHOWN:]
            members = self.whiten(group, self.points[known])
            gaps = np.sum((whitened[:, None, :] - members[None, :, :]) ** 2, axis=2)
            return np.asarray(gaps.min(axis=1, initial=np.inf))

        move = (nearest(cluster) < _SPLIT * nearest(group)) & ~outside[mates, cluster]
        self.groups[mates[move]] = cluster

    def _measure(self) -> None:
        """Mean, whitening map and log volume of each group; small groups borrow a shape."""
        d = self.points.shape[1]
        moments = {}
        for group in self.alive():
            which = np.flatnonzero(self.groups == group)
            some = self.points[which[:: max(1, len(which) // _MOMENT_POINTS)]]
            mean = some.mean(axis=0)
            moments[group] = mean, (some - mean).T @ (some - mean) / len(some), len(some)
        large = [cov for _, cov, size in moments.values() if size > _SMALL * (d + 1)]
        usual = np.mean(large, axis=0) if large else np.eye(d)
        self._shapes = {}
        for group, (mean, cov, size) in moments.items():
            if size <= _SMALL * (d + 1):
                share = size / (_SMALL * (d + 1))
                cov = share * cov + _BORROWED * (1.0 - share) * usual
            values, axes = np.linalg.eigh(cov)
            values = np.maximum(values, max(_FLATTEST * float(values[-1]), _TINIEST))
            self._shapes[group] = mean, axes / np.sqrt(values), float(np.log(values).sum())
