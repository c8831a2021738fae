"""Points that belong to no cluster, so that one of them does not take the margin from everybody."""

from __future__ import annotations

import numpy as np

from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.labelling import Labelling

# Exceptions per hundred asked items: twice the 1 % background of benchmarks/imperfect
_EXCEPTIONS_A_HUNDRED = 2
# Allowed however few items were asked, or the first stray would take the margin away
_FEWEST_EXCEPTIONS = 3
_NEAR_STRAYS = 2  # exceptions that a new one is compared with: two strays of a kind are a cluster


def becomes_exception(item: int, labelling: Labelling, near: ScaledDistances) -> Plan[bool]:
    """Make an exception of a point that differs from every group with two asked members.

    And from its nearest neighbour: the first point that is asked of a cluster is none. False if it
    does not, or if many do.
    """
    groups, exceptions = AnswerGroups(labelling.answers), labelling.exceptions
    cap = max(_FEWEST_EXCEPTIONS, len(groups.items) * _EXCEPTIONS_A_HUNDRED // 100)
    if item not in groups.items or len(exceptions) >= cap or groups.size(item) > 1:
        return False
    others = [group for group in groups.members() if len(group) > 1]
    strays = [[stray] for stray in near.first(item, exceptions)[:_NEAR_STRAYS]]
    for group in (*others, *strays, [near.neighbour(item)]):
        member = near.first(item, group)[0]
        (verdict,) = yield [Question(item, member)]
        if verdict is not Verdict.DIFFERENT:
            # Two of a kind are no exceptions: the margin has to make room for them.
            labelling.note_exceptions({*exceptions} - {member})
            return False
    labelling.note_exceptions([*exceptions, item])
    return True


def set_strays_apart(labelling: Labelling) -> None:
    """All exceptions lose their labels; a cluster of one asked point alone is no cluster."""
    labels = labelling.labels
    sizes = np.bincount(labels[labels >= 0])
    alone = [group[0] for group in AnswerGroups(labelling.answers).members() if len(group) == 1]
    strays = [item for item in alone if labels[item] >= 0 and sizes[labels[item]] == 1]
    labelling.set_apart([*labelling.exceptions, *strays])
