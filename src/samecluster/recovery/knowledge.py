"""What follows from the answers under the margin, and the log that proves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.proof.checker import fingerprint
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.closure import Closure

__all__ = ["Knowledge"]


class Knowledge:
    """Members and non-members of the clusters found so far.

    ``closure.labels`` (n,) has the cluster of each point, ``outside`` (n, k) what is excluded.
    """

    def __init__(
        self, X: FloatArray, margin: float, n_clusters: int | None, resolution: float, seed: int
    ) -> None:
        extent = np.ptp(X, axis=0)
        tau = np.where(extent > 0, resolution * extent, 1.0)
        self.log = ProofLog(fingerprint(X), margin, n_clusters, tau)
        self.closure = Closure(X, margin, tau, self.log, seed)
        self.outside: BoolArray = np.zeros((len(X), 0), dtype=np.bool_)
        self._tested: set[tuple[int, int, int]] = set()
        self._level = 0

    # -- answers ---------------------------------------------------------------------------------

    def found_cluster(self, item: int) -> None:
        self.log.add_cluster(item)
        column = self.closure.labels >= 0
        self.outside = np.column_stack([self.outside, column])
        self.closure.ask(item, self.outside.shape[1] - 1)
        self.outside[item, :-1] = True

    def take_answer(self, question: Question, cluster: int, verdict: Verdict) -> None:
        if verdict is Verdict.UNSURE:
            return
        self.log.add_answer(question.item, question.comparator, verdict.value)
        if verdict is Verdict.DIFFERENT:
            self.outside[question.item, cluster] = True
        elif self.closure.labels[question.item] < 0:
            self.closure.ask(question.item, cluster)

    def take_last(self, item: int, cluster: int) -> None:
        self.log.add_last(item, cluster)
        self.closure.ask(item, cluster)

    # -- conclusions -----------------------------------------------------------------------------

    def close(self) -> None:
        self.closure.close(self._levels()[self._level])

    def climb(self, at_most: int | None = None) -> bool:
        """Go to the next level; False if there is none (of at most so many points)."""
        levels = self._levels()
        if self._level + 1 >= len(levels):
            return False
        if at_most is not None and levels[self._level + 1] > at_most:
            return False
        self._level += 1
        self.closure.climb(levels[self._level])
        return True

    def _levels(self) -> list[int]:
        return self.closure.levels()

    def open_points(self) -> IntArray:
        prefix = self.closure.order[: self._levels()[self._level]].astype(np.int64)
        return prefix[self.closure.labels[prefix] < 0]

    def try_to_exclude(self, item: int, cluster: int, asked: Mapping[int, int]) -> bool:
        """Whether a known non-member would come into reach if the item were a member."""
        if self.outside[item, cluster]:
            return True
        others = [other for other, label in asked.items() if label != cluster]
        key = (item, cluster, len(others))
        if not others or key in self._tested:
            return False
        self._tested.add(key)
        shown = self.closure.reached_with(item, cluster, np.array(others, dtype=np.int64))
        if shown is None:
            return False
        non_member, columns = shown
        self.log.add_outside(item, cluster, non_member, columns)
        self.outside[item, cluster] = True
        return True

    # -- distances, for choosing -----------------------------------------------------------------

    def norms(self, item: int) -> FloatArray:
        """How far the item is from each cluster, in the cluster's own coordinates."""
        return np.array([self.closure.norm(item, c) for c in range(len(self.closure.clusters))])

    def nearest(self, item: int, cluster: int, members: Sequence[int]) -> int:
        """The member that lies nearest, in the cluster's own coordinates."""
        own = self.closure.clusters[cluster]
        gaps = own.lift(self.closure.X[list(members)]) - own.lift(self.closure.X[[item]])
        return members[int(np.argmin(np.sum(gaps**2, axis=1)))]

    def distances(self, items: IntArray) -> tuple[IntArray, FloatArray]:
        """For each item the nearest cluster and how much is missing to reach it."""
        return self.closure.missing(items)
