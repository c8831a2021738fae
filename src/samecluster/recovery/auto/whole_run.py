"""A method from the first question to the last: with a guessed margin, a budget and an audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from samecluster._typing import IntArray
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.checks import Check
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.certify.plan import Certify
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import belongs
from samecluster.recovery.predict.fill import keep_together, predict_unlabelled
from samecluster.recovery.problem import BudgetSpent, Method, Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

__all__ = ["complete_plan", "prediction_goal"]

_CLUSTERS_TRIED = 8
_MOST_ROUNDS = 20
_EXPECTED_OF_AUDITED = 0.2  # share of an audit's error that prediction may leave


def prediction_goal(audit: tuple[float, float] | None) -> float:
    """The expected share of wrong labels at which prediction stops, before an audit if any."""
    allowed = 0.0 if audit is None else _EXPECTED_OF_AUDITED * audit[0]
    return max(allowed, CertifyWithoutMargin.expected_error)


def complete_plan(
    method: Method,
    problem: Problem,
    labelling: Labelling,
    audit: tuple[float, float] | None,
    max_questions: int | None,
) -> Plan[Recovery]:
    """The plan of a method, with what is asked for on top of it."""
    if problem.margin is None and isinstance(method, Certify):
        method = CertifyWithoutMargin(method, prediction_goal(audit))
    labelling.exceptions = tuple(sorted(problem.exceptions))
    plan: Plan[Any]
    if audit is None:
        plan = method.plan(problem, labelling)
    else:
        plan = _Auditing(method, problem, labelling, *audit, pairs=max_questions is None).play()
    ended = yield from _limited(plan, labelling, max_questions)
    if not ended and labelling.audit is None:
        predict_unlabelled(replace(problem, answers=labelling.answers), labelling)
        labelling.number_clusters()
    keep_together(labelling)
    return labelling.recovery()


def _limited(plan: Plan[Any], labelling: Labelling, max_questions: int | None) -> Plan[bool]:
    """Play a plan until it ends, or until the questions are used up, wherever it is then.

    True if it has brought its labels up to date.
    """
    try:
        batch = next(plan)
        while True:
            verdicts: Sequence[Verdict] = ()
            n_put = 0
            while n_put < len(batch):
                room = (
                    len(batch) if max_questions is None else max_questions - labelling.n_questions
                )
                if room <= 0:
                    plan.throw(BudgetSpent())
                n_put += room
                # What was put before is known by now, and costs nothing.
                verdicts = yield batch[:n_put]
            batch = plan.send(verdicts)
    except StopIteration:
        return True
    except BudgetSpent:
        return False


class _Auditing:
    """A method, then rounds of checks; what they find wrong is learned from between rounds."""

    def __init__(
        self,
        method: Method,
        problem: Problem,
        labelling: Labelling,
        error: float,
        confidence: float,
        pairs: bool,
    ) -> None:
        self.method, self.problem, self.labelling = method, problem, labelling
        self.error, self.confidence, self.pairs = error, confidence, pairs
        # Whoever chooses labels must not know the draws.
        self.draws = np.random.default_rng(int(problem.rng.integers(2**63)))
        self.near = ScaledDistances(problem.X)
        self.batch = int(getattr(method, "batch", 1))

    def play(self) -> Plan[None]:
        yield from self._label()
        audit = Audit(
            *self._unasked(),
            error=self.error,
            confidence=self.confidence,
            rng=self.draws,
            pairs=self.pairs,
        )
        for _ in range(_MOST_ROUNDS):
            learn = yield from self._round(audit)
            if not learn:
                return
            try:
                yield from self._label()
            finally:
                # Also if the budget ends here: the bound must be about the labels that there are.
                audit.new_round(*self._unasked())
                self.labelling.audit = audit.report()

    def _label(self) -> Plan[None]:
        """Labels by the method, from all answers so far."""
        self.labelling.reset()
        problem = replace(self.problem, answers=self.labelling.answers)
        try:
            yield from self.method.plan(problem, self.labelling)
        except BudgetSpent:
            predict_unlabelled(replace(problem, answers=self.labelling.answers), self.labelling)
            raise
        finally:
            self.labelling.number_clusters()
            keep_together(self.labelling)

    def _unasked(self) -> tuple[IntArray, IntArray]:
        items = np.flatnonzero((self.labelling.labels >= 0) & (self.labelling.how != How.ASKED))
        return items, self.labelling.labels[items]

    def _round(self, audit: Audit) -> Plan[bool]:
        """Check labels until the bound is met; True if it is better to learn and begin anew."""
        self.labelling.audit = audit.report()
        while not audit.met and (checks := audit.next_checks(self._n_at_once(audit))):
            if len(checks) > 1:
                # Nobody waits for another's answer; one by one below, these are known.
                yield list(self._first_questions(checks))
            as_expected = True
            for check in checks:
                verdict = yield from self._take(audit, check)
                as_expected &= verdict is Verdict.SAME
            self.labelling.audit = audit.report()
            if not as_expected and _better_anew(audit):
                return True
        return False

    def _n_at_once(self, audit: Audit) -> int:
        """One by one for one person, as the next may not be needed; for several all there are."""
        if self.batch == 1:
            return 1
        return audit.n_more() or self.batch

    def _first_questions(self, checks: list[Check]) -> Iterator[Question]:
        for check in checks:
            if check.partner is not None:
                yield Question(check.item, check.partner)
            elif members := self._members(check.label):
                yield Question(check.item, self.near.first(check.item, members)[0])

    def _take(self, audit: Audit, check: Check) -> Plan[Verdict]:
        """Ask about a check, and draw the consequences."""
        verdict = yield from self._compare(check)
        audit.take(check, verdict)
        if verdict is Verdict.DIFFERENT:
            yield from self._correct(audit, check)
        elif verdict is Verdict.SAME and check.partner is None:
            self._confirm(check.item, check.label)
        return verdict

    def _compare(self, check: Check) -> Plan[Verdict]:
        """Ask about a check, with other members if that stays unsure."""
        if check.partner is None:
            return (yield from self._belongs(check.item, check.label))
        (verdict,) = yield [Question(check.item, check.partner)]
        if verdict is not Verdict.UNSURE:
            return verdict
        one = yield from self._belongs(check.item, check.label)
        other = yield from self._belongs(check.partner, check.label)
        both_wrong = one is other is Verdict.DIFFERENT
        if both_wrong or Verdict.UNSURE in (one, other):
            return Verdict.UNSURE
        return Verdict.of(one is other)

    def _belongs(self, item: int, label: int) -> Plan[Verdict]:
        return belongs(item, self.near.first(item, self._members(label)))

    def _members(self, label: int) -> list[int]:
        now = self.labelling
        return np.flatnonzero((now.labels == label) & (now.how == How.ASKED)).tolist()

    def _correct(self, audit: Audit, check: Check) -> Plan[None]:
        """Find out which label is wrong, and where its item belongs."""
        for item in (check.item, check.partner):
            if item is None or self.labelling.how[item] == How.ASKED:
                continue
            verdict = yield from self._belongs(item, check.label)
            if verdict is Verdict.SAME:
                audit.settle([item], wrong=False)
                self._confirm(item, check.label)
            elif verdict is Verdict.DIFFERENT:
                audit.settle([item], wrong=True)
                yield from self._move(item, check.label)

    def _move(self, item: int, wrong: int) -> Plan[None]:
        """Compare an item with the other clusters, the nearest first; it may be in none."""
        labels = [int(label) for label in np.unique(self.labelling.labels) if label >= 0]
        gaps = {
            label: float(self.near.distances(item, members).min())
            for label in labels
            if label != wrong and (members := self._members(label))
        }
        for label in sorted(gaps, key=lambda label: gaps[label])[:_CLUSTERS_TRIED]:
            if (yield from self._belongs(item, label)) is Verdict.SAME:
                self._confirm(item, label)
                return
        self.labelling.mark(np.array([item]), -1, How.UNASSIGNED)
        self.labelling.exceptions = tuple(sorted({*self.labelling.exceptions, item}))

    def _confirm(self, item: int, label: int) -> None:
        self.labelling.mark(np.array([item]), label, How.ASKED)
        if self.labelling.probability is not None:
            self.labelling.probability[item] = 1.0


def _better_anew(audit: Audit) -> bool:
    """Whether new labels would be shown good by fewer checks than these."""
    going_on, anew = audit.n_more(), audit.n_more(new_round=True)
    return anew is not None and (going_on is None or anew < going_on)
