"""The graph of nearest neighbours of all points, and how alike points are along its edges.

Nothing of size n² is kept beyond a few thousand points: a row of similarities is solved for when
it is wanted, by conjugate gradients on a sparse matrix.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.recovery.distances import nearest

# Of the graph, and the distance that scales its edges locally; the usual choice, not tuned
NEIGHBOURS = 10
_REACH = 0.99  # what passes an edge: nearly everything, or far points of a group hear nothing
# Of conjugate gradients. The condition number is below 200: 50 steps leave 1e-3 of the error
_STEPS, _RESIDUAL = 50, 1e-3
_ROUGH_STEPS = 15  # of rows that candidates are compared by; not tuned
_COLUMNS_AT_ONCE = 64  # solved side by side: more do not fit into the processor's cache
# Random signs that estimate the diagonal, and steps for each; chosen in shared trials, not tuned
_PROBES, _PROBE_STEPS = 128, 25
_KEPT_BYTES = 200_000_000  # rows that are kept, the oldest go first
_FAR = 8  # steps along edges that count as the neighbourhood of a point
_SMALL = 500  # points whose similarities are all worked out sooner than those of some


class Graph:
    """Similarities (I − 0.99 S)⁻¹ of n points, scaled to unit diagonal, in single precision.

    Of many points the diagonal is estimated, so that it is 1 within a quarter or so.

    S is the normalised graph of the 10 nearest neighbours. An edge weighs exp(−|x−y|²/(s_x s_y))
    with s the distance to the tenth neighbour: what counts as near differs from place to place.
    """

    LARGEST_DENSE = 4000
    """Points up to which all similarities are computed at once: 64 MB, and rows cost nothing."""

    def __init__(self, points: Array, links: Any = None) -> None:
        self.n = len(points)
        self.is_dense = self.n <= self.LARGEST_DENSE
        """Whether all similarities are worked out at once, so that rows cost nothing."""
        self._steps = edges(points) if links is None else normalised(links)
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

    def between(self, items: IntArray, others: IntArray) -> FloatArray:
        """(len(items), len(others)) similarities, by the side of which more rows are kept."""
        sides = [len(set(some.tolist()) - self._kept.keys()) for some in (items, others)]
        if self.is_dense or sides[0] <= sides[1]:
            return self.rows(items)[:, others].astype(np.float64)
        return self.rows(others)[:, items].T.astype(np.float64)

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
        room = np.empty_like(right)
        size = np.einsum("ij,ij->j", left, left)
        enough = _RESIDUAL**2 * size
        for _ in range(steps):
            if (size <= enough).all():
                break
            pushed = self._steps @ move
            np.subtract(move, pushed, out=pushed)
            along = size / np.maximum(np.einsum("ij,ij->j", move, pushed), 1e-30)
            found += np.multiply(move, along, out=room)
            left -= np.multiply(pushed, along, out=room)
            before, size = size, np.einsum("ij,ij->j", left, left)
            move *= size / np.maximum(before, 1e-30)
            move += left
        return found


def edges(points: Array) -> Any:
    """0.99 S as a sparse matrix."""
    from scipy import sparse  # slow to load, and no first question needs it

    n = len(points)
    if n == 1:
        return sparse.csr_array((1, 1), dtype=np.float32)
    numbers, squares = nearest(points, points, min(NEIGHBOURS, n - 1), own=True)
    rows, columns = np.repeat(np.arange(n), numbers.shape[1]), numbers.ravel()
    weights = edge_weights(numbers, squares).ravel()
    one_way = sparse.csr_array((weights, (rows, columns)), shape=(n, n))
    return normalised(one_way.maximum(one_way.T).tocsr())


def edge_weights(numbers: Array, squares: Array) -> Array:
    """(n, c) weights of the edges from points to neighbours at these squared distances (n, c)."""
    local = np.sqrt(squares[:, -1])
    # More than ten copies of a point have no distance of their own.
    local = np.maximum(local, max(1e-6 * float(np.median(local)), 1e-12))
    return np.asarray(np.exp(-squares / (local[:, None] * local[numbers])).astype(np.float32))


def normalised(both: Any) -> Any:
    """0.99 S for symmetric weights of edges, which are changed."""
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
