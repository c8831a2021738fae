"""Features of points and how alike two points are, for prediction. Pure functions over arrays.

Two similarities, both 1 for a point with itself: "rbf", exp(−|x−y|²), and "graph", how much of
what is known about x reaches y along the edges between nearest neighbours,
(I − 0.99 S)⁻¹ with S the normalised graph, scaled to unit diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray

_COMPONENTS = 50  # principal components; 300 gained nothing on texts before 250 labels
_FLATTEST = 1e-6  # directions with less than this share of the largest spread are rounding
# Largest spread over the median one from which on columns are taken to have different units
_UNLIKE_UNITS = 5.0
# Of the graph, and the distance that scales its edges locally; the usual choice, not tuned
_NEIGHBOURS = 10
_REACH = 0.99  # what passes an edge: nearly everything, or far points of a group hear nothing
_ROWS_AT_ONCE = 2048  # of a block of distances: 2,048 × 4,000 doubles are 64 MB
_ROUNDNESS = 0.1  # share of a sphere in the within-group covariance, see `whitened`


def features(X: FloatArray, sample: IntArray) -> FloatArray:
    """At most 50 principal components of X (n, d), centred, of mean square 1.

    The directions are those of the rows ``sample``. Columns whose spreads are so different that
    they can hardly be in one unit are brought to unit spread first.
    """
    scaled = X / max(float(np.abs(X).max()), np.finfo(np.float64).tiny)
    middle, spread = scaled.mean(axis=0), scaled.std(axis=0)
    alive = np.sort(spread[spread > 0])
    if not len(alive):
        return np.zeros((len(X), 1))
    # The lower median: of two columns it is the smaller one.
    one_unit = alive[-1] <= _UNLIKE_UNITS * alive[(len(alive) - 1) // 2]
    centred = (scaled - middle) / (alive[-1] if one_unit else np.where(spread > 0, spread, 1.0))
    found = centred @ _directions(centred[sample])
    found -= found.mean(axis=0)
    return _unit(found)


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


def _unit(points: FloatArray) -> FloatArray:
    size = np.sqrt(np.mean(np.sum(points**2, axis=1)))
    return np.asarray(points / size) if size > 0 else points


def whitened(points: FloatArray, groups: IntArray, trusted: BoolArray) -> FloatArray:
    """Points (n, r) in coordinates in which the trusted members of groups spread alike all round.

    A tenth of the covariance is a sphere: directions that the few members of a small sample do not
    spread in must not become all that counts.
    """
    r = points.shape[1]
    scatter, freedom = np.zeros((r, r)), 0
    for group in np.unique(groups[trusted]):
        members = points[trusted & (groups == group)]
        offsets = members - members.mean(axis=0)
        scatter += offsets.T @ offsets
        freedom += len(members) - 1
    size = float(np.trace(scatter)) / r
    if not size > 0:
        return points
    values, axes = np.linalg.eigh(
        (1.0 - _ROUNDNESS) * scatter / freedom + _ROUNDNESS * size / freedom * np.eye(r)
    )
    found = points @ (axes / np.sqrt(values))
    return _unit(found - found.mean(axis=0))


def nearest(
    points: FloatArray, among: FloatArray, count: int, own: bool = False
) -> tuple[IntArray, FloatArray]:
    """Numbers and squared distances (n, count) of the rows of ``among`` nearest to each point.

    With ``own`` the points are those of ``among`` themselves, and none is its own neighbour.
    """
    numbers = np.empty((len(points), count), dtype=np.int64)
    squares = np.empty((len(points), count))
    for first in range(0, len(points), _ROWS_AT_ONCE):
        rows = slice(first, min(first + _ROWS_AT_ONCE, len(points)))
        away = _squared_distances(points[rows], among)
        if own:
            away[np.arange(len(away)), np.arange(rows.start, rows.stop)] = np.inf
        if count < len(among):
            found = np.argpartition(away, count - 1, axis=1)[:, :count]
        else:
            found = np.broadcast_to(np.arange(len(among)), away.shape)
        values = np.take_along_axis(away, found, axis=1)
        order = np.argsort(values, axis=1, kind="stable")
        numbers[rows] = np.take_along_axis(found, order, axis=1)
        squares[rows] = np.take_along_axis(values, order, axis=1)
    return numbers, squares


def _squared_distances(points: FloatArray, among: FloatArray) -> FloatArray:
    own, other = np.sum(points**2, axis=1), np.sum(among**2, axis=1)
    return np.asarray(np.maximum(own[:, None] + other - 2.0 * points @ among.T, 0.0))


def graph_similarity(points: FloatArray) -> Array:
    """(n, n) similarities through the graph of the 10 nearest neighbours, in single precision.

    An edge weighs exp(−|x−y|²/(s_x s_y)) with s the distance to the tenth neighbour: what counts
    as near differs from place to place.
    """
    n = len(points)
    if n == 1:
        return np.ones((1, 1), dtype=np.float32)
    numbers, squares = nearest(points, points, min(_NEIGHBOURS, n - 1), own=True)
    local = np.sqrt(squares[:, -1])
    # More than ten copies of a point have no distance of their own.
    local = np.maximum(local, max(1e-6 * float(np.median(local)), 1e-12))
    weights = np.zeros((n, n), dtype=np.float32)
    rows = np.repeat(np.arange(n), numbers.shape[1])
    columns = numbers.ravel()
    weights[rows, columns] = np.exp(-squares.ravel() / (local[rows] * local[columns]))
    np.maximum(weights, weights.T, out=weights)
    degree = np.maximum(weights.sum(axis=1), np.float32(1e-12))
    weights *= -_REACH / np.sqrt(degree[:, None])
    weights /= np.sqrt(degree)
    weights[np.diag_indices(n)] = 1.0
    return _unit_diagonal(_inverse(weights))


def _inverse(matrix: Array) -> Array:
    """The inverse of a symmetric matrix in single precision; eigenvalues are at least 1 − 0.99."""
    from scipy.linalg import lapack  # slow to load, and no first question needs it

    # LAPACK works on columns; the transpose of a symmetric matrix is itself, and is not copied.
    factor, failed = lapack.spotrf(matrix.T, overwrite_a=True)
    inverse, failed_too = lapack.spotri(factor, overwrite_c=True)
    assert not failed
    assert not failed_too
    upper = np.triu(inverse)
    return np.asarray(upper + np.triu(upper, 1).T)


def _unit_diagonal(matrix: Array) -> Array:
    size = np.sqrt(np.diagonal(matrix))
    matrix /= size[:, None]
    matrix /= size
    return matrix


@dataclass(frozen=True, eq=False)
class Similarity:
    """How alike points are: by the graph, by rbf of ``points``, or the mean of both.

    Attributes
    ----------
    name : for whoever compares several
    graph : (n, n), or None to leave it out
    points : (n, r), or None to leave rbf out
    """

    name: str
    graph: Array | None
    points: FloatArray | None

    def between(self, items: IntArray, others: IntArray | None = None) -> FloatArray:
        """(len(items), len(others)), or with every point if ``others`` is None."""
        parts: list[FloatArray] = []
        if self.graph is not None:
            rows = self.graph[items] if others is None else self.graph[np.ix_(items, others)]
            parts.append(rows.astype(np.float64))
        if self.points is not None:
            among = self.points if others is None else self.points[others]
            parts.append(np.exp(-_squared_distances(self.points[items], among)))
        return parts[0] if len(parts) == 1 else (parts[0] + parts[1]) / 2.0
