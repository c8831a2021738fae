"""The questions of an audit: checks of random labels, and the correction of what they find wrong.

One plan for labels in memory (`LabellingUnderAudit`) and for labels of all rows of large data
(`audited`). It stops when the bound holds; whether to learn from what was found, and to freeze new
labels, is decided above.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from samecluster._typing import Array, IntArray
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.label_checks import Check
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import belongs
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How

__all__ = ["LabellingUnderAudit", "LabelsUnderAudit", "audited"]

_PATIENCE = 20
"""An audit of all rows gives up after this many times the checks that good labels would take."""

_CLUSTERS_TRIED = 8
"""A wrong item is compared with this many nearest clusters, at about one question each, before it
counts as an exception: with more clusters than that a new placement costs less."""


class LabelsUnderAudit(ABC):
    """Labels that an audit checks, and corrects where answers say so."""

    @abstractmethod
    def unasked(self) -> tuple[IntArray, IntArray]:
        """Items with a label that nobody was asked about, and their labels."""

    @abstractmethod
    def members(self, item: int, label: int) -> Sequence[int]:
        """Asked members of a label, in the order in which an item is compared with them."""

    @abstractmethod
    def other_labels(self, item: int, wrong: int) -> Sequence[int]:
        """Where an item may belong if not to ``wrong``, in the order in which that is asked."""

    @abstractmethod
    def is_asked(self, item: int) -> bool:
        """Whether answers have settled the item's label meanwhile."""

    @abstractmethod
    def confirm(self, item: int, label: int) -> None:
        """Answers put the item into this cluster."""

    @abstractmethod
    def set_apart(self, item: int) -> None:
        """Answers put the item into none of the clusters."""

    def first_questions(self, checks: Sequence[Check]) -> Iterator[Question]:
        """What each check begins with, for several people who answer at once."""
        for check in checks:
            if check.partner is not None:
                yield Question(check.item, check.partner)
            elif members := self.members(check.item, check.label):
                yield Question(check.item, members[0])

    def take(self, audit: Audit, check: Check) -> Plan[Verdict]:
        """Ask about a check, and draw the consequences."""
        verdict = yield from self._compare(check)
        audit.take(check, verdict)
        if verdict is Verdict.DIFFERENT:
            yield from self._correct(audit, check)
        elif verdict is Verdict.SAME and check.partner is None:
            self.confirm(check.item, check.label)
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
        members = self.members(item, label)
        if item in members:
            return Verdict.SAME  # the label stands for the cluster of this item
        return (yield from belongs(item, members))

    def _correct(self, audit: Audit, check: Check) -> Plan[None]:
        """Find out which label is wrong, and where its item belongs."""
        for item in (check.item, check.partner):
            if item is None or self.is_asked(item):
                continue
            verdict = Verdict.DIFFERENT
            if check.partner is not None:
                verdict = yield from self._belongs(item, check.label)
            if verdict is Verdict.SAME:
                audit.settle([item], wrong=False)
                self.confirm(item, check.label)
            elif verdict is Verdict.DIFFERENT:
                audit.settle([item], wrong=True)
                yield from self._move(item, check.label)

    def _move(self, item: int, wrong: int) -> Plan[None]:
        """Compare an item with other clusters; it may be in none."""
        for label in self.other_labels(item, wrong):
            if (yield from self._belongs(item, label)) is Verdict.SAME:
                self.confirm(item, label)
                return
        self.set_apart(item)


class LabellingUnderAudit(LabelsUnderAudit):
    """Labels in memory: items are compared with the nearest asked members first."""

    def __init__(self, labelling: Labelling, near: ScaledDistances) -> None:
        self._labelling, self._near = labelling, near

    def unasked(self) -> tuple[IntArray, IntArray]:
        now = self._labelling
        items = np.flatnonzero((now.labels >= 0) & (now.how != How.ASKED))
        return items, now.labels[items]

    def members(self, item: int, label: int) -> Sequence[int]:
        return self._near.first(item, self._asked(label))

    def other_labels(self, item: int, wrong: int) -> Sequence[int]:
        gaps = {
            label: float(self._near.distances(item, members).min())
            for label in np.unique(self._labelling.labels).tolist()
            if label not in (-1, wrong) and (members := self._asked(label))
        }
        return sorted(gaps, key=lambda label: gaps[label])[:_CLUSTERS_TRIED]

    def is_asked(self, item: int) -> bool:
        return bool(self._labelling.how[item] == How.ASKED)

    def confirm(self, item: int, label: int) -> None:
        self._labelling.confirm(item, label)

    def set_apart(self, item: int) -> None:
        self._labelling.set_apart([item])

    def _asked(self, label: int) -> list[int]:
        now = self._labelling
        return np.flatnonzero((now.labels == label) & (now.how == How.ASKED)).tolist()


class _StoredLabels(LabelsUnderAudit):
    """Labels (n,) of rows that need not be in memory; compared with members in the order asked."""

    def __init__(self, labels: Array, how: Array, answers: Sequence[Answer]) -> None:
        self._labels, self._how = labels, how
        self._members: dict[int, list[int]] = {}
        for row in dict.fromkeys(row for answer in answers for row in answer.question.pair):
            if how[row] == How.ASKED and labels[row] >= 0:
                self._members.setdefault(int(labels[row]), []).append(row)

    def unasked(self) -> tuple[IntArray, IntArray]:
        rows = np.flatnonzero((self._labels >= 0) & (self._how != How.ASKED))
        return rows, self._labels[rows]

    def members(self, item: int, label: int) -> Sequence[int]:
        del item
        return self._members.get(label, [])

    def other_labels(self, item: int, wrong: int) -> Sequence[int]:
        del item
        return [label for label in self._members if label != wrong]

    def is_asked(self, item: int) -> bool:
        return bool(self._how[item] == How.ASKED)

    def confirm(self, item: int, label: int) -> None:
        self._labels[item], self._how[item] = label, How.ASKED

    def set_apart(self, item: int) -> None:
        self._labels[item], self._how[item] = -1, How.UNASSIGNED


def audited(
    labels: Array,
    how: Array,
    answers: Sequence[Answer],
    error: float,
    confidence: float,
    rng: np.random.Generator,
) -> Plan[AuditReport]:
    """Check labels (n,) until the bound holds, or until that is not in sight; corrects them.

    One round of single checks: nothing is learned from what is found wrong, and the bound is about
    the labels as they were written.
    """
    stored = _StoredLabels(labels, how, answers)
    audit = Audit(*stored.unasked(), error=error, confidence=confidence, rng=rng)
    left = _PATIENCE * (audit.n_more() or 0)
    while not audit.met and left > 0 and (checks := audit.next_checks()):
        left -= 1
        yield from stored.take(audit, checks[0])
    return audit.report()
