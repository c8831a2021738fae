"""The two families behind the paper's Theorem 4: a point among many that only asking can find.

In both, the points say nothing about which of them is the outlier x*: for (almost) every choice
the rest is a cluster of margin γ about the origin, by W ∝ diag(x*²). A question is answered "same"
unless it touches an outlier, so a "same" rules out at most two choices, and every method that makes
no error asks Ω(n) questions.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from samecluster._parameters import check_at_least, check_positive
from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.metric import LatentMetric
from samecluster.instances.instance import LatentInstance

_ROOM = 1.0 - 1e-12
"""Roots are rounded, so that their squares are unit vectors up to a few 1e-16 only. This makes the
packing a little looser, and the margin of the floats that are returned hold strictly."""

_MAX_DRAWS = 200
"""Draws of a hypercube, or batches of candidates of a packing, before giving up. Sizes that the
theorems allow take a few; where 200 draws find nothing there is hardly anything to find."""


def make_packing(
    d: int,
    margin: float,
    n: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> LatentInstance:
    """The first family (paper's Theorem 8): a packing on the sphere, three clusters.

    Unit vectors z with positive entries are packed so that ⟨z, z'⟩ < 1/(1+γ). The points are √z
    and −√z, entry by entry; the outliers, a cluster each, are the two of one random z*. The rest
    has margin γ by W = (1+γ)·diag(z*) about the origin: 1+γ at the outliers, below 1 elsewhere.

    Parameters
    ----------
    d : number of columns, at least 2
    margin : γ from above 0 to below 1/7
    n : number of points, even and at least 4; default is what the theorem promises, about
        2·((1+γ)/8γ)^((d−1)/2)
    random_state : seed or generator

    Examples
    --------
    >>> made = make_packing(d=3, margin=0.01, random_state=0)
    >>> made.X.shape, np.bincount(made.labels).tolist(), made.margin_holds()
    ((26, 3), [24, 1, 1], True)
    """
    check_at_least("d", d, 2)
    if not 0 < margin < 1 / 7:
        raise InvalidInputError(f"margin must be above 0 and below 1/7, got {margin}")
    if n is None:
        n = 2 * max(2, math.ceil(((1 + margin) / (8 * margin)) ** ((d - 1) / 2)))
    if n < 4 or n % 2:
        raise InvalidInputError(f"n must be even and at least 4, got {n}")
    rng = np.random.default_rng(random_state)
    roots = np.sqrt(_packed(n // 2, d, _ROOM / (1.0 + margin), rng))
    X = rng.permutation(np.concatenate([roots, -roots]))
    return hide_outlier(X, int(rng.integers(n)), margin, scale=1.0 + margin)


def make_hypercube(
    n: int, d: int, margin: float, random_state: int | np.random.Generator | None = None
) -> LatentInstance:
    """The second family (paper's Theorem 9): random corners of the cube, two clusters.

    Entries are 1 with probability 1/(2(1+γ)), else 0. One random point x* is the outlier; the rest
    has margin γ by W = diag(x*) about the origin, since no other point has ones at more than a
    share 1/(1+γ) of the places where x* does. That holds with a probability that grows with d; the
    points are drawn again until it does, and until they are all different.

    Parameters
    ----------
    n, d : numbers of points, at least 2, and columns; the theorem has d ≥ 48(1+γ)²
    margin : γ > 0
    random_state : seed or generator

    Examples
    --------
    >>> made = make_hypercube(n=50, d=200, margin=1.0, random_state=0)
    >>> np.bincount(made.labels).tolist(), made.margin_holds()
    ([49, 1], True)
    """
    if n < 2 or d < 1:
        raise InvalidInputError(f"n must be at least 2 and d at least 1, got n={n}, d={d}")
    check_positive("margin", margin)
    rng = np.random.default_rng(random_state)
    for _ in range(_MAX_DRAWS):
        X = (rng.random((n, d)) < 1.0 / (2.0 * (1.0 + margin))).astype(np.float64)
        outlier = int(rng.integers(n))
        shared = np.delete(X @ X[outlier], outlier)  # counts, so exact
        apart = (1 + Fraction(margin)) * int(shared.max()) < int(X[outlier].sum())
        if apart and len(np.unique(X, axis=0)) == n:
            return hide_outlier(X, outlier, margin)
    raise InvalidInputError(
        f"no draw of {n} points in {d} columns had margin {margin:g}; use more columns (the "
        f"theorem has at least {math.ceil(48 * (1 + margin) ** 2)}) or fewer points"
    )


def hide_outlier(X: FloatArray, outlier: int, margin: float, scale: float = 1.0) -> LatentInstance:
    """The clustering in which a row of X is an outlier, and its mirror image −x* another.

    Cluster 0 is the rest, by W = scale·diag(x*²) about the origin (up to rounding; the scale is
    only a unit of length). A cluster of one point has any margin by W = I about that point.
    """
    d = X.shape[1]
    labels = np.zeros(len(X), dtype=np.int64)
    mirrored = _mirror_images(X, outlier)
    labels[mirrored] = 2
    labels[outlier] = 1
    alone = [X[outlier], -X[outlier]] if mirrored.any() else [X[outlier]]
    metrics = (
        LatentMetric(np.diag(math.sqrt(scale) * X[outlier]), np.zeros(d)),
        *(LatentMetric(np.eye(d), point) for point in alone),
    )
    return LatentInstance(X, labels, margin, metrics)


def possible_outliers(X: FloatArray, margin: float) -> IntArray:
    """The rows that may be the hidden outlier: the rest has the margin, in exact arithmetic.

    Examples
    --------
    >>> possible_outliers(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), margin=0.5).tolist()
    [2]
    """
    origin = np.zeros(X.shape[1])
    possible = []
    for row, point in enumerate(X):
        members = ~_mirror_images(X, row)
        members[row] = False
        if members.any() and LatentMetric(np.diag(point), origin).has_margin(X, members, margin):
            possible.append(row)
    return np.array(possible, dtype=np.int64)


def fewest_questions(n_choices: int) -> int:
    """Questions that every method without error asks in the worst of ``n_choices`` of outlier.

    While the answers are "same", each rules out at most two choices, and all but one must go.

    >>> fewest_questions(13)
    6
    """
    return max(0, math.ceil((n_choices - 1) / 2))


def _mirror_images(X: FloatArray, row: int) -> BoolArray:
    mirrored: BoolArray = (-X[row] == X).all(axis=1)
    mirrored[row] = False
    return mirrored


def _packed(m: int, d: int, largest: float, rng: np.random.Generator) -> FloatArray:
    """m unit vectors (m, d) with positive entries and pairwise inner products up to ``largest``.

    Candidates are drawn at random and kept if they are far from those kept before. As long as
    fewer are kept than the theorem promises, balls around them cannot cover the sphere's positive
    part (its shadow has 2^(1−d) of the unit ball's volume, a ball's at most (ε/2)^(d−1) of it), so
    further candidates fit.
    """
    kept = np.zeros((0, d))
    for _ in range(_MAX_DRAWS):
        candidates = np.abs(rng.normal(size=(4 * m, d)))
        candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
        for candidate in candidates:
            if (kept @ candidate <= largest).all():
                kept = np.vstack([kept, candidate])
            if len(kept) == m:
                return kept
    raise InvalidInputError(
        f"no room for {2 * m} points in {d} columns at this margin ({2 * len(kept)} were found); "
        "use fewer points, more columns or a smaller margin"
    )
