"""Which pairs to ask when somebody disagrees with a label, a border or a union of clusters.

Only asked members serve as comparators: what a proof or a model says about an item is what is in
doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.state.items import Changes
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import pair_of

__all__ = ["new_anchors", "pair_between", "pairs_about"]


def pairs_about(
    item: str, recovery: Recovery, state: State, who: str | None
) -> list[tuple[str, str]]:
    """The item and the nearest asked member of each cluster, its own cluster first."""
    row = state.items.row_of[item]
    own = int(recovery.labels[row])
    chosen: list[tuple[bool, float, str]] = []
    for label in np.unique(recovery.labels[recovery.labels >= 0]).tolist():
        members = _by_distance(_asked_rows(recovery, label), row, recovery)
        fresh = (
            m for m in members if m != row and _is_new_pair(item, state.items.keys[m], state, who)
        )
        nearest = next(fresh, None)
        if nearest is not None:
            gap = float(np.sum((recovery.points[nearest] - recovery.points[row]) ** 2))
            chosen.append((label != own, gap, state.items.keys[nearest]))
    return [(item, comparator) for _, _, comparator in sorted(chosen)]


def pair_between(
    a: int, b: int, recovery: Recovery, state: State, who: str | None
) -> tuple[str, str] | None:
    """A pair of asked members of two clusters that this person was not asked about, or None."""
    keys = state.items.keys
    ones, twos = _asked_rows(recovery, a), _asked_rows(recovery, b)
    for one in ones.tolist():
        for two in _by_distance(twos, one, recovery):
            if _is_new_pair(keys[one], keys[two], state, who):
                return keys[two], keys[one]
    return None


def new_anchors(state: State, changes: Changes) -> dict[str, int]:
    """New anchors for cluster numbers whose anchor is gone or has other content.

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


def _asked_rows(recovery: Recovery, label: int) -> IntArray:
    rows = np.flatnonzero((recovery.labels == label) & (recovery.how_codes == How.ASKED))
    if not len(rows):
        raise InvalidInputError(f"cluster {label} has no member that was asked about")
    return rows


def _by_distance(rows: IntArray, row: int, recovery: Recovery) -> list[int]:
    gaps = np.sum((recovery.points[rows] - recovery.points[row]) ** 2, axis=1)
    return [int(i) for i in rows[np.argsort(gaps, kind="stable")]]


def _is_new_pair(one: str, two: str, state: State, who: str | None) -> bool:
    return state.vote(pair_of((one, two)), who) is None
