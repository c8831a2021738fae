"""Answers that do not fit the others, by how alike items are. They are only pointed out.

A slip splits a group or joins two. So "different" is unlikely where no other answer parts the two
groups and the smaller one would belong to the other; and "same" where the group falls in two
without it and the smaller part would belong elsewhere. Where a part would belong is what the
regression of prediction says of it with its own answers left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from samecluster._typing import FloatArray, IntArray
from samecluster.questions.conflicts.contradictions import SameGraph
from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.predict.gaussian_process import precision_of
from samecluster.recovery.predict.graph import Graph
from samecluster.recovery.predict.sameness import Sameness
from samecluster.recovery.predict.similarity import features

_MOST_ITEMS = 1200  # that the graph is made of: all asked ones, and others that lie between them
_FEWEST = 20  # asked items below which the model knows too little to say anything
VERY_UNLIKELY = 0.02
"""P(an answer is right) below which it may be pointed out; so are some right ones in 100."""


@dataclass(frozen=True)
class UnlikelyAnswer:
    """An answer, the probability that the others give it, and the items on its two sides."""

    answer: Answer
    probability: float
    sides: tuple[list[int], list[int]]


# Small products: see `points.block_work.on_one_thread`.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def unlikely_answers(
    X: FloatArray, answers: Sequence[Answer], below: float = VERY_UNLIKELY
) -> list[UnlikelyAnswer]:
    """The answers less likely than that by the others, the least likely first; none of few."""
    sure = [one for one in answers if one.verdict is not Verdict.UNSURE]
    if len({item for one in sure for item in one.question.pair}) < _FEWEST:
        return []
    found = list(AnswerFit(X, sure).judged())
    found.sort(key=lambda one: one.probability)
    return [one for one in found if one.probability < below]


@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def strangeness(X: FloatArray, ring: Sequence[Answer], known: Sequence[Answer]) -> list[float]:
    """How likely each of some answers that cannot all be right is the wrong one, by the known ones.

    If one is wrong, the odds of a "same" against a "different" are those of the two being in
    different groups: so a "different" has one half.
    """
    judged = {one.question for one in ring}
    joining = [one for one in ring if one.verdict is Verdict.SAME]
    others = [one for one in known if one.question not in judged]
    fit = AnswerFit(X, [one for one in (*others, *joining) if one.verdict is not Verdict.UNSURE])
    # One that others confirm is right.
    doubt = {seam.answer: 1.0 - seam.own for seam in fit.seams()}
    return [doubt.get(one, 0.0) if one in joining else 0.5 for one in ring]


@dataclass(frozen=True, eq=False)
class Seam:
    """A "same" that alone holds a part to the rest of its group, and P(group) of that part by how
    alike items are: of its own, and of the likeliest other."""

    answer: Answer
    part: list[int]
    rest: list[int]
    own: float
    other: float


class AnswerFit:
    """The regression on all answers, from which parts can be left out."""

    def __init__(
        self, X: FloatArray, answers: Sequence[Answer], like: AnswerFit | None = None
    ) -> None:
        self._answers = answers
        self.groups = AnswerGroups(answers).members()
        self._group_of = {item: g for g, members in enumerate(self.groups) for item in members}
        if like is None:
            items = sorted(self._group_of)
            self._at = {item: place for place, item in enumerate(items)}
            self._precision = precision_of(_alike(X, np.array(items)))
        else:
            self._at, self._precision = like._at, like._precision
        self._targets = np.zeros((len(self._at), len(self.groups)))
        for item, group in self._group_of.items():
            self._targets[self._at[item], group] = 1.0
        self._explained = self._precision @ self._targets
        self._sameness = Sameness()
        alone = self._targets - self._explained / np.diagonal(self._precision)[:, None]
        # With few answers all scores are small, and what counts is their proportion.
        self._scale = 1.0 / max(float(alone.max(axis=1).mean()), 0.1)

    def judged(self) -> Iterator[UnlikelyAnswer]:
        parting = Counter(
            self._sides(one) for one in self._answers if one.verdict is Verdict.DIFFERENT
        )
        for answer in self._answers:
            sides = self._sides(answer)
            if answer.verdict is Verdict.DIFFERENT and len(sides) == 2 and parting[sides] == 1:
                small, large = sorted(sides, key=lambda group: len(self.groups[group]))
                chances = self._chances(self.groups[small], without=small)
                both = (self.groups[small], self.groups[large])
                yield UnlikelyAnswer(answer, 1.0 - float(chances[large]), both)
        for seam in self.seams():
            yield UnlikelyAnswer(seam.answer, 1.0 - seam.other, (seam.part, seam.rest))

    def seams(self, least: int = 1) -> Iterator[Seam]:
        """What is held by one answer alone, of parts with at least so many items."""
        graph = SameGraph(one for one in self._answers if one.verdict is Verdict.SAME)
        for own, members in enumerate(self.groups):
            for answer, beyond in graph.seams(members[0]):
                inside = set(beyond)
                rest = [item for item in members if item not in inside]
                part, rest = sorted((sorted(beyond), sorted(rest)), key=len)
                if len(part) >= least:
                    chances = self._chances(part)
                    mine, chances[own] = float(chances[own]), 0.0
                    yield Seam(answer, part, rest, mine, float(chances.max()))

    def elsewhere(self, group: int) -> tuple[int, float]:
        """The other group that a group is likeliest a part of, and the probability."""
        chances = self._chances(self.groups[group], without=group)
        return int(chances.argmax()), float(chances.max())

    def _sides(self, answer: Answer) -> frozenset[int]:
        return frozenset(self._group_of[item] for item in answer.question.pair)

    def _chances(self, part: Sequence[int], without: int | None = None) -> FloatArray:
        """P(group) of a part as a whole if nothing were known of it but how alike it is."""
        own = [self._at[item] for item in part]
        block = self._precision[np.ix_(own, own)]
        left = self._targets[own] - np.linalg.solve(block, self._explained[own])
        scores = self._scale * left.mean(axis=0)[None]
        if without is not None:
            scores[0, without] = -np.inf
        return np.asarray(self._sameness.chances(scores, np.array([0]))[0])


def _alike(X: FloatArray, items: IntArray) -> FloatArray:
    """(m, m) how alike items are along the graph of these and of others between them."""
    others = np.setdiff1d(np.arange(len(X)), items)
    room = max(_MOST_ITEMS - len(items), 0)
    if len(others) > room:
        others = np.random.default_rng(0).choice(others, room, replace=False)
    rows, known = np.concatenate([items, others]), np.arange(len(items))
    graph = Graph(features(X[rows], np.arange(len(rows))).astype(np.float32))
    return graph.among(known)
