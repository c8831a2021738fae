"""What every method is given, and what a method is. What it writes on is `labelling`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.lifts.lift import ColumnMap, in_lift
from samecluster.points.survey import Survey
from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.result.premises import Premise
from samecluster.recovery.result.result import Recovery

if TYPE_CHECKING:
    from samecluster.recovery.labelling import Labelling


@dataclass(frozen=True, eq=False)
class Problem:
    """The data and what is declared about it. Checked by whoever makes one.

    ``margin`` is None if nobody declared one; with ``guessed`` it is a guess, and what follows from
    it is inferred, not proven. ``answers`` were given before; the ledger knows them too, so no
    method asks them again. Answers about ``exceptions`` do not count against the margin.
    ``confirmed`` is None if answers are trusted; otherwise those questions were put again, and a
    margin that others refute is not given up before they are, too. With a ``survey`` X is a
    sample of the data that was surveyed, in random order. ``hints`` (n,) are groups that somebody
    believes in, -1 where there is none; they only choose questions, and so does ``first`` (n,), the
    rows to be asked about before others. ``looks`` may be used. With a ``lift`` the margin is one
    of ``lifted`` points, and a survey is one of lifted columns. ``prepared`` and ``frame`` say how
    X was made of the columns of a frame.
    """

    X: FloatArray
    n_clusters: int | None
    margin: float | None
    rng: np.random.Generator
    answers: tuple[Answer, ...] = ()
    guessed: bool = False
    exceptions: frozenset[int] = frozenset()
    confirmed: frozenset[Question] | None = None
    survey: Survey | None = None
    hints: IntArray | None = None
    first: BoolArray | None = None
    looks: LookSizes = PAIRS
    lift: ColumnMap | None = None
    prepared: tuple[Premise, ...] = ()
    frame: Any = None

    @cached_property
    def lifted(self) -> FloatArray:
        """The points (n, D) that margins are about: lifted ones if there is a lift."""
        return in_lift(self.X, self.lift)

    @property
    def counted_answers(self) -> list[Answer]:
        """The answers given before that say something, but for those about exceptions."""
        return [
            answer
            for answer in self.answers
            if answer.verdict is not Verdict.UNSURE
            and self.exceptions.isdisjoint(answer.question.pair)
        ]

    def known_n_clusters(self, method: str) -> int:
        """The number of clusters, for methods that cannot do without."""
        if self.n_clusters is None:
            raise InvalidInputError(f"method {method!r} needs n_clusters")
        return self.n_clusters

    def known_margin(self, method: str) -> float:
        """The margin, for methods that cannot do without."""
        if self.margin is None:
            raise InvalidInputError(f"method {method!r} needs a margin")
        return self.margin


class BudgetSpent(Exception):
    """Thrown into a plan when no more questions may be asked.

    A plan may catch it to bring its labels up to date, and return; it never reaches a user.
    """


class Method(Protocol):
    """A way to recover a clustering: settings, and the plan that follows them."""

    @property
    def name(self) -> str: ...

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]: ...
