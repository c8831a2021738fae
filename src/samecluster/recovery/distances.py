"""Which points lie near a point, where no cluster's own coordinates are at hand."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import numpy as np
from threadpoolctl import threadpool_limits

from samecluster._extras import faiss
from samecluster._typing import Array, FloatArray, IntArray
from samecluster.points.block_work import in_order

_BLOCK = 8_000_000  # distances that are computed at once: 32 MB in single precision
# Columns up to which a tree finds neighbours sooner than comparing all pairs does, and rows from
# which on (20,000 rows of 8 columns: 0.5 instead of 4 seconds; 16 columns: about the same)
_TREE_COLUMNS, _TREE_ROWS = 12, 2000
# Of `nearest_of_many`, by decision 42: cells per root of n, how many of them are searched, rounds
# of k-means and rows per cell that they see
_CELLS, _SEARCHED, _ROUNDS, _TRAINED_BY = 4.0, 24, 10, 64
_ROWS_AT_ONCE = 20_000


class ScaledDistances:
    """Distances between rows of X (n, d), each column measured by its range."""

    def __init__(self, X: FloatArray) -> None:
        extent = np.ptp(X, axis=0)
        self._X, self._extent = X, np.where(extent > 0, extent, 1.0)

    def distances(self, item: int, others: Iterable[int]) -> FloatArray:
        gaps = (self._X[list(others)] - self._X[item]) / self._extent
        return np.asarray(np.sqrt(np.sum(gaps**2, axis=1)))

    def first(self, item: int, others: Iterable[int]) -> list[int]:
        """The others, the nearest first."""
        candidates = list(others)
        order = np.argsort(self.distances(item, candidates), kind="stable")
        return [candidates[at] for at in order]

    def neighbour(self, item: int) -> int:
        """The nearest other row."""
        gaps = (self._X - self._X[item]) / self._extent
        squares = np.sum(gaps**2, axis=1)
        squares[item] = np.inf
        return int(squares.argmin())


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

    _for_blocks(find, len(points), max(1, _BLOCK // max(len(among), 1)))
    return numbers, squares


def _for_blocks(find: Callable[[slice], None], n: int, at_once: int) -> None:
    """Do it for all n rows, so many at once in a thread."""
    blocks = [slice(begin, min(begin + at_once, n)) for begin in range(0, n, at_once)]
    for _ in in_order(find, blocks, min(len(blocks), os.cpu_count() or 1)):
        pass


def _nearest_by_tree(
    points: Array, among: Array, count: int, own: bool
) -> tuple[IntArray, FloatArray]:
    from scipy.spatial import cKDTree  # slow to load, and no first question needs it

    away, numbers = cKDTree(among).query(points, k=count + own)
    away, numbers = away.reshape(len(points), -1), numbers.reshape(len(points), -1)
    if own:
        numbers, away = _without_own(numbers, away)
    return numbers.astype(np.int64), np.asarray(away**2)


def _without_own(numbers: Array, away: Array, first: int = 0) -> tuple[Array, Array]:
    """Numbers (m, c) and distances without those of the points themselves, rows ``first`` on.

    A point is its own nearest, unless copies of it come first: then the last one goes.
    """
    other = numbers != np.arange(first, first + len(numbers))[:, None]
    other[other.all(axis=1), -1] = False
    return numbers[other].reshape(len(numbers), -1), away[other].reshape(len(numbers), -1)


def nearest_of_many(points: Array, count: int) -> tuple[Array, Array]:
    """About what `nearest` finds among points (n, r) themselves, sooner: nine in ten or more.

    Rows are put into cells by faiss, and each is compared with those of the cells around it. One
    thread trains and each block is searched by one, so that threads make no difference.
    """
    library, n = faiss(), len(points)
    cells = max(1, int(_CELLS * n**0.5))
    library.omp_set_num_threads(1)  # of this thread only
    index = library.IndexIVFFlat(library.IndexFlatL2(points.shape[1]), points.shape[1], cells)
    index.cp.niter, index.cp.max_points_per_centroid = _ROUNDS, _TRAINED_BY
    index.cp.min_points_per_centroid = 1  # or it warns on standard error where they are fewer
    with threadpool_limits(1, user_api="blas"):
        index.train(points)
        index.add(points)
    index.nprobe = _SEARCHED
    numbers = np.empty((n, count), dtype=np.int32)
    squares = np.empty((n, count), dtype=np.float32)

    def find(rows: slice) -> None:
        library.omp_set_num_threads(1)
        away, found = index.search(points[rows], count + 1)
        numbers[rows], squares[rows] = _without_own(found, away, rows.start)

    _for_blocks(find, n, _ROWS_AT_ONCE)
    # Where the cells around a point hold too few, it stands in for what is missing, far away.
    missing = numbers < 0
    numbers[missing] = np.nonzero(missing)[0]
    farthest = np.where(missing, 0.0, squares).max(axis=1)
    squares[missing] = farthest[np.nonzero(missing)[0]]
    return numbers, np.maximum(squares, 0.0)


def squared_distances(points: Array, among: Array) -> Array:
    own, other = np.sum(points**2, axis=1), np.sum(among**2, axis=1)
    return np.asarray(np.maximum(own[:, None] + other - 2.0 * points @ among.T, 0.0))
