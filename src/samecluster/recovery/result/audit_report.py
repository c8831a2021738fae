"""What an audit has shown."""

from __future__ import annotations

from dataclasses import dataclass, replace

from samecluster.recovery.result.label_separation import AnsweredLabels, LabelGap
from samecluster.recovery.result.sentences import audit_sentence

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
    n_decoys, n_overlooked, overlooked_at_most : cells of sheets that were known to be wrong, those
        not marked, and the share of such cells that is overlooked, at most. The bound allows for
        it, if wrong labels are no easier to overlook than decoys
    n_labelled, n_unlabelled : items with a label, also asked ones, and without
    checked_by : people who answered and how many pairs each, where language models answered, too
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
    n_decoys: int = 0
    n_overlooked: int = 0
    overlooked_at_most: float = 0.0
    n_labelled: int = 0
    n_unlabelled: int = 0
    gap: LabelGap = _NO_GAP
    checked_by: tuple[tuple[str, int], ...] = ()

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

    def details(self) -> dict[str, int]:
        """What bounds the error if labels that no answer separates are one cluster."""
        return {
            "n_uncompared": self.gap.n_pairs,
            "n_more_wrong": self.gap.n_more_wrong,
            "n_labelled": self.n_labelled,
            "n_unlabelled": self.n_unlabelled,
        }

    @property
    def share(self) -> float:
        """The share of labels that are wrong, at most."""
        return self.n_wrong_at_most / self.n_labels if self.n_labels else 0.0

    def __str__(self) -> str:
        return audit_sentence(self)
