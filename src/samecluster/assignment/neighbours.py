"""Labels of new points by old ones: features that stay as they are, and nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.recovery.predict.calibration import Calibration
from samecluster.recovery.predict.graph import nearest

_COMPONENTS, _FLATTEST = 50, 1e-6  # as in `samecluster.recovery.predict.similarity`
_UNLIKE_UNITS = 5.0
_SAMPLE = 4_000  # rows that the directions are found by
_NEIGHBOURS = 10
_BEYOND = 0.985  # of the old rows of a group are nearer to their kin than what is beyond the group
_SHARPNESS = 6.0  # of shares of votes, before anything is calibrated
_OLD = 20_000  # old points that new ones are compared with at most


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


class Neighbours:
    """Votes of the nearest old points (n, r), each as sure as its label is.

    ``groups`` (n,) are from 0 to k−1, ``sure`` (n,) the probability of each. Old points are scored
    without themselves: their votes calibrate the probabilities, and their distances say where a
    group ends.
    """

    def __init__(self, points: FloatArray, groups: IntArray, sure: FloatArray, k: int) -> None:
        some = np.sort(np.random.default_rng(0).permutation(len(points))[:_OLD])
        self.points, self.groups, self.sure, self.k = points[some], groups[some], sure[some], k
        self.count = min(_NEIGHBOURS, len(some) - 1)
        shares, kin = self._votes(*nearest(self.points, self.points, self.count, own=True))
        self.trust = Calibration.fitted(shares, self.groups, _SHARPNESS)
        self.edges = np.full(k, np.inf)
        for group in range(k):
            own = self.groups == group
            if np.count_nonzero(own) > _NEIGHBOURS:
                self.edges[group] = np.quantile(kin[own], _BEYOND)

    def chances(self, points: FloatArray) -> tuple[FloatArray, BoolArray]:
        """(m, k) probabilities, and which of the points lie beyond their group."""
        shares, kin = self._votes(*nearest(points, self.points, self.count))
        found = self.trust.probabilities(shares)
        return found, kin > self.edges[found.argmax(axis=1)]

    def _votes(self, at: IntArray, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Shares (m, k) of the votes, and the mean squared distance (m,) of the neighbours."""
        weights = np.exp(-squares / np.maximum(squares[:, -1:], 1e-300)) * self.sure[at]
        shares = np.zeros((len(at), self.k))
        for place in range(at.shape[1]):
            np.add.at(shares, (np.arange(len(at)), self.groups[at[:, place]]), weights[:, place])
        return shares / weights.sum(axis=1, keepdims=True), squares.mean(axis=1)
