"""Public cluster numbers: they belong to anchor items, so they survive undo, resume and update.

A run numbers its clusters as it finds them, and finds them in another order after an answer was
taken back. Here a cluster has the number of the anchor that it holds. One that holds none gets the
next number that was never used, and its first asked member becomes the anchor; for good once
answers set it apart from all numbered ones, or the run is done. Until then it may turn out to be
part of another, and its number is provisional.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.state.items import Changes
from samecluster.sessions.state.state import State


@dataclass(frozen=True)
class NumberedRecovery:
    """A recovery with public numbers, the anchor of each, and the numbers to be kept."""

    recovery: Recovery
    anchors: dict[int, str]
    new: dict[str, int]


def numbered(
    recovery: Recovery,
    state: State,
    differ: Callable[[str, str], bool],
    promised: Mapping[str, int] = MappingProxyType({}),
) -> NumberedRecovery:
    """The recovery with its clusters renumbered.

    ``differ`` says whether two items are known for good to be in different clusters, ``promised``
    are numbers that no event has yet.
    """
    given = {**promised, **state.numbers}
    number_of, anchors = _claimed(recovery, state, given)
    following = max(given.values(), default=-1) + 1
    new = {anchor: number for anchor, number in promised.items() if anchor not in state.numbers}
    n_promised = len(new)
    provisional = []
    for label, anchor in _without_number(recovery, state, number_of):
        if all(differ(anchor, other) for other in anchors.values()):
            new[anchor] = number_of[label] = following + len(new) - n_promised
            anchors[number_of[label]] = anchor
        else:
            provisional.append((label, anchor))
    for number, (label, anchor) in enumerate(provisional, start=following + len(new) - n_promised):
        number_of[label] = number
        anchors[number] = anchor
    table = np.full(int(recovery.labels.max(initial=-1)) + 2, -1, dtype=np.int64)
    for label, number in number_of.items():
        table[label] = number
    return NumberedRecovery(replace(recovery, labels=table[recovery.labels]), anchors, new)


def new_anchors(state: State, changes: Changes) -> dict[str, int]:
    """Other anchors for cluster numbers whose anchor is gone or has other content.

    An item that "same" answers connect with the old anchor, the one that turned up first.
    """
    lost = {*changes.removed, *changes.changed}
    neighbours: dict[str, list[str]] = {}
    for fact in state.facts.values():
        if fact.verdict is Verdict.SAME:
            one, two = fact.items
            neighbours.setdefault(one, []).append(two)
            neighbours.setdefault(two, []).append(one)
    found = {}
    for anchor, number in state.numbers.items():
        if anchor in lost:
            kept = [key for key in _connected(anchor, neighbours) if key not in lost]
            if kept:
                found[min(kept, key=lambda key: state.book.births[key])] = number
    return {key: number for key, number in found.items() if key not in state.numbers}


def _connected(start: str, neighbours: dict[str, list[str]]) -> Iterator[str]:
    seen = {start}
    for here in (queue := [start]):
        yield here
        for there in neighbours.get(here, ()):
            if there not in seen:
                seen.add(there)
                queue.append(there)


def _claimed(
    recovery: Recovery, state: State, given: Mapping[str, int]
) -> tuple[dict[int, int], dict[int, str]]:
    """The clusters that hold an anchor, an asked one first; of several numbers the lowest."""
    labels, how, row_of = recovery.labels, recovery.how_codes, state.items.row_of
    claims = sorted(
        (how[row] != How.ASKED, number, _birth(anchor, state), anchor)
        for anchor, number in given.items()
        if (row := row_of.get(anchor)) is not None and labels[row] >= 0
    )
    number_of: dict[int, int] = {}
    anchors: dict[int, str] = {}
    for _, number, _, anchor in claims:
        label = int(labels[row_of[anchor]])
        if label not in number_of and number not in anchors:
            number_of[label] = number
            anchors[number] = anchor
    return number_of, anchors


def _without_number(
    recovery: Recovery, state: State, number_of: dict[int, int]
) -> list[tuple[int, str]]:
    """The other clusters, each with the member to be its anchor, the first to turn up first."""
    labels, how, keys = recovery.labels, recovery.how_codes, state.items.keys
    found = []
    for label in np.unique(labels[labels >= 0]).tolist():
        if label not in number_of:
            members = np.flatnonzero(labels == label)
            best = members[how[members] == how[members].max()].tolist()
            birth, row = min((_birth(keys[row], state), row) for row in best)
            found.append((birth, row, label))
    return [(label, keys[row]) for _, row, label in sorted(found)]


def _birth(item: str, state: State) -> int:
    """When an item first turned up in answers; after all others if it never did."""
    return state.book.births.get(item, len(state.book.births))
