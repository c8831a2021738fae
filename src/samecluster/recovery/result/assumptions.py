"""What the labels of a recovery rest on, in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from samecluster.questions.pair import Verdict

if TYPE_CHECKING:
    from samecluster.recovery.result.result import Recovery

__all__ = ["assumptions"]

_RESTS_ON_K = ("last", "count")
_LISTED = 5  # clusters named in a sentence before it gets too long
_FOLLOWS = 2  # How.INFERRED and what is better known


def assumptions(recovery: Recovery) -> tuple[str, ...]:
    """A sentence for each way in which labels are known."""
    n = dict(zip(*np.unique(recovery.how, return_counts=True), strict=True))
    told = "the answers are right"
    if recovery.refutations:
        listed = dict.fromkeys(a for refutation in recovery.refutations for a in refutation.answers)
        told = f"the answers are right, also these: {'; '.join(map(str, listed))}"
    excepted = len(recovery.exceptions)
    but = f", but for {excepted:,} exception{'s' * (excepted > 1)}" if excepted else ""
    found = []
    if count := n.get("asked"):
        found.append(f"{_labels_are(count)} by answers about these points, right if {told}.")
    if apart := _not_told_apart(recovery):
        found.append(apart)
    if count := n.get("proven"):
        found.append(
            f"{_labels_are(count)} proven if every cluster has margin {recovery.margin:g}"
            f"{_and_k(recovery)} and {told}{but}."
        )
    if count := n.get("inferred"):
        found.append(
            f"{_labels_are(count)} inferred from {_source(recovery)}, right if every cluster has it"
            f"{_and_k(recovery)} and {told}{but}."
        )
    if count := n.get("predicted"):
        found.append(f"{_labels_are(count)} predicted by a model{_expected(recovery)}.")
    if count := n.get("unassigned"):
        apart = f", {excepted:,} of them by answers" if excepted else ""
        have = "point has" if count == 1 else "points have"
        found.append(f"{count:,} {have} no label{apart}.")
    if recovery.audit is not None:
        found.append(f"Audit, whatever the labels rest on: {recovery.audit}.")
    return tuple(found)


def _labels_are(count: int) -> str:
    return f"{count:,} labels are" if count != 1 else "1 label is"


def _not_told_apart(recovery: Recovery) -> str:
    """Which clusters may be parts of larger ones: while labels are missing, or by a model only."""
    if recovery.how_codes.min(initial=_FOLLOWS) >= _FOLLOWS:
        return ""
    labels = recovery.labels
    asked = Counter(labels[recovery.how == "asked"].tolist())
    different = {
        frozenset(labels[list(answer.question.pair)].tolist())
        for answer in recovery.answers
        if answer.verdict is Verdict.DIFFERENT
    }
    largest_first = sorted(asked, key=lambda cluster: (-asked[cluster], cluster))
    parts = [
        cluster
        for at, cluster in enumerate(largest_first)
        if any(frozenset((cluster, other)) not in different for other in largest_first[:at])
    ]
    if not parts:
        return ""
    named = ", ".join(map(str, sorted(parts)[:_LISTED])) + (", ..." if len(parts) > _LISTED else "")
    if len(parts) == 1:
        return f"Nobody has told cluster {named} apart from all others: it may be a part of one."
    return f"Nobody has told clusters {named} apart from all others: each may be a part of one."


def _source(recovery: Recovery) -> str:
    if recovery.margin is None:
        return "a premise that nobody vouches for"
    return f"a guessed margin of {recovery.margin:.3g}"


def _and_k(recovery: Recovery) -> str:
    """Whether the number of clusters was used, and not only declared."""
    k, proof = recovery.n_clusters, recovery.proof
    used = proof is not None and any(record[0] in _RESTS_ON_K for record in proof.records)
    return f", there are exactly {k} clusters" if used else ""


def _expected(recovery: Recovery) -> str:
    if recovery.probability is None:
        return ", from too few answers to say how many of them are wrong"
    predicted = recovery.how == "predicted"
    wrong = float(np.mean(1.0 - recovery.probability[predicted]))
    return f", which expects {100 * wrong:.2g} % of them to be wrong"
