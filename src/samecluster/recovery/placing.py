"""Finding a point's cluster by comparing it with members of the clusters known so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan

__all__ = ["MAX_COMPARATORS", "Placing"]

MAX_COMPARATORS = 3
"""How many members a point is compared with before "unsure" stands for the whole cluster."""


@dataclass
class _Waiting:
    """A point on its way to its cluster."""

    item: int
    different: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    tries: int = 0

    def next_cluster(self, n_found: int) -> int | None:
        """The first cluster of the list that is still open for this point."""
        return next(
            (c for c in range(n_found) if c not in self.different and c not in self.unsure), None
        )


class Placing:
    """The clusters found so far, each with its asked members, the first as representative.

    With all ``n_clusters`` found, a point that differs from all but one is in that one: its last
    question is not asked.
    """

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = n_clusters
        self.members: list[list[int]] = []
        self.cluster_of: dict[int, int] = {}

    def representative(self, cluster: int) -> int:
        return self.members[cluster][0]

    def add(self, item: int, cluster: int) -> None:
        """Note an asked member, also one that was asked elsewhere."""
        if item not in self.cluster_of:
            self.cluster_of[item] = cluster
            self.members[cluster].append(item)

    def place(self, items: Sequence[int]) -> Plan[list[int]]:
        """The cluster of each item, -1 where the answers leave it unsure.

        All items are asked about at once, each against one cluster; as few batches as there are
        clusters.
        """
        waiting = [_Waiting(i) for i in dict.fromkeys(items) if i not in self.cluster_of]
        while waiting:
            asking: list[tuple[_Waiting, int, Question]] = []
            for one in waiting:
                cluster = self._next_cluster(one)
                if cluster is not None:
                    comparator = self.members[cluster][one.tries]
                    asking.append((one, cluster, Question(one.item, comparator)))
            if not asking:
                break
            verdicts = yield [question for _, _, question in asking]
            waiting = [
                one
                for (one, cluster, _), verdict in zip(asking, verdicts, strict=True)
                if not self._settle(one, cluster, verdict)
            ]
        return [self.cluster_of.get(item, -1) for item in items]

    def _next_cluster(self, one: _Waiting) -> int | None:
        """The cluster to compare with next; None if the point could be settled without asking."""
        cluster = one.next_cluster(len(self.members))
        all_found = len(self.members) == self.n_clusters
        if cluster is not None and all_found and len(one.different) == self.n_clusters - 1:
            self.add(one.item, cluster)
            return None
        if cluster is None and not one.unsure and not all_found:
            self.members.append([])
            self.add(one.item, len(self.members) - 1)
        return cluster

    def _settle(self, one: _Waiting, cluster: int, verdict: Verdict) -> bool:
        """Take a verdict in; True once the point is placed."""
        if verdict is Verdict.SAME:
            self.add(one.item, cluster)
            return True
        if verdict is Verdict.DIFFERENT:
            one.different.add(cluster)
            one.tries = 0
        else:
            one.tries += 1
            if one.tries >= min(MAX_COMPARATORS, len(self.members[cluster])):
                one.unsure.add(cluster)
                one.tries = 0
        return False
