"""An audit of labels of all rows of large data: arrays that need not be in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TypeVar, cast

import numpy as np

from samecluster._typing import Array, IntArray
from samecluster.errors import ContradictionError
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import pairs_of
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.plan import LabelsUnderAudit, audit_price, contradiction
from samecluster.recovery.label_comparison import LabelComparison, worth_comparing
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How
from samecluster.recovery.result.label_separation import AnsweredLabels

T = TypeVar("T")

_PATIENCE = 20
"""It gives up after this many times the checks that good labels would take."""


class _StoredLabels(LabelsUnderAudit):
    """Labels (n,) of rows that need not be in memory; compared with members in the order asked."""

    def __init__(self, labels: Array, how: Array, ledger: Ledger) -> None:
        self._labels, self._how, self._ledger = labels, how, ledger
        answered = self.answered()
        self._members = {label: answered.standing_for(label) for label in answered.sizes}

    def answered(self) -> AnsweredLabels:
        return AnsweredLabels(self._labels, self._how, self._ledger)

    def stand_for_themselves(self) -> Sequence[int]:
        answered = self.answered()
        unheld = (label for label in answered.sizes if not answered.holders(label))
        return [answered.standing_for(label)[0] for label in unheld]

    def unasked(self) -> tuple[IntArray, IntArray]:
        rows = np.flatnonzero((self._labels >= 0) & (self._how != How.ASKED))
        return rows, self._labels[rows]

    def members(self, item: int, label: int) -> Sequence[int]:
        del item
        return self._members.get(label, [])

    def other_labels(self, item: int, wrong: int) -> Sequence[int]:
        del item
        return [label for label in self._members if label != wrong]

    def known_outside(self, item: int, label: int) -> Iterator[tuple[int, int]]:
        del item
        for other, members in self._members.items():
            for row in members if other != label else ():
                member = self._members[label][0]
                if self.implied(Question(row, member)) is Verdict.DIFFERENT:
                    yield row, member

    def implied(self, question: Question) -> Verdict | None:
        return self._ledger.implied(question)

    def known(self, item: int) -> tuple[int, How]:
        return int(self._labels[item]), How(int(self._how[item]))

    def confirm(self, item: int, label: int) -> None:
        self._labels[item], self._how[item] = label, How.ASKED

    def set_apart(self, item: int) -> None:
        self._labels[item], self._how[item] = -1, How.UNASSIGNED

    def merge(self, kept: int, gone: int) -> None:
        """Two labels are one cluster: what told them apart was an assumption."""
        rows = np.flatnonzero(self._labels == gone)
        self._labels[rows] = kept
        self._members[kept] = [*self._members[kept], *self._members.pop(gone)]
        # A proof may have told them apart, or nothing: what is sure is that less is known.
        self.assume_no_proof()

    def assume_no_proof(self) -> None:
        """Answers do not allow what proofs assumed: labels only follow from it as from a guess."""
        self._how[self._how == How.PROVEN] = How.INFERRED


def audited(
    labels: Array,
    how: Array,
    answers: Sequence[Answer],
    error: float,
    confidence: float,
    rng: np.random.Generator,
    margin: float | None = None,
) -> Plan[AuditReport]:
    """Check labels (n,) until the bound holds, or until that is not in sight; corrects them.

    Labels that no answer separates are compared first, if that costs no more than the checks. One
    round of single checks: nothing is learned from what is found wrong, and the bound is about the
    labels as they were written. Where answers contradict a proven label, no label is called proven
    any more, or the declared ``margin`` is refuted: RefutedError.
    """
    ledger = Ledger(answers)
    stored = _StoredLabels(labels, how, ledger)
    price = audit_price(int(np.count_nonzero(labels >= 0)), error, confidence)
    yield from _heard_by(ledger, _compared(stored, price))
    audit = Audit(*stored.unasked(), error=error, confidence=confidence, rng=rng)
    audit.settle(stored.stand_for_themselves(), wrong=False)
    left = _PATIENCE * (audit.n_more() or 0)
    while not audit.met and left > 0 and (checks := audit.next_checks()):
        left -= 1
        yield from _heard_by(ledger, stored.take(audit, checks[0]))
    if stored.contradicted is not None and stored.contradicted[2] is How.PROVEN:
        if margin is not None:
            raise contradiction(*stored.contradicted[:2], tuple(ledger), margin)
        stored.assume_no_proof()
    return audit.report().about(stored.answered(), len(labels))


def _compared(stored: _StoredLabels, price: int) -> Plan[None]:
    """Compare labels that no answer separates; those of one cluster become one."""
    while price > 0 and worth_comparing(answered := stored.answered(), price):
        same = yield from LabelComparison().play(answered, price)
        if same is None:
            return
        stored.merge(*same)
        price -= 1


def _heard_by(ledger: Ledger, plan: Plan[T]) -> Plan[T]:
    """A plan whose answers a ledger hears."""
    try:
        batch = next(plan)
        while True:
            verdicts = yield batch
            for question, verdict in zip(pairs_of(batch), verdicts, strict=True):
                with suppress(ContradictionError):  # of answers that are only expected
                    ledger.record(Answer(question, verdict))
            batch = plan.send(verdicts)
    except StopIteration as end:
        return cast("T", end.value)
