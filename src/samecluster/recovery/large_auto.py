"""Without a margin, on data that is not in memory: the sample is recovered, the rest follows it.

On the sample everything is as in memory: a margin is guessed and lowered to what the answers allow,
and what it does not infer is predicted. Then one sweep (`samecluster.recovery.following`). No
question is about the rest, so a cluster that the sample does not hold is not found; an audit would
tell.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from samecluster._typing import FloatArray
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer
from samecluster.questions.run import Plan
from samecluster.recovery.auto import Auto
from samecluster.recovery.certify import Certify
from samecluster.recovery.following import Following, Sample
from samecluster.recovery.large import Rest, by_row
from samecluster.recovery.problem import Labelling, Problem
from samecluster.recovery.result import MarginSearch

__all__ = ["LargeAuto"]


class LargeAuto:
    """Recover a sample without a margin, then label the rest; questions are about rows."""

    def __init__(self, settings: Certify, problem: Problem, rest: Rest) -> None:
        self._settings, self._problem, self._rest = settings, problem, rest
        self._ledger = Ledger(problem.answers)
        self._labelling = Labelling(problem, "certify", self._ledger)

    @property
    def search(self) -> MarginSearch | None:
        return self._labelling.search

    def play(self) -> Plan[None]:
        plan = Auto(self._settings).plan(self._problem, self._labelling)
        yield from by_row(plan, self._rest, self._hear)
        self._following = Following(self._settings, self._sample(), self._rest)
        self._following.infer()

    def _hear(self, answer: Answer) -> None:
        self._ledger.record(answer)

    def _sample(self) -> Sample:
        labelling, survey = self._labelling, self._problem.survey
        assert survey is not None
        return Sample(
            self._problem.X,
            survey,
            labelling.answers,
            labelling.labels,
            labelling.how,
            None if labelling.search is None else labelling.search.margin,
            frozenset(labelling.exceptions),
        )

    def point(self, row: int) -> FloatArray | None:
        """The coordinates of a row of the sample; None of another."""
        at = np.flatnonzero(self._rest.rows == row)
        return np.asarray(self._problem.X[at[0]]) if len(at) else None

    def result(self, begin: int, end: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """Clusters and how they are known, of rows from ``begin`` to before ``end``."""
        return self._following.result(begin, end)
