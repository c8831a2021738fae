"""What an audit has shown."""

from __future__ import annotations

from dataclasses import dataclass

from samecluster.recovery.result.sentences import audit_sentence

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
        return audit_sentence(self)
