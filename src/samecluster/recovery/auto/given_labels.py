"""Labels that somebody gives and nobody vouches for, such as a language model's: people check them.

Every claim rests on people's answers alone. For each label they see an anchor, the item that stands
for it, beside random members on a sheet, and all anchors on boards. What they say is asked; labels
of the other items are predicted, after items whose neighbours have another label were looked at.
An audit then draws from all that people have not seen. Labels that turn out to be mostly wrong on
the first sheets are put aside, and people label as they would have without.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.questions.look import Board, Look, Sheet
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.auto.margin_search import CertifyWithoutMargin
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Method, Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_FIRST_LABELS = 10  # the largest labels, whose sheets decide whether the rest are worth looking at
_WRONG_AT_FIRST, _WRONG_AFTER_AUDIT = 0.15, 0.08
"""Shares of wrong labels beyond which people do better without them. With 10 % wrong at random on
digits, 21 looks leave 1 % wrong; with 25 % audits fail again and again. After an audit that failed
less is allowed, as what neighbours can correct is corrected by then."""

_MIXED, _JUDGED_FROM = 0.4, 5
"""A label with this share of strangers on a sheet of at least so many is more than one cluster, and
then clusters are missing, which no look at the others would find."""


_NEIGHBOURS, _MAJORITY = 10, 0.7  # of the nearest items have another label: one of both is wrong
_SUSPECT_LOOKS = 10  # each shows up to twelve; what is left after that the audit shows


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """A method that begins with labels by somebody else, and trusts what people say of them.

    Parameters
    ----------
    labels : (n,) whole numbers; -1 where there is none
    otherwise : what labels if the given ones turn out to be mostly wrong; certify if None
    """

    labels: Array
    otherwise: Method | None = None
    name: str = "given"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        if self.labels.shape != (len(problem.X),):
            raise InvalidInputError(
                f"there must be one label for each of {len(problem.X):,} points, got shape "
                f"{self.labels.shape}"
            )
        run = _CheckedLabels(np.asarray(self.labels, dtype=np.int64), problem, labelling)
        if run.hold_up_so_far() and (yield from run.look_at_labels()):
            yield from run.look_at_suspects()
            run.write()
            return labelling.recovery()
        answered = replace(problem, answers=labelling.answers)
        return (yield from (self.otherwise or CertifyWithoutMargin()).plan(answered, labelling))


class _CheckedLabels:
    """The labels, the anchors that stand for them, and what people said."""

    def __init__(self, labels: IntArray, problem: Problem, labelling: Labelling) -> None:
        self._labels, self._problem, self._known = labels.copy(), problem, labelling
        self._anchors: dict[int, int] = {}
        self._scaled = _scaled(problem.X)
        self._neighbours = _nearest(self._scaled)

    def hold_up_so_far(self) -> bool:
        """Whether answers given before, of an audit that failed for instance, speak for them."""
        one_label = [
            answer.verdict
            for answer in self._known.answers
            if answer.verdict is not Verdict.UNSURE
            and len({int(self._labels[item]) for item in answer.question.pair}) == 1
        ]
        return one_label.count(Verdict.DIFFERENT) <= _WRONG_AFTER_AUDIT * len(one_label)

    def look_at_labels(self) -> Plan[bool]:
        """Sheets of random members, and boards; False if the labels are mostly wrong."""
        found, counts = np.unique(self._labels[self._labels >= 0], return_counts=True)
        by_size = found[np.argsort(-counts, kind="stable")].tolist()
        if len(by_size) < 2:
            return False
        for first in range(0, len(by_size), _FIRST_LABELS):
            shown = by_size[first : first + _FIRST_LABELS]
            drawn = {label: self._drawn(label) for label in shown}
            yield [look for label in shown for look in self._sheets(*drawn[label])]
            if first == 0 and self._are_bad(list(drawn.values())):
                return False
            self._anchors |= {label: reference for label, (reference, _) in drawn.items()}
        yield from self._tell_apart()
        return len(self._anchors) > 1

    def _drawn(self, label: int) -> tuple[int, list[int]]:
        """The most typical member of a label, and random ones."""
        members = np.flatnonzero(self._labels == label)
        middle = np.median(self._scaled[members], axis=0)
        typical = int(members[np.argmin(((self._scaled[members] - middle) ** 2).sum(axis=1))])
        others = members[members != typical]
        size = min(len(others), max(self._problem.looks.sheet, 3))
        return typical, self._problem.rng.choice(others, size, replace=False).tolist()

    def _sheets(self, reference: int, items: Sequence[int]) -> Iterator[Look]:
        size = self._problem.looks.sheet
        for first in range(0, len(items), size):
            yield Sheet.of(reference, items[first : first + size])

    def _same(self, one: int, other: int) -> Verdict | None:
        return Verdict.SAME if one == other else self._known.implied(Question(one, other))

    def _are_bad(self, drawn: Sequence[tuple[int, list[int]]]) -> bool:
        """Whether too many random members are no members, of all labels or of one."""
        wrong = [
            sum(self._same(item, reference) is not Verdict.SAME for item in items)
            for reference, items in drawn
        ]
        seen = [len(items) for _, items in drawn]
        mixed = any(
            n >= _JUDGED_FROM and bad > _MIXED * n for bad, n in zip(wrong, seen, strict=True)
        )
        return mixed or sum(wrong) > _WRONG_AT_FIRST * sum(seen)

    def _tell_apart(self) -> Plan[None]:
        """Every two anchors on one board at least; labels whose anchors are one become one."""
        anchors = list(self._anchors.values())
        half = max(self._problem.looks.board // 2, 1)
        blocks = [anchors[first : first + half] for first in range(0, len(anchors), half)]
        boards = [(*one, *two) for one, two in combinations(blocks, 2)] or [tuple(anchors)]
        yield [Board.of(items) for items in boards if len(set(items)) > 1]
        kept: dict[int, int] = {}
        for label, anchor in self._anchors.items():
            twin = next(
                (of for of, a in kept.items() if self._same(a, anchor) is Verdict.SAME), None
            )
            if twin is None:
                kept[label] = anchor
            else:
                self._labels[self._labels == label] = twin
        self._anchors = kept

    def look_at_suspects(self) -> Plan[None]:
        """Items whose neighbours have another label, beside the anchor of that label."""
        by_label: dict[int, list[int]] = {}
        for item, other in self._suspects():
            by_label.setdefault(other, []).append(item)
        looks = [
            look
            for label, items in by_label.items()
            for look in self._sheets(self._anchors[label], items)
        ]
        looks.sort(key=lambda look: -len(look.questions))
        if looks:
            yield looks[:_SUSPECT_LOOKS]

    def _suspects(self) -> Iterator[tuple[int, int]]:
        """Items that most neighbours disagree with, and the label of these."""
        near = self._labels[self._neighbours]
        for item in np.flatnonzero((near != self._labels[:, None]).mean(axis=1) >= _MAJORITY):
            label, count = Counter(near[item].tolist()).most_common(1)[0]
            usable = label in self._anchors and count >= _MAJORITY * near.shape[1]
            if usable and self._same(int(item), self._anchors[label]) is None:
                yield int(item), label

    def write(self) -> None:
        """People's word where there is one, else the given label unless neighbours object."""
        n = len(self._labels)
        asked = np.full(n, -1, dtype=np.int64)
        excluded: dict[int, set[int]] = {}
        for answer in self._known.answers:
            for item in answer.question.pair:
                for label, anchor in self._anchors.items():
                    said = self._same(item, anchor)
                    if said is Verdict.SAME:
                        asked[item] = label
                    elif said is Verdict.DIFFERENT:
                        excluded.setdefault(item, set()).add(label)
        given = np.where(asked >= 0, asked, self._labels)
        near = given[self._neighbours]
        guessed = given.copy()
        for item in range(n):
            if asked[item] >= 0:
                continue
            votes = Counter(x for x in near[item].tolist() if x in self._anchors)
            for label in excluded.get(item, ()):
                votes.pop(label, None)
            best = votes.most_common(1)
            is_out = given[item] not in self._anchors or given[item] in excluded.get(item, ())
            if best and (is_out or best[0][1] >= _MAJORITY * near.shape[1]):
                guessed[item] = best[0][0]
            elif is_out:
                guessed[item] = -1
        known = self._known
        known.mark(np.flatnonzero(asked >= 0), asked[asked >= 0], How.ASKED)
        left = np.flatnonzero((asked < 0) & (guessed >= 0))
        known.mark(left, guessed[left], How.PREDICTED)
        known.number_clusters()
        known.close_round()


def _scaled(X: FloatArray) -> FloatArray:
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _nearest(X: FloatArray) -> IntArray:
    """The nearest other rows of each row, by distance."""
    from sklearn.neighbors import NearestNeighbors

    count = min(_NEIGHBOURS, len(X) - 1)
    found = NearestNeighbors(n_neighbors=count).fit(X).kneighbors(return_distance=False)
    return np.asarray(found, dtype=np.int64)
