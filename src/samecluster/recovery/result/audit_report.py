"""What an audit has shown, and the sentence that says so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

__all__ = ["AuditReport"]


@dataclass(frozen=True)
class AuditReport:
    """What an audit has shown. As text it is the sentence for users.

    Attributes
    ----------
    n_labels : labels that had not been asked about when they were frozen last
    n_wrong_at_most : at most so many of them are wrong now, those found wrong being corrected
    confidence : the chance that all bounds of the audit hold, at least
    n_audits, n_unsure, n_rounds : checks answered in all rounds, those of them unsure, rounds
    met : whether the share of wrong labels is at most the error asked for
    n_more : how many more checks meet the goal if none fails; None if even all would not do

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
        if not self.n_labels:
            return "every label was asked about"
        percent = _percent_rounded_up(self.n_wrong_at_most, self.n_labels)
        if percent == "100":
            return f"nothing can be said yet about wrong labels ({told})"
        return f"at most {percent} % of the labels are wrong ({told})"


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
