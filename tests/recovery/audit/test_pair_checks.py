"""Pair audits: the worst spread of wrong labels over the groups is no worse than proved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import beta

from samecluster import Verdict
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.evidence import Coin
from samecluster.recovery.audit.label_checks import Check, PairChecks


class EveryOutcome:
    """A generator of random integers that goes through all outcomes in turn."""

    def __init__(self) -> None:
        self.fixed: list[tuple[int, int]] = []  # (outcome, number of outcomes) of each throw
        self.thrown = 0

    def integers(self, outcomes: Any) -> int:
        if self.thrown == len(self.fixed):
            self.fixed.append((0, int(outcomes)))
        self.thrown += 1
        return self.fixed[self.thrown - 1][0]

    def chance(self) -> Fraction:
        chance = Fraction(1)
        for _, outcomes in self.fixed:
            chance /= outcomes
        return chance

    def step(self) -> bool:
        """Go to the next outcome; False after the last."""
        self.thrown = 0
        while self.fixed:
            outcome, outcomes = self.fixed.pop()
            if outcome + 1 < outcomes:
                self.fixed.append((outcome + 1, outcomes))
                return True
        return False


def drawn_checks(sizes: tuple[int, ...], limit: int) -> Iterator[tuple[Check, Fraction]]:
    """Every check that may be drawn, with its exact chance."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    outcome = EveryOutcome()
    rng = cast(np.random.Generator, outcome)
    pairs = PairChecks(np.arange(len(labels)), labels, limit, rng)
    while True:
        check = pairs.draw(0)
        yield check, outcome.chance()
        if not outcome.step():
            return


def total_weight(sizes: tuple[int, ...], limit: int) -> Fraction:
    """The C of checks.py."""
    return sum((min(Fraction(n), limit + Fraction(n - 1, 2)) for n in sizes), Fraction(0))


@pytest.mark.parametrize(
    ("sizes", "limit"),
    [
        ((7,), 1),
        ((8, 3), 2),
        ((6, 5, 1), 2),
        ((9, 2, 2), 1),
        ((5, 4, 3), 3),
        ((12, 4), 5),
        ((1, 1, 1), 2),
        ((11,), 5),
    ],
)
def test_no_spread_of_wrong_labels_makes_failures_rarer_than_proved(sizes, limit) -> None:
    """Exact: every check with its chance, every number of wrong labels in every group.

    Wrong labels of a group agree with each other, which hides them best.
    """
    n = sum(sizes)
    checks = list(drawn_checks(sizes, limit))
    assert sum(chance for _, chance in checks) == 1
    starts = np.cumsum((0, *sizes))
    total, tight = total_weight(sizes, limit), False
    for spread in itertools.product(*(range(size + 1) for size in sizes)):
        wrong = np.zeros(n, dtype=bool)
        for start, count in zip(starts[:-1], spread, strict=True):
            wrong[start : start + count] = True
        fails = sum(
            (chance for check, chance in checks if failing(check, wrong)), start=Fraction(0)
        )
        assert fails >= min(sum(spread), limit) / total
        tight |= sum(spread) >= limit and fails == limit / total
    assert tight, "the bound could be better"


def failing(check: Check, wrong: Any) -> bool:
    partner = False if check.partner is None else bool(wrong[check.partner])
    return bool(wrong[check.item]) != partner


def adversaries(sizes: list[int], limit: int) -> dict[str, list[int]]:
    """Spreads of wrong labels of at least ``limit`` in all, by what they try."""
    k, smallest = len(sizes), int(np.argmin(sizes))
    shared = [-(-limit // k)] * k
    spreads = {
        "evenly": shared,
        "in the smallest groups": [],
        "in the largest group": [limit if g == int(np.argmax(sizes)) else 0 for g in range(k)],
        "one group, all of it": [n if g == smallest else 0 for g, n in enumerate(sizes)],
        "one group, all but one": [n - 1 if g == smallest else 0 for g, n in enumerate(sizes)],
        "one group, just more than half": [
            n // 2 + 1 if g == int(np.argmax(sizes)) else 0 for g, n in enumerate(sizes)
        ],
        "everything": list(sizes),
    }
    left, filled = limit, [0] * k
    for g in np.argsort(sizes):
        filled[g] = min(sizes[g], left)
        left -= filled[g]
    spreads["in the smallest groups"] = filled
    return {name: spread for name, spread in spreads.items() if sum(spread) >= limit}


def claims(limit: float, delta: float, longest: int, most: int) -> Any:
    """(draws, failures) whether the limit is met then."""
    coin = Coin(limit)
    met = np.zeros((longest + 1, most + 1), dtype=bool)
    for failures in range(most + 1):
        for draws in range(longest, failures, -1):
            if not coin.excludes(limit, draws, failures, delta):
                break
            met[draws, failures] = True
    return met


@pytest.mark.parametrize("sizes", [[400] * 5, [1500, 300, 150, 30, 20], [200, 39, 38, 8, 1] * 3])
def test_no_adversary_is_certified_too_often(sizes) -> None:
    """Coverage against each adversary, with draws of the package's own sampler."""
    delta, runs, longest, most = 0.05, 1500, 500, 12
    limit = sum(sizes) // 100 + 1
    labels = np.repeat(np.arange(len(sizes)), sizes)
    n, starts = len(labels), np.cumsum([0, *sizes])[:-1]
    total = float(total_weight(tuple(sizes), limit))
    met = claims(limit / total, delta, longest, most)
    sampler = PairChecks(np.arange(n), labels, limit, np.random.default_rng(4))
    draws = [sampler.draw(i) for i in range(60_000)]
    for name, spread in adversaries(sizes, limit).items():
        wrong = np.zeros(n, dtype=bool)
        for start, count in zip(starts, spread, strict=True):
            wrong[start : start + count] = True
        fails = np.array([failing(check, wrong) for check in draws])
        # Draws are independent, so any of them make up an audit.
        chosen = np.random.default_rng(5).integers(len(fails), size=(runs, longest))
        count = np.minimum(np.cumsum(fails[chosen], axis=1), most)
        bad = int(met[np.arange(1, longest + 1), count].any(axis=1).sum())
        assert fails.mean() > 0.9 * limit / total, name
        surely = float(beta.ppf(1e-3, bad, runs - bad + 1)) if bad else 0.0
        assert surely <= delta, name


def pair_audit(sizes: list[int], seed: int = 0) -> Audit:
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(seed)
    return Audit(np.arange(len(labels)), labels, error=0.01, confidence=0.95, rng=rng, pairs=True)


def test_a_group_that_is_all_wrong_is_found() -> None:
    """Pairs alone would confirm it for ever: its items do agree with each other."""
    sizes = [2000, 2000, 300]
    certified = 0
    for seed in range(60):
        audit = pair_audit(sizes, seed)
        failed = False
        while not (failed or audit.met):
            for check in audit.next_checks(10):
                failed |= check.partner is None and check.label == 2
                audit.take(check, Verdict.of(not (check.partner is None and check.label == 2)))
        certified += audit.met
    # 60 runs of 5 % chance each: 9 or more in 1 of 300 such tests.
    assert certified <= 8


def test_it_takes_about_half_as_many_questions_in_large_groups_and_no_more_in_small_ones() -> None:
    few_large, many_small = pair_audit([4000] * 5), pair_audit([100] * 200)
    labels = np.zeros(20_000, dtype=np.int64)
    rng = np.random.default_rng(0)
    single = Audit(np.arange(20_000), labels, error=0.01, confidence=0.95, rng=rng).n_more()
    large, small = few_large.n_more(), many_small.n_more()
    assert single is not None
    assert large is not None
    assert small is not None
    assert large < 0.56 * single
    assert small < 1.03 * single  # independent draws may repeat
    assert all(check.partner is None for check in many_small.next_checks(200))


def test_it_says_nothing_until_it_is_met() -> None:
    audit = pair_audit([4000] * 5)
    more = audit.n_more()
    assert more is not None
    for check in audit.next_checks(more - 1):
        audit.take(check, Verdict.SAME)
    assert audit.n_wrong_at_most == 20_000
    audit.take(audit.next_checks()[0], Verdict.SAME)
    assert audit.n_wrong_at_most <= 200
    assert str(audit.report()).startswith("at most 1 % of the labels are wrong")


def test_pairs_that_answers_elsewhere_decide_cost_no_question() -> None:
    audit = pair_audit([50, 50])
    pair = next(check for check in audit.next_checks(50) if check.partner is not None)
    assert pair.partner is not None
    audit.settle([pair.item], wrong=True)
    assert pair in audit.next_checks(50)
    audit.settle([pair.partner], wrong=False)
    assert pair not in audit.next_checks(50)
    audit.settle(range(100), wrong=False)
    assert audit._now.n_answered == len(audit._now._drawn) >= 50
    assert audit._now._verdicts[pair.number] is Verdict.DIFFERENT


def test_partners_are_two_items_of_one_label() -> None:
    audit = pair_audit([30, 60, 2, 1])
    labels = np.repeat(np.arange(4), [30, 60, 2, 1])
    for check in audit.next_checks(400):
        assert labels[check.item] == check.label
        if check.partner is not None:
            assert check.partner != check.item
            assert labels[check.partner] == check.label
