"""Audits: bounds fail no more often than promised, whenever one looks, stops or starts anew."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from samecluster import Verdict
from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError, ProtocolError
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.audit.evidence import Coin, Evidence, Urn
from samecluster.recovery.result.audit_report import AuditReport
from tests.cases.campaign import runs

SAME, DIFFERENT, UNSURE = Verdict.SAME, Verdict.DIFFERENT, Verdict.UNSURE


def surely_above(n_bad: int, n: int, doubt: float = 1e-3) -> float:
    """A lower confidence bound on a share (Clopper–Pearson)."""
    return float(beta.ppf(doubt, n_bad, n - n_bad + 1)) if n_bad else 0.0


# The bound against brute force and the theorem's facts


def exact_strength(urn: Urn, n: int, wrong: int, draws: int, failures: int) -> Fraction | None:
    """E(wrong) in rationals, from binomial coefficients; None if ``wrong`` is impossible."""

    def likelihood(w: int) -> int:
        return math.comb(w, failures) * math.comb(n - w, draws - failures)

    # C(w, f)·C(n−w, m−f) is L_w times a factor that does not depend on w.
    if likelihood(wrong) == 0:
        return None
    return sum(
        (
            Fraction(weight)
            * (Fraction(likelihood(int(v)), likelihood(wrong)) if v <= wrong else Fraction(1))
            for v, weight in zip(urn.support, urn.weights.tolist(), strict=True)
        ),
        Fraction(0),
    )


def bound_of(evidence: Evidence, n: int, draws: int, failures: int, level: float) -> int:
    """The largest number that is not excluded, by the bisection of the package."""
    possible, excluded = 0, n + 1
    while excluded - possible > 1:
        middle = (possible + excluded) // 2
        if evidence.excludes(middle, draws, failures, level):
            excluded = middle
        else:
            possible = middle
    return possible


@given(st.data())
def test_the_bound_is_the_exact_maximum_over_all_numbers(data) -> None:
    n = data.draw(st.integers(1, 50))
    urn = Urn(n, limit=data.draw(st.integers(1, n)))
    draws = data.draw(st.integers(1, n))
    failures = data.draw(st.integers(0, draws))
    level = data.draw(st.sampled_from([0.5, 0.05, 0.001]))
    strengths = [exact_strength(urn, n, w, draws, failures) for w in range(n + 1)]
    accepted = [w for w, e in enumerate(strengths) if e is not None and e < 1 / Fraction(level)]
    assert bound_of(urn, n, draws, failures, level) == max(accepted)
    weakest = min(e for e in strengths if e is not None)
    assert urn.left(draws, failures) == pytest.approx(float(weakest), rel=1e-9)


@pytest.mark.parametrize(("draws", "failures"), [(1, 1), (311, 0), (900, 2), (4000, 300)])
def test_the_bound_is_the_maximum_over_a_hundred_thousand_numbers(draws, failures) -> None:
    n, level = 100_000, 0.05
    urn = Urn(n, limit=1001)
    every = np.arange(n + 1)
    logs = urn.log_likelihood(every.astype(float), draws, failures)
    possible = logs > -np.inf
    strengths = np.zeros(n + 1)
    for v, weight in zip(urn.support.astype(int), urn.weights, strict=True):
        with np.errstate(over="ignore", invalid="ignore"):
            strengths += weight * np.where(every >= v, np.exp(logs[v] - logs), 1.0)
    accepted = possible & (strengths < 1 / level)
    assert bound_of(urn, n, draws, failures, level) == every[accepted].max()


@pytest.mark.parametrize("n", [10**7, 10**14])
def test_a_bound_costs_no_pass_over_the_labels(n) -> None:
    urn = Urn(n, n // 100 + 1)
    assert bound_of(urn, n, 320, 0, 0.05) <= n // 100 < bound_of(urn, n, 310, 0, 0.05)


@given(st.data())
def test_the_log_likelihood_is_exact_for_any_number_of_labels(data) -> None:
    n = data.draw(st.integers(1, 300) | st.integers(1, 10**15))
    draws = data.draw(st.integers(0, min(n, 400)))
    failures = data.draw(st.integers(0, draws))
    wrong = data.draw(st.integers(failures, n - draws + failures))
    factors = [wrong - i for i in range(failures)]
    factors += [n - wrong - i for i in range(draws - failures)]
    found = Urn(n, 1).log_likelihood(np.array([float(wrong)]), draws, failures)[0]
    exact = math.fsum(math.log(factor) for factor in factors)
    assert found == pytest.approx(exact, abs=Urn(n, 1).rounding(draws) / 8)


@pytest.mark.parametrize("limit", [1, 2, 5, 14])
def test_more_failures_never_lower_the_bound_and_more_successes_never_raise_it(limit) -> None:
    """Facts 2 and 3, which "unsure" and the count of audits to come rest on."""
    n = 14
    for evidence in (Urn(n, limit), Coin(limit / (n + 1))):
        top = n if isinstance(evidence, Urn) else 1
        for wrong in np.linspace(0, top, n + 1)[1:]:
            for failures, draws in itertools.combinations_with_replacement(range(n + 1), 2):
                here = evidence.log_strength(wrong, draws, failures)
                worse = evidence.log_strength(wrong, draws, min(draws, failures + 1))
                further = evidence.log_strength(wrong, min(n, draws + 1), failures)
                if here < math.inf:
                    assert further >= here - 1e-9
                if worse < math.inf:  # more failures than wrong labels are impossible
                    assert worse <= here + 1e-9


def worst_chance(urn: Urn, n: int, wrong: int, level: float, *, ends: bool) -> float:
    """The largest chance, over all ways to stop, to exclude the truth; exact, by backward steps.

    With ``ends``, who stops without it goes on to a next round, worth what is left of the level.
    """
    value = np.zeros(n + 2)
    for draws in range(n, -1, -1):
        before = value.copy()
        value = np.zeros(n + 2)
        for failures in range(max(0, draws - n + wrong), min(wrong, draws) + 1):
            if urn.excludes(wrong, draws, failures, level):
                value[failures] = 1.0
                continue
            stopped = level * urn.left(draws, failures) if ends else 0.0
            chance = (wrong - failures) / (n - draws) if draws < n else 0.0
            going_on = chance * before[failures + 1] + (1 - chance) * before[failures]
            value[failures] = max(stopped, going_on if draws < n else 0.0)
    return float(value[0])


@pytest.mark.parametrize(("n", "limit"), [(9, 1), (30, 3), (30, 9), (36, 1)])
@pytest.mark.parametrize("level", [0.05, 0.3])
def test_no_stopping_rule_and_no_end_of_a_round_beats_the_level(n, limit, level) -> None:
    """Exact: the chance that the truth is ever excluded, and the claim of audit.py for a round."""
    urn = Urn(n, limit)
    once = [worst_chance(urn, n, wrong, level, ends=False) for wrong in range(n + 1)]
    rounds = [worst_chance(urn, n, wrong, level, ends=True) for wrong in range(n + 1)]
    assert max(once) <= level
    assert max(rounds) <= level * (1 + 1e-9)
    assert max(once) > 0.4 * level, "a bound that loose would pass by saying nothing"


# Coverage by simulation


def first_claims(urn: Urn, claim: IntArray, level: float) -> IntArray:
    """For f = 0, 1, …: the least number of draws that excludes ``claim[f]`` with f failures."""
    first = []
    for failures, wrong in enumerate(claim.tolist()):
        too_few, enough = failures - 1, urn.support[-1]
        while enough - too_few > 1:
            middle = int(enough + too_few) // 2
            if urn.excludes(wrong, middle, failures, level):
                enough = middle
            else:
                too_few = middle
        first.append(int(enough))
    return np.array(first)


def fixed_sample_claims(n: int, claim: IntArray, delta: float) -> IntArray:
    """The same with the bound of Clopper and Pearson, which holds for one moment only."""
    failures = np.arange(len(claim))
    too_few, enough = failures.copy(), np.full(len(claim), n)
    while np.any(enough - too_few > 1):
        middle = np.maximum((too_few + enough) // 2, failures + 1)
        shown = beta.ppf(1 - delta, failures + 1, middle - failures) * n < claim
        enough, too_few = np.where(shown, middle, enough), np.where(shown, too_few, middle)
    return enough


def failure_times(n: int, wrong: int, runs: int, seed: int) -> IntArray:
    """(runs, wrong) the draws, from 1, that meet a wrong label."""
    rng = np.random.default_rng([seed, n, wrong])
    return np.sort([rng.choice(n, wrong, replace=False) + 1 for _ in range(runs)], axis=1)


def share_of_claims(first: IntArray, failures: IntArray) -> tuple[int, int]:
    """How many runs ever make the claim: with f failures after first[f] draws. And of how many."""
    # Failure number f + 1 comes after the claim.
    return int(np.any(first < failures[:, : len(first)], axis=1).sum()), len(failures)


@pytest.mark.parametrize(("n", "runs"), [(20_000, 600), (1_800, 3_000)])
@pytest.mark.parametrize("times", [1.0, 1.05, 1.5])
def test_false_claims_are_as_rare_as_promised_whoever_stops_when(n, runs, times) -> None:
    """Just above the target, stopping when met, and stopping as soon as the bound is wrong.

    The bound for a sample of fixed size fails the same test.
    """
    delta, allowed = 0.05, n // 100
    wrong = math.ceil(times * (allowed + 1))
    urn, failures = Urn(n, allowed + 1), failure_times(n, wrong, runs, seed=1)
    # Met with f failures found and corrected: the claim is wrong only if wrong > allowed + f.
    when_met = np.arange(wrong - allowed) + allowed + 1
    whenever = np.full(wrong, wrong)
    for claim in (when_met, whenever):
        bad, all_runs = share_of_claims(first_claims(urn, claim, delta), failures)
        assert surely_above(bad, all_runs) <= delta
    fixed, all_runs = share_of_claims(fixed_sample_claims(n, whenever, delta), failures)
    assert surely_above(fixed, all_runs) > delta, "the test could not fail"


def rounds_to_first_failure(
    n: int, allowed: int, wrongs: list[int], delta: float, keep: bool
) -> tuple[int, int]:
    """Runs with a false claim of those that learn from each failure, to no avail, and start anew.

    ``wrongs`` are the wrong labels in each round. Without ``keep``, each round has all of δ.
    """
    runs, urn = 20_000, Urn(n, allowed + 1)
    strength = np.array([urn.log_strength(allowed + 1, m, 0) if m else 0.0 for m in range(n + 1)])
    left = np.array([1.0] + [urn.left(m, 1) for m in range(1, n + 1)])
    rng = np.random.default_rng(len(wrongs))
    capital, going, false = np.ones(runs), np.ones(runs, dtype=bool), 0
    for wrong in wrongs:
        none_yet = np.cumprod(1 - wrong / np.arange(n, wrong, -1.0))
        failed = 1 + np.searchsorted(-none_yet, -rng.random(runs))
        claimed = np.searchsorted(strength, -np.log(delta * capital))
        ends = going & (claimed < failed)
        false += int(ends.sum()) if wrong > allowed else 0
        going &= ~ends
        capital *= left[np.minimum(failed, n)] if keep else 1.0
    return false, runs


@pytest.mark.parametrize("wrongs", [[11] * 8, [11, 8] * 5, [8] * 3 + [11] * 7, [30, 11] * 6])
def test_learning_in_rounds_keeps_the_promise(wrongs) -> None:
    """Also where rounds of good labels come between; with δ anew in each round it would break."""
    delta = 0.05
    kept = rounds_to_first_failure(1000, 10, wrongs, delta, keep=True)
    broken = rounds_to_first_failure(1000, 10, wrongs, delta, keep=False)
    assert surely_above(*kept) <= delta
    assert surely_above(*broken) > delta, "the test could not fail"


@pytest.mark.campaign
@pytest.mark.parametrize("pairs", [False, True])
def test_a_model_that_errs_is_not_certified_too_often(pairs) -> None:
    """The whole class: batches in any order, unsure answers, changes and new rounds."""
    n, error, confidence, n_groups = 240, 0.1, 0.8, 2
    false = met = 0
    n_runs = runs(200, 4_000)
    for seed in range(n_runs):
        rng = np.random.default_rng([seed, pairs])
        truth = rng.integers(n_groups, size=n)
        labels = truth.copy()
        audited = np.arange(n)
        spoil(labels, audited, 25, rng)
        audit = Audit(audited, labels, error=error, confidence=confidence, rng=rng, pairs=pairs)
        for _ in range(25):
            failed = answer_some(audit, truth, rng)
            if audit.met:
                break
            if failed and rng.random() < 0.2:
                # The model learns the failures and forgets as much elsewhere.
                labels[failed] = truth[failed]
                audited = np.setdiff1d(audited, failed)
                labels[audited] = truth[audited]
                spoil(labels, audited, math.floor(error * len(audited)) + 1, rng)
                audit.new_round(audited, labels[audited])
        met += audit.met
        # What single checks have found wrong counts as corrected; pairs leave open what is wrong.
        n_wrong = int(np.sum(labels[audited] != truth[audited])) - audit._now.n_found
        false += n_wrong > audit.n_wrong_at_most
    assert surely_above(false, n_runs) <= 1 - confidence
    assert met > n_runs // 100, "hardly a run ends with a claim, so the test shows nothing"


def spoil(labels: IntArray, items: IntArray, count: int, rng: np.random.Generator) -> None:
    chosen = rng.choice(items, count, replace=False)
    labels[chosen] = 1 - labels[chosen]


def answer_some(audit: Audit, truth: IntArray, rng: np.random.Generator) -> list[int]:
    """Answer a batch in random order; the items of failed checks."""
    checks = audit.next_checks(8)
    failed = []
    for place in rng.permutation(len(checks)):
        check = checks[place]
        other = check.label if check.partner is None else truth[check.partner]
        verdict = Verdict.of(bool(truth[check.item] == other))
        if verdict is DIFFERENT:
            failed.append(check.item)
        audit.take(check, UNSURE if rng.random() < 0.01 else verdict)
    return failed


# What the class promises


def zeros(n: int) -> IntArray:
    return np.zeros(n, dtype=np.int64)


def ones(n: int) -> IntArray:
    return np.ones(n, dtype=np.int64)


def audit_of(n: int, error: float = 0.05, confidence: float = 0.9, seed: int = 0) -> Audit:
    rng = np.random.default_rng(seed)
    return Audit(np.arange(n), zeros(n), error=error, confidence=confidence, rng=rng)


def confirm(audit: Audit, count: int, verdict: Verdict = SAME) -> None:
    for check in audit.next_checks(count):
        audit.take(check, verdict)


@given(st.integers(1, 400), st.floats(0, 0.5), st.floats(0.5, 0.99), st.integers(0, 3))
def test_the_audits_to_come_are_counted_exactly(n, error, confidence, n_failures) -> None:
    audit = audit_of(n, error, confidence)
    confirm(audit, n_failures, UNSURE)
    more = audit.n_more()
    if more is None:
        confirm(audit, n)
        assert not audit.met
        return
    confirm(audit, more - 1)
    assert more == 0 or not audit.met
    confirm(audit, 1)
    assert audit.met
    assert audit.n_more() == 0


def test_none_to_come_if_too_many_are_unsure() -> None:
    audit = audit_of(100)
    confirm(audit, 6, UNSURE)
    assert audit.n_more() is None
    confirm(audit, 94)
    assert audit.n_wrong_at_most == 6
    assert not audit.met


def test_everything_audited_leaves_nothing_open() -> None:
    audit = audit_of(50, error=0.0)
    confirm(audit, 3, DIFFERENT)
    confirm(audit, 50)
    assert audit.n_wrong_at_most == 0
    assert audit.met
    assert audit.next_checks() == []


def test_answers_count_in_the_order_of_the_draws_only() -> None:
    """Otherwise waiting for the easy ones would pass for a random sample."""
    early, late = audit_of(1000), audit_of(1000)
    first, *others = early.next_checks(40)
    for check in others:
        early.take(check, SAME)
    assert early.n_wrong_at_most == late.n_wrong_at_most == 1000
    assert early.next_checks(1) == [first]
    early.take(first, SAME)
    confirm(late, 40)
    assert early.n_wrong_at_most == late.n_wrong_at_most < 200


def test_checks_left_open_count_as_failures_at_the_end_of_a_round() -> None:
    """Otherwise one could look at a batch, drop what failed and start anew at no cost."""
    dropped, failed = audit_of(1000), audit_of(1000)
    for audit in (dropped, failed):
        confirm(audit, 20)
    dropped.next_checks(5)
    confirm(failed, 5, UNSURE)
    fresh = audit_of(1000).n_more()
    assert fresh is not None
    for audit in (dropped, failed):
        audit.new_round(np.arange(1000), ones(1000))
        more = audit.n_more()
        assert more is not None
        assert more > fresh
    assert dropped.n_more() == failed.n_more()


def test_a_new_round_costs_what_was_foretold() -> None:
    audit = audit_of(5000, error=0.01)
    confirm(audit, 100)
    confirm(audit, 1, DIFFERENT)
    foretold = audit.n_more(new_round=True)
    audit.new_round(np.arange(5000), ones(5000))
    assert audit.n_more() == foretold


def test_a_failure_found_and_corrected_leaves_the_bound() -> None:
    wrong, unsure = audit_of(300), audit_of(300)
    for audit, verdict in ((wrong, DIFFERENT), (unsure, UNSURE)):
        confirm(audit, 2, verdict)
        confirm(audit, 150)
    assert wrong.n_wrong_at_most == unsure.n_wrong_at_most - 2


def test_changed_labels_are_added_until_they_are_asked() -> None:
    audit = audit_of(300)
    confirm(audit, 150)
    before = audit.n_wrong_at_most
    left = np.setdiff1d(np.arange(300), [c.item for c in audit._now._drawn])
    audit.change([*left[:5].tolist(), 10_000])
    assert audit.n_wrong_at_most == before + 5
    audit.settle(left[:2].tolist(), wrong=False)
    assert audit.n_wrong_at_most == before + 3
    audit.settle(left[2:5].tolist(), wrong=True)
    assert audit.n_wrong_at_most == max(before, 3) - 3


def test_a_new_round_keeps_what_was_shown_of_the_same_labels() -> None:
    n = 2000
    audit = audit_of(n)
    confirm(audit, 1, DIFFERENT)
    confirm(audit, 150)
    before = audit.n_wrong_at_most
    asked = {check.item for check in audit._now._drawn}
    items = np.array([i for i in range(n) if i not in asked])
    labels = zeros(len(items))
    labels[:7] = 1
    audit.new_round(np.append(items, n + 5), np.append(labels, 0))
    assert audit.n_wrong_at_most == before + 8
    # Once more is found than that, the earlier rounds have been wrong and are not relied on.
    audit.settle(items[: before + 9].tolist(), wrong=True)
    assert audit.n_wrong_at_most == len(items) + 1 - (before + 9)


def test_items_asked_elsewhere_cost_no_question() -> None:
    audit = audit_of(60)
    drawn = audit.next_checks(10)
    audit.settle(range(0, 60, 2), wrong=False)
    open_ = audit.next_checks(60)
    assert sorted(check.item for check in open_) == list(range(1, 60, 2))
    assert audit.report().n_audits == 30
    for check in drawn:
        if check.item % 2 == 0:
            audit.take(check, SAME)  # a late answer of the batch is no error
    assert audit.report().n_audits == 30


def test_more_found_wrong_than_the_sample_allows_is_no_proof_of_the_rest() -> None:
    audit = audit_of(1000)
    confirm(audit, 200)
    few = audit.n_wrong_at_most
    left = np.setdiff1d(np.arange(1000), [check.item for check in audit._now._drawn])
    audit.settle(left[: few + 1].tolist(), wrong=True)
    assert audit.n_wrong_at_most == 1000 - (few + 1)


def test_the_seed_decides_and_the_order_of_the_items_does_not() -> None:
    items, labels = np.array([9, 4, 7, 1, 30]), np.array([0, 1, 0, 1, 2])

    def drawn(order: list[int], seed: int) -> list[tuple[int, int]]:
        rng = np.random.default_rng(seed)
        audit = Audit(items[order], labels[order], error=0.1, confidence=0.9, rng=rng)
        return [(check.item, check.label) for check in audit.next_checks(5)]

    assert drawn([0, 1, 2, 3, 4], 5) == drawn([4, 2, 0, 3, 1], 5)
    assert sorted(drawn([0, 1, 2, 3, 4], 5)) == sorted(zip(items, labels, strict=True))
    assert len({tuple(drawn([0, 1, 2, 3, 4], seed)) for seed in range(20)}) > 10


def test_every_order_of_the_items_is_equally_likely() -> None:
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(4800):
        order = tuple(check.item for check in audit_of(4, seed=seed).next_checks(4))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    squares = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert squares < 50  # chi-squared with 23 degrees of freedom: 1 in 1000


def test_caller_keeps_the_arrays() -> None:
    items, labels = np.arange(5), np.zeros(5, dtype=np.int64)
    rng = np.random.default_rng(0)
    audit = Audit(items, labels, error=0.1, confidence=0.9, rng=rng)
    labels[:] = 7
    assert {check.label for check in audit.next_checks(5)} == {0}


def test_the_sentence() -> None:
    def said(n: int, wrong: int, audits: int = 327, unsure: int = 0, rounds: int = 1) -> str:
        return str(AuditReport(n, wrong, 0.95, audits, unsure, rounds, True))

    tail = "of the labels are wrong (95 % confidence, 327 audits, 1 round)"
    assert said(20_000, 160) == f"at most 0.8 % {tail}"
    assert said(20_000, 161) == f"at most 0.9 % {tail}"
    assert said(10**6, 301) == f"at most 0.04 % {tail}"
    assert said(10**6, 300) == f"at most 0.03 % {tail}"
    assert said(100, 50) == f"at most 50 % {tail}"
    assert said(100, 0) == f"at most 0 % {tail}"
    assert said(100, 100).startswith("nothing can be said yet")
    assert said(0, 0, 0) == "every label was asked about"
    assert said(9, 1, 1, 1, 2).endswith("(95 % confidence, 1 audit, 1 of them unsure, 2 rounds)")
    assert str(audit_of(9, confidence=0.999).report()).endswith(
        "(99.9 % confidence, 0 audits, 1 round)"
    )


def test_the_report_counts_over_all_rounds() -> None:
    audit = audit_of(500)
    confirm(audit, 3)
    confirm(audit, 1, UNSURE)
    audit.new_round(np.arange(400), zeros(400))
    confirm(audit, 2)
    audit.next_checks(5)
    report = audit.report()
    assert (report.n_audits, report.n_unsure, report.n_rounds) == (6, 1, 2)
    assert report.n_labels == 400
    assert not report.met
    assert report.share == audit.n_wrong_at_most / 400


def test_no_labels_are_audited_at_once() -> None:
    audit = audit_of(0)
    assert audit.met
    assert audit.n_more() == audit.n_wrong_at_most == 0
    assert audit.next_checks(3) == []
    audit.new_round(np.arange(10), zeros(10))
    assert audit.n_wrong_at_most == 10
    audit.new_round(np.arange(0), zeros(0))
    assert audit.met


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"error": 1.0}, "error must be from 0 to below 1, got 1"),
        ({"error": math.nan}, "error must be"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1, got 1"),
        ({"items": [1, 2]}, "two lists of the same length"),
        ({"items": [1, 2, 1]}, "given twice"),
    ],
)
def test_what_cannot_be_audited_is_named(settings, message) -> None:
    usual = {"items": [1, 2, 3], "labels": [0, 0, 0], "error": 0.1, "confidence": 0.9}
    with pytest.raises(InvalidInputError, match=message):
        Audit(**{**usual, **settings}, rng=np.random.default_rng(0))


def test_an_answer_that_nobody_asked_for_is_refused() -> None:
    audit = audit_of(100)
    check = audit.next_checks()[0]
    audit.take(check, SAME)
    with pytest.raises(ProtocolError, match="no answer is pending"):
        audit.take(check, SAME)
    audit.new_round(np.arange(100), ones(100))
    with pytest.raises(ProtocolError, match="no answer is pending"):
        audit.take(check, SAME)


def test_a_coin_of_at_least_the_chance_is_seldom_excluded() -> None:
    """Independent draws, simulated to the first exclusion of a chance that is not above theirs."""
    delta, limit, runs, longest = 0.05, 0.05, 4000, 400
    coin = Coin(limit)
    claims = np.array(
        [
            [coin.excludes(limit, m, f, delta) if 0 < m >= f else False for f in range(40)]
            for m in range(longest + 1)
        ]
    )
    for chance in (limit, 1.2 * limit):
        rng = np.random.default_rng(round(1e4 * chance))
        failures: FloatArray = np.cumsum(rng.random((runs, longest)) < chance, axis=1)
        bad = claims[np.arange(1, longest + 1), np.minimum(failures, 39)].any(axis=1).sum()
        assert surely_above(int(bad), runs) <= delta
        assert bad > 0


def test_an_audit_by_pairs_ends_although_nobody_is_ever_sure_about_an_item() -> None:
    """Pairs are drawn with replacement: the item would be drawn for ever, at no question."""
    items, doubtful = np.arange(12), 5
    audit = Audit(
        items,
        np.zeros(12, dtype=np.int64),
        error=0.01,
        confidence=0.95,
        rng=np.random.default_rng(0),
        pairs=True,
    )
    for _ in range(2_000):
        checks = audit.next_checks()
        if not checks:
            break
        (check,) = checks
        known = [i for i in (check.item, check.partner) if i is not None and i != doubtful]
        doubt = doubtful in (check.item, check.partner)
        audit.take(check, UNSURE if doubt else SAME)
        audit.settle(known, wrong=False)
    else:
        raise AssertionError("it goes on for ever")
    assert not audit.met
