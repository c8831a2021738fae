"""How well ellipsoids tell the groups of labelled data apart, and what stands in the way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.geometry.margin import true_margin
from samecluster.geometry.semidefinite.solver import Feasibility, round_coordinates
from samecluster.lifts.polynomial import Polynomial
from samecluster.points.array import unit_scaled
from samecluster.recovery.certify.complete_test import CompleteTest, lifted

MOST_BREAKERS = 50  # rows; a margin that takes more than that to appear is none
_RANK = 1e-9  # singular values below this share of the largest are rounding
_BARELY = 1 + 1e-6  # one ellipsoid must be larger than the other by more than rounding
_MOST_COLUMNS = 35  # lifted ones: a margin is a program of as many columns squared, half a minute
# Numbers of principal components tried: dense where margins usually appear
_COMPONENTS = (1, 2, 3, 4, 6, 8, 10, 12, 16, 20)


@dataclass(frozen=True, eq=False)
class ClusterDiagnosis:
    """One group of labelled data.

    ``margin`` is a lower bound on its largest margin, 0.0 if it has none; ``breakers`` are then
    foreign rows without which it would have one, the worst first. None if more than
    ``MOST_BREAKERS`` would have to go.
    """

    label: int
    size: int
    rank: int
    margin: float
    breakers: IntArray | None


def diagnose(X: FloatArray, labels: IntArray) -> tuple[ClusterDiagnosis, ...]:
    """Margin, rank and size of each group, and the points that break its margin.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [1.5], [5.0]])
    >>> [(c.margin > 0, c.breakers.tolist()) for c in diagnose(X, np.array([0, 0, 0, 1, 1]))]
    [(False, [3]), (False, [2])]
    """
    points = unit_scaled(X)
    return tuple(
        ClusterDiagnosis(
            found.label,
            found.size,
            _rank(points[labels == found.label]),
            found.margin,
            np.zeros(0, np.int64) if found.margin > 0 else _breakers(points, labels == found.label),
        )
        for found in true_margin(X, labels)
    )


@dataclass(frozen=True, eq=False)
class LiftDiagnosis:
    """How labelled data looks in a lift: a lower bound on the margin of each group, in the order of
    the labels; None where there are too many columns to look.

    ``n_questions`` is about what proofs would take: each group is spanned, and all are told apart.
    """

    degree: int
    n_columns: int
    margins: tuple[float, ...] | None
    n_questions: int | None


def diagnose_lifts(X: FloatArray, labels: IntArray) -> tuple[LiftDiagnosis, ...]:
    """The lifts of degree 1, 2 and 3.

    Examples
    --------
    >>> from samecluster.instances import make_rings
    >>> made = make_rings(500, random_state=0)
    >>> for found in diagnose_lifts(made.X, made.labels)[:2]:
    ...     print(found.degree, found.n_columns, min(found.margins) > 1, found.n_questions)
    1 2 False None
    2 5 True 11
    """
    return tuple(_in_lift(X, labels, Polynomial(degree)) for degree in (1, 2, 3))


def _in_lift(X: FloatArray, labels: IntArray, lift: Polynomial) -> LiftDiagnosis:
    low, high = X.min(axis=0), X.max(axis=0)
    width = lift.width(int(np.count_nonzero(high > low)))
    if not 0 < width <= _MOST_COLUMNS:
        return LiftDiagnosis(lift.degree, width, None, None)
    lifted = lift.fitted(low, high).apply(X)
    margins = tuple(found.margin for found in true_margin(lifted, labels))
    n_questions = None
    if min(margins) > 0:
        points, k = unit_scaled(lifted), len(margins)
        ranks = [_rank(points[labels == label]) for label in np.unique(labels[labels >= 0])]
        n_questions = sum(ranks) + k * (k - 1) // 2
    return LiftDiagnosis(lift.degree, width, margins, n_questions)


def _rank(points: FloatArray) -> int:
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return int(np.count_nonzero(spread > _RANK * np.sqrt(len(points))))


def _breakers(points: FloatArray, members: BoolArray) -> IntArray | None:
    """Foreign rows to take away, one at a time: the one that weighs most in the reason why no
    ellipsoid has the members inside and the others outside."""
    inside, others = np.flatnonzero(members), np.flatnonzero(~members)
    # The directions in which the members do not vary cannot be broken by points off them.
    inner = lifted(points[inside])
    _, spread, axes = np.linalg.svd(inner, full_matrices=False)
    span = axes[spread > _RANK * spread[0]]
    off = lifted(points[others]) - lifted(points[others]) @ span.T @ span
    others = others[np.abs(off).max(axis=1) <= 1e-6]
    inner, outer = inner @ span.T, lifted(points[others]) @ span.T
    rounding = round_coordinates(inner)
    if rounding is None:
        return None
    inner, outer = inner @ rounding[0], outer @ rounding[0]
    working = inside[np.argsort(-np.sum(inner**2, axis=1), kind="stable")[: 3 * len(span)]].tolist()
    gone: list[int] = []
    while len(gone) <= MOST_BREAKERS:
        left = ~np.isin(others, gone)
        trial = CompleteTest(inside, inner, others[left], outer[left], _BARELY)
        near = others[left][np.argsort(np.sum(outer[left] ** 2, axis=1), kind="stable")[:12]]
        against = near.tolist()
        found = trial.run(working, against, None)
        if found is None or found.verdict is not Feasibility.INFEASIBLE:
            return np.array(gone, dtype=np.int64) if _separable(points, members, gone) else None
        gone.append(against[int(np.argmax(found.mu))])
    return None


def _separable(points: FloatArray, members: BoolArray, without: list[int]) -> bool:
    kept = np.setdiff1d(np.arange(len(points)), without)
    return true_margin(points[kept], members[kept].astype(np.int64))[-1].margin > 0


def components_with_margins(X: FloatArray, labels: IntArray) -> int | None:
    """The smallest number of principal components tried in which every group has a margin.

    Columns are scaled to one range first. None if there is none among those tried, up to 20.
    """
    points = unit_scaled(X)
    centred = points - points.mean(axis=0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.count_nonzero(spread > _RANK * spread[0]))
    for count in [c for c in _COMPONENTS if c < rank] + [rank] * (rank <= _COMPONENTS[-1]):
        found = true_margin(centred @ axes[:count].T, labels)
        if all(cluster.margin > 0 for cluster in found):
            return count
    return None
