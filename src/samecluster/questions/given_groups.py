"""Groups that are known before the first question, as statements about pairs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import combinations
from typing import TypeVar

from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Verdict

Item = TypeVar("Item")

_MAX_GROUPS = 1_000  # every two of them make a pair: 499,500 statements


def groups_as_pairs(
    group_of: Iterable[tuple[Item, Hashable]], source: str
) -> list[tuple[Item, Item, Verdict]]:
    """Each item is the same as the first of its group; the first ones are all different.

    ``source`` says where the groups come from, for the error if there are too many.

    >>> [(i, j, verdict.value) for i, j, verdict in groups_as_pairs([(4, "a"), (5, "b")], "known")]
    [(5, 4, 'different')]
    """
    first: dict[Hashable, Item] = {}
    pairs: list[tuple[Item, Item, Verdict]] = []
    for item, group in group_of:
        if group in first:
            pairs.append((item, first[group], Verdict.SAME))
        else:
            first[group] = item
    if len(first) > _MAX_GROUPS:
        raise InvalidInputError(
            f"{source} has {len(first):,} groups; at most {_MAX_GROUPS:,} can be taken as known"
        )
    return pairs + [(b, a, Verdict.DIFFERENT) for a, b in combinations(first.values(), 2)]
