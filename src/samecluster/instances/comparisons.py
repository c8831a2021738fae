"""Why comparisons do not help to learn a metric: the paper's Theorem 10, in exact rationals.

SEP: points x and hypotheses h in the positive orthant; find the h whose signs ⟨h, x⟩ an oracle
tells one by one. On the circle (`make_circle`) the sign is negative for one x only, so all must be
asked. ORD: learn the order of all distances d_W. For W = diag(h), `ordering_points` makes three
points a_i, b_i, c_i of each x_i; comparing |c_i − b_i| with |b_i − a_i| tells the sign ⟨h, x_i⟩,
and every other comparison has the same answer whatever h is. So a method that solves ORD with few
comparisons solves SEP with as few signs.

Coordinates grow as 6^i beside offsets below 1: floats would lose the offsets after some 17 points.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from samecluster._parameters import check_at_least
from samecluster.errors import InvalidInputError
from samecluster.questions.comparison import Comparison

Vector: TypeAlias = tuple[Fraction, ...]


@dataclass(frozen=True)
class Separation:
    """The problem SEP: which hypothesis has these signs on the points?"""

    points: tuple[Vector, ...]
    hypotheses: tuple[Vector, ...]

    def product(self, hypothesis: int, point: int) -> Fraction:
        """⟨h, x⟩, whose sign the oracle of SEP tells."""
        return _inner(self.hypotheses[hypothesis], self.points[point])

    def metric(self, hypothesis: int) -> tuple[Vector, ...]:
        """W = diag(h): the metric that hides a hypothesis in ORD."""
        h = self.hypotheses[hypothesis]
        return tuple(
            tuple(value if i == j else Fraction(0) for j in range(len(h)))
            for i, value in enumerate(h)
        )


def make_circle(n: int) -> Separation:
    """n points and n hypotheses in three dimensions with ⟨h_j, x_i⟩ < 0 only for i = j.

    As in the paper x_i = (1−δ, −cos θ_i, −sin θ_i) and h_j = (1, cos θ_j, sin θ_j) for angles
    between 0 and π/2. The paper's angles iπ/2n have irrational sines. Those with tan(θ_i/2) =
    i/(n+1) have rational ones, and the argument needs no more of the angles than that they differ:
    ⟨h_j, x_i⟩ = 1 − δ − cos(θ_i − θ_j), and δ is half of the least 1 − cos(θ_i − θ_j).

    Examples
    --------
    >>> circle = make_circle(3)
    >>> [[circle.product(j, i) < 0 for i in range(3)] for j in range(3)]
    [[True, False, False], [False, True, False], [False, False, True]]
    """
    check_at_least("n", n, 2)
    directions = [_on_circle(Fraction(i, n + 1)) for i in range(1, n + 1)]
    # The angles grow with i, so that neighbours are closest.
    delta = min(1 - _inner(a, b) for a, b in pairwise(directions)) / 2
    return Separation(
        points=tuple((1 - delta, -cosine, -sine) for cosine, sine in directions),
        hypotheses=tuple((Fraction(1), cosine, sine) for cosine, sine in directions),
    )


def ordering_points(problem: Separation) -> tuple[Vector, ...]:
    """The 3n points of ORD: a_i = 6^i·1, b_i = 2a_i and c_i = 3a_i + s·x_i, in this order.

    The scale s is small enough for both halves of the reduction. Coordinates of x and h are taken
    to be at most 1 in size, as on the circle.

    - With v = ⟨h, x_i⟩, d(b_i,c_i)² − d(a_i,b_i)² is 2·6^i·s·v + s²⟨h, x_i²⟩. It has the sign of v
      if s·d < 12·|v|, since ⟨h, x_i²⟩ ≤ d and 6^i ≥ 6.
    - Two other pairs differ by D + e and D' + e' in every coordinate, where D ≠ D' are multiples of
      6 (no other two differences of the numbers 6^i, 2·6^i, 3·6^i agree) and |e|, |e'| ≤ 2s. If
      s ≤ 1 the larger of D and D' decides in every coordinate alike, whatever h ≥ 0 is.
    """
    d = len(problem.points[0])
    if any(abs(value) > 1 for vector in problem.points + problem.hypotheses for value in vector):
        raise InvalidInputError("coordinates of points and hypotheses must be at most 1 in size")
    least = min(
        abs(problem.product(j, i))
        for j in range(len(problem.hypotheses))
        for i in range(len(problem.points))
    )
    if least == 0:
        raise InvalidInputError("a point is orthogonal to a hypothesis, so it has no sign")
    scale = min(Fraction(1), 6 * least / d)
    made: list[Vector] = []
    for i, x in enumerate(problem.points, start=1):
        a = (Fraction(6**i),) * d
        b = tuple(2 * value for value in a)
        c = tuple(3 * value + scale * shift for value, shift in zip(a, x, strict=True))
        made += [a, b, c]
    return tuple(made)


def designed_comparison(point: int) -> Comparison:
    """The one comparison that tells a sign: "is c_i as near to b_i as a_i is?", yes if negative."""
    a, b, c = 3 * point, 3 * point + 1, 3 * point + 2
    return Comparison((c, b), (b, a))


def _on_circle(t: Fraction) -> tuple[Fraction, Fraction]:
    """Cosine and sine of the angle θ with tan(θ/2) = t."""
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def _inner(a: tuple[Fraction, ...], b: tuple[Fraction, ...]) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))
