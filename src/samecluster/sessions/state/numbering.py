"""Public cluster numbers: they belong to anchor items, so they survive undo, resume and update.

A run numbers its clusters as it finds them, and finds them otherwise after an answer was taken
back. Here a cluster has the number of the anchor that it holds. One that holds none gets the next
number that was never used, and its first asked member becomes the anchor; for good once answers set
it apart from all numbered ones, or the run is done. Until then it may turn out to be part of
another, and its number is provisional.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from samecluster._typing import IntArray
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.state.items import Items

__all__ = ["NumberedRecovery", "numbered"]


@dataclass(frozen=True)
class NumberedRecovery:
    """A recovery with public numbers, the anchor of each, and the numbers to be kept."""

    recovery: Recovery
    anchors: dict[int, str]
    new: dict[str, int]


def numbered(
    recovery: Recovery,
    items: Items,
    births: Mapping[str, int],
    numbers: Mapping[str, int],
    differ: Callable[[str, str], bool],
) -> NumberedRecovery:
    """The recovery with its clusters renumbered.

    ``births`` is the order in which items turned up in answers, ``numbers`` what was given before,
    and ``differ`` says whether two items are known for good to be in different clusters.
    """
    labels, how = recovery.labels, recovery.how_codes
    number_of, anchors = _claimed(labels, how, items, births, numbers)
    others = _without(labels, how, items, births, number_of)
    following = max(numbers.values(), default=-1) + 1
    new: dict[str, int] = {}
    provisional = []
    for label, anchor in others:
        if all(differ(anchor, other) for other in anchors.values()):
            new[anchor] = number_of[label] = following + len(new)
            anchors[number_of[label]] = anchor
        else:
            provisional.append((label, anchor))
    for number, (label, anchor) in enumerate(provisional, start=following + len(new)):
        number_of[label] = number
        anchors[number] = anchor
    table = np.full(int(labels.max(initial=-1)) + 2, -1, dtype=np.int64)
    for label, number in number_of.items():
        table[label] = number
    return NumberedRecovery(replace(recovery, labels=table[labels]), anchors, new)


def _claimed(
    labels: IntArray,
    how: np.ndarray,
    items: Items,
    births: Mapping[str, int],
    numbers: Mapping[str, int],
) -> tuple[dict[int, int], dict[int, str]]:
    """The clusters that hold an anchor, an asked one first; of several numbers the lowest."""
    claims = sorted(
        (how[row] != How.ASKED, number, births.get(anchor, len(births)), anchor)
        for anchor, number in numbers.items()
        if (row := items.row_of.get(anchor)) is not None and labels[row] >= 0
    )
    number_of: dict[int, int] = {}
    anchors: dict[int, str] = {}
    for _, number, _, anchor in claims:
        label = int(labels[items.row_of[anchor]])
        if label not in number_of and number not in anchors:
            number_of[label] = number
            anchors[number] = anchor
    return number_of, anchors


def _without(
    labels: IntArray,
    how: np.ndarray,
    items: Items,
    births: Mapping[str, int],
    number_of: Mapping[int, int],
) -> list[tuple[int, str]]:
    """The other clusters, each with the member to be its anchor, the first to turn up first."""
    found = []
    for label in np.unique(labels[labels >= 0]).tolist():
        if label not in number_of:
            members = np.flatnonzero(labels == label)
            best = members[how[members] == how[members].max()].tolist()
            row = min(best, key=lambda row: (births.get(items.keys[row], len(births)), row))
            found.append((births.get(items.keys[row], len(births)), row, label))
    return [(label, items.keys[row]) for _, row, label in sorted(found)]
