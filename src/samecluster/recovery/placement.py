"""Finding a point's cluster by comparing it with members of the clusters known so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan

__all__ = ["MAX_COMPARATORS", "Placement", "belongs"]

MAX_COMPARATORS = 3
"""How many members a point is compared with before "unsure" stands for the whole cluster."""


def belongs(item: int, members: Sequence[int]) -> Plan[Verdict]:
    """Whether an item is in the cluster of these, which are tried in turn where it is unsure."""
    for member in members[:MAX_COMPARATORS]:
        (verdict,) = yield [Question(item, member)]
        if verdict is not Verdict.UNSURE:
            return verdict
    return Verdict.UNSURE


@dataclass
class _Waiting:
    """A point on its way to its cluster."""

    item: int
    different: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    tried: list[int] = field(default_factory=list)


class Placement:
    """The clusters found so far, each with its asked members, the first as representative.

    With all ``n_clusters`` found, a point that differs from all but one is in that one: its last
    question is not asked. With ``n_clusters=None`` there is always room for one more cluster.

    Subclasses may know better than the list which cluster to try first, which member to show and
    what is excluded without asking (`order`, `comparator`, `excluded`), and may want to be told
    what happens (`heard`, `founded`, `eliminated`).
    """

    def __init__(self, n_clusters: int | None) -> None:
        self.n_clusters = n_clusters
        self.members: list[list[int]] = []
        self.cluster_of: dict[int, int] = {}

    @property
    def all_found(self) -> bool:
        return len(self.members) == self.n_clusters

    def representative(self, cluster: int) -> int:
        return self.members[cluster][0]

    def add(self, item: int, cluster: int) -> None:
        """Note an asked member, also one that was asked elsewhere."""
        if item not in self.cluster_of:
            self.cluster_of[item] = cluster
            self.members[cluster].append(item)

    def found(self, item: int) -> None:
        """Let an item found a new cluster."""
        self.members.append([])
        self.add(item, len(self.members) - 1)
        self.founded(item, len(self.members) - 1)

    def order(self, item: int) -> Sequence[int]:
        """Clusters in the order in which the item is compared with them."""
        del item
        return range(len(self.members))

    def comparator(self, item: int, cluster: int, tried: Sequence[int]) -> int:
        """A member to compare with that was not tried yet."""
        del item
        return self.members[cluster][len(tried)]

    def excluded(self, item: int, cluster: int) -> bool:
        """Whether the item is known to be outside the cluster without a question."""
        del item, cluster
        return False

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        """Called with each verdict, before it is acted upon."""

    def founded(self, item: int, cluster: int) -> None:
        """Called when an item founds a new cluster."""

    def eliminated(self, item: int, cluster: int) -> None:
        """Called when a cluster is the only one left for an item."""
        self.add(item, cluster)

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
                    shown = self.comparator(one.item, cluster, one.tried)
                    asking.append((one, cluster, Question(one.item, shown)))
            if not asking:
                break
            verdicts = yield [question for _, _, question in asking]
            waiting = [
                one
                for (one, cluster, question), verdict in zip(asking, verdicts, strict=True)
                if not self._settle(one, cluster, question, verdict)
            ]
        return [self.cluster_of.get(item, -1) for item in items]

    def _next_cluster(self, one: _Waiting) -> int | None:
        """The cluster to compare with next; None if nothing is left to ask about the point."""
        open_ = [c for c in self.order(one.item) if c not in one.different | one.unsure]
        one.different |= {c for c in open_ if self.excluded(one.item, c)}
        open_ = [c for c in open_ if c not in one.different]
        only_one_left = self.all_found and len(open_) == 1 and not one.unsure
        if open_ and not only_one_left:
            return open_[0]
        if open_:
            self.eliminated(one.item, open_[0])
        elif not one.unsure and not self.all_found:
            self.found(one.item)
        return None

    def _settle(self, one: _Waiting, cluster: int, question: Question, verdict: Verdict) -> bool:
        """Take a verdict in; True once the point is placed."""
        self.heard(question, cluster, verdict)
        if verdict is Verdict.SAME:
            self.add(one.item, cluster)
            return True
        if verdict is Verdict.DIFFERENT:
            one.different.add(cluster)
            one.tried = []
        else:
            one.tried.append(question.comparator)
            if len(one.tried) >= min(MAX_COMPARATORS, len(self.members[cluster])):
                one.unsure.add(cluster)
                one.tried = []
        return False
