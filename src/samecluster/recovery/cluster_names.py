"""Which asked items are in which cluster, as far as the answers say.

A cluster gets a name (a number) with its first item, before it is known to differ from others: two
names may turn out to be one cluster. Everybody who keeps something by name (labels, columns of a
model, groups of a guess) registers with `on_merge`; then a merge is one call.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

from samecluster._typing import BoolArray


class ClusterNames:
    """Names of clusters and the items that answers gave them to.

    Attributes
    ----------
    name_of : the name of each asked item, in the order in which items were asked about
    members : the asked items of each name, the first one founded it; none if the name is gone
    alive : the names that stand for a cluster, ascending

    Examples
    --------
    >>> names = ClusterNames()
    >>> [names.found(item) for item in (40, 50, 60)]
    [0, 1, 2]
    >>> names.mark_different(1, 2)
    >>> names.merge(0, 2)
    >>> names.alive, names.members, names.are_different(0, 1)
    ([0, 1], [[40, 60], [50], []], True)
    """

    def __init__(self) -> None:
        self.name_of: dict[int, int] = {}
        self.members: list[list[int]] = []
        self.alive: list[int] = []
        self._different: set[tuple[int, int]] = set()
        self._holders: list[Callable[[int, int], None]] = []

    def found(self, item: int) -> int:
        """Name the item's cluster; the new name."""
        name = len(self.members)
        self.members.append([item])
        self.alive.append(name)
        self.name_of[item] = name
        return name

    def add(self, item: int, name: int) -> None:
        """An answer put an item into a cluster; nothing happens if it has a name already."""
        if item not in self.name_of:
            self.name_of[item] = name
            self.members[name].append(item)

    def representative(self, name: int) -> int:
        """The item that founded a cluster."""
        return self.members[name][0]

    def is_single(self, name: int) -> bool:
        """Whether a number is the name of exactly one asked item."""
        return 0 <= name < len(self.members) and len(self.members[name]) == 1

    # -- which names are one cluster -------------------------------------------------------------

    def on_merge(self, holder: Callable[[int, int], None]) -> None:
        """Call ``holder(kept, gone)`` at every merge, just before it: both names are still alive.

        Holders are called in the order in which they were registered.
        """
        self._holders.append(holder)

    def merge(self, kept: int, gone: int) -> None:
        """Two names are one cluster: ``gone`` is replaced by ``kept``, here and in all holders.

        If they were known to be different, ``kept`` differs from itself from now on: answers and
        margin cannot both be right, and the search for conflicts finds it.
        """
        for holder in self._holders:
            holder(kept, gone)
        self.alive.remove(gone)
        self.members[kept] += self.members[gone]
        self.members[gone] = []
        for item in self.members[kept]:
            self.name_of[item] = kept
        swap = {gone: kept}
        self._different = {ordered(swap.get(a, a), swap.get(b, b)) for a, b in self._different}

    def mark_different(self, a: int, b: int) -> None:
        """Two names are known to be different clusters."""
        self._different.add(ordered(a, b))

    def mark_all_different(self) -> None:
        """No two names are one cluster."""
        self._different = set(combinations(self.alive, 2))

    def are_different(self, a: int, b: int) -> bool:
        """Whether two names are known to be different clusters."""
        return ordered(a, b) in self._different

    def parted(self) -> BoolArray:
        """(k, k) which of the names that are alive are known to be different clusters."""
        place = {name: at for at, name in enumerate(self.alive)}
        found = np.zeros((len(place), len(place)), dtype=np.bool_)
        for a, b in self._different:
            found[place[a], place[b]] = found[place[b], place[a]] = True
        return found

    @property
    def all_different(self) -> bool:
        """Whether any two names are known to be different clusters."""
        return 2 * len(self._different) == len(self.alive) * (len(self.alive) - 1)


def ordered(a: int, b: int) -> tuple[int, int]:
    """Two names, the smaller number first."""
    return (a, b) if a < b else (b, a)
