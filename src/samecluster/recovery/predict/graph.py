"""The graph of nearest neighbours of all points, and how alike points are along its edges.

Nothing of size n² is kept beyond a few thousand points: a row of similarities is solved for when
it is wanted, by conjugate gradients on a sparse matrix.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import numpy as np

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.points.block_work import in_order

# Of the graph, and the distance that scales its edges locally; the usual choice, not tuned
_NEIGHBOURS = 10
_REACH = 0.99  # what passes an edge: nearly everything, or far points of a group hear nothing
_BLOCK = 8_000_000  # distances that are computed at once: 32 MB in single precision
# Of conjugate gradients. The condition number is below 200: 50 steps leave 1e-3 of the error
_STEPS, _RESIDUAL = 50, 1e-3
_ROUGH_STEPS = 15  # of rows that candidates are compared by; not tuned
_COLUMNS_AT_ONCE = 64  # solved side by side: more do not fit into the processor's cache
# Random signs that estimate the diagonal, and steps for each; chosen in shared trials, not tuned
_PROBES, _PROBE_STEPS = 128, 25
_KEPT_BYTES = 200_000_000  # rows that are kept, the oldest go first
_FAR = 8  # steps along edges that count as the neighbourhood of a point
_SMALL = 500  # points whose similarities are all worked out sooner than those of some
# Columns up to which a tree finds neighbours sooner than comparing all pairs does, and rows from
# which on (20,000 rows of 8 columns: 0.5 instead of 4 seconds; 16 columns: about the same)
_TREE_COLUMNS, _TREE_ROWS = 12, 2000


def nearest(
    points: Array, among: Array, count: int, own: bool = False
) -> tuple[IntArray, FloatArray]:
    """Numbers and squared distances (n, count) of the rows of ``among`` nearest to each point.

    With ``own`` the points are those of ``among`` themselves, and none is its own neighbour.
    """
    if points.shape[1] <= _TREE_COLUMNS and min(len(points), len(among)) >= _TREE_ROWS:
        return _nearest_by_tree(points, among, count, own)
    numbers = np.empty((len(points), count), dtype=np.int64)
    squares = np.empty((len(points), count))

    def find(rows: slice) -> None:
        away = squared_distances(points[rows], among)
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

    at_once = max(1, _BLOCK // max(len(among), 1))
    begins = range(0, len(points), at_once)
    blocks = [slice(begin, min(begin + at_once, len(points))) for begin in begins]
    for _ in in_order(find, blocks, min(len(blocks), os.cpu_count() or 1)):
        pass
    return numbers, squares


def _nearest_by_tree(
    points: Array, among: Array, count: int, own: bool
) -> tuple[IntArray, FloatArray]:
    from scipy.spatial import cKDTree  # slow to load, and no first question needs it

    away, numbers = cKDTree(among).query(points, k=count + own)
    away, numbers = away.reshape(len(points), -1), numbers.reshape(len(points), -1)
    if own:
        # A point is its own nearest, unless copies of it come first: then the last one goes.
        other = numbers != np.arange(len(points))[:, None]
        other[other.all(axis=1), -1] = False
        away, numbers = away[other].reshape(-1, count), numbers[other].reshape(-1, count)
    return numbers.astype(np.int64), np.asarray(away**2)


def squared_distances(points: Array, among: Array) -> Array:
    own, other = np.sum(points**2, axis=1), np.sum(among**2, axis=1)
    return np.asarray(np.maximum(own[:, None] + other - 2.0 * points @ among.T, 0.0))


class Graph:
    """Similarities (I − 0.99 S)⁻¹ of n points, scaled to unit diagonal, in single precision.

    Of many points the diagonal is estimated, so that it is 1 within a quarter or so.

    S is the normalised graph of the 10 nearest neighbours. An edge weighs exp(−|x−y|²/(s_x s_y))
    with s the distance to the tenth neighbour: what counts as near differs from place to place.
    """

    LARGEST_DENSE = 4000
    """Points up to which all similarities are computed at once: 64 MB, and rows cost nothing."""

    def __init__(self, points: Array) -> None:
        self.n = len(points)
        self.is_dense = self.n <= self.LARGEST_DENSE
        """Whether all similarities are worked out at once, so that rows cost nothing."""
        self._steps = edges(points)
        self._kept: dict[int, Array] = {}

    @cached_property
    def _all(self) -> Array:
        whole = _inverse(np.eye(self.n, dtype=np.float32) - self._steps.toarray())
        scale = 1.0 / np.sqrt(np.diagonal(whole))
        return np.asarray(whole * scale[:, None] * scale)

    @cached_property
    def _scale(self) -> Array:
        return np.asarray(1.0 / np.sqrt(self._diagonal()))

    def among(self, items: IntArray) -> FloatArray:
        """(m, m) similarities of some points (m,) with each other, without those of all."""
        if "_all" in self.__dict__ or self.n <= _SMALL:
            return self._all[np.ix_(items, items)].astype(np.float64)
        found = np.empty((len(items), len(items)))
        for first in range(0, len(items), _COLUMNS_AT_ONCE):
            some = items[first : first + _COLUMNS_AT_ONCE]
            columns = self._inverse_times(self._units(some), _STEPS)
            found[:, first : first + len(some)] = columns[items]
        scale = 1.0 / np.sqrt(np.diagonal(found))
        return found * scale[:, None] * scale

    def rows(self, items: IntArray, roughly: bool = False) -> Array:
        """(len(items), n) similarities of some points with all.

        ``roughly`` is for comparing points: sooner, and what is far from a point may be missing.
        """
        if self.is_dense:
            return self._all[items]
        if roughly:
            return self._solved(items, _ROUGH_STEPS)
        missing = [item for item in dict.fromkeys(items.tolist()) if item not in self._kept]
        for first in range(0, len(missing), _COLUMNS_AT_ONCE):
            some = np.array(missing[first : first + _COLUMNS_AT_ONCE])
            self._kept |= dict(zip(some.tolist(), self._solved(some), strict=True))
        found = np.array([self._kept[item] for item in items.tolist()])
        while len(self._kept) * self.n * 4 > _KEPT_BYTES and len(self._kept) > 1:
            del self._kept[next(iter(self._kept))]
        return found

    def around(self, values: Array) -> Array:
        """(n,) the sum of values (n,) in the neighbourhood of each point, weighted by reach."""
        total = step = np.asarray(values, dtype=np.float32)
        for _ in range(_FAR):
            step = self._steps @ step
            total = total + step
        return np.asarray(total)

    def _solved(self, items: IntArray, steps: int = _STEPS) -> Array:
        found = self._inverse_times(self._units(items), steps)
        return np.ascontiguousarray((found * self._scale[:, None] * self._scale[items]).T)

    def _units(self, items: IntArray) -> Array:
        units = np.zeros((self.n, len(items)), dtype=np.float32)
        units[items, np.arange(len(items))] = 1.0
        return units

    def _diagonal(self) -> Array:
        signs = np.random.default_rng(0).choice(
            np.array([-1.0, 1.0], dtype=np.float32), (self.n, _PROBES)
        )
        found = np.mean(signs * self._inverse_times(signs, _PROBE_STEPS), axis=1)
        # The sum over all walks that return is at least that of none, and of there and back.
        least = 1.0 + np.asarray(self._steps.multiply(self._steps).sum(axis=1)).ravel()
        return np.asarray(np.maximum(found, least), dtype=np.float32)

    def _inverse_times(self, right: Array, steps: int) -> Array:
        """(I − 0.99 S)⁻¹ times the columns of ``right``, by conjugate gradients side by side."""
        found, left, move = np.zeros_like(right), right.copy(), right.copy()
        size = np.einsum("ij,ij->j", left, left)
        enough = _RESIDUAL**2 * size
        for _ in range(steps):
            if (size <= enough).all():
                break
            pushed = move - self._steps @ move
            along = size / np.maximum(np.einsum("ij,ij->j", move, pushed), 1e-30)
            found += along * move
            left -= along * pushed
            before, size = size, np.einsum("ij,ij->j", left, left)
            move = left + size / np.maximum(before, 1e-30) * move
        return found


def edges(points: Array) -> Any:
    """0.99 S as a sparse matrix."""
    from scipy import sparse  # slow to load, and no first question needs it

    n = len(points)
    if n == 1:
        return sparse.csr_array((1, 1), dtype=np.float32)
    numbers, squares = nearest(points, points, min(_NEIGHBOURS, n - 1), own=True)
    local = np.sqrt(squares[:, -1])
    # More than ten copies of a point have no distance of their own.
    local = np.maximum(local, max(1e-6 * float(np.median(local)), 1e-12))
    rows, columns = np.repeat(np.arange(n), numbers.shape[1]), numbers.ravel()
    weights = np.exp(-squares.ravel() / (local[rows] * local[columns])).astype(np.float32)
    one_way = sparse.csr_array((weights, (rows, columns)), shape=(n, n))
    both = one_way.maximum(one_way.T).tocsr()
    degree = np.sqrt(np.maximum(np.asarray(both.sum(axis=1)).ravel(), 1e-12))
    both.data *= _REACH / (np.repeat(degree, np.diff(both.indptr)) * degree[both.indices])
    return both.astype(np.float32)


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
