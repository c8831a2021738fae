"""Certify on data that is not in memory: a sample answers for all, and grows where it cannot.

The sample is the beginning of the permutation that certify would use in memory, so the questions
are the same. Whenever all of it is decided, the other rows are swept; what a sweep leaves
undecided joins the sample, and the plan goes on.

Without a margin everything is done on the sample as in memory: a margin is guessed and lowered to
what the answers allow, and what it does not infer is predicted. Then one sweep labels the rest
(`samecluster.large.follow`). No question is about the rest, so a cluster that the sample does not
hold is not found; an audit would tell.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.large.follow import LabelledSample, SampleLabels
from samecluster.large.other_rows import OtherRows
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question
from samecluster.questions.run import Plan
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.certify.levels import LARGEST_LEVEL, level_sizes
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import MarginSearch

__all__ = ["LargeAuto", "LargePlan", "by_row", "sample_size"]


def sample_size(n: int, d: int) -> int:
    """How many of n points certify looks at before it asks: all, or a level of that size."""
    return max(size for size in level_sizes(n, d) if size <= LARGEST_LEVEL)


class _SweepingRun(CertifyRun):
    """Certify that sweeps all other rows whenever the sample is decided."""

    def __init__(
        self, settings: Certify, problem: Problem, labelling: Labelling, rest: OtherRows
    ) -> None:
        super().__init__(settings, problem, labelling)
        self.rest = rest

    def _open(self) -> IntArray:
        while True:
            open_ = super()._open()
            if len(open_) or not self.known.alive:
                return open_
            points = self.rest.sweep(self)
            if not len(points):
                return open_
            self.extend(points)


class LargePlan:
    """Certify over a sample and the rest; questions and answers are about rows of all the data.

    After the plan has ended, `labels` and `how` tell about any rows.
    """

    def __init__(
        self, settings: Certify, problem: Problem, labelling: Labelling, rest: OtherRows
    ) -> None:
        self._asking = _SweepingRun(settings, problem, labelling, rest)
        self._labelling, self._rest = labelling, rest

    def play(self) -> Plan[None]:
        try:
            yield from by_row(self._asking.play(), self._rest)
        except RefutedError as refuted:
            raise self._refuted_by_row(refuted) from None
        self._rest.write_log(self._asking)
        self._number = self._numbers()

    def _refuted_by_row(self, refuted: RefutedError) -> RefutedError:
        return RefutedError(
            int(self._rest.rows[refuted.item]),
            refuted.cluster,
            tuple(
                Answer(_about_rows(a.question, self._rest), a.verdict, a.who)
                for a in refuted.answers
            ),
            refuted.margin,
            refuted.largest_margin,
        )

    def _numbers(self) -> npt.NDArray[np.int32]:
        """The number of each name's cluster, without gaps; of -1 and -2, at the end, -1."""
        known = self._asking.known
        founders = [record[1] for record in known.log.records if record[0] == "cluster"]
        place = {name: at for at, name in enumerate(known.alive)}
        now = [place[int(known.closure.labels[item])] for item in founders]
        return np.array([*now, -1, -1], dtype=np.int32)

    def point(self, row: int) -> FloatArray | None:
        """The coordinates of a row of the sample; None of another."""
        at = np.flatnonzero(self._rest.rows == row)
        return np.asarray(self._asking.known.points[at[0]]) if len(at) else None

    def result(self, begin: int, end: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """Clusters and how they are known, of rows from ``begin`` to before ``end``."""
        names = np.array(self._rest.names[begin:end], dtype=np.int64)
        asking = self._asking
        swept = How.INFERRED if asking.guessed else How.PROVEN
        how = np.where(names >= 0, swept, How.UNASSIGNED).astype(np.int8)
        mine = np.flatnonzero((self._rest.rows >= begin) & (self._rest.rows < end))
        at = self._rest.rows[mine] - begin
        names[at] = asking.known.closure.labels[mine]
        how[at] = self._labelling.how[mine]
        return self._number[names], how


def by_row(
    plan: Plan[Any], rest: OtherRows, on_answer: Callable[[Answer], None] = lambda _: None
) -> Plan[None]:
    """A plan about places in the sample, as one about rows; ``on_answer`` hears of the places."""
    batch = next(plan, None)
    while batch is not None:
        verdicts = yield [_about_rows(question, rest) for question in batch]
        for question, verdict in zip(batch, verdicts, strict=True):
            on_answer(Answer(question, verdict))
        batch = _sent(plan, verdicts)


def _about_rows(question: Question, rest: OtherRows) -> Question:
    return Question(int(rest.rows[question.item]), int(rest.rows[question.comparator]))


def _sent(plan: Generator[Any, Any, None], verdicts: Any) -> Any:
    try:
        return plan.send(verdicts)
    except StopIteration:
        return None


class LargeAuto:
    """Recover a sample without a margin, then label the rest; questions are about rows."""

    def __init__(self, settings: Certify, problem: Problem, rest: OtherRows) -> None:
        self._settings, self._problem, self._rest = settings, problem, rest
        self._ledger = Ledger(problem.answers)
        self._labelling = Labelling(problem, "certify", self._ledger)

    @property
    def search(self) -> MarginSearch | None:
        return self._labelling.search

    def play(self) -> Plan[None]:
        plan = CertifyWithoutMargin(self._settings).plan(self._problem, self._labelling)
        yield from by_row(plan, self._rest, self._hear)
        self._following = SampleLabels(self._settings, self._sample(), self._rest)
        self._following.infer()

    def _hear(self, answer: Answer) -> None:
        self._ledger.record(answer)

    def _sample(self) -> LabelledSample:
        labelling, survey = self._labelling, self._problem.survey
        assert survey is not None
        return LabelledSample(
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
