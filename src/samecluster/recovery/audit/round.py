"""One round of an audit: frozen labels, the checks drawn of them, and what the answers exclude.

What a round leaves to the next is the business of `audit.py`, which also says why answers count in
the order of the draws and why "unsure" is a failure.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np

from samecluster._typing import IntArray
from samecluster.errors import ProtocolError
from samecluster.questions.pair import Verdict
from samecluster.recovery.audit.label_checks import Check, Checks, PairChecks, SingleChecks
from samecluster.recovery.audit.overlooking import Overlooking

_PATIENCE = 20  # times all items: pairs of which many fail would be drawn for ever


class AuditRound:
    """Labels (N,) of items (N,), these rising; to be shown: at most ``allowed`` are wrong."""

    def __init__(
        self,
        items: IntArray,
        labels: IntArray,
        allowed: int,
        rng: np.random.Generator,
        pairs: bool,
        overlooked: Overlooking | None = None,
        n_round: int = 1,
    ) -> None:
        self.items, self._labels = items, labels
        self.allowed = allowed
        self._may_overlook = overlooked is not None
        self._checks: Checks | None = None
        if len(items):
            frozen = (self.items, self._labels, allowed + 1, rng)
            self._checks = (
                PairChecks(*frozen) if pairs else SingleChecks(*frozen, overlooked, n_round)
            )
        self._drawn: list[Check] = []
        self._verdicts: list[Verdict | None] = []
        self._taken: set[int] = set()
        # The answers up to the first that is missing, and the failures among them.
        self._n_counted = self._n_failures = 0
        self._settled: dict[int, bool] = {}  # item: whether its frozen label is wrong
        self._in_vain: set[int] = set()  # items of checks that stayed unsure
        self._changed: set[int] = set()
        self._bound: tuple[float, int] | None = None

    def next_checks(self, count: int) -> list[Check]:
        pending = [c for c in self._drawn[self._n_counted :] if self._verdicts[c.number] is None]
        while len(pending) < count and self._checks is not None:
            if len(self._drawn) == self._checks.most or self._nothing_to_learn:
                break
            check = self._checks.draw(len(self._drawn))
            self._drawn.append(check)
            self._verdicts.append(self._implied(check))
            if self._verdicts[-1] is None:
                pending.append(check)
        self._count()
        return pending[:count]

    def take(self, check: Check, verdict: Verdict) -> None:
        drawn = check.number < len(self._drawn) and self._drawn[check.number] == check
        if not drawn or check.number in self._taken:
            raise ProtocolError(f"no answer is pending for item {check.item} in this round")
        self._taken.add(check.number)
        if self._verdicts[check.number] is not None:
            return  # other answers of the batch have settled it
        self._verdicts[check.number] = verdict
        if verdict is Verdict.UNSURE:
            self._in_vain |= {item for item in (check.item, check.partner) if item is not None}
        if check.partner is None and verdict is not Verdict.UNSURE:
            self.settle([check.item], verdict is Verdict.DIFFERENT)
        self._count()

    def settle(self, items: Iterable[int], wrong: bool) -> None:
        for item in items:
            if self._holds(item):
                self._settled.setdefault(item, wrong)
        for check in self._drawn[self._n_counted :]:
            if self._verdicts[check.number] is None:
                self._verdicts[check.number] = self._implied(check)
        self._count()

    def answered_one_by_one(self) -> None:
        """Nothing is overlooked in this round."""
        self._may_overlook = False
        if isinstance(self._checks, SingleChecks):
            self._checks.overlooked = None
        self.forget_bound()

    def forget_bound(self) -> None:
        """Work the bound out anew: what it rests on has changed."""
        self._bound = None

    def change(self, items: Iterable[int]) -> None:
        self._changed |= {item for item in items if self._holds(item)}

    @property
    def n_answered(self) -> int:
        return len(self._verdicts) - self._verdicts.count(None)

    @property
    def n_unsure(self) -> int:
        return self._verdicts.count(Verdict.UNSURE)

    @property
    def n_found(self) -> int:
        """Frozen labels that are known to be wrong."""
        return sum(self._settled.values())

    @property
    def _nothing_to_learn(self) -> bool:
        """Whether all items are settled or stayed unsure.

        Pairs are drawn again and again, so that a round would never end with an item about which
        nobody is ever sure.
        """
        return len(self._settled.keys() | self._in_vain) == len(self.items)

    @property
    def n_changed(self) -> int:
        """Labels that were changed and not asked about."""
        return len(self._changed - self._settled.keys())

    def at_most(self, level: float) -> int:
        """At most so many frozen labels are wrong, those found wrong included."""
        if self._bound is None or self._bound[0] != level:
            self._bound = (level, self._find_bound(level))
        return self._bound[1]

    def left(self) -> float:
        """The share of the level that a next round has, if this one ends now."""
        if self._checks is None:
            return 1.0
        not_confirmed = len(self._verdicts) - self._verdicts.count(Verdict.SAME)
        return self._checks.left(len(self._drawn), not_confirmed)

    def n_more(self, level: float, failing: float = 0.0) -> int | None:
        """How many more answers bring the wrong labels down to those allowed.

        ``failing`` is the share of them that fails, exactly so many of any number.
        """
        excluded = self.allowed + self.n_found - self.n_changed + 1
        failures = self._verdicts.count(Verdict.DIFFERENT) + self.n_unsure
        draws = self._least_draws(excluded, len(self._drawn), failures, level, failing)
        return None if draws is None else draws - self.n_answered

    def n_from_scratch(self, level: float, failing: float = 0.0) -> int | None:
        """The same for a new round of the same labels."""
        return self._least_draws(self.allowed + 1, 0, 0, level, failing)

    def failing(self) -> float:
        """The share of checks that fails, by what was seen and, at first, half of what is allowed.

        The half weighs as much as the draws in which one wrong label is allowed.
        """
        usual = max(len(self.items), 1) / (self.allowed + 1)
        not_confirmed = len(self._verdicts) - self._verdicts.count(Verdict.SAME)
        return (not_confirmed + 0.5) / (len(self._verdicts) + usual)

    def n_other(self, items: IntArray, labels: IntArray) -> int:
        """How many of these labels may be wrong although the frozen ones are right.

        They differ from the frozen ones, or belong to items that were not frozen.
        """
        if not len(self.items):
            return len(items)
        at = np.minimum(np.searchsorted(self.items, items), len(self.items) - 1)
        same = (self.items[at] == items) & (self._labels[at] == labels)
        found = [item for item, wrong in self._settled.items() if wrong]
        return int(np.count_nonzero(~same | np.isin(items, found)))

    def _find_bound(self, level: float) -> int:
        if self._checks is None or not (self.n_open or self._may_overlook):
            return self.n_found
        drawn = (self._n_counted, self._n_failures, level)
        possible, excluded = self.n_found, len(self.items) + 1
        if self._checks.excludes(possible, *drawn):
            return len(self.items)  # more were found than the sample allows: it misled
        while excluded - possible > 1:
            middle = (possible + excluded) // 2
            if self._checks.excludes(middle, *drawn):
                excluded = middle
            else:
                possible = middle
        return possible

    @property
    def n_expected_wrong(self) -> float:
        """How many labels are wrong beside those found, by the share of checks that failed."""
        return max(1.0, self.failing() * self.n_open)

    @property
    def n_open(self) -> int:
        """Labels of which nobody knows whether they are wrong."""
        return len(self.items) - len(self._settled)

    def _least_draws(
        self, excluded: int, at_least: int, failures: int, level: float, failing: float = 0.0
    ) -> int | None:
        """The least number of draws that exclude so many wrong labels: fact 3 of `evidence.py`.

        If a share of those to come is ``failing``, and corrected: about, and None beyond patience.
        """
        checks = self._checks
        if checks is None:
            return 0
        most = checks.most or (_PATIENCE * len(self.items) if failing else sys.maxsize)

        def exclude(draws: int) -> bool:
            ahead = draws - at_least
            more = int(failing * ahead)
            return checks.excludes(excluded + more, draws, failures + more, level, ahead)

        enough = max(1, at_least)
        while not exclude(enough):
            if enough >= most or excluded <= 0:
                return None
            enough = min(2 * enough, most)
        too_few = at_least - 1
        while enough - too_few > 1:
            middle = (enough + too_few) // 2
            if exclude(middle):
                enough = middle
            else:
                too_few = middle
        return enough

    def _count(self) -> None:
        while self._n_counted < len(self._verdicts):
            verdict = self._verdicts[self._n_counted]
            if verdict is None:
                break
            self._n_failures += verdict is not Verdict.SAME
            self._n_counted += 1
        self._bound = None

    def _implied(self, check: Check) -> Verdict | None:
        """What settled items say. Two wrong ones count as same: all that `PairChecks` can ask."""
        wrong = self._settled.get(check.item)
        partner_wrong = False if check.partner is None else self._settled.get(check.partner)
        if wrong is None or partner_wrong is None:
            return None
        return Verdict.of(wrong == partner_wrong)

    def _holds(self, item: int) -> bool:
        at = int(np.searchsorted(self.items, item))
        return at < len(self.items) and bool(self.items[at] == item)
