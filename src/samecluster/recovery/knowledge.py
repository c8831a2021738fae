"""What follows from the answers under the margin, and the log that proves it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.geometry.kernel import Kernel
from samecluster.proof.checker import fingerprint
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.closure import Closure
from samecluster.recovery.refute import answers_about, first_conflict, largest_margin

__all__ = ["Knowledge"]


class Knowledge:
    """Members and non-members of the clusters found so far.

    ``closure.labels`` (n,) has the cluster of each point, ``outside`` (n, k) what is excluded.
    """

    def __init__(
        self,
        X: FloatArray,
        margin: float,
        n_clusters: int | None,
        resolution: float,
        kernel: Kernel,
        seed: int,
    ) -> None:
        extent = np.ptp(X, axis=0)
        tau = np.where(extent > 0, resolution * extent, 1.0)
        self.log = ProofLog(fingerprint(X), margin, n_clusters, tau)
        self.closure = Closure(X, margin, tau, self.log, kernel, seed)
        self.outside: BoolArray = np.zeros((len(X), 0), dtype=np.bool_)
        # Items that answers have put into, or out of, a cluster; no proof enters these.
        self.asked: dict[int, int] = {}
        self._told_outside: dict[int, list[int]] = {}
        self._X, self._seed = X, seed
        self._tested: set[tuple[int, int, int]] = set()
        self._level = 0

    # -- answers ---------------------------------------------------------------------------------

    def found_cluster(self, item: int) -> None:
        self.log.add_cluster(item)
        column = self.closure.labels >= 0
        self.outside = np.column_stack([self.outside, column])
        self.closure.ask(item, self.outside.shape[1] - 1)
        self.outside[item, :-1] = True
        self.asked[item] = self.outside.shape[1] - 1

    def take_answer(self, question: Question, cluster: int, verdict: Verdict) -> None:
        if verdict is Verdict.UNSURE:
            return
        self.log.add_answer(question.item, question.comparator, verdict.value)
        if verdict is Verdict.DIFFERENT:
            self.outside[question.item, cluster] = True
            self._told_outside.setdefault(cluster, []).append(question.item)
            return
        self.asked[question.item] = cluster
        if self.closure.labels[question.item] < 0:
            self.closure.ask(question.item, cluster)

    def take_last(self, item: int, cluster: int) -> None:
        self.log.add_last(item, cluster)
        self.closure.ask(item, cluster)

    # -- conclusions -----------------------------------------------------------------------------

    def close(self) -> None:
        """Label all that is in reach at this level. RefutedError if the answers forbid it."""
        self.closure.close(self._levels()[self._level])
        self._look_for_conflicts()

    def _look_for_conflicts(self) -> None:
        clusters = range(len(self.closure.clusters))
        outside = {
            c: np.array(
                [i for i, own in self.asked.items() if own != c] + self._told_outside.get(c, []),
                dtype=np.int64,
            )
            for c in clusters
        }
        conflict = first_conflict(self.closure, outside)
        if conflict is None:
            return
        raise self._refuted(*conflict)

    def refuse_if_homeless(self, item: int) -> None:
        """RefutedError if all clusters are known and the item is in none of them."""
        if self.log.n_clusters == self.outside.shape[1] and self.outside[item].all():
            raise self._refuted(item, None)

    def _refuted(self, item: int, cluster: int | None) -> RefutedError:
        margin = self.log.margin
        return RefutedError(
            item,
            cluster,
            tuple(answers_about(self.log, item, cluster, self.asked)),
            margin,
            largest_margin(self._X, self.log.resolution, self.asked, margin, self._seed),
        )

    def climb(self, at_most: int | None = None) -> bool:
        """Go to the next level; False if there is none (of at most so many points)."""
        levels = self._levels()
        if self._level + 1 >= len(levels):
            return False
        if at_most is not None and levels[self._level + 1] > at_most:
            return False
        self._level += 1
        self.closure.climb(levels[self._level])
        self._look_for_conflicts()
        return True

    def _levels(self) -> list[int]:
        return self.closure.levels()

    def open_points(self) -> IntArray:
        prefix = self.closure.order[: self._levels()[self._level]].astype(np.int64)
        return prefix[self.closure.labels[prefix] < 0]

    def try_to_exclude(self, item: int, cluster: int) -> bool:
        """Whether a known non-member would come into reach if the item were a member."""
        if self.outside[item, cluster]:
            return True
        others = [other for other, own in self.asked.items() if own != cluster]
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
