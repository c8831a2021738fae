"""Audits: how many labels that nobody was asked about may be wrong, at a stated confidence.

No margin, no model and no number of clusters enter, only random checks (`label_checks.py`) and what
they say (`evidence.py`). Labels are frozen before checks of them are drawn. Whoever learns from a
failure and wants the bound to be about the new labels freezes them again: a new round.

*Why the confidence holds over all rounds.* An audit starts with the capital c = 1, and a round
excludes at the level δ·c. When it ends, c is multiplied by min E ≤ 1 of `evidence.py`. Claim: from
capital c on, the chance that a bound is ever wrong is at most δc. For one more round, with W its
truth, let T be the first draw with c·E(W) ≥ 1/δ, or else the last one. If the former happens, which
alone can make the round's bounds wrong, then δc·E_T(W) ≥ 1; if the latter, what follows is wrong
with chance at most δc·min E ≤ δc·E_T(W), by induction. So it is at most δc times the mean of
E_T(W), which is at most 1. Rounds of good labels do no harm, as min E ≤ 1 never adds capital. A
fixed split δ_r = 0.8·0.2^(r−1)·δ is the special case that leaves 0.2 idle and throws away what else
is left.

*What may be known.* Chance is only in the drawing, so asking about other items, or knowing the
truth about all, changes nothing. Checks that were drawn are different, as one could wait for good
answers and drop bad ones. So bounds count the answers up to the first that is missing, in the order
of the draws; and at the end of a round all that are missing count as failures.

*Unsure* counts as a failure, which never lowers a bound. Drawing another item instead would be
sound only if unsure answers were as frequent among right as among wrong labels, and hard items are
the ones that tend to be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from samecluster._parameters import check_probability, check_share
from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Verdict
from samecluster.recovery.audit.label_checks import Check
from samecluster.recovery.audit.overlooking import Overlooking
from samecluster.recovery.audit.round import AuditRound
from samecluster.recovery.result.audit_report import AuditReport

_HARDLY_LEARNED = 0.5  # share of wrong labels that stayed as they were, beyond which it is in vain


class Audit:
    """An audit of labels that nobody was asked about.

    Parameters
    ----------
    items, labels : (N,) the items and their labels as they are now; each item once
    error : the share of wrong labels to be shown, ε; the audit is met once the bound is at most εN
    confidence : 1 − δ, the chance that all bounds of all rounds hold, at least
    rng : draws the checks; must not be known to whoever chose the labels
    decoys : how many decoys are expected per check, where checks are put on sheets on which a
        wrong label may be overlooked; None where nothing is (`overlooking.py`, `note_decoys`)
    pairs : compare items of one label with each other: fewer checks, but no bound until it is met,
        and a failure leaves open which of the two is wrong (`settle` says so once it is known)

    A label counts as wrong if its item is not in the cluster of the asked members of that label.
    Two labels for one cluster are not noticed here: `AuditReport.about` says what they would cost.

    Examples
    --------
    >>> truth = np.arange(2_000) % 3
    >>> rng = np.random.default_rng(0)
    >>> audit = Audit(np.arange(2_000), truth, error=0.01, confidence=0.95, rng=rng)
    >>> audit.n_more()
    278
    >>> while not audit.met:
    ...     for check in audit.next_checks():
    ...         audit.take(check, Verdict.of(truth[check.item] == check.label))
    >>> print(audit.report())
    at most 1 % of the labels are wrong (95 % confidence, 278 audits, 1 round)
    """

    def __init__(
        self,
        items: IntArray,
        labels: IntArray,
        *,
        error: float,
        confidence: float,
        rng: np.random.Generator,
        pairs: bool = False,
        decoys: float | None = None,
    ) -> None:
        check_share("error", error)
        check_probability("confidence", confidence)
        self._error, self._confidence = Fraction(str(float(error))), float(confidence)
        self._rng, self._pairs = rng, pairs
        self._overlooked = None if decoys is None else Overlooking(1.0 - confidence, decoys)
        self._capital = 1.0
        self._n_earlier = self._n_earlier_unsure = 0
        self._n_rounds = 1
        self._stays = 0.0  # share of wrong labels that learning left as they were, last time
        self._now = self._freeze(*_checked(items, labels))
        self._carried = len(self._now.items)

    def next_checks(self, count: int = 1) -> list[Check]:
        """Checks to ask about: those still without an answer first; fewer at the end.

        Drawing many and leaving them without an answer weakens later rounds.
        """
        return self._now.next_checks(count)

    def take(self, check: Check, verdict: Verdict) -> None:
        """The answer to a check; "unsure" only if other comparators left the item unsure, too."""
        self._now.take(check, verdict)

    def settle(self, items: Iterable[int], *, wrong: bool) -> None:
        """Items whose cluster is known by answers, also by questions that were no audits.

        ``wrong`` is about their frozen labels. Checks of these items cost no question any more.
        """
        self._now.settle(items, wrong)

    def note_decoys(self, n_decoys: int, n_overlooked: int) -> None:
        """How many decoys were shown in all rounds, and how many of them were overlooked."""
        if self._overlooked is not None:
            self._overlooked.note(n_decoys, n_overlooked)
            self._now.forget_bound()

    def answered_one_by_one(self) -> None:
        """No check was answered on a sheet after all, so that none was overlooked there."""
        self._overlooked = None
        self._now.answered_one_by_one()

    def change(self, items: Iterable[int]) -> None:
        """Items that got another label without being asked about: the bound grows by as many."""
        self._now.change(items)

    def new_round(self, items: IntArray, labels: IntArray) -> None:
        """Freeze new labels. What is shown of the old ones is kept, as far as they are the same."""
        items, labels = _checked(items, labels)
        before = self._now
        still_wrong = self._frozen_at_most() - before.n_found
        self._carried = min(len(items), still_wrong + before.n_other(items, labels))
        self._stays = 1.0 - min(1.0, before.n_other(items, labels) / before.n_expected_wrong)
        self._capital *= before.left()
        self._n_earlier += before.n_answered
        self._n_earlier_unsure += before.n_unsure
        self._n_rounds += 1
        self._now = self._freeze(items, labels)

    @property
    def n_wrong_at_most(self) -> int:
        """At most so many of the N labels are wrong now, those found wrong being corrected."""
        now = self._now
        return min(len(now.items), self._frozen_at_most() - now.n_found + now.n_changed)

    @property
    def met(self) -> bool:
        """Whether the bound is at most εN."""
        return self.n_wrong_at_most <= self._now.allowed

    def n_more(self, *, new_round: bool = False) -> int | None:
        """How many more checks meet the goal if none fails; None if even all would not do.

        With ``new_round``: if the labels are frozen again now (about: their number may change).
        """
        if new_round:
            return self._now.n_from_scratch(self._level * self._now.left())
        return 0 if self.met else self._now.n_more(self._level)

    def n_expected(self) -> int | None:
        """How many more checks meet the goal if they go on to fail as they did; None if not all."""
        return self._now.n_more(self._level, self._now.failing())

    def is_better_again(self) -> bool:
        """Whether it takes fewer checks to learn from what was found, and to freeze new labels.

        Checks go on to fail as they did. Half of what is wrong is expected to be so after learning,
        and the more the more rounds have failed all the same; at least as much as labels stayed as
        they were when they were frozen last. Labels that nothing is learned about would else be
        drawn again and again, each time with less of the confidence left. Where going on would mean
        to check most labels, nothing is lost by learning, as long as it changes labels.
        """
        now, level = self._now, self._level * self._now.left()
        failing, stays = now.failing(), max(self._stays, self._n_rounds / (self._n_rounds + 1))
        going_on = self.n_expected()
        if going_on is None or going_on > now.n_open / 2:
            stays = stays if self._stays > _HARDLY_LEARNED else 0.0
        again = now.n_from_scratch(level, stays * failing)
        return again is not None and (going_on is None or again < going_on)

    def report(self) -> AuditReport:
        """What is shown so far."""
        return AuditReport(
            n_labels=len(self._now.items),
            n_wrong_at_most=self.n_wrong_at_most,
            confidence=self._confidence,
            n_audits=self._n_earlier + self._now.n_answered,
            n_unsure=self._n_earlier_unsure + self._now.n_unsure,
            n_rounds=self._n_rounds,
            met=self.met,
            n_more=self.n_more(),
            error=float(self._error),
            **({} if self._overlooked is None else self._overlooked.details()),
        )

    @property
    def _level(self) -> float:
        return (1.0 - self._confidence) * self._capital

    def _freeze(self, items: IntArray, labels: IntArray) -> AuditRound:
        allowed = math.floor(self._error * len(items))
        return AuditRound(
            items, labels, allowed, self._rng, self._pairs, self._overlooked, self._n_rounds
        )

    def _frozen_at_most(self) -> int:
        """At most so many frozen labels are wrong, those found wrong included."""
        shown = self._now.at_most(self._level)
        # More found wrong than earlier rounds allow: those were in error, and count no more.
        return shown if self._carried < self._now.n_found else min(shown, self._carried)


def _checked(items: IntArray, labels: IntArray) -> tuple[IntArray, IntArray]:
    """Both in the order of the items."""
    items, labels = np.array(items, dtype=np.int64), np.array(labels, dtype=np.int64)
    if items.ndim != 1 or items.shape != labels.shape:
        raise InvalidInputError(
            "items and labels must be two lists of the same length, "
            f"got shapes {items.shape} and {labels.shape}"
        )
    if not np.all(items[1:] > items[:-1]):
        order = np.argsort(items)
        items, labels = items[order], labels[order]
        if np.any(items[1:] == items[:-1]):
            raise InvalidInputError("an item to audit was given twice")
    return items, labels
