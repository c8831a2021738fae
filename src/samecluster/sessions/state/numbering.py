"""Public cluster numbers: they belong to asked items, so they survive undo, resume and update.

A run numbers its clusters as it finds them, and finds them in another order after an answer was
taken back. Here a cluster has the number of its anchors, its first asked members; each is written
down with the event that follows. A cluster without any gets the next number that was never used,
also if it may still turn out to be part of another. If two clusters are one, the lower number
stays, and the other becomes an alias of it. If one is two, the part with the oldest of its anchors
keeps the number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.state.items import Changes
from samecluster.sessions.state.state import State

_ANCHORS = 8  # of a number: it stays as long as answers about one of them stand


@dataclass(frozen=True)
class NumberedRecovery:
    """A recovery with public numbers, the oldest anchor of each, and the anchors to be kept.

    ``aliases`` are numbers of before that stand for others now.
    """

    recovery: Recovery
    anchors: dict[int, str]
    new: dict[str, int]
    aliases: dict[int, int]


def numbered(recovery: Recovery, state: State) -> NumberedRecovery:
    """The recovery with its clusters renumbered."""
    number_of, anchors, aliases = _claimed(recovery, state)
    following = max(state.numbers.values(), default=-1) + 1
    new: dict[str, int] = {}
    for label, anchor in _without_number(recovery, state, number_of):
        new[anchor] = number_of[label] = following + len(new)
        anchors[number_of[label]] = anchor
    new |= _more_anchors(recovery, state, number_of)
    table = np.full(int(recovery.labels.max(initial=-1)) + 2, -1, dtype=np.int64)
    for label, number in number_of.items():
        table[label] = number
    recovery = replace(recovery, labels=table[recovery.labels])
    return NumberedRecovery(recovery, anchors, new, aliases)


def new_anchors(state: State, changes: Changes, aliases: Mapping[int, int]) -> dict[str, int]:
    """Other anchors for cluster numbers whose anchor is gone or has other content.

    An item that "same" answers connect with the old anchor, the one that turned up first. Where all
    of these are anchors already, an item of an alias: a number that is shown comes before one that
    was.
    """
    lost = {*changes.removed, *changes.changed}
    neighbours: dict[str, list[str]] = {}
    for fact in state.facts.values():
        if fact.verdict is Verdict.SAME:
            one, two = fact.items
            neighbours.setdefault(one, []).append(two)
            neighbours.setdefault(two, []).append(one)
    stays = {number for anchor, number in state.numbers.items() if anchor not in lost}
    found: dict[str, int] = {}
    for anchor, number in state.numbers.items():
        if anchor not in lost:
            continue
        kept = [key for key in _connected(anchor, neighbours) if key not in lost]
        kept.sort(key=state.book.births.__getitem__)
        if kept and kept[0] not in state.numbers:
            found[kept[0]] = number
            stays.add(number)
        elif number not in stays:
            of_aliases = (k for k in kept if aliases.get(state.numbers.get(k, -1)) == number)
            found |= dict.fromkeys(islice(of_aliases, 1), number)
    return found


def _connected(start: str, neighbours: dict[str, list[str]]) -> Iterator[str]:
    seen = {start}
    for here in (queue := [start]):
        yield here
        for there in neighbours.get(here, ()):
            if there not in seen:
                seen.add(there)
                queue.append(there)


def _claimed(
    recovery: Recovery, state: State
) -> tuple[dict[int, int], dict[int, str], dict[int, int]]:
    """The clusters that hold an anchor; of several numbers the lowest. And the aliases.

    A number goes where its first asked anchor is. If that cluster has another number, it goes where
    more of its anchors are, if that cluster has none. Anchors that are not asked any more count
    only for numbers that have no others.
    """
    labels, how, row_of = recovery.labels, recovery.how_codes, state.items.row_of
    asked: dict[int, list[tuple[int, str]]] = {}
    others: dict[int, list[tuple[int, str]]] = {}
    for anchor, number in state.numbers.items():
        row = row_of.get(anchor)
        if row is not None and labels[row] >= 0:
            places = asked if how[row] == How.ASKED else others
            places.setdefault(number, []).append((int(labels[row]), anchor))
    number_of: dict[int, int] = {}
    anchors: dict[int, str] = {}
    first = {number: found[:1] for number, found in asked.items()}
    more = {number: _elsewhere(found) for number, found in asked.items()}
    alone = {number: found for number, found in others.items() if number not in asked}
    for claims in (first, more, alone):
        for number in sorted(claims):
            for label, anchor in claims[number]:
                if label not in number_of and number not in anchors:
                    number_of[label], anchors[number] = number, anchor
    places = others | asked
    aliases = {n: number_of[places[n][0][0]] for n in sorted(places) if n not in anchors}
    return number_of, anchors, aliases


def _elsewhere(places: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """The places of anchors in clusters that hold more of them than that of the first."""
    sizes = Counter(label for label, _ in places)
    most = sorted(places, key=lambda place: -sizes[place[0]])
    return [place for place in most if sizes[place[0]] > sizes[places[0][0]]]


def _more_anchors(recovery: Recovery, state: State, number_of: dict[int, int]) -> dict[str, int]:
    """Asked members of clusters that have fewer anchors than they could have, the oldest first.

    And anchors that are in another cluster now, while their number is that of others; and those
    that are not asked any more, which come after the others from then on.
    """
    keys, count, alive = state.items.keys, Counter(state.numbers.values()), {*number_of.values()}
    rows = np.flatnonzero((recovery.how_codes == How.ASKED) & (recovery.labels >= 0)).tolist()
    asked, found, follows = {keys[row] for row in rows}, dict[str, int](), set[int]()
    for anchor, number in reversed(state.numbers.items()):
        if anchor in asked:
            follows.add(number)
        elif number in follows:
            found[anchor] = number
    for row in sorted(rows, key=lambda row: _birth(keys[row], state)):
        number, before = number_of[int(recovery.labels[row])], state.numbers.get(keys[row])
        is_new = before is None and count[number] < _ANCHORS
        if is_new or (before != number and before in alive):
            found[keys[row]] = number
            count[number] += 1
    return found


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
