"""Oracles made of a plain function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samecluster._typing import FloatArray
from samecluster.errors import ProtocolError
from samecluster.oracles.base import Oracle, VerdictReader
from samecluster.questions.look import Board, Choice, Sheet
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Question, Verdict


class FunctionOracle(Oracle):
    """Asks ``function(i, j)`` with two row numbers: True, False, or None if it is unsure.

    ``choose``, ``sort`` and ``join`` answer whole looks, as the methods of `Oracle` do; without
    them such looks are asked as pairs.

    >>> FunctionOracle(lambda i, j: i % 2 == j % 2).answer(Question(1, 2))
    <Verdict.DIFFERENT: 'different'>
    """

    def __init__(
        self,
        function: Callable[[int, int], Any],
        *,
        choose: Callable[[Choice], Any] | None = None,
        sort: Callable[[Sheet], Any] | None = None,
        join: Callable[[Board], Any] | None = None,
    ) -> None:
        self._function = function
        self._choose, self._sort, self._join = choose, sort, join
        self._read = VerdictReader()

    def look_sizes(self, wanted: LookSizes) -> LookSizes:
        return wanted.limited(
            choice=self._choose is not None,
            sheet=self._sort is not None,
            board=self._join is not None,
        )

    def choose(self, choice: Choice) -> Any:
        return self._choose(choice) if self._choose else super().choose(choice)

    def sort(self, sheet: Sheet) -> Any:
        return self._sort(sheet) if self._sort else super().sort(sheet)

    def join(self, board: Board) -> Any:
        return self._join(board) if self._join else super().join(board)

    def __repr__(self) -> str:
        return f"FunctionOracle({_name(self._function)})"

    def answer(self, question: Question) -> Verdict:
        return self._read(self.asked(question), question)

    def asked(self, question: Question) -> Any:
        """What the function says, as it says it."""
        return self._function(question.item, question.comparator)


class RowOracle(Oracle):
    """Asks ``function(x, y)`` with two rows of the data that is being clustered.

    >>> import numpy as np
    >>> same_sign = RowOracle(lambda x, y: (x[0] > 0) == (y[0] > 0))
    >>> same_sign.bound_to(np.array([[1.0], [-2.0]])).answer(Question(0, 1))
    <Verdict.DIFFERENT: 'different'>
    """

    def __init__(self, function: Callable[[FloatArray, FloatArray], Any]) -> None:
        self._function = function
        self._X: FloatArray | None = None
        self._read = VerdictReader()

    def __repr__(self) -> str:
        return f"RowOracle({_name(self._function)})"

    def bound_to(self, X: FloatArray) -> RowOracle:
        bound = RowOracle(self._function)
        bound._X = X
        return bound

    def answer(self, question: Question) -> Verdict:
        if self._X is None:
            raise ProtocolError("a RowOracle answers only after bound_to(X)")
        said = self._function(self._X[question.item], self._X[question.comparator])
        return self._read(said, question)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__name__)
