"""Labels that somebody gives and nobody vouches for, such as a language model's: people check them.

Every claim rests on people's answers alone. A liar makes four kinds of mistakes, and each has its
look: items that it misread (their neighbours object: a sheet of such items, each beside the anchor
of the label that neighbours have), labels that are one cluster (all anchors on boards), labels that
are several (random members beside their anchors; then a sheet of one label), and labels that are
worth nothing, which random members show, too. An audit then draws from all that people have not
seen. Labels that are mostly wrong are put aside, and people label as they would have without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.questions.look import Board, CheckSheet, Look, Sheet
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.graph import nearest, squared_distances
from samecluster.recovery.predict.similarity import features
from samecluster.recovery.problem import Method, Problem
from samecluster.recovery.result.claims import GivenCheck
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_NEIGHBOURS, _MAJORITY = 10, 0.7  # of the nearest items have another label: one of both is wrong
_DRAWN, _LEAST_DRAWN = 2, 12  # random members per label beside its anchor, and in all, at least
_WRONG_AT_FIRST, _WRONG_AFTER_AUDIT = 0.3, 0.08
"""Shares of wrong labels beyond which people do better without them: among random members, after
labels that are several clusters were divided, and among all that people saw once an audit failed,
as what neighbours can correct is corrected by then."""

_MIXED = 0.25  # of a sheet of one label are strangers: it is more than one cluster
_MOST_DIVIDED = 4  # labels; a liar that mixes more has seen no groups
_STEPS, _AT_FIRST = 30, 0.1  # of what known items say along neighbours; what distance says first
_FEW_MOVED = 0.01  # of all items have neighbours with another label: not worth a look
_DOUBTFUL_LOOKS = 6  # sheets of items that neighbours object to; what is left the audit shows
_FEW_WRONG = 1 / 6  # of such a sheet: what neighbours say is good enough without further sheets


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """A method that begins with labels by somebody else, and trusts what people say of them.

    Parameters
    ----------
    labels : (n,) whole numbers; -1 where there is none
    otherwise : the method if the given labels turn out to be mostly wrong; certify if None
    by : the language models that gave them, for claims; labels that people left as they were are
        then inferred, by these, and else predicted
    batch : for several people at once, as that of other methods
    """

    labels: Array
    otherwise: Method | str | None = None
    by: tuple[str, ...] = ()
    batch: int = 1
    name: str = "given"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        if self.labels.shape != (len(problem.X),):
            raise InvalidInputError(
                f"there must be one label for each of {len(problem.X):,} points, got shape "
                f"{self.labels.shape}"
            )
        run = _CheckedLabels(np.asarray(self.labels, dtype=np.int64), problem, labelling)
        is_used = run.hold_up_so_far() and (yield from run.play())
        labelling.note_given(GivenCheck(self.by, *run.seen(), is_used))
        if is_used:
            run.write(How.INFERRED if self.by else How.PREDICTED)
            return labelling.recovery()
        answered, otherwise = replace(problem, answers=labelling.answers), self.otherwise
        if otherwise is None or isinstance(otherwise, str):
            otherwise = CertifyWithoutMargin()
        return (yield from otherwise.plan(answered, labelling))


class _CheckedLabels:
    """The labels, the anchors that stand for them, and what people said."""

    def __init__(self, labels: IntArray, problem: Problem, labelling: Labelling) -> None:
        self._given, self._problem, self._known = labels, problem, labelling
        self._points = features(problem.X, np.arange(len(labels)))
        count = min(_NEIGHBOURS, len(labels) - 1)
        self._neighbours, _ = nearest(self._points, self._points, count, own=True)
        self._labels = labels.copy()
        self._anchors = {label: self._typical(label) for label in _by_size(labels)}
        self._first_anchors = dict(self._anchors)
        self._drawn: set[int] = set()
        # Not the problem's: begun again with more answers, the same items are drawn.
        self._rng = np.random.default_rng(len(labels))

    def hold_up_so_far(self) -> bool:
        """Whether answers given before, of an audit that failed for instance, speak for them."""
        one_label = [
            answer.verdict
            for answer in self._known.answers
            if answer.verdict is not Verdict.UNSURE
            and len({int(self._given[item]) for item in answer.question.pair}) == 1
        ]
        return one_label.count(Verdict.DIFFERENT) <= _WRONG_AFTER_AUDIT * len(one_label)

    def seen(self) -> tuple[int, int]:
        """How many random members people have judged as members of their label, and the wrong."""
        said = [
            self._same(item, self._first_anchors[label])
            for item in sorted(self._drawn)
            if (label := int(self._given[item])) in self._first_anchors
        ]
        return len(said) - said.count(None), said.count(Verdict.DIFFERENT)

    def play(self) -> Plan[bool]:
        """All looks before an audit; False if the labels are mostly wrong."""
        if len(self._anchors) < 2 or (yield from self._are_splinters()):
            return False
        yield from self._tell_apart()
        if len(self._anchors) < 2 or not (yield from self._members_hold()):
            return False
        yield from self._follow_neighbours()
        yield from self._look_at_doubtful()
        return True

    # -- labels that are one cluster -------------------------------------------------------------

    def _are_splinters(self) -> Plan[bool]:
        """Whether on one board of random anchors more than a third are twins of others.

        Then all boards would be many, and hardly a label would be left.
        """
        size = self._problem.looks.board
        if len(self._anchors) <= size:
            return False
        shown = self._rng.permutation(list(self._anchors.values()))[:size].tolist()
        yield [Board.of(shown)]
        twins = [
            item
            for at, item in enumerate(shown)
            if any(self._same(item, other) is Verdict.SAME for other in shown[:at])
        ]
        return len(twins) > size / 3

    def _tell_apart(self) -> Plan[None]:
        """Every two anchors on one board at least; labels whose anchors are one become one."""
        anchors = list(self._anchors.values())
        half = max(self._problem.looks.board // 2, 1)
        blocks = [anchors[first : first + half] for first in range(0, len(anchors), half)]
        boards = [(*one, *two) for one, two in combinations(blocks, 2)] or [tuple(anchors)]
        yield [Board.of(items) for items in boards if len(set(items)) > 1]
        self._join_twins()

    def _join_twins(self) -> None:
        kept: dict[int, int] = {}
        for label, anchor in self._anchors.items():
            same = (of for of, a in kept.items() if self._same(a, anchor) is Verdict.SAME)
            twin = next(same, None)
            if twin is None:
                kept[label] = anchor
            else:
                self._labels[self._labels == label] = twin
        self._anchors = kept

    # -- labels that are several clusters, or none -----------------------------------------------

    def _members_hold(self) -> Plan[bool]:
        """Random members beside their anchors; what is several clusters is divided."""
        shown, n_divided = list(self._anchors), 0
        while True:
            n_shown, wrong = yield from self._draw_members(shown)
            mixed = list[int]()
            for label in wrong:
                if n_divided + len(mixed) <= _MOST_DIVIDED and (yield from self._is_mixed(label)):
                    mixed.append(label)
            if not mixed:
                return sum(wrong.values()) <= _WRONG_AT_FIRST * n_shown
            n_divided += len(mixed)
            if n_divided > _MOST_DIVIDED:
                return False
            divided = list(mixed)
            for label in mixed:
                home = yield from self._divide(label)
                divided.append(home)
            shown = list(dict.fromkeys(label for label in divided if label in self._anchors))

    def _draw_members(self, labels: Sequence[int]) -> Plan[tuple[int, dict[int, int]]]:
        """Show members drawn by the sizes of labels, and some of each; the wrong ones of each."""
        cells = list[Question]()
        n_labelled = np.count_nonzero(np.isin(self._labels, labels))
        total = max(_DRAWN * len(labels), _LEAST_DRAWN)
        for label in labels:
            n_drawn = round(total * np.count_nonzero(self._labels == label) / n_labelled)
            drawn = self._members(label, max(n_drawn, 1))
            cells += [Question(item, self._anchors[label]) for item in drawn]
        self._drawn |= {question.item for question in cells}
        yield self._sheets(cells)
        wrong = [q.item for q in cells if self._same(*q.pair) is not Verdict.SAME]
        return len(cells), Counter(self._labels[wrong].tolist())

    def _is_mixed(self, label: int) -> Plan[bool]:
        """Whether a sheet of members of one label has more strangers than slips would make."""
        anchor, looks = self._anchors[label], self._problem.looks
        drawn = self._members(label, max(looks.sheet, 3))
        if looks.sheet > 1 and drawn:
            yield [Sheet.of(anchor, drawn)]
        else:
            yield [Question(item, anchor) for item in drawn]
        strangers = [item for item in drawn if self._same(item, anchor) is Verdict.DIFFERENT]
        return len(strangers) > _MIXED * len(drawn)

    def _divide(self, label: int) -> Plan[int]:
        """Find out where the strangers of a label belong; its other items follow the nearest."""
        anchor = self._anchors[label]
        members = np.flatnonzero(self._labels == label)
        said = {int(i): self._same(int(i), anchor) for i in members[~self._unasked()[members]]}
        strangers = [item for item, verdict in said.items() if verdict is Verdict.DIFFERENT]
        one = strangers[int(np.argmin(_spread(self._points[strangers])))]
        new = max(self._anchors) + 1
        self._anchors[new] = one
        yield from self._tell_apart()
        home = next(of for of, a in self._anchors.items() if self._same(a, one) is Verdict.SAME)
        others = [item for item in strangers if item != one]
        if others:
            yield self._sheets([Question(item, self._anchors[home]) for item in others])
        own = [anchor, *(item for item, v in said.items() if v is Verdict.SAME)]
        theirs = [i for i in strangers if self._same(i, self._anchors[home]) is Verdict.SAME]
        self._labels[self._nearer(members, theirs, own)] = home
        return home

    def _nearer(self, members: IntArray, to: Sequence[int], than: Sequence[int]) -> IntArray:
        """Those of some items that known ones ``to`` reach sooner along neighbours than others."""
        score = np.zeros(len(self._labels))
        own = self._points[members]
        away = squared_distances(own, self._points[than]).min(axis=1)
        away -= squared_distances(own, self._points[to]).min(axis=1)
        score[members] = np.sign(away) * _AT_FIRST
        for _ in range(_STEPS):
            score[to], score[than] = 1.0, -1.0
            score[members] = score[self._neighbours[members]].mean(axis=1)
        score[to], score[than] = 1.0, -1.0
        return members[score[members] > 0]

    # -- items that neighbours object to ---------------------------------------------------------

    def _follow_neighbours(self) -> Plan[None]:
        """Items take the label of most neighbours, twice, as wrong ones may be neighbours.

        Unless people say of some of them that the neighbours know less than the liar.
        """
        before = self._labels.copy()
        for _ in range(2):
            label, share = self._votes()
            changed = (share >= _MAJORITY) & (label != self._labels) & self._unasked()
            self._labels[changed] = label[changed]
        self._settle()
        moved = np.flatnonzero((self._labels != before) & (self._labels >= 0) & self._unasked())
        if len(moved) <= _FEW_MOVED * len(before):
            return
        size = max(self._problem.looks.sheet, _LEAST_DRAWN)
        drawn = self._rng.permutation(moved)[:size]
        if (yield from self._n_wrong(drawn)) > len(drawn) / 2:
            self._labels[moved] = before[moved]
            self._settle()

    def _look_at_doubtful(self) -> Plan[None]:
        """Sheets of the items that neighbours are least sure of, until few on one are wrong."""
        size = max(self._problem.looks.sheet, _LEAST_DRAWN)
        for _ in range(_DOUBTFUL_LOOKS):
            label, share = self._votes()
            doubt = np.where(label == self._labels, 1.0 - share, share)
            doubt = np.where(self._unasked() & (self._labels >= 0), doubt, 0.0)
            items = np.argsort(-doubt, kind="stable")[:size]
            items = items[doubt[items] > 1.0 - _MAJORITY]
            wrong = yield from self._n_wrong(items)
            if wrong <= _FEW_WRONG * len(items):
                return

    def _n_wrong(self, items: IntArray) -> Plan[int]:
        """Show items beside the anchors of their labels; how many do not belong there."""
        cells = [Question(int(i), self._anchors[int(self._labels[i])]) for i in items]
        if cells:
            yield self._sheets(cells)
        n_wrong = sum(self._same(*q.pair) is Verdict.DIFFERENT for q in cells)
        self._settle()
        return n_wrong

    def _votes(self) -> tuple[IntArray, FloatArray]:
        """The label that most neighbours of each item have, and their share."""
        near = self._labels[self._neighbours]
        labels = np.array([*self._anchors], dtype=np.int64)
        counts = np.stack([(near == label).sum(axis=1) for label in labels], axis=1)
        best = counts.argmax(axis=1)
        return labels[best], counts[np.arange(len(near)), best] / near.shape[1]

    def _settle(self) -> None:
        """People's word where there is one; what they excluded goes to the next best label."""
        asked, excluded = self._asked()
        for item, label in asked.items():
            self._labels[item] = label
        for item in excluded.keys() - asked.keys():
            if int(self._labels[item]) in excluded[item]:
                near = self._labels[self._neighbours[item]].tolist()
                allowed = [x for x in near if x in self._anchors and x not in excluded[item]]
                self._labels[item] = Counter(allowed).most_common(1)[0][0] if allowed else -1

    # -- what people said ------------------------------------------------------------------------

    def _same(self, one: int, other: int) -> Verdict | None:
        said = Verdict.SAME if one == other else self._known.implied(Question(one, other))
        return None if said is Verdict.UNSURE else said

    def _unasked(self) -> BoolArray:
        """Items that no answer is about."""
        unasked = np.ones(len(self._labels), dtype=np.bool_)
        unasked[[item for answer in self._known.answers for item in answer.question.pair]] = False
        return unasked

    def _asked(self) -> tuple[dict[int, int], dict[int, set[int]]]:
        """The labels of items that people compared with an anchor, and those that they excluded."""
        asked: dict[int, int] = {}
        excluded: dict[int, set[int]] = {}
        for item in np.flatnonzero(~self._unasked()).tolist():
            for label, anchor in self._anchors.items():
                said = self._same(item, anchor)
                if said is Verdict.SAME:
                    asked[item] = label
                elif said is Verdict.DIFFERENT:
                    excluded.setdefault(item, set()).add(label)
        return asked, excluded

    def write(self, as_given: How) -> None:
        """People's word is asked; a label that is still the given one is as that is."""
        self._settle()
        labels, known = self._labels, self._known
        labels[~np.isin(labels, list(self._anchors))] = -1
        asked, _ = self._asked()
        items = np.array(list(asked), dtype=np.int64)
        known.mark(items, labels[items], How.ASKED)
        left = np.flatnonzero((known.how != How.ASKED) & (labels >= 0))
        same = labels[left] == self._given[left]
        known.mark(left[same], labels[left[same]], as_given)
        known.mark(left[~same], labels[left[~same]], How.PREDICTED)
        known.number_clusters()
        known.close_round()

    # -- looks -----------------------------------------------------------------------------------

    def _typical(self, label: int) -> int:
        """The member of a label in its middle, of those whose neighbours agree most."""
        members = np.flatnonzero(self._given == label)
        agree = (self._given[self._neighbours[members]] == label).mean(axis=1)
        return int(members[np.lexsort((_spread(self._points[members]), -agree))[0]])

    def _members(self, label: int, size: int) -> list[int]:
        """Random members of a label beside its anchor."""
        members = np.flatnonzero(self._labels == label)
        members = members[members != self._anchors[label]]
        found: list[int] = self._rng.permutation(members)[:size].tolist()
        return found

    def _sheets(self, cells: Sequence[Question]) -> list[Look]:
        """Each item beside its own anchor, as many on a screen as there is room for."""
        size = self._problem.looks.sheet
        if size == 1:
            return list(cells)
        shown = [(q.item, q.comparator) for q in cells]
        return [CheckSheet.of(shown[at : at + size]) for at in range(0, len(shown), size)]


def _by_size(labels: IntArray) -> list[int]:
    found, counts = np.unique(labels[labels >= 0], return_counts=True)
    return [int(label) for label in found[np.argsort(-counts, kind="stable")]]


def _spread(points: FloatArray) -> FloatArray:
    """How far each point is from the middle of them all, squared."""
    return np.asarray(((points - np.median(points, axis=0)) ** 2).sum(axis=1))
