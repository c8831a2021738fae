"""Convex hulls blown up about an inner point, without ever building a facet.

The gauge of a target t against columns a_i is min Σλ with Σ λ_i a_i = t, λ ≥ 0: how far the hull of
the columns (with the origin inside) must be blown up to hold t. One small linear program per
target, all sharing their columns; a batch of them goes through the simplex method in lock step.

On top of it stands greedy hull expansion, the paper's heuristic: blow up the hull of the known
members about its centre, by a factor that is sound or by the paper's own, take in every point that
falls inside, and repeat until nothing new is found.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.geometry import tolerance
from samecluster.geometry.mvee import enclosing_ellipsoid

_CHUNK = 4096  # targets at a time: their inverses (p, r, r) stay in the cache
_MAX_PIVOTS_PER_ROW = 40  # ends what rounding sends in circles; 4 are the most seen
_FIRST_LEVEL = 4096  # candidates that the hull settles on first: enough for its shape
_LEVEL_GROWTH = 8  # then this many times as many: most of the sweeps are over few points
_ROUGHLY = 0.1  # ε of the ellipsoid around a hull: it only gives coordinates and an inner ball
_MOST_DIRECTIONS = 512  # along which the vertices of a hull are extreme, and fewer in few columns


def sound_expansion(margin: float) -> float:
    """The factor by which a cluster's hull may be blown up about any point of it.

    Every point of the blown-up hull lies in K + β(K − K) with β = (√(1+γ) − 1)/2, so it belongs to
    the cluster (the reach theorem in the docs).
    """
    return (1.0 + float(np.sqrt(1.0 + margin))) / 2.0


def gauge_at_most(
    columns: FloatArray, inner: float, targets: FloatArray, bound: float
) -> BoolArray:
    """Which targets (p, r) have a gauge of at most ``bound`` against ``columns`` (m, r).

    ``inner`` is the radius of a ball about the origin that lies in the hull of the columns. The
    points ±inner·e_i are therefore free further columns, and give every target a basis to start
    from. True is only returned with a combination that shows it, residual included.
    """
    rank = targets.shape[1]
    everything = np.vstack([inner * np.eye(rank), -inner * np.eye(rank), columns])
    pieces = [
        _decide(everything, inner, targets[start : start + _CHUNK], bound)
        for start in range(0, len(targets), _CHUNK)
    ]
    return np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.bool_)


def _decide(columns: FloatArray, inner: float, targets: FloatArray, bound: float) -> BoolArray:
    n, rank = targets.shape
    accepted = np.zeros(n, dtype=np.bool_)
    if rank == 0:
        return ~accepted
    active = np.arange(n)
    # Row i of an inverse belongs to the basic column basis[i]; values are its weights.
    basis = np.where(targets < 0, np.arange(rank) + rank, np.arange(rank))
    inverse = np.zeros((n, rank, rank))
    inverse[:, np.arange(rank), np.arange(rank)] = np.where(targets < 0, -1.0, 1.0) / inner
    values = np.abs(targets) / inner
    for _ in range(_MAX_PIVOTS_PER_ROW * rank):
        totals = values.sum(axis=1)
        low = totals <= bound
        if low.any():
            accepted[active[low]] = _confirmed(
                columns, inner, targets[active[low]], basis[low], values[low], bound
            )
        prices = inverse.sum(axis=1) @ columns.T
        entering = prices.argmax(axis=1)
        price = prices[np.arange(len(active)), entering]
        # The dual, scaled to be feasible, shows that the gauge is at least totals / price.
        open_ = ~low & (totals <= bound * price) & (price > 1.0 + tolerance.PRICE)
        if not open_.any():
            break
        active, basis, inverse, values = active[open_], basis[open_], inverse[open_], values[open_]
        _pivot(columns, entering[open_], basis, inverse, values)
    return accepted


def _pivot(
    columns: FloatArray,
    entering: IntArray,
    basis: IntArray,
    inverse: FloatArray,
    values: FloatArray,
) -> None:
    """Bring one column into each basis, in place."""
    rows = np.arange(len(entering))
    direction = np.matmul(inverse, columns[entering][:, :, None])[:, :, 0]
    shrinking = direction > tolerance.PRICE * np.abs(direction).max(axis=1, keepdims=True)
    ratios = np.where(shrinking, values, np.inf) / np.where(shrinking, direction, 1.0)
    leaving = ratios.argmin(axis=1)
    step = ratios[rows, leaving]
    values -= step[:, None] * direction
    np.maximum(values, 0.0, out=values)
    values[rows, leaving] = step
    basis[rows, leaving] = entering
    pivot_row = inverse[rows, leaving] / direction[rows, leaving][:, None]
    inverse -= direction[:, :, None] * pivot_row[:, None, :]
    inverse[rows, leaving] = pivot_row


def _confirmed(
    columns: FloatArray,
    inner: float,
    targets: FloatArray,
    basis: IntArray,
    values: FloatArray,
    bound: float,
) -> BoolArray:
    """Whether the combination, with its rounding residual paid for, stays within the bound."""
    reached = np.matmul(values[:, None, :], columns[basis])[:, 0, :]
    residual = np.abs(targets - reached).sum(axis=1) / inner
    return np.asarray((values.sum(axis=1) + residual) * (1.0 + tolerance.ROUNDING) <= bound)


def extreme_members(points: FloatArray, n_directions: int) -> IntArray:
    """Indices of points (n, r) that are farthest along fixed directions, both ways.

    Their hull is a slightly smaller stand-in for the hull of all points.
    """
    rank = points.shape[1]
    directions = np.random.default_rng(0).normal(size=(rank, n_directions))
    directions[:, : min(rank, n_directions)] = np.eye(rank)[:, :n_directions]
    winners = np.zeros(0, dtype=np.int64)
    for start in range(0, len(points), _CHUNK):
        # The best of earlier chunks compete again; small pieces stay in the cache.
        piece = np.concatenate([winners, np.arange(start, min(start + _CHUNK, len(points)))])
        along = points[piece] @ directions
        winners = piece[np.unique(np.concatenate([along.argmax(axis=0), along.argmin(axis=0)]))]
    return winners


def expand_hull(
    X: FloatArray,
    members: IntArray,
    candidates: IntArray,
    factor: float,
    thickness: float,
    max_vertices: int | None = None,
) -> IntArray:
    """Which candidates the repeated expansion of the members' hull takes in.

    Parameters
    ----------
    X : (n, d) points; ``members`` and ``candidates`` are row numbers of it
    factor : how much to blow up, above 1
    thickness : how far off a flat hull's span a point may lie and still count as in it
    max_vertices : at most this many members span the hull; by default a few hundred

    Only extreme members span the hull, so fewer points may be found, never more. The expansion
    settles on a small random share of the candidates first, then on larger ones: most of the
    sweeps are over few points.
    """
    shuffled = np.random.default_rng(0).permutation(candidates)
    vertices = members
    found: list[IntArray] = []
    left = candidates[:0]
    done = 0
    while done < len(shuffled):
        level = min(len(shuffled), max(_FIRST_LEVEL, _LEVEL_GROWTH * done))
        left = np.concatenate([left, shuffled[done:level]])
        taken, left, vertices = _settle(X, vertices, left, factor, thickness, max_vertices)
        found += taken
        done = level
    return np.concatenate(found) if found else candidates[:0]


def _settle(
    X: FloatArray,
    vertices: IntArray,
    candidates: IntArray,
    factor: float,
    thickness: float,
    max_vertices: int | None,
) -> tuple[list[IntArray], IntArray, IntArray]:
    """Expand until no candidate is taken in: those taken, those left, and the hull's vertices."""
    found: list[IntArray] = []
    while True:
        vertices = _thinned(X, vertices, max_vertices)
        enclosing = enclosing_ellipsoid(X[vertices], epsilon=_ROUGHLY, thickness=thickness)
        hull = enclosing.ellipsoid
        near = hull.scaled(factor).contains(X[candidates], off_span=thickness)
        inside = np.zeros(len(candidates), dtype=np.bool_)
        inside[near] = gauge_at_most(
            hull.whiten(X[vertices]),
            (1.0 - tolerance.ROUNDING) / enclosing.rounding,
            hull.whiten(X[candidates[near]]),
            factor,
        )
        new = candidates[inside]
        if not len(new):
            return found, candidates, vertices
        found.append(new)
        candidates = candidates[~inside]
        vertices = np.concatenate([vertices, new])


def _thinned(X: FloatArray, vertices: IntArray, max_vertices: int | None) -> IntArray:
    """The vertices that matter most, when there are many."""
    dimension = X.shape[1]
    n_directions = min(_MOST_DIRECTIONS, int(32 * 2 ** (dimension / 2)))
    if max_vertices is not None:
        n_directions = max_vertices // 2
    if len(vertices) <= 2 * n_directions:
        return vertices
    points = X[vertices]
    offsets = points - points.mean(axis=0)
    _, singular, directions = np.linalg.svd(offsets, full_matrices=False)
    scales = np.where(singular > singular[0] * tolerance.ROUNDING_NOISE, singular, np.inf)
    return vertices[extreme_members(offsets @ (directions.T / scales), n_directions)]
