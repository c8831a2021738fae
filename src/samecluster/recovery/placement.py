"""Finding a point's cluster by comparing it with members of the clusters known so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from samecluster.questions.look import CheckSheet, Choice, Look, Sheet
from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.cluster_names import ClusterNames

MAX_COMPARATORS = 3
"""How many members a point is compared with before "unsure" stands for the whole cluster: the
same person who was unsure three times most likely stays so."""

GROUP_SHOWN = 4
"""Members that stand for a group on a card: enough to recognise it, few enough to see at once."""


def belongs(item: int, members: Sequence[int]) -> Plan[Verdict]:
    """Whether an item is in the cluster of these, which are tried in turn where it is unsure."""
    for member in members[:MAX_COMPARATORS]:
        (verdict,) = yield [Question(item, member)]
        if verdict is not Verdict.UNSURE:
            return verdict
    return Verdict.UNSURE


@dataclass
class UnplacedPoint:
    """A point on its way to its cluster, which is -1 until it is placed."""

    item: int
    cluster: int = -1
    different: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    tried: dict[int, list[int]] = field(default_factory=dict)


class Placement:
    """Placing points into the clusters found so far, whose asked members ``names`` has.

    With all ``n_clusters`` found, a point that differs from all but one is in that one: its last
    question is not asked. With ``n_clusters=None`` there is always room for one more cluster.

    Subclasses may know better than the list which cluster to try first, which member to show and
    what is excluded without asking (`order`, `comparator`, `excluded`), and may do more when
    something happens (`heard`, `add`, `found`, `eliminated`).
    """

    def __init__(
        self, n_clusters: int | None, names: ClusterNames | None = None, looks: LookSizes = PAIRS
    ) -> None:
        self.n_clusters, self.looks = n_clusters, looks
        self.names = ClusterNames() if names is None else names

    @property
    def all_found(self) -> bool:
        return len(self.names.alive) == self.n_clusters

    def add(self, item: int, cluster: int) -> None:
        """Note an asked member, also one that was asked elsewhere."""
        self.names.add(item, cluster)

    def found(self, item: int) -> int:
        """Let an item found a new cluster; its name."""
        return self.names.found(item)

    def order(self, item: int) -> Sequence[int]:
        """Clusters in the order in which the item is compared with them."""
        del item
        return self.names.alive

    def comparator(self, item: int, cluster: int, tried: Sequence[int]) -> int:
        """A member to compare with that was not tried yet."""
        del item
        return self.names.members[cluster][len(tried)]

    def excluded(self, item: int, cluster: int) -> bool:
        """Whether the item is known to be outside the cluster without a question."""
        del item, cluster
        return False

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        """Called with each verdict, before it is acted upon."""

    def eliminated(self, item: int, cluster: int) -> None:
        """Called when a cluster is the only one left for an item."""
        self.add(item, cluster)

    def place(self, items: Sequence[int]) -> Plan[list[int]]:
        """The cluster of each item, -1 where the answers leave it unsure.

        Each batch has one look per item that is not placed yet, a pair or a choice, so that there
        are at most as many batches as clusters, and more only where answers are unsure.
        """
        started = {i: UnplacedPoint(i) for i in items if i not in self.names.name_of}
        waiting = list(started.values())
        while waiting:
            waiting, _ = yield from self.place_round(waiting)
        return [
            started[item].cluster if item in started else self.names.name_of[item] for item in items
        ]

    def place_round(
        self, waiting: Sequence[UnplacedPoint], also: Sequence[Question] = ()
    ) -> Plan[tuple[list[UnplacedPoint], Sequence[Verdict]]]:
        """One look per point, and other questions in the same batch: who waits, and their verdicts.

        A point that no longer waits has its cluster, or stays unsure.
        """
        asking: list[tuple[UnplacedPoint, list[int], Look]] = []
        for one in waiting:
            if clusters := self._next_clusters(one):
                groups = [self._shown(one, cluster) for cluster in clusters]
                asking.append((one, clusters, Choice.of(one.item, groups)))
        if not asking and not also:
            return [], []
        verdicts = iter((yield [*(look for _, _, look in asking), *also]))
        left = [
            one
            for one, clusters, look in asking
            if not self._settle(one, clusters, look, list(islice(verdicts, len(clusters))))
        ]
        return left, list(verdicts)

    def sort(self, items: Sequence[int], cluster: int) -> Plan[None]:
        """Show items beside the founder of a cluster, as one sheet: which do not belong?

        Those that do get its name. The others have one cluster less to be compared with, where
        `heard` remembers it.
        """
        sheet = Sheet.of(self.names.representative(cluster), items)
        yield from self._sorted(sheet, [cluster] * len(items))

    def check(self, cluster_of: Mapping[int, int]) -> Plan[None]:
        """The same for items of several clusters, each beside a member of the one given for it."""
        cells = [(item, self.comparator(item, c, ())) for item, c in cluster_of.items()]
        yield from self._sorted(CheckSheet.of(cells), cluster_of.values())

    def _sorted(self, sheet: Look, clusters: Iterable[int]) -> Plan[None]:
        verdicts = yield [sheet]
        for question, cluster, verdict in zip(sheet.questions, clusters, verdicts, strict=True):
            self.heard(question, cluster, verdict)
            if verdict is Verdict.SAME:
                self.add(question.item, cluster)

    def _shown(self, one: UnplacedPoint, cluster: int) -> tuple[int, ...]:
        """What stands for a cluster on the screen: the member to compare with, and some more."""
        shown = self.comparator(one.item, cluster, one.tried.get(cluster, ()))
        if self.looks.choice == 1:
            return (shown,)
        others = [item for item in self.names.members[cluster] if item != shown]
        return (shown, *others[: GROUP_SHOWN - 1])

    def _next_clusters(self, one: UnplacedPoint) -> list[int]:
        """The clusters to compare with next; none if nothing is left to ask about the point."""
        open_ = [c for c in self.order(one.item) if c not in one.different | one.unsure]
        one.different |= {c for c in open_ if self.excluded(one.item, c)}
        open_ = [c for c in open_ if c not in one.different]
        only_one_left = self.all_found and len(open_) == 1 and not one.unsure
        if open_ and not only_one_left:
            return open_[: self.looks.choice]
        if open_:
            one.cluster = open_[0]
            self.eliminated(one.item, one.cluster)
        elif not one.unsure and not self.all_found:
            one.cluster = self.found(one.item)
        return []

    def _settle(
        self, one: UnplacedPoint, clusters: list[int], look: Look, verdicts: Sequence[Verdict]
    ) -> bool:
        """Take the verdicts of a look in; True once the point is placed."""
        for question, cluster, verdict in zip(look.questions, clusters, verdicts, strict=True):
            if verdict is Verdict.SAME:
                self.heard(question, cluster, verdict)
                self.add(one.item, cluster)
                one.cluster = self.names.name_of[one.item]
        if Verdict.SAME in verdicts:
            return True  # a choice says nothing about the groups that were not chosen
        for question, cluster, verdict in zip(look.questions, clusters, verdicts, strict=True):
            self.heard(question, cluster, verdict)
            if verdict is Verdict.DIFFERENT:
                one.different.add(cluster)
                continue
            tried = one.tried.setdefault(cluster, [])
            tried.append(question.comparator)
            if len(tried) >= min(MAX_COMPARATORS, len(self.names.members[cluster])):
                one.unsure.add(cluster)
        return False
