"""Chances of groups for items that have no label yet, as far as answers allow them.

A model knows where points lie, answers which of them are not together: an item that differs from a
member of a group is not in it, items that are the same have one group, and of two that differ at
most one is in the group that both look like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.questions.ledger import Ledger


def allowed_chances(
    items: Sequence[int],
    chances: FloatArray,
    groups: IntArray,
    label_of: Mapping[int, int],
    ledger: Ledger,
) -> FloatArray:
    """Chances (m, k) of groups (k,) for open items (m,) without what answers exclude.

    ``label_of`` has the labels of other items that answers are about. The surest choose first. What
    is excluded is not shared out, as the item may be in a group that nobody has met; all chances
    are 0 where no group is left.

    >>> from samecluster.questions.pair import Answer, Question, Verdict
    >>> said = [(0, 5, "different"), (5, 6, "different"), (6, 7, "same")]
    >>> ledger = Ledger(Answer(Question(i, j), Verdict(v)) for i, j, v in said)
    >>> chances = np.array([[0.8, 0.2], [0.4, 0.6], [0.4, 0.6]])
    >>> allowed_chances([5, 6, 7], chances, np.array([0, 1]), {0: 0}, ledger).tolist()
    [[0.0, 0.2], [0.4, 0.0], [0.4, 0.0]]
    """
    taken: dict[int, int] = {}
    for item, label in label_of.items():
        taken.setdefault(ledger.representative(item), label)
    rows_of: dict[int, list[int]] = {}
    for row, item in enumerate(items):
        rows_of.setdefault(ledger.representative(item), []).append(row)
    joint = {one: chances[rows].mean(axis=0) for one, rows in rows_of.items()}
    found = chances.copy()
    for one in sorted(joint, key=lambda one: -float(joint[one].max())):
        if one in taken:
            left = (groups == taken[one]).astype(np.float64)
        else:
            others = [taken[other] for other in ledger.different_from(one) if other in taken]
            left = np.where(np.isin(groups, others), 0.0, joint[one])
            if left.max() > 0:
                taken[one] = int(groups[left.argmax()])
        found[rows_of[one]] = left
    return found
