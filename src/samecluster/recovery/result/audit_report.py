"""What an audit has shown, and the sentence that says so."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from samecluster.recovery.result.label_separation import AnsweredLabels, LabelGap

__all__ = ["AuditReport"]

_NO_GAP = LabelGap()


@dataclass(frozen=True)
class AuditReport:
    """What an audit has shown. As text it is the sentence for users.

    Attributes
    ----------
    n_labels : labels that had not been asked about when they were frozen last
    n_wrong_at_most : at most so many of them are wrong now, those found wrong being corrected
    confidence : the chance that all bounds of the audit hold, at least
    n_audits, n_unsure, n_rounds : checks answered in all rounds, those of them unsure, rounds
    met : whether the share of wrong labels is at most the error asked for, also if labels that
        nobody compared are one cluster
    n_more : how many more checks meet the goal if none fails; None if even all would not do
    error : the share of wrong labels that was to be shown
    n_labelled, n_unlabelled : items with a label, also asked ones, and without
    gap : pairs of labels that no answer separates, and how many more labels are wrong at most if
        they are one cluster; the other bounds are about membership in the cluster of a label

    Examples
    --------
    >>> print(AuditReport(20_000, 159, 0.95, 327, 0, 1, True))
    at most 0.8 % of the labels are wrong (95 % confidence, 327 audits, 1 round)
    """

    n_labels: int
    n_wrong_at_most: int
    confidence: float
    n_audits: int
    n_unsure: int
    n_rounds: int
    met: bool
    n_more: int | None = None
    error: float = 0.0
    n_labelled: int = 0
    n_unlabelled: int = 0
    gap: LabelGap = _NO_GAP

    def about(self, answered: AnsweredLabels, n: int) -> AuditReport:
        """The report about all of n labels as they are now, with what separates them."""
        gap, n_labelled = answered.gap(), sum(answered.sizes.values())
        in_all = self.n_wrong_at_most + gap.n_more_wrong
        return replace(
            self,
            met=self.met and (not gap.n_more_wrong or in_all <= self.error * n_labelled),
            n_labelled=n_labelled,
            n_unlabelled=n - n_labelled,
            gap=gap,
        )

    @property
    def share(self) -> float:
        """The share of labels that are wrong, at most."""
        return self.n_wrong_at_most / self.n_labels if self.n_labels else 0.0

    def __str__(self) -> str:
        unsure = f", {self.n_unsure:,} of them unsure" if self.n_unsure else ""
        told = (
            f"{100 * self.confidence:.10g} % confidence, {_count(self.n_audits, 'audit')}{unsure}, "
            f"{_count(self.n_rounds, 'round')}"
        )
        percent = _percent_rounded_up(self.n_wrong_at_most, self.n_labels or 1)
        if not self.n_labels:
            shown = "every label was asked about"
        elif percent == "100":
            shown = f"nothing can be said yet about wrong labels ({told})"
        elif self.gap.n_pairs:
            shown = f"at most {percent} % of the labels are not in their cluster ({told})"
        else:
            shown = f"at most {percent} % of the labels are wrong ({told})"
        return shown + self._uncompared() + self._unlabelled()

    def _uncompared(self) -> str:
        if not self.gap.n_pairs:
            return ""
        wrong = self.n_wrong_at_most + self.gap.n_more_wrong
        percent = _percent_rounded_up(min(wrong, self.n_labelled), self.n_labelled)
        return (
            f"; nobody compared {_count(self.gap.n_pairs, 'pair')} of clusters: if they are one, "
            f"at most {percent} % are wrong; {_count(self.gap.n_pairs, 'question')} would tell"
        )

    def _unlabelled(self) -> str:
        return f"; {_count(self.n_unlabelled, 'item')} without a label" if self.n_unlabelled else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _percent_rounded_up(part: int, whole: int) -> str:
    """A percentage with one decimal, or one digit if it is below 0.1; never too small."""
    percent = Fraction(100 * part, whole)
    decimals = 1
    while 0 < percent * 10**decimals < 1:
        decimals += 1
    rounded = math.ceil(percent * 10**decimals) / 10**decimals
    return f"{rounded:.{decimals}f}".rstrip("0").rstrip(".")
