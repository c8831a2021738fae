"""The questions of an audit: checks of random labels, and the correction of what they find wrong.

For labels in memory (`LabellingUnderAudit`), and in `stored_labels` for those of all rows of large
data. Whether to learn from what was found, and to freeze new labels, is decided above.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from samecluster._typing import IntArray
from samecluster.errors import RefutedError
from samecluster.questions.look import Choice, Look
from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.decoys import Decoys
from samecluster.recovery.audit.label_checks import Check
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import GROUP_SHOWN, belongs
from samecluster.recovery.problem import BudgetSpent
from samecluster.recovery.result.how import How
from samecluster.recovery.result.label_separation import named_after

_CLUSTERS_TRIED = 8
"""A wrong item is compared with this many nearest clusters, at about one question each, before it
counts as an exception: with more clusters than that a new placement costs less."""


class LabelsUnderAudit(ABC):
    """Labels that an audit checks, and corrects where answers say so."""

    contradicted: tuple[int, int, How] | None = None
    """An item that answers put out of its label's cluster although that was proven or inferred."""
    looks: LookSizes = PAIRS

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
    def known(self, item: int) -> tuple[int, How]:
        """The item's label now, and how it is known."""

    @abstractmethod
    def confirm(self, item: int, label: int) -> None:
        """Answers put the item into this cluster."""

    @abstractmethod
    def set_apart(self, item: int) -> None:
        """Answers put the item into none of the clusters."""

    @abstractmethod
    def implied(self, question: Question) -> Verdict | None:
        """What answers say about a pair."""

    @abstractmethod
    def stand_for_themselves(self) -> Sequence[int]:
        """Items after which labels are named that nobody was asked about: right by definition."""

    @abstractmethod
    def known_outside(self, item: int, label: int) -> Iterable[tuple[int, int]]:
        """Asked items that answers put outside of a label, each with a member of it, for decoys."""

    def sheets(self, checks: Sequence[Check], decoys: Decoys) -> list[Look]:
        """What single checks begin with, as sheets."""
        label_of = {check.item: check.label for check in checks}
        cells = list(self.first_questions(checks))
        return decoys.sheets(
            cells, [label_of[question.item] for question in cells], self.known_outside
        )

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
            self._note_contradiction(check)
            yield from self._correct(audit, check)
        elif verdict is Verdict.SAME and check.partner is None:
            self._confirm(check.item, check.label)
        return verdict

    def take_known(self, audit: Audit, check: Check) -> None:
        """The same without asking; a wrong label goes, and nobody is asked where it belongs."""
        question = next(self.first_questions([check]), None)
        verdict = None if question is None else self.implied(question)
        if check.partner is not None or verdict is None:
            return
        audit.take(check, verdict)
        if verdict is Verdict.SAME:
            self._confirm(check.item, check.label)
        else:
            self._note_contradiction(check)
            self.set_apart(check.item)

    def _note_contradiction(self, check: Check) -> None:
        """If both of a pair follow from what is assumed, one of them is wrong, whichever it is."""
        items = [item for item in (check.item, check.partner) if item is not None]
        known = [self.known(item) for item in items]
        if all(label == check.label and how >= How.INFERRED for label, how in known):
            weakest = min(how for _, how in known)
            self.contradicted = self.contradicted or (check.item, check.label, weakest)

    def _confirm(self, item: int, label: int) -> None:
        """An item that stands for its label itself was compared with nothing."""
        if item not in self.members(item, label):
            self.confirm(item, label)

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
            if item is None or self.known(item)[1] is How.ASKED:
                continue
            verdict = Verdict.DIFFERENT
            if check.partner is not None:
                verdict = yield from self._belongs(item, check.label)
            if verdict is Verdict.SAME:
                audit.settle([item], wrong=False)
                self._confirm(item, check.label)
            elif verdict is Verdict.DIFFERENT:
                audit.settle([item], wrong=True)
                yield from self._move(item, check.label)

    def _move(self, item: int, wrong: int) -> Plan[None]:
        """Compare an item with other clusters; it may be in none."""
        labels = list(self.other_labels(item, wrong))
        try:
            if self.looks.choice > 1:
                yield from self._choose(item, labels)
            for label in labels:  # what the choices have settled is not asked again
                if (yield from self._belongs(item, label)) is Verdict.SAME:
                    self.confirm(item, label)
                    return
        except BudgetSpent:  # it counts as corrected, so that the wrong label must go
            self.set_apart(item)
            raise
        self.set_apart(item)

    def _choose(self, item: int, labels: list[int]) -> Plan[None]:
        """Ask which of these labels an item belongs to, if any; the label chosen comes first."""
        for start in range(0, len(labels), self.looks.choice):
            some = labels[start : start + self.looks.choice]
            groups = [tuple(self.members(item, label)[:GROUP_SHOWN]) for label in some]
            verdicts = yield [Choice.of(item, groups)]
            if Verdict.SAME in verdicts:
                labels.insert(0, labels.pop(start + verdicts.index(Verdict.SAME)))
                return


class LabellingUnderAudit(LabelsUnderAudit):
    """Labels in memory: items are compared with the nearest asked members first."""

    def __init__(
        self, labelling: Labelling, near: ScaledDistances, looks: LookSizes = PAIRS
    ) -> None:
        self._labelling, self._near, self.looks = labelling, near, looks

    def unasked(self) -> tuple[IntArray, IntArray]:
        now = self._labelling
        items = np.flatnonzero((now.labels >= 0) & (now.how != How.ASKED))
        return items, now.labels[items]

    def members(self, item: int, label: int) -> Sequence[int]:
        return self._near.first(item, self._asked(label) or [self.first_of(label)])

    def other_labels(self, item: int, wrong: int) -> Sequence[int]:
        gaps = {
            label: float(self._near.distances(item, members).min())
            for label in np.unique(self._labelling.labels).tolist()
            if label not in (-1, wrong)
            and (members := self._asked(label) or [self.first_of(label)])
        }
        return sorted(gaps, key=lambda label: gaps[label])[:_CLUSTERS_TRIED]

    def known(self, item: int) -> tuple[int, How]:
        return int(self._labelling.labels[item]), How(int(self._labelling.how[item]))

    def confirm(self, item: int, label: int) -> None:
        self._labelling.confirm(item, label)

    def set_apart(self, item: int) -> None:
        self._labelling.set_apart([item])

    def implied(self, question: Question) -> Verdict | None:
        return self._labelling.implied(question)

    def _asked(self, label: int) -> list[int]:
        now = self._labelling
        return np.flatnonzero((now.labels == label) & (now.how == How.ASKED)).tolist()

    def known_outside(self, item: int, label: int) -> Iterator[tuple[int, int]]:
        now = self._labelling
        asked = np.flatnonzero((now.labels != label) & (now.labels >= 0) & (now.how == How.ASKED))
        for other in self._near.first(item, asked.tolist()):
            member = self.members(other, label)[0]
            if now.implied(Question(other, member)) is Verdict.DIFFERENT:
                yield other, member

    def stand_for_themselves(self) -> Sequence[int]:
        labels = np.unique(self._labelling.labels).tolist()
        return [self.first_of(label) for label in labels if label >= 0 and not self._asked(label)]

    def first_of(self, label: int) -> int:
        """Where nobody was asked about a label, the item that says which cluster it stands for."""
        return named_after(label, self._labelling.labels, self._labelling.how)


def audit_price(n_labels: int, error: float, confidence: float, pairs: bool = False) -> int:
    """How many checks an audit of so many labels takes if none fails."""
    items, rng = np.arange(n_labels), np.random.default_rng(0)  # nothing is drawn
    audit = Audit(
        items, np.zeros_like(items), error=error, confidence=confidence, rng=rng, pairs=pairs
    )
    return n_labels if (price := audit.n_more()) is None else price


def contradiction(
    item: int, label: int, answers: tuple[Answer, ...], margin: float
) -> RefutedError:
    """Answers to checks do not allow what the margin says about an item."""
    about = tuple(answer for answer in answers if item in answer.question.pair)
    return RefutedError(item, label, about, margin, margin)
