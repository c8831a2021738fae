"""Recover data that is not in memory: a sample answers for all rows, and grows where it cannot.

The sample is the beginning of the permutation that certify would use in memory, so the questions
are the same. With a declared margin, the other rows are swept whenever all of the sample is
decided; what a sweep leaves undecided joins the sample, and the plan goes on.

Without a margin everything is done on the sample as in memory: a margin is guessed and lowered to
what the answers allow, and what it does not infer is predicted. Then one sweep labels the rest
(`samecluster.large.follow`). No question is about the rest, so a cluster that the sample does not
hold is not found; an audit would tell.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.large.follow import LabelledSample, SampleLabels
from samecluster.large.other_rows import OtherRows, about_rows, refuted_by_row
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import pairs_of
from samecluster.questions.pair import Answer
from samecluster.questions.run import Plan
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.certify.levels import LARGEST_LEVEL, level_sizes
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem


def sample_size(n: int, d: int) -> int:
    """How many of n points certify looks at before it asks: all, or a level of that size."""
    return max(size for size in level_sizes(n, d) if size <= LARGEST_LEVEL)


class LargePlan:
    """Labels for a sample and the rest; questions and answers are about rows of all the data.

    The problem's X is the sample, and its answers are about places in it, as is the ``labelling``.
    """

    def __init__(self, settings: Certify, problem: Problem, rest: OtherRows) -> None:
        self._settings, self._problem, self._rest = settings, problem, rest
        self._ledger = Ledger(problem.answers)
        self.labelling = Labelling(problem, "certify", self._ledger)
        self._certify: _SweepingRun | None = None
        if problem.margin is not None:
            self._certify = _SweepingRun(settings, problem, self.labelling, rest)

    def play(self) -> Plan[tuple[Array, Array]]:
        """Ends with the labels (m,) of the sample as it is then, and how they are known."""
        return self._infer() if self._certify is None else self._prove(self._certify)

    @property
    def points(self) -> FloatArray:
        """The coordinates of the sample as it is now."""
        return self._problem.X if self._certify is None else self._certify.known.points

    def _prove(self, certify: _SweepingRun) -> Plan[tuple[Array, Array]]:
        try:
            yield from self._by_row(certify.play())
        except RefutedError as refuted:
            raise refuted_by_row(refuted, self._rest.rows) from None
        self._rest.write_log(certify.known)
        numbers = _numbers(certify)
        self._rest.relabel(numbers)
        self.labelling.keep_asked_to_answers()
        return numbers[certify.known.closure.labels], self.labelling.how

    def _infer(self) -> Plan[tuple[Array, Array]]:
        plan = CertifyWithoutMargin(self._settings).plan(self._problem, self.labelling)
        yield from self._by_row(plan)
        labels = SampleLabels(self._settings, self._labelled_sample(), self._rest)
        labels.infer()
        return labels.labels, labels.how

    def _by_row(self, plan: Plan[Any]) -> Plan[None]:
        """A plan about places in the sample, as one about rows; the ledger hears of the places."""
        batch = next(plan, None)
        while batch is not None:
            places = pairs_of(batch)
            verdicts = yield [about_rows(question, self._rest.rows) for question in places]
            for question, verdict in zip(places, verdicts, strict=True):
                self._ledger.record(Answer(question, verdict))
            try:
                batch = plan.send(verdicts)
            except StopIteration:
                return

    def _labelled_sample(self) -> LabelledSample:
        labelling, survey = self.labelling, self._problem.survey
        assert survey is not None
        labelling.keep_asked_to_answers()
        return LabelledSample(
            self._problem.X,
            survey,
            labelling.answers,
            labelling.labels,
            labelling.how,
            None if labelling.search is None else labelling.search.margin,
            frozenset(labelling.exceptions),
            lift=self._problem.lift,
        )


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
            points = self.rest.sweep(self.known)
            if not len(points):
                return open_
            self.extend(points)


def _numbers(certify: CertifyRun) -> npt.NDArray[np.int32]:
    """The number of each name's cluster, without gaps; of -1, at the end, -1."""
    known = certify.known
    founders = [record[1] for record in known.log.records if record[0] == "cluster"]
    place = {name: at for at, name in enumerate(known.alive)}
    now = [place[int(known.closure.labels[item])] for item in founders]
    return np.array([*now, -1], dtype=np.int32)
