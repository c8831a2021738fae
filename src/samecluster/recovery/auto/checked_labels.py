"""Labels that somebody gave, the anchors that stand for them, and what people said of both.

What is looked at, and what follows for whole labels, is for `mistakes`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.questions.look import CheckSheet, Look
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.reliability import Reliability
from samecluster.recovery.auto.error_model import USUAL, ErrorModel
from samecluster.recovery.distances import squared_distances
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.graph import edges
from samecluster.recovery.predict.similarity import features
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How

_LEAST = 1e-3  # chance of a label that no neighbour has
_STEPS, _AT_FIRST = 30, 0.1  # of what known items say along neighbours; what distance says first


class CheckedLabels:
    """The labels so far.

    Attributes
    ----------
    given : (n,) as they were given, -1 where there is none
    said : (n,) the same, with labels joined and divided as people saw them
    labels : (n,) what is believed now: ``said``, neighbours and people's word together
    doubt : (n,) the probability that each is wrong; 0 where people have seen it
    surprise : how many times more labels were wrong, of those that people saw, than was believed
    anchors : the item that stands for each label
    drawn : random members that people were shown, and ``n_sheets`` how many sheets of doubtful ones
    """

    def __init__(self, labels: IntArray, problem: Problem, labelling: Labelling) -> None:
        self.given, self.problem, self._known = labels, problem, labelling
        self.points = features(problem.X, np.arange(len(labels)))
        self._near = edges(self.points.astype(np.float32))
        self.said, self.labels = labels.copy(), labels.copy()
        self.doubt, self.surprise = np.zeros(len(labels)), 1.0
        self.anchors = {label: self._typical(label) for label in _by_size(labels)}
        self._first_anchors = dict(self.anchors)
        self.drawn: set[int] = set()
        self.n_sheets = 0
        # Not the problem's: begun again with more answers, the same items are drawn.
        self.rng = np.random.default_rng(len(labels))

    def relabel(self, items: IntArray | BoolArray, label: int) -> None:
        """People's answers say it of a label as a whole, not of each of these items."""
        self.said[items], self.labels[items] = label, label

    # -- what people said ------------------------------------------------------------------------

    def same(self, one: int, other: int) -> Verdict | None:
        said = Verdict.SAME if one == other else self._known.implied(Question(one, other))
        return None if said is Verdict.UNSURE else said

    def unasked(self) -> BoolArray:
        """Items that no answer is about."""
        unasked = np.ones(len(self.labels), dtype=np.bool_)
        unasked[[item for answer in self._known.answers for item in answer.question.pair]] = False
        return unasked

    def seen(self) -> tuple[int, int]:
        """How many random members people have judged as members of their label, and the wrong."""
        said = [
            self.same(item, self._first_anchors[label])
            for item in sorted(self.drawn)
            if (label := int(self.given[item])) in self._first_anchors
        ]
        return len(said) - said.count(None), said.count(Verdict.DIFFERENT)

    def wrong_beyond_doubt(self, doubt: float) -> tuple[int, int]:
        """Answers about two items of one given label that neighbours do not doubt, and the wrong.

        Among doubtful items, which people see first, more are wrong than among others.
        """
        if not self._known.answers or not self.anchors:
            return 0, 0
        self.weigh()
        verdicts = [
            answer.verdict
            for answer in self._known.answers
            if answer.verdict is not Verdict.UNSURE
            and len({int(self.given[item]) for item in answer.question.pair}) == 1
            and self._first_doubt[list(answer.question.pair)].max() < doubt
        ]
        return len(verdicts), verdicts.count(Verdict.DIFFERENT)

    def _asked(self) -> tuple[dict[int, int], dict[int, set[int]]]:
        """The labels of items that people compared with an anchor, and those that they excluded."""
        asked: dict[int, int] = {}
        excluded: dict[int, set[int]] = {}
        for item in np.flatnonzero(~self.unasked()).tolist():
            for label, anchor in self.anchors.items():
                said = self.same(item, anchor)
                if said is Verdict.SAME:
                    asked[item] = label
                elif said is Verdict.DIFFERENT:
                    excluded.setdefault(item, set()).add(label)
        return asked, excluded

    # -- what is believed ------------------------------------------------------------------------

    def weigh(self) -> None:
        """Believe of every item what was said of it, its neighbours and people make likeliest."""
        names = np.array([*self.anchors], dtype=np.int64)
        column = {label: at for at, label in enumerate(names.tolist())}
        asked, excluded = self._asked()
        self.labels = np.where(np.isin(self.said, names), self.said, -1)
        for item, label in asked.items():
            self.labels[item] = label
        chances, has_neighbours = self._chances(names)
        said = np.array([column.get(label, -1) for label in self.said.tolist()])
        allowed = np.ones(chances.shape, dtype=np.bool_)
        for item, labels in excluded.items():
            allowed[item, [column[label] for label in labels]] = False
        for item, label in asked.items():
            allowed[item] = names == label
        has = said >= 0
        model = ErrorModel.fitted(chances[has], said[has], self._record(), allowed[has])
        found = model.posterior(chances, said)
        self._first_doubt = np.where(has, 1.0 - found.max(axis=1), 1.0)
        told = np.flatnonzero(~allowed.all(axis=1) & has)
        wrong = ~allowed[told, found[told].argmax(axis=1)]
        self.surprise = (1.0 + wrong.sum()) / (1.0 + self._first_doubt[told].sum())
        found *= allowed
        total = found.sum(axis=1)
        self.doubt = 1.0 - found.max(axis=1) / np.where(total > 0, total, 1.0)
        is_known = (total > 0) & (has | has_neighbours)
        self.labels = np.where(is_known, names[found.argmax(axis=1)], -1)
        self.doubt[self.labels < 0] = 0.0

    def _chances(self, names: IntArray) -> tuple[FloatArray, BoolArray]:
        """(n, k) the share of each label among the neighbours, the nearer the more, and whether
        there are any with a label."""
        own = (self.labels[:, None] == names).astype(np.float32)
        shares = np.asarray(self._near @ own, dtype=np.float64)
        total = shares.sum(axis=1, keepdims=True)
        shares = shares / np.maximum(total, 1e-12)
        return shares * (1.0 - _LEAST * len(names)) + _LEAST, total[:, 0] > 0

    def _record(self) -> Reliability:
        """What random members have shown of how often labels are wrong."""
        n_seen, n_wrong = self.seen()
        strength = USUAL.strength + n_seen
        return Reliability((USUAL.error * USUAL.strength + n_wrong) / strength, strength)

    def nearer(self, members: IntArray, to: Sequence[int], than: Sequence[int]) -> IntArray:
        """Those of some items that known ones ``to`` reach sooner along neighbours than others."""
        score = np.zeros(len(self.labels))
        own = self.points[members]
        away = _least_distance(own, self.points[than]) - _least_distance(own, self.points[to])
        score[members] = np.sign(away) * _AT_FIRST
        for _ in range(_STEPS):
            score[to], score[than] = 1.0, -1.0
            score[members] = (self._near @ score)[members]
        score[to], score[than] = 1.0, -1.0
        return members[score[members] > 0]

    def write(self, as_given: How) -> None:
        """People's word is asked; a label that is still the given one is as that is."""
        self.weigh()
        labels, known = self.labels, self._known
        known.reset()
        asked, _ = self._asked()
        items = np.array(list(asked), dtype=np.int64)
        known.mark(items, labels[items], How.ASKED)
        left = np.flatnonzero((known.how != How.ASKED) & (labels >= 0))
        same = labels[left] == self.given[left]
        known.mark(left[same], labels[left[same]], as_given)
        known.mark(left[~same], labels[left[~same]], How.PREDICTED)
        known.number_clusters()
        known.close_round()

    # -- looks -----------------------------------------------------------------------------------

    def _typical(self, label: int) -> int:
        """The member of a label in its middle, of those whose neighbours agree most."""
        is_member = self.given == label
        members = np.flatnonzero(is_member)
        agree = (self._near @ is_member.astype(np.float32))[members]
        agree = np.round(agree / np.maximum(self._near.sum(axis=1)[members], 1e-12), 1)
        return int(members[np.lexsort((spread(self.points[members]), -agree))[0]])

    def members(self, label: int, size: int) -> list[int]:
        """Random members of a label beside its anchor."""
        members = np.flatnonzero(self.said == label)
        members = members[members != self.anchors[label]]
        found: list[int] = self.rng.permutation(members)[:size].tolist()
        return found

    def sheets(self, cells: Sequence[Question]) -> list[Look]:
        """Each item beside its own anchor, as many on a screen as there is room for."""
        size = self.problem.looks.sheet
        if size == 1:
            return list(cells)
        shown = [(q.item, q.comparator) for q in cells]
        return [CheckSheet.of(shown[at : at + size]) for at in range(0, len(shown), size)]


def _by_size(labels: IntArray) -> list[int]:
    found, counts = np.unique(labels[labels >= 0], return_counts=True)
    return [int(label) for label in found[np.argsort(-counts, kind="stable")]]


def _least_distance(points: FloatArray, among: FloatArray) -> FloatArray:
    return np.asarray(squared_distances(points, among).min(axis=1))


def spread(points: FloatArray) -> FloatArray:
    """How far each point is from the middle of them all, squared."""
    return np.asarray(((points - np.median(points, axis=0)) ** 2).sum(axis=1))
