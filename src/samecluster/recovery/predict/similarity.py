"""Features of points and how alike two points are, for prediction. Pure functions over arrays.

Two similarities, both 1 for a point with itself: "rbf", exp(−|x−y|²), and "graph", how much of
what is known about x reaches y along the edges between nearest neighbours (`graph`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.recovery.distances import squared_distances
from samecluster.recovery.predict.graph import Graph

_COMPONENTS = 50  # principal components; 300 gained nothing on texts before 250 labels
_FLATTEST = 1e-6  # directions with less than this share of the largest spread are rounding
# Largest spread over the median one from which on columns are taken to have different units
_UNLIKE_UNITS = 5.0
_ROUNDNESS = 0.1  # share of a sphere in the within-group covariance, see `whitened`


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """At most 50 principal components of points, centred, of mean square 1; takes others as well.

    Columns whose spreads are so different that they can hardly be in one unit are brought to unit
    spread first. ``size`` is the largest absolute value, so that no square overflows.
    """

    size: float
    middle: FloatArray
    scale: FloatArray
    directions: FloatArray
    offset: FloatArray
    length: float

    @classmethod
    def of(cls, X: FloatArray, sample: IntArray) -> tuple[FeatureMap, FloatArray]:
        """The map of X (n, d), and X under it; the directions are those of the rows ``sample``."""
        size = max(float(np.abs(X).max()), np.finfo(np.float64).tiny)
        scaled = X / size
        middle, spread = scaled.mean(axis=0), scaled.std(axis=0)
        alive = np.sort(spread[spread > 0])
        if not len(alive):
            flat = np.zeros((X.shape[1], 1))
            return cls(size, middle, np.ones(1), flat, np.zeros(1), 1.0), np.zeros((len(X), 1))
        # The lower median: of two columns it is the smaller one.
        one_unit = alive[-1] <= _UNLIKE_UNITS * alive[(len(alive) - 1) // 2]
        scale = alive[-1:] if one_unit else np.where(spread > 0, spread, 1.0)
        centred = (scaled - middle) / scale
        directions = _directions(centred[sample])
        found = centred @ directions
        offset = found.mean(axis=0)
        found -= offset
        length = _length(found)
        return cls(size, middle, scale, directions, offset, length), found / length

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Rows (m, d) as features (m, r)."""
        found = ((rows / self.size - self.middle) / self.scale) @ self.directions
        return np.asarray((found - self.offset) / self.length)


def features(X: FloatArray, sample: IntArray) -> FloatArray:
    """The features of X (n, d) by `FeatureMap`."""
    return FeatureMap.of(X, sample)[1]


def _directions(rows: FloatArray) -> FloatArray:
    """The principal directions (d, r) of centred rows (m, d), by the smaller of two Gram matrices.

    Directions that hold next to nothing are left out.
    """
    tall = rows.shape[0] >= rows.shape[1]
    values, vectors = np.linalg.eigh(rows.T @ rows if tall else rows @ rows.T)
    order = np.argsort(-values)[:_COMPONENTS]
    order = order[values[order] > _FLATTEST**2 * max(float(values.max()), 0.0)]
    directions = vectors[:, order] if tall else rows.T @ vectors[:, order]
    lengths = np.linalg.norm(directions, axis=0)
    return np.asarray(directions / np.where(lengths > 0, lengths, 1.0))


def _length(points: FloatArray) -> float:
    """The root of the mean square of points, 1 if that is nothing."""
    return float(np.sqrt(np.mean(np.sum(points**2, axis=1)))) or 1.0


def whitened(points: FloatArray, groups: IntArray, trusted: BoolArray) -> FloatArray:
    """Points (n, r) in coordinates in which trusted members of groups spread alike all round."""
    found = points @ whitening(points[trusted], groups[trusted])
    found -= found.mean(axis=0)
    return np.asarray(found / _length(found))


def whitening(members: FloatArray, groups: IntArray) -> FloatArray:
    """The map (r, r) after which members (m, r) of groups (m,) spread alike all round.

    A tenth of the covariance is a sphere: directions that the few members of a small sample do not
    spread in must not become all that counts.
    """
    r = members.shape[1]
    scatter, freedom = np.zeros((r, r)), 0
    for group in np.unique(groups):
        own = members[groups == group]
        offsets = own - own.mean(axis=0)
        scatter += offsets.T @ offsets
        freedom += len(own) - 1
    size = float(np.trace(scatter)) / r
    if not size > 0:
        return np.eye(r)
    values, axes = np.linalg.eigh(
        (1.0 - _ROUNDNESS) * scatter / freedom + _ROUNDNESS * size / freedom * np.eye(r)
    )
    return np.asarray(axes / np.sqrt(values))


@dataclass(frozen=True, eq=False)
class Similarity:
    """How alike points are: by the graph, by rbf of ``points``, or the mean of both.

    Attributes
    ----------
    graph : None to leave it out
    points : (n, r), or None to leave rbf out
    """

    graph: Graph | None
    points: Array | None
    kinds: ClassVar = ("graph", "rbf", "mean")

    @classmethod
    def of(cls, kind: str, graph: Graph, points: Array) -> Similarity:
        """One of ``kinds``."""
        return cls(None if kind == "rbf" else graph, None if kind == "graph" else points)

    def rows(self, items: IntArray, roughly: bool = False) -> Array:
        """(len(items), n) similarities of some points with all, in single precision."""
        parts: list[Array] = []
        if self.graph is not None:
            parts.append(self.graph.rows(items, roughly))
        if self.points is not None:
            away = squared_distances(self.points[items], self.points)
            parts.append(np.exp(-away).astype(np.float32))
        return parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / np.float32(2.0)

    def among(self, items: IntArray) -> FloatArray:
        """(m, m) similarities of some points (m,) with each other."""
        parts: list[FloatArray] = []
        if self.graph is not None:
            parts.append(self.graph.among(items))
        if self.points is not None:
            parts.append(self._rbf(items, items))
        return parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / 2.0

    def between(self, items: IntArray, others: IntArray) -> FloatArray:
        """(len(items), len(others)) similarities."""
        parts: list[FloatArray] = []
        if self.graph is not None:
            parts.append(self.graph.between(items, others))
        if self.points is not None:
            parts.append(self._rbf(items, others))
        return parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / 2.0

    def _rbf(self, items: IntArray, others: IntArray) -> FloatArray:
        assert self.points is not None
        away = squared_distances(self.points[items], self.points[others])
        return np.exp(-away.astype(np.float64))
