"""Asking whether two labels are one cluster, where no answer says so yet.

What tells labels apart without an answer is a margin or a model. A question to each pair is what
makes a clustering independent of both: a group that lies on two sides of another shows only here.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations, islice

from samecluster.questions.look import Board
from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.distances import ScaledDistances
from samecluster.recovery.placement import MAX_COMPARATORS
from samecluster.recovery.result.label_separation import AnsweredLabels

_LOOKED_AT = 100  # members of each label among which the nearest two are looked for


class LabelComparison:
    """Comparing labels by members that answers hold: the nearest, or the first without ``near``."""

    def __init__(
        self, near: ScaledDistances | None = None, batch: int = 1, looks: LookSizes = PAIRS
    ) -> None:
        self._near, self._batch, self._board = near, batch, looks.board

    def play(
        self, answered: AnsweredLabels, at_most: int, without: Collection[int] = ()
    ) -> Plan[tuple[int, int] | None]:
        """Ask about at most so many pairs, until two labels turn out to be one cluster: these.

        First come the pairs with most labels at stake. Labels ``without`` are left alone.
        """
        open_ = (pair for pair in answered.open_pairs() if not set(pair) & set(without))
        pairs = list(islice(open_, at_most))
        if self._board > 2 and (same := (yield from self._by_boards(answered, pairs))) is not None:
            return same
        for start in range(0, len(pairs), self._batch):
            some = pairs[start : start + self._batch]
            together = [self._questions(answered, *pair) for pair in some]
            for attempt in range(MAX_COMPARATORS):
                verdicts = yield [tried[min(attempt, len(tried) - 1)] for tried in together]
                if Verdict.SAME in verdicts:
                    return some[verdicts.index(Verdict.SAME)]
                if Verdict.UNSURE not in verdicts:
                    break
        return None

    def _by_boards(
        self, answered: AnsweredLabels, pairs: list[tuple[int, int]]
    ) -> Plan[tuple[int, int] | None]:
        """Put one item of each label on boards; pairs that stay open are asked one by one."""
        left = list(pairs)
        while left:
            labels = _most_connected(left, self._board)
            verdicts = yield [Board.of(answered.standing_for(one)[0] for one in labels)]
            if Verdict.SAME in verdicts:
                return list(combinations(labels, 2))[verdicts.index(Verdict.SAME)]
            left = [pair for pair in left if not set(pair) <= set(labels)]
        return None

    def _questions(self, answered: AnsweredLabels, a: int, b: int) -> list[Question]:
        """Questions that tell two labels apart; all but the first only where nobody is sure."""
        ours, theirs = (answered.standing_for(label)[:_LOOKED_AT] for label in (a, b))
        pairs = [(item, other) for item in ours for other in theirs]
        if self._near is not None:
            near = self._near
            gaps = [gap for item in ours for gap in near.distances(item, theirs).tolist()]
            pairs = [pair for _, pair in sorted(zip(gaps, pairs, strict=True))]
        return [Question(*pair) for pair in pairs[:MAX_COMPARATORS]]


def _most_connected(pairs: list[tuple[int, int]], count: int) -> list[int]:
    """At most so many labels with many pairs among them; the first pair is one of these."""
    beside: dict[int, set[int]] = {}
    for a, b in pairs:
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    chosen = list(pairs[0])
    while len(chosen) < count:
        left = [label for label in beside if label not in chosen]
        best = max(left, key=lambda label: len(beside[label].intersection(chosen)), default=None)
        if best is None or not beside[best].intersection(chosen):
            break
        chosen.append(best)
    return chosen


def worth_comparing(answered: AnsweredLabels, price: int) -> bool:
    """Whether so many questions compare all labels, or at least halve what is at stake."""
    gap = answered.gap()
    if gap.n_pairs <= price:
        return gap.n_pairs > 0
    left = answered.gap(islice(answered.open_pairs(), price))
    return 2 * left.n_more_wrong <= gap.n_more_wrong
