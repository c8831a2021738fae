"""Placing points by questions, with a model that knows which group is likely.

Which questions about groups are worth asking is decided here, by the P(same) of `sameness`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from samecluster._typing import FloatArray
from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.cluster_names import ClusterNames, ordered
from samecluster.recovery.placement import MAX_COMPARATORS, Placement, UnplacedPoint
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.predict.sameness import RATHER_NEW, expected_questions

# Groups that a point is compared with before it may found one; with one, groups multiply
_COMPARED_ANYWAY = 2
# Between so many groups and so many a point founds one as soon as placing it is likely to take more
# looks than the last number. Of fewer it is compared until it is placed, as telling twins apart
# takes as long; of more most are twins already (decision 43)
_MANY_GROUPS, _MOST_GROUPS, _PATIENCE = 20, 60, 5.0
# The odds of an error fall about as a power of the number of questions. On real sets it is 1 to
# 2.5, but doubt is judged by points that are asked because they are in doubt, and several times too
# large: with 0.7 twins lived for 100 questions on penbased, with 0.1 and 0.2 they did not. While
# there are many groups nearly all are in doubt, and with 0.2 two of three questions went to pairs
_FALL, _FALL_OF_MANY = 0.2, 0.3
_TRIED_PAIRS = 20  # of the most valuable ones, some may have been tried and left unsure


class ModelPlacement(Placement):
    """Placing that tries the likeliest group first and shows the most similar asked member.

    Once a point is more likely in a group that nobody has met than in all others together, it
    founds one, and whether that is really another one is left open: the more groups there are, the
    more answers that takes. Where there are very many it founds one as soon as placing it is likely
    to take long: twins are found sooner by the better model that more points make. Pairs of groups
    that nobody has told apart are compared where that is worth more than placing another point.
    """

    def __init__(
        self,
        n_clusters: int | None,
        names: ClusterNames,
        model: Predictor,
        looks: LookSizes = PAIRS,
    ) -> None:
        super().__init__(n_clusters, names, looks)
        self.model = model
        self.unsure: set[tuple[int, int]] = set()
        # Of each point that is being placed: the groups that it was found to be outside of.
        self._differs: dict[int, set[int]] = {}

    @property
    def _are_many(self) -> bool:
        """Whether there are so many groups that finding the one of a point takes long."""
        return _MANY_GROUPS <= len(self.names.alive) < _MOST_GROUPS

    @property
    def all_found(self) -> bool:
        return super().all_found and self.names.all_different

    def place(self, items: Sequence[int]) -> Plan[list[int]]:
        self.expect(items)
        return super().place(items)

    def expect(self, items: Sequence[int]) -> None:
        """Answers about these points come next."""
        self._differs = {item: self.model.outside(item) for item in items}

    def recall(self, waiting: Sequence[UnplacedPoint]) -> None:
        """Groups were joined while these points are being placed: go by the names of now."""
        self.expect([one.item for one in waiting])
        for one in waiting:
            one.different = set(self._differs[one.item])
            one.unsure &= set(self.names.alive)

    def order(self, item: int) -> Sequence[int]:
        return self.model.candidates(item, self._differs[item])[0]

    def comparator(self, item: int, cluster: int, tried: Sequence[int]) -> int:
        left = [member for member in self.names.members[cluster] if member not in tried]
        return left[int(self.model.alike([item], left).argmax())]

    def excluded(self, item: int, cluster: int) -> bool:
        del cluster
        return not self.all_found and self.founds_another(item, self._differs[item])

    def founds_another(self, item: int, outside: Collection[int]) -> bool:
        """Whether an item that is outside some groups is rather in none of the others."""
        if len(outside) < min(_COMPARED_ANYWAY, len(self.names.alive)):
            return False
        left = set(self.names.alive).difference(outside)
        if self.looks.choice > 1 and 0 < len(left) <= self.looks.choice:
            return False  # one choice shows them all, and takes less than a twin does
        same = self._same(self.model.candidates(item, outside)[1])
        if float(same.sum()) < 1.0 - RATHER_NEW:
            return True
        looks = float(expected_questions(same[None])[0]) / self.looks.choice
        return self._are_many and looks > _PATIENCE

    def _same(self, scores: FloatArray) -> FloatArray:
        return np.asarray(self.model.core.sameness.chances(scores[None], np.array([0]))[0])

    def heard(self, question: Question, cluster: int, verdict: Verdict) -> None:
        item = question.item
        if verdict is not Verdict.UNSURE:
            groups, scores = self.model.candidates(item, self._differs[item])
            same = verdict is Verdict.SAME
            self.model.core.sameness.heard(scores, groups.index(cluster), same)
        if verdict is Verdict.DIFFERENT:
            self._differs[item].add(cluster)
            self.model.rule_out(item, cluster)

    def add(self, item: int, cluster: int) -> None:
        super().add(item, cluster)
        self._learn(item, cluster)

    def found(self, item: int) -> int:
        name = super().found(item)
        self._learn(item, name)
        return name

    def _learn(self, item: int, cluster: int) -> None:
        self.model.learn(item)
        for other in self._differs.get(item, ()):
            self.names.mark_different(cluster, other)

    def open_pairs(self, count: int, n_asked: int) -> list[tuple[int, int]]:
        """Members of groups that may be one, where asking is worth more than placing a point.

        If two groups are one, the labels of the smaller are wrong, those apart that are wrong
        whatever their group is called. What placing is worth: the odds of an error fall about as a
        power of the number of questions, so the next one mends that share of what is in doubt now,
        and less where nearly everything is. Both are proportional to the share that is not in
        doubt, which is left out. No group is in two of the pairs, as one answer may decide about
        both. None before the first points are placed: the groups of a few points say little about
        which of them may be one.
        """
        alive = self.names.alive
        if len(alive) < 2 or self.model.is_starting:
            return []
        sizes = np.array(list(self.model.sizes().values()))
        value = np.triu(self.model.same_groups() * np.minimum.outer(sizes, sizes), 1)
        fall = _FALL_OF_MANY if self._are_many else _FALL
        least = fall * self.model.core.doubt * sizes.sum() / max(n_asked, 1)
        chosen: list[tuple[int, int]] = []
        used: set[int] = set()
        for at in np.argsort(-value, axis=None, kind="stable")[: count + _TRIED_PAIRS]:
            a, b = (int(one) for one in np.unravel_index(at, value.shape))
            if value[a, b] <= least or len(chosen) == count:
                break
            pair = self._closest(alive[a], alive[b])
            if pair is not None and used.isdisjoint({a, b}):
                chosen.append(pair)
                used |= {a, b}
        return chosen

    def _closest(self, a: int, b: int) -> tuple[int, int] | None:
        """The most similar members of two groups that were not tried; None after enough tries."""
        ours, theirs, name_of = self.names.members[a], self.names.members[b], self.names.name_of
        alike = self.model.alike(ours, theirs)
        tried = [(i, j) for i, j in self.unsure if {name_of[i], name_of[j]} == {a, b}]
        if len(tried) >= min(MAX_COMPARATORS, alike.size):
            return None
        for at in np.argsort(-alike, axis=None, kind="stable"):
            i, j = np.unravel_index(at, alike.shape)
            pair = ordered(ours[i], theirs[j])
            if pair not in self.unsure:
                return pair
        return None

    def take(self, pair: tuple[int, int], verdict: Verdict) -> None:
        """Whether members of two groups are in the same cluster."""
        kept, gone = ordered(*(self.names.name_of[item] for item in pair))
        if verdict is Verdict.UNSURE:
            self.unsure.add(pair)
            return
        self._note(kept, gone, verdict is Verdict.SAME)
        if verdict is Verdict.DIFFERENT:
            self.names.mark_different(kept, gone)
            self.model.core.told_apart()
        else:
            self.names.merge(kept, gone)

    def _note(self, one: int, other: int, same: bool) -> None:
        """Learn from an answer about two groups; the one with fewer members was the fragment."""
        scores, members = self.model.core.joins()
        at = [self.names.alive.index(name) for name in (one, other)]
        part, whole = sorted(at, key=lambda place: (members[place], place))
        if np.isfinite(scores[part, whole]):
            self.model.core.sameness.heard(scores[part], whole, same, int(members[part]))
