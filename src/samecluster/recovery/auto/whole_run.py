"""A method from the first question to the last: with a budget and an audit around its plan."""

from __future__ import annotations

import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np

from samecluster._typing import IntArray
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Verdict
from samecluster.questions.run import Batch, Plan
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.decoys import Decoys, decoys_shown, on_sheets
from samecluster.recovery.audit.plan import LabellingUnderAudit, audit_price, contradiction
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.label_comparison import LabelComparison, worth_comparing
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.fill import keep_together, predict_unlabelled
from samecluster.recovery.problem import BudgetSpent, Method, Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_MOST_ROUNDS = 20  # a guard: every round but the last costs capital, so that few are ever worth it
_CHECKS_PER_GROUP = 40  # in which people label a group: three or four looks of a dozen items
_EXPECTED_OF_AUDITED = 0.2  # share of an audit's error that prediction may leave


def prediction_goal(audit: tuple[float, float] | None) -> float:
    """The expected share of wrong labels at which prediction stops, before an audit if any."""
    allowed = 0.0 if audit is None else _EXPECTED_OF_AUDITED * audit[0]
    return max(allowed, CertifyWithoutMargin.expected_error)


@dataclass(frozen=True)
class Budget:
    """How many questions and looks may be put; None where there is no limit."""

    max_questions: int | None = None
    max_looks: int | None = None

    def after(self, n_questions: int, n_looks: int) -> Budget:
        """What is left of it once these are spent."""
        limits = ((self.max_questions, n_questions), (self.max_looks, n_looks))
        return Budget(*(None if most is None else max(most - spent, 0) for most, spent in limits))

    def n_allowed(self, looks: Batch, labelling: Labelling) -> int:
        """How many of these looks may be put now, even if each settles all its pairs."""
        allowed = len(looks)
        if self.max_looks is not None:
            allowed = min(allowed, self.max_looks - labelling.n_looks)
        if self.max_questions is not None:
            room = self.max_questions - labelling.n_questions
            costs = accumulate(len(look.questions) for look in looks)
            allowed = min(allowed, sum(1 for cost in costs if cost <= room))
        return max(allowed, 0)


def complete_plan(
    method: Method,
    problem: Problem,
    labelling: Labelling,
    audit: tuple[float, float] | None,
    budget: Budget,
) -> Plan[Recovery]:
    """Adds a budget and an audit to the plan of a method."""
    labelling.note_exceptions(problem.exceptions)
    plan: Plan[Any]
    if audit is None:
        plan = method.plan(problem, labelling)
    else:
        plan = _AuditedMethod(
            method, problem, labelling, *audit, pairs=budget.max_questions is None
        ).play()
    ended = yield from _limited(plan, labelling, budget)
    if not ended and labelling.audit is None:
        predict_unlabelled(replace(problem, answers=labelling.answers), labelling)
        labelling.number_clusters()
    keep_together(labelling)
    return labelling.recovery()


def _limited(plan: Plan[Any], labelling: Labelling, budget: Budget) -> Plan[bool]:
    """Play a plan until it ends, or until the budget is used up, wherever it is then.

    True if it has brought its labels up to date.
    """
    try:
        batch = next(plan)
        while True:
            verdicts: Sequence[Verdict] = ()
            n_put = 0
            while n_put < len(batch):
                n_more = budget.n_allowed(batch[n_put:], labelling)
                if n_more == 0:
                    labelling.cut_short = True
                    plan.throw(BudgetSpent())
                n_put += n_more
                # What was put before is known by now, and costs nothing.
                verdicts = yield batch[:n_put]
            batch = plan.send(verdicts)
    except StopIteration:
        return True
    except BudgetSpent:
        return False


class _AuditedMethod:
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
        # The draws must not be known to what chooses the labels.
        self.draws = np.random.default_rng(int(problem.rng.integers(2**63)))
        near, looks = ScaledDistances(problem.X), problem.looks
        self.checked = LabellingUnderAudit(labelling, near, looks)
        self.batch = int(getattr(method, "batch", 1))
        self.comparison = LabelComparison(near, self.batch, looks)
        self.decoys: Decoys | None = None
        self.n_before = 0  # answers that were there when checks began
        self.n_compared = self.n_learned = 0

    def play(self) -> Plan[None]:
        yield from self._label()
        try:
            yield from self._compare_labels()
        finally:
            # Also if the budget ends here, and nothing can be said.
            audit = self._begun()
            self._begin_round(audit)
        while (yield from self._round(audit)):
            self.n_learned += 1
            try:
                yield from self._label()
                yield from self._compare_labels()
            finally:
                # Also if the budget ends here: the bound must be about the labels that there are.
                audit.new_round(*self.checked.unasked())
                self._begin_round(audit)

    def _begun(self) -> Audit:
        """An audit by sheets if these are wanted, unless it would end without a bound.

        That is so where there is nothing to make decoys of, and where labels are so few that none
        of them may be overlooked.
        """
        looks, labels = self.problem.looks, self.checked.unasked()
        self.n_before = len(self.labelling.answers)
        begin = functools.partial(
            Audit, *labels, error=self.error, confidence=self.confidence, rng=self.draws
        )
        if looks.sheet > 1 and (not looks.decoys or self._has_decoys(*labels)):
            rng = np.random.default_rng(int(self.draws.integers(2**63)))
            self.decoys = Decoys(looks.sheet, looks.decoys, rng)
            audit = begin(decoys=self.decoys.per_check)
            if audit.n_more() is not None:
                return audit
            self.decoys = None
        return begin(pairs=self.pairs)

    def _has_decoys(self, items: IntArray, labels: IntArray) -> bool:
        first = dict(zip(labels.tolist(), items.tolist(), strict=True))
        return any(any(self.checked.known_outside(item, label)) for label, item in first.items())

    def _begin_round(self, audit: Audit) -> None:
        audit.settle(self.checked.stand_for_themselves(), wrong=False)
        self._note(audit)

    def _note(self, audit: Audit) -> None:
        audit.note_decoys(*decoys_shown(self.labelling.answers))
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
            self.labelling.keep_asked_to_answers()

    def _compare_labels(self) -> Plan[None]:
        """Ask about labels that no answer separates, while that costs no more than the checks."""
        n_labels = int(np.count_nonzero(self.labelling.labels >= 0))
        price = audit_price(n_labels, self.error, self.confidence)
        for _ in range(_MOST_ROUNDS):
            left, answered = price - self.n_compared, self.labelling.answered()
            if left <= 0 or not worth_comparing(answered, left):
                return
            before = self.labelling.n_questions
            same = yield from self.comparison.play(answered, left)
            self.n_compared += self.labelling.n_questions - before
            if same is None:
                return
            yield from self._label()

    def _refute_what_answers_contradict(self) -> None:
        """RefutedError if a proven label was found wrong; a guessed margin is noted as refuted."""
        if self.checked.contradicted is None:
            return
        item, label, how = self.checked.contradicted
        answers, search = self.labelling.answers, self.labelling.search
        if how is How.PROVEN and self.problem.margin is not None:
            if isinstance(self.method, Certify):  # most often it says which answers, and more
                problem = replace(self.problem, answers=answers)
                scratch = Labelling(problem, self.method.name, Ledger(answers))
                CertifyRun(self.method, problem, scratch).begin()
            raise contradiction(item, label, answers, self.problem.margin)
        if search is None or search.margin is None:
            return
        if search.margin not in search.refuted:
            refuted = (*search.refuted, search.margin)
            self.labelling.search = replace(search, refuted=refuted)

    def _round(self, audit: Audit) -> Plan[bool]:
        """Check labels until the bound is met; True if it is better to learn and begin again."""
        self._note(audit)
        while not audit.met and (checks := audit.next_checks(self._n_at_once(audit))):
            to_take = list(checks)
            as_expected = True
            try:
                if self.decoys is not None:
                    yield self.checked.sheets(checks, self.decoys)
                elif len(checks) > 1:
                    # Hand out all first questions at once; below they are then answered.
                    yield list(self.checked.first_questions(checks))
                while to_take:
                    verdict = yield from self.checked.take(audit, to_take.pop(0))
                    as_expected &= verdict is Verdict.SAME
            except BudgetSpent:
                # What was said before the budget ended counts, without further questions.
                for check in to_take:
                    self.checked.take_known(audit, check)
                self._note(audit)
                raise
            if self.decoys is not None and not on_sheets(self.labelling.answers[self.n_before :]):
                # Whoever answers sees pairs, whatever is offered.
                self.decoys = None
                audit.answered_one_by_one()
            self._note(audit)
            self._refute_what_answers_contradict()
            if (
                not as_expected
                and self.n_learned < _MOST_ROUNDS
                and (audit.is_better_again() or self._is_better_without_given(audit))
            ):
                return True
        return False

    def _is_better_without_given(self, audit: Audit) -> bool:
        """Whether to label all without the labels that were given, and to check those, is cheaper.

        Then the given ones are put aside: about as many are wrong as are allowed, so that no
        number of checks tells them apart from labels with more.
        """
        given = self.labelling.given
        if given is None or not given.is_used:
            return False
        n_labels = len(np.unique(self.labelling.labels[self.labelling.labels >= 0]))
        going_on, again = audit.n_expected(), audit.n_more(new_round=True)
        if again is None or (going_on or sys.maxsize) <= _CHECKS_PER_GROUP * n_labels + again:
            return False
        self.labelling.given = given._replace(is_used=False)
        return True

    def _n_at_once(self, audit: Audit) -> int:
        """One look for one person, as the next may not be needed; for several all there are."""
        n_more = audit.n_more()
        if self.batch > 1:
            return n_more or self.batch
        room = 1 if self.decoys is None else self.decoys.n_checks
        return min(room, n_more or room)
