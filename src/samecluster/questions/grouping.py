"""Groups that leave little weight of answers wrong, by greedy steps (correlation clustering)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import TypeAlias

from samecluster.questions.pair import Question

__all__ = ["Signed", "joined", "move_and_join", "signed_weights"]

# For each item the items it was compared with: the weight for "same" less that for "different".
Signed: TypeAlias = dict[int, dict[int, float]]

_ROUNDING = 1e-9


def signed_weights(nets: Mapping[Question, float]) -> Signed:
    """Both ways round, from what speaks for "same" (less what speaks against it) for each pair."""
    signed: Signed = {}
    for question, net in nets.items():
        a, b = question.pair
        signed.setdefault(a, {})[b] = net
        signed.setdefault(b, {})[a] = net
    return signed


def move_and_join(signed: Signed, groups: dict[int, int]) -> None:
    """Move single items and join whole groups while that leaves less wrong, in place."""
    again = True
    while again:
        _move(signed, groups)
        between: Signed = {}
        for a, row in signed.items():
            for b, net in row.items():
                if groups[a] != groups[b]:
                    sums = between.setdefault(groups[a], {})
                    sums[groups[b]] = sums.get(groups[b], 0.0) + net
        merged = joined(between)
        again = any(number != group for group, number in merged.items())
        for item, group in groups.items():
            groups[item] = merged.get(group, group)


def joined(signed: Signed) -> dict[int, int]:
    """Join the two groups with the largest sum between them until no sum is above zero."""
    rows = {item: dict(row) for item, row in signed.items()}
    groups = {item: item for item in rows}
    members = {item: [item] for item in rows}
    heap = [(-net, a, b) for a, row in rows.items() for b, net in row.items() if a < b and net > 0]
    heapq.heapify(heap)
    while heap:
        net, a, b = heapq.heappop(heap)
        if a not in rows or rows[a].get(b) != -net:
            continue
        keep, drop = (a, b) if len(rows[a]) >= len(rows[b]) else (b, a)
        for item in members[drop]:
            groups[item] = keep
        members[keep] += members.pop(drop)
        for other, sum_ in rows.pop(drop).items():
            del rows[other][drop]
            if other != keep:
                total = rows[keep].get(other, 0.0) + sum_
                rows[keep][other] = rows[other][keep] = total
                if total > _ROUNDING:
                    heapq.heappush(heap, (-total, min(keep, other), max(keep, other)))
    return groups


def _move(signed: Signed, groups: dict[int, int]) -> None:
    """Move single items to where more speaks for them, in place."""
    unused = max((*groups, *groups.values()), default=0) + 1
    again = True
    while again:
        again = False
        for item, row in signed.items():
            sums: dict[int, float] = {unused: 0.0, groups[item]: 0.0}
            for other, net in row.items():
                sums[groups[other]] = sums.get(groups[other], 0.0) + net
            best = max(sums, key=sums.__getitem__)
            if sums[best] > sums[groups[item]] + _ROUNDING:
                groups[item] = best
                unused += best == unused
                again = True
