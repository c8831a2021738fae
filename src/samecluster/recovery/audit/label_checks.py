"""Which questions an audit asks: random checks of frozen labels, and what their results exclude.

Two ways to draw. `SingleChecks` goes through the labels in random order and compares each item with
asked members of its label's cluster. `PairChecks` mostly compares two random items of one label
with each other, so that a question tests two labels, which takes about half as many.

Two wrong labels can agree, in the extreme all labels of a group. So `PairChecks` also draws single
checks, and how many follows from this. Of group g, n items have the label and w of them are wrong.
Allowed are M − 1 wrong labels in all. Let a check of the group have the weight

    n ≤ 2M − 1:   n for a single check;
    n > 2M − 1:   M for a single check, (n − 1)/2 for a pair,

and draw checks independently in proportion to their weights, which add up to C over all groups. A
single check fails with chance w/n, a pair with chance at least 2w(n − w)/(n(n − 1)), because one
right and one wrong label never agree. So the group adds to the chance that a check fails, times C,
exactly w in the first case and at least w(M + n − w)/n in the second. Both are at least min(w, M):

    w(M + n − w)/n − w = w(M − w)/n             ≥ 0 for w ≤ M,
    w(M + n − w)/n − M = (w − M)(n − w)/n       ≥ 0 for M ≤ w ≤ n.

Σ min(w, M) ≥ min(Σ w, M). So with W wrong labels in all, however they are spread over the groups, a
check fails with chance at least min(W, M)/C. A chance below M/C shows W < M; a higher one shows
nothing, because one group may be all wrong: a pair audit reaches its limit or says nothing.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from samecluster._typing import IntArray
from samecluster.recovery.audit.evidence import Coin, Evidence, Urn
from samecluster.recovery.audit.overlooking import Overlooking


@dataclass(frozen=True)
class Check:
    """One thing to ask: does ``item`` belong with ``partner``?

    Without a partner: does it belong with asked members of the cluster ``label``? That is the label
    at the freeze, even if it was changed since. ``number`` counts the draws of the round.
    """

    number: int
    item: int
    label: int
    partner: int | None = None


class Checks(abc.ABC):
    """Random checks of n labels; to be shown: fewer than ``limit`` are wrong."""

    most: int | None
    """How many checks there are; None for no end."""
    _evidence: Evidence

    @abc.abstractmethod
    def draw(self, number: int) -> Check:
        """The next check; ``number`` is the number of those drawn before."""

    @abc.abstractmethod
    def excludes(self, wrong: int, draws: int, failures: int, level: float, ahead: int = 0) -> bool:
        """Whether it is excluded that ``wrong`` labels or more are wrong.

        ``ahead`` of the draws are still to come.
        """

    def left(self, draws: int, failures: int) -> float:
        """The share of the level that is left if the drawing ends here."""
        return self._evidence.left(draws, failures)


class SingleChecks(Checks):
    """Every item once, in random order. In round ``n_round`` something may be ``overlooked``."""

    def __init__(
        self,
        items: IntArray,
        labels: IntArray,
        limit: int,
        rng: np.random.Generator,
        overlooked: Overlooking | None = None,
        n_round: int = 1,
    ) -> None:
        self.overlooked, self._n_round = overlooked, n_round
        self._items, self._labels = items, labels
        self._rng = rng
        self._moved: dict[int, int] = {}
        self._evidence = Urn(len(items), limit)
        self.most = len(items)

    def draw(self, number: int) -> Check:
        # Fisher and Yates's shuffle, a step a draw: swap with a place that was not drawn yet.
        place = int(self._rng.integers(number, len(self._items)))
        at = self._moved.get(place, place)
        self._moved[place] = self._moved.pop(number, number)
        return Check(number, int(self._items[at]), int(self._labels[at]))

    def excludes(self, wrong: int, draws: int, failures: int, level: float, ahead: int = 0) -> bool:
        drawn = (wrong, draws, failures, level)
        if self.overlooked is None or wrong > len(self._items):
            return self._evidence.excludes(*drawn)
        return self.overlooked.excludes(self._evidence, *drawn, self._n_round, ahead)


class PairChecks(Checks):
    """Independent draws of pairs within a label and of single items, as the module's text says."""

    def __init__(
        self, items: IntArray, labels: IntArray, limit: int, rng: np.random.Generator
    ) -> None:
        by_label = np.argsort(labels, kind="stable")
        self._items = items[by_label]
        self._names, self._starts, sizes = np.unique(
            labels[by_label], return_index=True, return_counts=True
        )
        self._sizes = sizes
        paired = sizes > 2 * limit - 1
        # Twice the weights, to have whole numbers: singles and pairs of the groups in turn.
        doubled = np.column_stack(
            [2 * np.where(paired, limit, sizes), np.where(paired, sizes - 1, 0)]
        )
        self._ends = np.cumsum(doubled.ravel())
        self._limit = limit
        self._total = float(self._ends[-1]) / 2.0
        self._evidence = Coin(limit / self._total)
        self._rng = rng
        self.most = None

    def draw(self, number: int) -> Check:
        slot = self._rng.integers(self._ends[-1])
        group, is_pair = divmod(int(np.searchsorted(self._ends, slot, side="right")), 2)
        size, start = int(self._sizes[group]), int(self._starts[group])
        first = int(self._rng.integers(size))
        # The second of a pair is any other item of the group, all equally likely.
        second = (first + 1 + int(self._rng.integers(size - 1))) % size if is_pair else None
        return Check(
            number,
            int(self._items[start + first]),
            int(self._names[group]),
            None if second is None else int(self._items[start + second]),
        )

    def excludes(self, wrong: int, draws: int, failures: int, level: float, ahead: int = 0) -> bool:
        del ahead  # nothing is overlooked in a pair
        chance = min(wrong, self._limit) / self._total
        return wrong > len(self._items) or self._evidence.excludes(chance, draws, failures, level)
