"""Greedy hull expansion: the paper's heuristic, with a factor that is sound or the paper's own.

Blow up the hull of the known members about its centre, take in every point that falls inside, and
repeat until nothing new is found.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.geometry import tolerance
from samecluster.geometry.enclosing import enclosing_ellipsoid
from samecluster.geometry.hull import extreme_members, gauge_at_most

__all__ = ["expand_hull"]

_FIRST_LEVEL = 4096
_LEVEL_GROWTH = 8


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
        enclosing = enclosing_ellipsoid(X[vertices], epsilon=0.1, thickness=thickness)
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
    n_directions = min(512, int(32 * 2 ** (dimension / 2)))
    if max_vertices is not None:
        n_directions = max_vertices // 2
    if len(vertices) <= 2 * n_directions:
        return vertices
    points = X[vertices]
    offsets = points - points.mean(axis=0)
    _, singular, directions = np.linalg.svd(offsets, full_matrices=False)
    scales = np.where(singular > singular[0] * tolerance.ROUNDING_NOISE, singular, np.inf)
    return vertices[extreme_members(offsets @ (directions.T / scales), n_directions)]
