"""Clusters that no ellipsoid separates, with a margin in a lift that really holds.

A witness of the margin, an ellipsoid in lifted columns, is found on points spread over where the
clusters can be; then the margin of the points that are returned is computed by that witness, with a
bound on every rounding error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from samecluster._parameters import check_at_least, check_positive
from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.margin import ClusterMargin, margin_of, true_margin
from samecluster.instances.ellipsoids import on_sphere
from samecluster.lifts.polynomial import Polynomial, PolynomialColumns

_SPREAD = 3_000  # points that a witness is found on
_KEPT = 0.8  # share of a witness's margin that is promised
_ENOUGH = 2.0  # margins above it hardly save a question, where columns are few
_WIDE = 20  # lifted columns above which the best witness takes minutes to find, and margins help

Draw = Callable[[IntArray, np.random.Generator], FloatArray]
"""Points (n, d) for the clusters (n,) that they are to be in."""

Witnesses = Callable[[FloatArray, FloatArray, IntArray], tuple[ClusterMargin, ...]]
"""Ellipsoids from points (n, d), their lifted columns (n, D) and their clusters (n,)."""


@dataclass(frozen=True, eq=False)
class LiftedInstance:
    """Points with their true clustering, and a margin that it has in a lift.

    ``witnesses[j]`` is the ellipsoid of cluster j in the lifted ``columns``.
    """

    X: FloatArray
    labels: IntArray
    margin: float
    lift: Polynomial
    columns: PolynomialColumns
    witnesses: tuple[ClusterMargin, ...]

    @property
    def n_clusters(self) -> int:
        return len(self.witnesses)

    def margin_holds(self) -> bool:
        """Whether every cluster has the margin in the lift, in exact arithmetic."""
        return self.shown_margin() >= self.margin

    def shown_margin(self) -> float:
        """The margin that the witnesses show, rounded down."""
        lifted = self.columns.apply(self.X)
        return min(
            margin_of(lifted, self.labels == one.label, one.factor, one.centre)
            for one in self.witnesses
        )


def make_rings(
    n: int,
    k: int = 2,
    d: int = 2,
    *,
    noise: float = 0.05,
    margin: float | None = None,
    degree: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> LiftedInstance:
    """k rings (in d=2) or shells around each other, of radii 1, 2, … and thickness 2 · ``noise``.

    Parameters
    ----------
    n, k, d : numbers of points, clusters and columns
    noise : how far a point is at most from its ring
    margin : γ > 0 that every cluster has in the lift; None is what it has, up to 2, or up to
        twice the number of lifted columns if there are more than 20. One that does not hold is
        refused.
    degree : of the lift
    random_state : seed or generator

    Examples
    --------
    >>> made = make_rings(1000, random_state=0)
    >>> made.margin, made.margin_holds()
    (2.0, True)
    """
    check_at_least("d", d, 2)

    def draw(labels: IntArray, rng: np.random.Generator) -> FloatArray:
        radius = 1.0 + labels + noise * rng.uniform(-1.0, 1.0, len(labels))
        return radius[:, None] * on_sphere(len(labels), d, rng)

    return _made(n, k, draw, margin, degree, random_state, _by_radius)


def make_moons_with_margin(
    n: int,
    *,
    noise: float = 0.15,
    margin: float | None = None,
    degree: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> LiftedInstance:
    """Two half circles that reach into each other, each point at most ``noise`` off its own.

    The parameters are those of `make_rings`.

    Examples
    --------
    >>> made = make_moons_with_margin(1000, random_state=0)
    >>> made.margin > 0.5, made.margin_holds()
    (True, True)
    """

    def draw(labels: IntArray, rng: np.random.Generator) -> FloatArray:
        angle, upper = np.pi * rng.random(len(labels)), labels == 0
        x = np.where(upper, np.cos(angle), 1.0 - np.cos(angle))
        y = np.where(upper, np.sin(angle), 0.5 - np.sin(angle))
        return np.column_stack([x, y]) + noise * _in_disc(len(labels), rng)

    return _made(n, 2, draw, margin, degree, random_state)


def make_spirals(
    n: int,
    *,
    turns: float = 0.75,
    noise: float = 0.02,
    margin: float | None = None,
    degree: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> LiftedInstance:
    """Two spirals, one turned by half a turn, that reach radius 1 after so many ``turns``.

    They begin at radius 1/5. The other parameters are those of `make_rings`. Up to one turn there
    is a margin in the quadratic lift; more turns need a higher degree.

    Examples
    --------
    >>> made = make_spirals(1000, random_state=0)
    >>> made.margin > 0.5, made.margin_holds()
    (True, True)
    """
    check_positive("turns", turns)

    def draw(labels: IntArray, rng: np.random.Generator) -> FloatArray:
        radius = rng.uniform(0.2, 1.0, len(labels))
        angle = 2.0 * np.pi * turns * radius + np.pi * labels
        points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.asarray(points + noise * _in_disc(len(labels), rng))

    return _made(n, 2, draw, margin, degree, random_state)


def make_nested(
    n: int,
    d: int = 2,
    *,
    gap: float = 0.12,
    outer: float = 3.3,
    margin: float | None = 0.1,
    degree: int = 2,
    random_state: int | np.random.Generator | None = None,
) -> LiftedInstance:
    """A ball of radius 1 inside a cloud that reaches from radius 1 + ``gap`` to ``outer``.

    The other parameters are those of `make_rings`. A thick cloud has a small margin.

    Examples
    --------
    >>> made = make_nested(1000, random_state=0)
    >>> made.margin, made.margin_holds()
    (0.1, True)
    """
    check_positive("gap", gap)

    def draw(labels: IntArray, rng: np.random.Generator) -> FloatArray:
        share = rng.random(len(labels))
        inner = share ** (1.0 / d)
        cloud = ((1 + gap) ** d + share * (outer**d - (1 + gap) ** d)) ** (1.0 / d)
        return np.where(labels == 0, inner, cloud)[:, None] * on_sphere(len(labels), d, rng)

    return _made(n, 2, draw, margin, degree, random_state, _by_radius)


def _in_disc(n: int, rng: np.random.Generator) -> FloatArray:
    return np.sqrt(rng.random((n, 1))) * on_sphere(n, 2, rng)


def _made(
    n: int,
    k: int,
    draw: Draw,
    margin: float | None,
    degree: int,
    random_state: int | np.random.Generator | None,
    wide: Witnesses | None = None,
) -> LiftedInstance:
    """The instance; ``wide`` gives witnesses where finding the best ones would take minutes."""
    if k < 2 or n < k:
        raise InvalidInputError(f"n must be at least k and k at least 2, got n={n}, k={k}")
    if margin is not None:
        check_positive("margin", margin)
    rng, lift = np.random.default_rng(random_state), Polynomial(degree)
    labels = rng.permutation(np.arange(n) % k)
    X = draw(labels, rng)
    numbers = np.arange(_SPREAD) % k
    spread = np.vstack([draw(numbers, np.random.default_rng(0)), X[:_SPREAD]])
    numbers = np.append(numbers, labels[:_SPREAD])
    columns = lift.fitted(spread.min(axis=0), spread.max(axis=0))
    lifted = columns.apply(spread)
    if wide is None or lifted.shape[1] <= _WIDE:
        witnesses = true_margin(lifted, numbers)
    else:
        witnesses = wide(spread, lifted, numbers)
    made = LiftedInstance(X, labels, margin or 0.0, lift, columns, witnesses)
    shown = made.shown_margin()
    # Members that span a cluster of D columns reach to about √D times their spread.
    enough = _ENOUGH if lifted.shape[1] <= _WIDE else 2.0 * lifted.shape[1]
    promised = margin or float(f"{min(_KEPT * shown, enough):.1e}")
    if not 0.0 < promised <= shown:
        raise InvalidInputError(
            f"these clusters have margin {shown:.3g} in the {lift.name} lift, which is less than "
            f"{promised:.3g}; use less noise, a smaller margin or another degree"
        )
    return LiftedInstance(X, labels, promised, lift, columns, witnesses)


def _by_radius(
    points: FloatArray, lifted: FloatArray, labels: IntArray
) -> tuple[ClusterMargin, ...]:
    """Layers between two values of |x|², which is linear in the lifted columns.

    The margin that they show is computed from the points, so that a fit that is off costs margin
    and never truth.
    """
    squares = np.sum(points**2, axis=1)
    with_one = np.column_stack([lifted, np.ones(len(lifted))])
    *direction, _ = np.linalg.lstsq(with_one, squares, rcond=None)[0]
    factor = np.asarray(direction)[None, :]
    heights, found = lifted @ factor[0], []
    for label in np.unique(labels).tolist():
        own = heights[labels == label]
        centre = factor[0] * (own.min() + own.max()) / 2.0 / float(factor[0] @ factor[0])
        none = np.zeros(lifted.shape[1])
        margin = margin_of(lifted, labels == label, factor, centre)
        found.append(ClusterMargin(margin, factor, centre, len(own), label, none))
    return tuple(found)
