"""The comparison oracle of the paper's last section, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from samecluster.errors import InvalidInputError
from samecluster.questions.comparison import Comparison, Pair


class ComparisonOracle:
    """Knows W, and says which of two pairs of points is closer in d_W.

    Points and W may hold whole numbers, fractions or floats; they are taken as they are, and
    nothing is rounded.

    Parameters
    ----------
    points : one sequence of d numbers per item
    matrix : W, d rows of d numbers, symmetric and positive semidefinite

    Examples
    --------
    >>> oracle = ComparisonOracle([(0, 0), (1, 0), (0, 1)], [(4, 0), (0, 1)])
    >>> oracle.answer(Comparison((0, 1), (0, 2))), oracle.answer(Comparison((0, 2), (0, 1)))
    (False, True)
    """

    def __init__(
        self,
        points: Sequence[Sequence[int | float | Fraction]],
        matrix: Sequence[Sequence[int | float | Fraction]],
    ) -> None:
        self._points = [[Fraction(value) for value in point] for point in points]
        self._matrix = [[Fraction(value) for value in row] for row in matrix]
        self._squares: dict[Pair, Fraction] = {}
        d = len(self._matrix)
        if any(len(row) != d for row in self._matrix + self._points):
            raise InvalidInputError(f"matrix must be (d, d) and every point d numbers, d is {d}")

    def __repr__(self) -> str:
        return f"ComparisonOracle(<{len(self._points)} points>)"

    def answer(self, comparison: Comparison) -> bool:
        """True if the first pair is at most as far apart as the second."""
        return self._square(comparison.first) <= self._square(comparison.second)

    def _square(self, pair: Pair) -> Fraction:
        """d_W of a pair, squared; each is computed once."""
        if pair not in self._squares:
            p, q = (self._points[item] for item in pair)
            offset = [a - b for a, b in zip(p, q, strict=True)]
            self._squares[pair] = sum(
                (
                    offset[i] * weight * offset[j]
                    for i, row in enumerate(self._matrix)
                    for j, weight in enumerate(row)
                    if weight
                ),
                Fraction(0),
            )
        return self._squares[pair]
