"""Minimum-volume enclosing ellipsoid (MVEE), in the affine span of the points.

Solved in the dual: weights u over the points that maximise log det Σ u x̃x̃ᵀ, x̃ = (x, 1), by an
interior-point method (in the manner of Sun and Freund 2004) on a growing working set of points.

What is promised does not rest on convergence. For any weights, with centre c and covariance V of
the weighted points and κ = max (x−c)ᵀV⁻¹(x−c), the ellipsoid E = {(x−c)ᵀV⁻¹(x−c) ≤ κ} satisfies

    E/κ ⊆ conv(S) ⊆ E,

because in every direction the weighted points have mean 0, variance s² and lie within ±s√κ, so
the largest is at least s/√κ (Bhatia–Davis). At the optimum κ = r, which is John's theorem.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.geometry import tolerance
from samecluster.geometry.ellipsoid import Ellipsoid

_MAX_STEPS = 200  # 9 are usual and 12 the most seen; κ, which is computed, says what was reached
_CENTRING = 0.1  # share of the gap that a step aims at; 0.03 and 0.3 take as many steps
_TO_BOUNDARY = 0.95  # share of the way to zero that a step may go: weights must stay positive
_JOINING = 8  # points per axis that join the working set at once
_LIGHT = 1e-3  # share of the largest weight below which a point leaves the working set
_DROPPING_ROUNDS = 20  # after which none leaves, so that it ends for certain; 6 are the most seen


@dataclass(frozen=True, eq=False)
class EnclosingEllipsoid:
    """An enclosing ellipsoid and how round the points are in it.

    ``rounding`` is the number ρ with ``ellipsoid.scaled(1/ρ) ⊆ conv(points) ⊆ ellipsoid``; it is
    at most (1+ε)·rank. ``support`` are the points that carry weight, ``weights`` their weights:
    their weighted mean is the centre, which shows that it lies in the hull.
    """

    ellipsoid: Ellipsoid
    rounding: float
    support: IntArray
    weights: FloatArray


def enclosing_ellipsoid(
    points: FloatArray, epsilon: float = 1e-3, thickness: float | None = None
) -> EnclosingEllipsoid:
    """The minimum-volume ellipsoid around the rows of ``points`` (n, d), within (1+ε).

    Points that lie within ``thickness`` (per column) of a flat count as lying in it, and the
    ellipsoid is flat. By default that is rounding noise only.

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> found = enclosing_ellipsoid(square)
    >>> found.ellipsoid.lengths.round(3).tolist(), round(found.rounding, 3)
    ([1.414, 1.414], 2.0)
    """
    origin, basis, scales = _span(points, thickness)
    rank = basis.shape[1]
    if rank == 0:
        # The mean is rounded, the first point is not: a copy of it must count as inside.
        flat = Ellipsoid(points[0].copy(), basis, scales)
        return EnclosingEllipsoid(flat, 1.0, np.zeros(1, dtype=np.int64), np.ones(1))
    coordinates = (points - origin) @ (basis / scales)
    weights = _weights(coordinates, epsilon)
    support = np.flatnonzero(weights)
    weights = weights[support] / weights[support].sum()

    heavy = coordinates[support]
    centre = weights @ heavy
    offsets = (heavy - centre) * np.sqrt(weights)[:, None]
    # Singular vectors of the offsets are the axes; all in coordinates that are well conditioned.
    _, singular, rotation = np.linalg.svd(offsets, full_matrices=False)
    kappa = float(
        np.max(np.sum(((coordinates - centre) @ (rotation.T / singular)) ** 2, axis=1))
    ) * (1.0 + tolerance.ROUNDING)
    shape = (basis * scales) @ (rotation.T * (singular * np.sqrt(kappa)))
    axes, lengths, _ = np.linalg.svd(shape, full_matrices=False)
    middle = origin + (basis * scales) @ centre
    return EnclosingEllipsoid(Ellipsoid(middle, axes, lengths), max(kappa, 1.0), support, weights)


def _span(points: FloatArray, thickness: float | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Origin (d,), orthonormal basis (d, r) and scales (r,) of the points' affine span."""
    n, dimension = points.shape
    origin = points.mean(axis=0)
    offsets = points - origin
    if thickness is None:
        thickness = tolerance.ROUNDING_NOISE * float(np.abs(points).max())
    _, singular, directions = np.linalg.svd(offsets, full_matrices=False)
    rank = 0
    while rank < min(dimension, len(singular)) and np.abs(offsets).max() > thickness:
        offsets = offsets - np.outer(offsets @ directions[rank], directions[rank])
        rank += 1
    return origin, directions[:rank].T.copy(), singular[:rank] / np.sqrt(n)


def _weights(points: FloatArray, epsilon: float) -> FloatArray:
    """Weights (n,) with max (x−c)ᵀV⁻¹(x−c) ≤ (1+ε)r over all points (n, r).

    Few points touch the ellipsoid, so the program is solved on a small working set; the points
    that stick out most join it until none sticks out.
    """
    n, rank = points.shape
    lifted = np.column_stack([points, np.ones(n)])
    working = _spread(points)
    attempts = 0
    while True:
        weights = _solve(lifted[working], 1.0 + (1.0 + epsilon / 4.0) * rank)
        omega = _variances(lifted, lifted[working], weights)
        outside = np.flatnonzero(omega > 1.0 + (1.0 + epsilon) * rank)
        outside = np.setdiff1d(outside[np.argsort(-omega[outside])][: _JOINING * rank], working)
        if not len(outside):
            everywhere = np.zeros(n)
            everywhere[working] = weights
            return everywhere
        # Dropping light points keeps the program small.
        attempts += 1
        light = _LIGHT * float(weights.max()) if attempts < _DROPPING_ROUNDS else 0.0
        working = np.concatenate([working[weights > light], outside])


def _solve(lifted: FloatArray, goal: float) -> FloatArray:
    """Weights (m,) with x̃ᵀV⁻¹x̃ ≤ ``goal`` for all lifted points (m, D), goal > D.

    Primal-dual Newton steps on: maximise log det Σ u x̃x̃ᵀ − D Σ u over u ≥ 0 (scaling u shows that
    the optimum has Σ u = 1), with slacks s = D − ω and complementarity us = μ → 0.
    """
    m, size = lifted.shape
    weights = np.full(m, 1.0 / m)
    slack = np.full(m, float(size))
    for _ in range(_MAX_STEPS):
        gram = lifted @ np.linalg.inv((lifted.T * weights) @ lifted) @ lifted.T
        omega = np.diagonal(gram)
        # Scaled to sum 1, the weights have the variances Σu · ω.
        if float(omega.max()) * float(weights.sum()) <= goal:
            break
        mu = _CENTRING * float(weights @ slack) / m
        newton = gram**2
        newton[np.diag_indices(m)] += slack / weights
        step = np.linalg.solve(newton, omega - size + mu / weights)
        slack_step = (mu - slack * step) / weights - slack
        room = min(_room(weights, step), _room(slack, slack_step))
        length = min(1.0, _TO_BOUNDARY * room)
        weights = weights + length * step
        slack = slack + length * slack_step
    return np.asarray(weights / weights.sum())


def _room(values: FloatArray, step: FloatArray) -> float:
    """The largest multiple of ``step`` that keeps positive values from going below zero."""
    falling = step < 0
    return float(np.min(-values[falling] / step[falling], initial=np.inf))


def _variances(at: FloatArray, lifted: FloatArray, weights: FloatArray) -> FloatArray:
    """x̃ᵀV⁻¹x̃ of each row of ``at``, for V = Σ u x̃x̃ᵀ over ``lifted``."""
    inverse = np.linalg.inv((lifted.T * weights) @ lifted)
    return np.asarray(np.sum((at @ inverse) * at, axis=1))


def _spread(points: FloatArray) -> IntArray:
    """Few points that span: extremes along directions orthogonal to those already found."""
    rank = points.shape[1]
    chosen: list[int] = []
    basis = np.zeros((0, rank))
    for axis in range(rank):
        direction = np.eye(rank)[axis] if axis == 0 else _orthogonal_to(basis)
        along = points @ direction
        ends = [int(np.argmax(along)), int(np.argmin(along))]
        chosen += ends
        difference = points[ends[0]] - points[ends[1]]
        difference = difference - basis.T @ (basis @ difference)
        basis = np.vstack([basis, difference / np.linalg.norm(difference)])
    return np.unique(np.array(chosen, dtype=np.int64))


def _orthogonal_to(basis: FloatArray) -> FloatArray:
    """A unit vector orthogonal to the rows of ``basis`` (m, r), m < r."""
    residual = np.eye(basis.shape[1]) - basis.T @ basis
    column = residual[:, int(np.argmax(np.linalg.norm(residual, axis=0)))]
    return np.asarray(column / np.linalg.norm(column))
