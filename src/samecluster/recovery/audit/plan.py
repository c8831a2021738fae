"""An audit of labels that need not be in memory: random rows of all the data are asked about.

One round of single checks. What is found wrong is corrected by answers, and nothing is learned from
it: the bound is about the labels as they were written.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samecluster._typing import Array
from samecluster.questions.pair import Answer, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.placement import belongs
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How

__all__ = ["audited"]

_PATIENCE = 20  # times the checks that would do if no label were wrong


def audited(
    labels: Array,
    how: Array,
    answers: Sequence[Answer],
    error: float,
    confidence: float,
    rng: np.random.Generator,
) -> Plan[AuditReport]:
    """Check labels (n,) until the bound holds, or until that is not in sight; corrects them."""
    rows = np.flatnonzero((labels >= 0) & (how != How.ASKED))
    audit = Audit(rows, labels[rows], error=error, confidence=confidence, rng=rng)
    members = _asked_members(labels, how, answers)
    left = _PATIENCE * (audit.n_more() or 0)
    while not audit.met and left > 0 and (checks := audit.next_checks()):
        check, left = checks[0], left - 1
        verdict = yield from belongs(check.item, members.get(check.label, []))
        audit.take(check, verdict)
        if verdict is Verdict.DIFFERENT:
            others = [label for label in members if label != check.label]
            labels[check.item] = yield from _label_of(check.item, others, members)
        if verdict is not Verdict.UNSURE:
            how[check.item] = How.ASKED if labels[check.item] >= 0 else How.UNASSIGNED
    return audit.report()


def _asked_members(labels: Array, how: Array, answers: Sequence[Answer]) -> dict[int, list[int]]:
    """Rows that answers put into each cluster, the first asked first."""
    members: dict[int, list[int]] = {}
    for row in dict.fromkeys(row for answer in answers for row in answer.question.pair):
        if how[row] == How.ASKED and labels[row] >= 0:
            members.setdefault(int(labels[row]), []).append(row)
    return members


def _label_of(row: int, labels: list[int], members: dict[int, list[int]]) -> Plan[int]:
    """The cluster that a row belongs to by its answers; -1 if to none."""
    for label in labels:
        if (yield from belongs(row, members[label])) is Verdict.SAME:
            return label
    return -1
