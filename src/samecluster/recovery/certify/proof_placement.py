"""Placing points by answers, with proofs before questions and a log of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.placement import Placement


class ProofPlacement(Placement):
    """Placement that tries the likeliest cluster first, shows the nearest asked member, excludes
    what can be excluded without a question, and writes all of it into the log.

    ``plausible`` gives the clusters to compare an item with, the likeliest first. Where ``doubts``
    the margin, a guess, nothing gets a name of its own without a question about it: such names are
    compared in the end anyway, and each that is too many is spanned until then.
    """

    def __init__(
        self,
        known: Knowledge,
        plausible: Callable[[int], Sequence[int]],
        looks: LookSizes = PAIRS,
        doubts: bool = False,
    ) -> None:
        super().__init__(known.log.n_clusters, known.names, looks)
        self.known, self.plausible, self.doubts = known, plausible, doubts

    @property
    def all_found(self) -> bool:
        return self.known.all_known

    def order(self, item: int) -> Sequence[int]:
        return self.plausible(item)

    def comparator(self, item: int, cluster: int, tried: Sequence[int]) -> int:
        left = [member for member in self.names.members[cluster] if member not in tried]
        return self.known.nearest(item, cluster, left)

    def excluded(self, item: int, cluster: int) -> bool:
        others = [name for name in self.names.alive if name != cluster]
        if self.doubts and self.known.outside[item, others].all():
            return bool(self.known.outside[item, cluster])
        return self.known.try_to_exclude(item, cluster)

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        self.known.take_answer(question, cluster, verdict)

    def found(self, item: int) -> int:
        return self.known.found_cluster(item)

    def eliminated(self, item: int, cluster: int) -> None:
        # Not an asked member: a proven one must never serve as comparator.
        self.known.take_last(item, cluster)
