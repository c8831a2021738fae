"""What follows from the answers under the margin, and the log that proves it.

A cluster gets a name with its first point, before it is known to differ from others: two names may
turn out to be one cluster (`ClusterNames`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.geometry.reach.kernel import Kernel
from samecluster.lifts.lift import ColumnMap, in_lift, proof_data
from samecluster.points.survey import Survey
from samecluster.proof.fingerprint import fingerprint
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.closure import Closure
from samecluster.recovery.certify.reachability import QUIET
from samecluster.recovery.certify.refutation import (
    answers_about,
    answers_of,
    first_conflict,
    largest_margin,
    smallest_conflict,
)
from samecluster.recovery.cluster_names import ClusterNames


class Knowledge:
    """Members and non-members of the clusters named so far.

    ``names`` has the asked items and the pairs of names known to differ, ``closure.labels`` (n,)
    the name of each point's cluster, ``outside`` (n, names) what single points are known to be
    outside of. No proof enters ``names``. With a ``lift`` the margin, ``tau`` and a survey are
    about lifted columns.
    """

    def __init__(
        self,
        X: FloatArray,
        margin: float,
        n_clusters: int | None,
        tau: FloatArray,
        kernel: Kernel,
        seed: int,
        survey: Survey | None = None,
        lift: ColumnMap | None = None,
    ) -> None:
        lifted = in_lift(X, lift)
        data = proof_data(X, lifted, lift)
        mark = fingerprint(data) if survey is None else survey.fingerprint
        self.log = ProofLog(mark, margin, n_clusters, tau, lift)
        self.closure = Closure(lifted, margin, tau, self.log, kernel, seed, survey)
        self.outside: BoolArray = np.zeros((len(X), 0), dtype=np.bool_)
        self.names = ClusterNames()
        self.names.on_merge(self._merge)
        # Items that answers have put out of a cluster.
        self._told_outside: dict[int, list[int]] = {}
        self.points, self._seed = X, seed
        self._shown_outside: list[IntArray] = []
        self._tested: set[tuple[int, int, int]] = set()
        self._level = 0

    @property
    def alive(self) -> list[int]:
        """The names that stand for a cluster."""
        return self.names.alive

    @property
    def all_known(self) -> bool:
        """Whether all clusters are known, and known to differ."""
        return self.log.n_clusters == len(self.alive) and self.names.all_different

    def extend(self, points: FloatArray) -> None:
        """Take in more points (m, d) of the data that X is a sample of."""
        self.closure.extend(in_lift(points, self.log.lift))
        self.points = np.concatenate([self.points, points])
        unknown = np.zeros((len(points), self.outside.shape[1]), np.bool_)
        self.outside = np.concatenate([self.outside, unknown])

    # -- answers ---------------------------------------------------------------------------------

    def found_cluster(self, item: int) -> int:
        """Name the item's cluster; the new name."""
        self.log.add_cluster(item)
        name = self.names.found(item)
        self.outside = np.column_stack([self.outside, np.zeros(len(self.outside), np.bool_)])
        self.closure.ask(item, name)
        self._meet(item)
        return name

    def take_answer(self, question: Question, cluster: int, verdict: Verdict) -> None:
        """The verdict on an item compared with an asked member of the cluster."""
        if verdict is Verdict.UNSURE:
            return
        item = question.item
        self.log.add_answer(question.comparator, item, verdict.value)
        if verdict is Verdict.DIFFERENT:
            self.outside[item, cluster] = True
            self._told_outside.setdefault(cluster, []).append(item)
        elif (own := int(self.closure.labels[item])) < 0:
            self.names.add(item, cluster)
            self.closure.ask(item, cluster)
        elif own != cluster:
            self.names.merge(cluster, own)
        self._meet(item)

    def take_last(self, item: int, cluster: int) -> None:
        self.log.add_last(item, cluster)
        self.closure.ask(item, cluster)
        self._meet(item)

    def count(self) -> None:
        """All points are in as many names as there are clusters: the names are the clusters."""
        self.log.add_count()
        self.names.mark_all_different()

    def exclude_many(self, cluster: int, items: IntArray, others: IntArray) -> int:
        """Single exclusion of many items by known non-members; how many were shown outside."""
        own = self.closure.clusters[cluster]
        shown, by, columns = self.closure.exclusion.shown_outside(own, items, others)
        for item, other, names in zip(shown.tolist(), by.tolist(), columns, strict=True):
            self.log.add_outside(item, cluster, other, names)
        self._put_outside(shown, cluster)
        return len(shown)

    def take_weights(
        self,
        cluster: int,
        inside: bool,
        items: IntArray,
        columns: list[tuple[int, float]],
        non_members: list[tuple[int, float]],
        weight: float,
    ) -> None:
        """A certificate of the complete test shows items to be inside (outside) a cluster."""
        self.log.add_weights(cluster, inside, items, columns, non_members, weight)
        if inside:
            self._put_inside(items, cluster)
        else:
            self._put_outside(items, cluster)

    def take_difference(
        self, a: int, b: int, columns: list[tuple[int, float]], non_members: list[tuple[int, float]]
    ) -> None:
        """A certificate of the complete test shows that two names are not one cluster."""
        self.log.add_differ(a, b, columns, non_members)
        self.names.mark_different(a, b)

    def eliminate(self, items: IntArray) -> None:
        """Items that are outside all clusters but one are in that one; all must be known."""
        if not self.all_known:
            return
        items = items[self.closure.labels[items] < 0]
        free = ~self.outside[items][:, self.alive]
        count = free.sum(axis=1)
        if (count == 0).any():
            raise self.refuted(int(items[np.argmin(count)]), None)
        for at, cluster in enumerate(self.alive):
            mine = items[(count == 1) & free[:, at]]
            if len(mine):
                for item in mine.tolist():
                    self.log.add_last(item, cluster)
                self._put_inside(mine, cluster)

    def _put_inside(self, items: IntArray, cluster: int) -> None:
        self.closure.join(cluster, items)
        for item in items[self.outside[items].any(axis=1)].tolist():
            self._meet(item)

    def _put_outside(self, items: IntArray, cluster: int) -> None:
        self.outside[items, cluster] = True
        self._shown_outside.append(items)
        for item in items[self.closure.labels[items] >= 0].tolist():
            self._meet(item)

    def outsiders(self, cluster: int) -> IntArray:
        """All points known to be outside a cluster, asked or shown."""
        mask = self.outside[:, cluster].copy()
        others = [c for c in self.alive if self.names.are_different(c, cluster)]
        mask |= np.isin(self.closure.labels, others)
        return np.flatnonzero(mask)

    def _meet(self, item: int) -> None:
        """An item in one cluster and outside others: these differ."""
        own = int(self.closure.labels[item])
        if own >= 0:
            for other in np.flatnonzero(self.outside[item]).tolist():
                self.names.mark_different(own, other)

    def _merge(self, kept: int, gone: int) -> None:
        self.closure.merge(kept, gone)
        self.outside[:, kept] |= self.outside[:, gone]
        self.outside[:, gone] = False
        told = self._told_outside.pop(gone, [])
        self._told_outside[kept] = self._told_outside.get(kept, []) + told
        self._tested.clear()

    # -- conclusions -----------------------------------------------------------------------------

    def close(self) -> None:
        """Label all that is in reach at this level. RefutedError if the answers forbid it."""
        self.closure.close(self.level_size)
        self._look_for_conflicts()

    def climb(self, at_most: int | None = None) -> bool:
        """Go to the next level; False if there is none (of at most ``at_most`` points)."""
        levels = self.closure.level_sizes
        if self._level + 1 >= len(levels):
            return False
        if at_most is not None and levels[self._level + 1] > at_most:
            return False
        self._level += 1
        self.closure.climb(levels[self._level])
        self._look_for_conflicts()
        return True

    @property
    def level_size(self) -> int:
        """How many points are looked at now."""
        return self.closure.level_sizes[self._level]

    def refine(self, factor: int) -> None:
        """Look more closely at each cluster: more of its extreme members prove more."""
        self.closure.refine(factor)
        self.close()

    def open_points(self) -> IntArray:
        prefix = self.closure.order[: self.level_size].astype(np.int64)
        return prefix[self.closure.labels[prefix] < 0]

    def non_members(self, cluster: int) -> IntArray:
        """Items that answers put outside a cluster, by themselves or with their own cluster."""
        others = set(self._told_outside.get(cluster, ()))
        for name in self.alive:
            if self.names.are_different(name, cluster):
                others.update(self.names.members[name])
        return np.array(sorted(others), dtype=np.int64)

    def try_to_exclude(self, item: int, cluster: int) -> bool:
        """Whether a known non-member would come into reach if the item were a member."""
        if self.outside[item, cluster]:
            return True
        others = self.non_members(cluster)
        key = (item, cluster, len(others))
        if not len(others) or key in self._tested:
            return False
        self._tested.add(key)
        shown = self.closure.exclusion.reached_with(self.closure.clusters[cluster], item, others)
        if shown is None:
            return False
        non_member, columns = shown
        self.log.add_outside(item, cluster, non_member, columns)
        self.outside[item, cluster] = True
        self._meet(item)
        return True

    def _look_for_conflicts(self) -> None:
        conflict = first_conflict(self.closure, {c: self.non_members(c) for c in self.alive})
        if conflict is not None:
            raise self.refuted(*conflict)
        if self._shown_outside:
            items = np.concatenate(self._shown_outside)
            labels = self.closure.labels[items]
            both = (labels >= 0) & self.outside[items, labels]
            if both.any():
                item = int(items[both.argmax()])
                raise self.refuted(item, int(self.closure.labels[item]))

    def raise_if_in_no_cluster(self, item: int) -> None:
        """RefutedError if all clusters are known and the item is in none of them."""
        if self.all_known and self.outside[item, self.alive].all():
            raise self.refuted(item, None)

    def raise_if_too_many(self) -> None:
        """RefutedError if more clusters are known to differ than were declared."""
        k = self.log.n_clusters
        if k is not None and len(self.alive) > k and self.names.all_different:
            newest = next(i for i, own in self.names.name_of.items() if own == self.alive[-1])
            raise self.refuted(newest, None)

    def refuted(self, item: int, cluster: int | None) -> RefutedError:
        """The error that says which answers cannot all be right under the margin."""
        margin, answers = self.log.margin, answers_of(self.log)
        about = None
        if cluster is not None:
            members = [i for i, own in self.names.name_of.items() if own == cluster]
            about = smallest_conflict(self.closure, answers, item, cluster, members)
        about = about or answers_about(answers, item, cluster, self.names.name_of)
        own = self.closure
        allowed = largest_margin(own.X, own.tau, answers, margin, own.kernel, self._seed)
        return RefutedError(item, cluster, about, margin, allowed)

    # -- distances, for choosing -----------------------------------------------------------------

    def norms(self, item: int) -> FloatArray:
        """How far the item is from each name's points, in the cluster's own coordinates."""
        found = np.full(self.outside.shape[1], np.inf)
        for name, cluster in self.closure.clusters.items():
            found[name] = self.closure.exclusion.norm(cluster, item)
        return found

    @QUIET
    def nearest(self, item: int, cluster: int, members: Sequence[int]) -> int:
        """The member that lies nearest, in the cluster's own coordinates."""
        own = self.closure.clusters[cluster].whitening
        gaps = own.lift(self.closure.X[list(members)]) - own.lift(self.closure.X[[item]])
        return members[int(np.argmin(np.sum(gaps**2, axis=1)))]
