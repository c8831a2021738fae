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
from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.answer_groups import AnswerGroups
from samecluster.recovery.predict.gaussian_process import precision_of
from samecluster.recovery.predict.graph import Graph
from samecluster.recovery.predict.sameness import Sameness
from samecluster.recovery.predict.similarity import features

_MOST_ITEMS = 1200  # that the graph is made of: all asked ones, and others that lie between them
_FEWEST = 20  # asked items below which the model knows too little to say anything
# P(the answer is right) below which it is pointed out: two or three of 100 right answers are, as a
# second look costs less than a group that is split
_UNLIKELY = 0.02


@dataclass(frozen=True)
class UnlikelyAnswer:
    """An answer, the probability that the others give it, and the items on its two sides."""

    answer: Answer
    probability: float
    sides: tuple[list[int], list[int]]


# Small products: see `points.block_work.on_one_thread`.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def unlikely_answers(X: FloatArray, answers: Sequence[Answer]) -> list[UnlikelyAnswer]:
    """The answers that the others make unlikely, the least likely first; none if there are few."""
    sure = [one for one in answers if one.verdict is not Verdict.UNSURE]
    if len({item for one in sure for item in one.question.pair}) < _FEWEST:
        return []
    found = list(_Fit(X, sure).judged())
    found.sort(key=lambda one: one.probability)
    return [one for one in found if one.probability < _UNLIKELY]


@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def strangeness(X: FloatArray, ring: Sequence[Answer], known: Sequence[Answer]) -> list[float]:
    """How likely each of some answers that cannot all be right is the wrong one, by the known ones.

    If one is wrong, the odds of a "same" against a "different" are those of the two being in
    different groups: so a "different" has one half.
    """
    judged = {one.question for one in ring}
    joining = [one for one in ring if one.verdict is Verdict.SAME]
    others = [one for one in known if one.question not in judged]
    fit = _Fit(X, [one for one in (*others, *joining) if one.verdict is not Verdict.UNSURE])
    return [1.0 - fit.same(one) if one in joining else 0.5 for one in ring]


class _Fit:
    """The regression on all answers, from which parts can be left out."""

    def __init__(self, X: FloatArray, answers: Sequence[Answer]) -> None:
        self._answers = answers
        items = sorted({item for one in answers for item in one.question.pair})
        self._groups = AnswerGroups(answers).members()
        self._group_of = {item: g for g, members in enumerate(self._groups) for item in members}
        self._at = {item: place for place, item in enumerate(items)}
        self._targets = np.eye(len(self._groups))[[self._group_of[item] for item in items]]
        self._precision = precision_of(_alike(X, np.array(items)))
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
                small, large = sorted(sides, key=lambda group: len(self._groups[group]))
                chances = self._chances(self._groups[small], without=small)
                both = (self._groups[small], self._groups[large])
                yield UnlikelyAnswer(answer, 1.0 - float(chances[large]), both)
            elif answer.verdict is Verdict.SAME and len(sides) == 1:
                part = self._part_without(answer)
                if part:
                    (own,) = sides
                    chances = self._chances(part)
                    chances[own] = 0.0
                    rest = [item for item in self._groups[own] if item not in part]
                    yield UnlikelyAnswer(answer, 1.0 - float(chances.max()), (part, rest))

    def same(self, answer: Answer) -> float:
        """P(right) of an answer that says "same"; 1 if others hold the group together too."""
        part = self._part_without(answer)
        return float(self._chances(part)[self._group_of[part[0]]]) if part else 1.0

    def _sides(self, answer: Answer) -> frozenset[int]:
        return frozenset(self._group_of[item] for item in answer.question.pair)

    def _part_without(self, answer: Answer) -> list[int]:
        """The smaller part of a group that only this answer holds together; empty if others do."""
        members = self._groups[self._group_of[answer.question.item]]
        inside = [
            one
            for one in self._answers
            if one.verdict is Verdict.SAME and one is not answer and one.question.item in members
        ]
        parts = {item: {item} for item in members}
        for one in inside:
            a, b = one.question.pair
            joined = parts[a] | parts[b]
            parts.update(dict.fromkeys(joined, joined))
        a, b = answer.question.pair
        if parts[a] is parts[b]:
            return []
        small, large = parts[a], parts[b]
        return sorted(small if len(small) <= len(large) else large)

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
