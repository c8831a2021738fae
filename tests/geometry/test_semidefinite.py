"""The complete test: right against other solvers, exact where it claims a proof, calm otherwise."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from operator import mul
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from samecluster._typing import FloatArray
from samecluster.geometry import margin as clarabel_program
from samecluster.geometry.semidefinite.certificates import (
    Certificate,
    exact_certificate,
    holds_exactly,
    holds_for_each,
    shown,
    widened,
)
from samecluster.geometry.semidefinite.solver import (
    Decision,
    Feasibility,
    decide,
    round_coordinates,
)
from samecluster.proof import checker
from samecluster.proof.fingerprint import fingerprint
from samecluster.proof.log import ProofLog

SEEDS = st.integers(0, 10**9)
FEW = settings(max_examples=30)
COMPILED = (
    importlib.import_module("samecluster.geometry.semidefinite.compiled")
    if importlib.util.find_spec("numba")
    else None
)
FEASIBLE, INFEASIBLE, UNCLEAR = Feasibility.FEASIBLE, Feasibility.INFEASIBLE, Feasibility.UNCLEAR


def lifted(points: FloatArray) -> FloatArray:
    return np.column_stack([points, np.ones(len(points))])


def shell(rng, count, d, least, most):
    """Points at a distance between least and most, as members and others of a ball are."""
    points = rng.normal(size=(count, d))
    return points * (rng.uniform(least, most, size=count) / np.linalg.norm(points, axis=1))[:, None]


def problem(seed, d=None, others=None):
    """Lifted members and non-members of some ellipsoid, and a margin."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7)) if d is None else d
    p = int(rng.integers(1, 25)) if others is None else others
    shape = rng.normal(size=(d, d)) + np.eye(d)
    inner = shell(rng, int(rng.integers(d + 2, 40)), d, 0.5, 1.0) @ shape
    outer = shell(rng, p, d, 1.0, 1.8) @ shape
    return lifted(inner), lifted(outer), float(rng.choice([0.05, 0.3, 1.0, 2.0]))


def optimum_by_clarabel(positives, negatives):
    rounding = round_coordinates(positives)
    assert rounding is not None
    rows = positives @ rounding[0], negatives @ rounding[0]
    return clarabel_program._solve(*rows, np.ones(len(negatives)))[1]


def exact_squares(rows: FloatArray, factor: FloatArray) -> list[Fraction]:
    """|Ax|² of every row, in rationals."""
    table = [[Fraction(value) for value in line] for line in factor.tolist()]
    squares = []
    for row in rows.tolist():
        point = [Fraction(value) for value in row]
        squares.append(sum(sum(map(mul, line, point), Fraction(0)) ** 2 for line in table))
    return [Fraction(square) for square in squares]


def assert_feasible(found: Decision, positives, negatives, limit) -> None:
    """Q = AᵀA is PSD by its form; the rest is judged without rounding."""
    assert max(exact_squares(positives, found.factor)) <= 1
    assert all(square >= found.rho for square in exact_squares(negatives, found.factor))
    assert found.rho > limit


# -- right answers -------------------------------------------------------------------------------


@given(SEEDS, st.sampled_from([1e-1, 1e-3, 1e-5]))
def test_one_negative_is_judged_by_its_gauge(seed, away) -> None:
    positives, negatives, _ = problem(seed, others=1)
    columns = np.hstack([positives.T, -positives.T])
    solved = linprog(np.ones(columns.shape[1]), A_eq=columns, b_eq=negatives[0])
    optimum = solved.fun**2
    above = decide(positives, negatives, optimum * (1 + away))
    below = decide(positives, negatives, optimum * (1 - away))
    assert (below.verdict, above.verdict) == (FEASIBLE, INFEASIBLE)
    for found in (below, above):
        assert found.rho <= optimum * (1 + 1e-9)
        assert found.bound >= optimum * (1 - 1e-9)


@given(SEEDS, st.sampled_from([1e-1, 1e-3, 1e-5]))
def test_several_negatives_are_judged_as_by_clarabel(seed, away) -> None:
    positives, negatives, _ = problem(seed)
    optimum = optimum_by_clarabel(positives, negatives)
    assert decide(positives, negatives, optimum * (1 + away)).verdict is INFEASIBLE
    assert decide(positives, negatives, optimum * (1 - away)).verdict is FEASIBLE


@given(SEEDS, st.integers(0, 6))
def test_every_answer_shows_what_it_says(seed, polish) -> None:
    positives, negatives, gamma = problem(seed)
    found = decide(positives, negatives, 1 + gamma, polish=polish)
    assert found.verdict is not UNCLEAR
    if found.verdict is FEASIBLE:
        assert_feasible(found, positives, negatives, 1 + gamma)
        return
    gap = (positives.T * found.lam) @ positives - (negatives.T * found.mu) @ negatives
    assert np.linalg.eigvalsh(gap)[0] >= -1e-12 * np.abs(gap).max()
    assert found.lam.min() >= 0
    assert found.mu.min() >= 0
    assert found.mu.sum() == pytest.approx(1.0)
    assert found.lam.sum() == pytest.approx(found.bound)
    assert found.bound < 1 + gamma


def test_on_the_limit_nothing_is_claimed() -> None:
    """±1 reach 1.5 at ρ = 2.25 exactly: neither side may be told from rounding."""
    positives, negatives = lifted(np.array([[-1.0], [1.0]])), lifted(np.array([[1.5], [7.0]]))
    assert decide(positives, negatives, 2.25).verdict is UNCLEAR
    assert decide(positives, negatives, 2.25 * (1 + 1e-6)).verdict is INFEASIBLE
    assert decide(positives, negatives, 2.25 * (1 - 1e-6)).verdict is FEASIBLE


@pytest.mark.skipif(COMPILED is None, reason="numba is not installed")
@given(SEEDS, st.integers(0, 6))
def test_the_compiled_program_decides_alike(seed, polish) -> None:
    positives, negatives, gamma = problem(seed)
    plain = decide(positives, negatives, 1 + gamma, polish=polish)
    other = decide(positives, negatives, 1 + gamma, polish=polish, compiled=COMPILED)
    assert plain.verdict is other.verdict
    assert other.rho == pytest.approx(plain.rho, rel=1e-6)
    assert other.bound == pytest.approx(plain.bound, rel=1e-6)
    if other.verdict is FEASIBLE:
        assert_feasible(other, positives, negatives, 1 + gamma)
    else:
        assert exact_certificate(other.lam, other.mu, positives, negatives, gamma) is not None


def test_polish_makes_the_same_answer_stronger() -> None:
    stronger = 0
    for seed in range(40):
        positives, negatives, gamma = problem(seed, d=3)
        first = decide(positives, negatives, 1 + gamma, polish=0)
        later = decide(positives, negatives, 1 + gamma, polish=8)
        assert first.verdict is later.verdict
        assert later.bound <= first.bound * (1 + 1e-12)
        stronger += later.bound < first.bound * (1 - 1e-3)
    assert stronger > 10


# -- certificates --------------------------------------------------------------------------------


def sdp_record(item, inside, columns, non_members) -> list[Any]:
    """The one place that knows how the checker wants an `sdp` record of cluster 0."""
    log = ProofLog("", 1.0, None, np.zeros(0))
    side = non_members if inside else columns
    weight = dict(side)[item]
    side[:] = [(name, weight) for name, weight in side if name != item]
    log.add_weights(0, inside, np.array([item]), columns, non_members, weight)
    return list(log.records[0])


def checked(certificate, positives, negatives, gamma, item_row, inside) -> checker.VerifiedProof:
    """Write a certificate for row ``item_row`` of one side down as a proof, and check that."""
    member = positives[:, -1] == 1.0
    axes, d = np.flatnonzero(~member), positives.shape[1] - 1
    tau = np.zeros(d)
    tau[: len(axes)] = positives[axes, np.arange(len(axes))]
    X = np.vstack([positives[member], negatives])[:, :-1]
    n_inner = int(member.sum())
    inner = np.where(member, np.cumsum(member) - 1, -1 - np.cumsum(~member) + 1)
    outer = n_inner + np.arange(len(negatives))
    item = int((outer if inside else inner)[item_row])
    known = [int(i) for i in inner if i > 0 and i != item]
    lines: list[Any] = [ProofLog(fingerprint(X), gamma, None, tau).header(), ["cluster", 0]]
    lines += [["answer", i, 0, "same"] for i in known]
    lines += [["answer", int(i), 0, "different"] for i in outer if i != item]
    sides = (inner, certificate.lam), (outer, certificate.mu)
    weights = [[(int(i), w) for i, w in zip(*side, strict=True) if w] for side in sides]
    any_resolution = np.inf  # certificates hold at every one; the checker's limit has its own tests
    return checker.check(X, [*lines, sdp_record(item, inside, *weights)], any_resolution)


def with_resolution(positives, share):
    d = positives.shape[1] - 1
    tau = share * np.ptp(positives[:, :-1], axis=0)
    return np.vstack([positives, np.column_stack([np.diag(tau), np.zeros(d)])])


@given(SEEDS, st.sampled_from([0.0, 1e-9, 1e-2]), st.booleans())
def test_the_checker_accepts_every_exact_certificate(seed, share, inside) -> None:
    positives, negatives, gamma = problem(seed)
    if share:
        positives = with_resolution(positives, share)
    found = decide(positives, negatives, 1 + gamma)
    assume(found.verdict is INFEASIBLE)
    exact = exact_certificate(found.lam, found.mu, positives, negatives, gamma)
    assert exact is not None
    weights = np.concatenate([exact.lam, exact.mu])
    assert (np.ldexp(np.frexp(weights)[0], 24) % 1 == 0).all(), "weights are short"
    item = int(np.argmax(exact.mu))
    if not inside:
        item = 1 + int(np.argmax(exact.lam[1:] * positives[1:, -1]))
        assume(exact.lam[item] > 0)
    verified = checked(exact, positives, negatives, gamma, item, inside)
    assert verified.n_records["sdp"] == 1
    # A certificate with less on the positives, or more on the negatives, proves nothing.
    forged = Certificate(exact.lam * 0.5, exact.mu)
    if found.bound > 0.6 * (1 + gamma):
        assert not holds_exactly(forged, positives, negatives, gamma)
        with pytest.raises(checker.BadProof):
            checked(forged, positives, negatives, gamma, item, inside)


@given(SEEDS)
def test_certificates_exist_close_to_the_limit(seed) -> None:
    positives, negatives, _ = problem(seed)
    optimum = optimum_by_clarabel(positives, negatives)
    gamma = optimum * (1 + 1e-5) - 1
    assume(gamma > 1e-3)
    found = decide(positives, negatives, 1 + gamma)
    exact = exact_certificate(found.lam, found.mu, positives, negatives, gamma)
    assert exact is not None
    assert holds_exactly(exact, positives, negatives, gamma)
    smaller = optimum * (1 - 1e-5) - 1
    assert not holds_exactly(exact, positives, negatives, smaller)


def test_certificates_leave_out_what_they_do_not_need() -> None:
    for seed in range(20):
        positives, negatives, _ = problem(seed, d=3, others=20)
        gamma = optimum_by_clarabel(positives, negatives) * 1.1 - 1
        found = decide(positives, negatives, 1 + gamma)
        exact = exact_certificate(found.lam, found.mu, positives, negatives, gamma)
        assert exact is not None
        assert np.count_nonzero(exact.lam) + np.count_nonzero(exact.mu) <= 25


@given(SEEDS, st.integers(1, 4), st.integers(0, 5), st.integers(0, 2))
def test_exact_conditions_are_those_of_rationals(seed, D, m, p) -> None:
    """Small integers make singular matrices and sums that are equal, where one bit decides."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, size=(m + p, D)) * np.exp2(rng.integers(-40, 40, size=D))
    weights = rng.integers(0, 3, size=m + p).astype(float)
    matrix = [[Fraction(0)] * D for _ in range(D)]
    for row, weight, sign in zip(rows.tolist(), weights, [1] * m + [-1] * p, strict=True):
        for i in range(D):
            for j in range(D):
                matrix[i][j] += sign * int(weight) * Fraction(row[i]) * Fraction(row[j])
    whole = np.array([[int(value * 2**200) for value in row] for row in matrix], dtype=object)
    expected = checker._is_psd(whole) and weights[:m].sum() <= 2 * weights[m:].sum() > 0
    found = holds_exactly(Certificate(weights[:m], weights[m:]), rows[:m], rows[m:], 1.0)
    assert found == expected


# -- what one certificate decides ----------------------------------------------------------------


def certified(seed, inside):
    """A widened certificate for one row, or None where the answers allow that row either way."""
    positives, negatives, gamma = problem(seed)
    found = decide(positives, negatives, 1 + gamma)
    if found.verdict is not INFEASIBLE:
        return None
    exact = exact_certificate(found.lam, found.mu, positives, negatives, gamma)
    assert exact is not None
    at = int(np.argmax(exact.mu if inside else exact.lam))
    wide = widened(exact, gamma, inside=inside, at=at)
    return exact, wide, positives, negatives, gamma, at


@given(SEEDS, st.booleans())
def test_regions_are_exactly_what_the_certificate_shows(seed, inside) -> None:
    case = certified(seed, inside)
    assume(case is not None)
    exact, wide, positives, negatives, gamma, at = case
    side = negatives if inside else positives
    rng = np.random.default_rng(seed)
    rows = side[at] + rng.normal(size=(30, side.shape[1])) * rng.choice([0.01, 0.1, 1.0], (30, 1))
    rows[:, -1] = 1.0
    narrow = shown(exact, positives, negatives, at, rows, inside=inside)
    decided = shown(wide, positives, negatives, at, rows, inside=inside)
    assert holds_exactly(wide, positives, negatives, gamma)
    assert (decided | ~narrow).all(), "widening loses nothing"
    exactly = holds_for_each(wide, positives, negatives, at, rows, inside=inside)
    assert (exactly == decided).all()
    for row, claimed in zip(rows, decided, strict=True):
        replaced = side.copy()
        replaced[at] = row
        sides = (positives, replaced) if inside else (replaced, negatives)
        assert holds_exactly(wide, *sides, gamma) == claimed
        if claimed:
            assert decide(*sides, 1 + gamma).verdict is not FEASIBLE


@pytest.mark.parametrize("inside", [True, False])
def test_regions_decide_more_than_the_point_they_came_from(inside) -> None:
    """Of points near the one that was tested, a certificate decides a good part."""
    share, cases = [], 0
    for seed in range(80):
        case = certified(seed, inside)
        if case is None:
            continue
        _, wide, positives, negatives, _, at = case
        side = negatives if inside else positives
        assert shown(wide, positives, negatives, at, side[[at]], inside=inside).all()
        rng = np.random.default_rng(seed)
        rows = side[at] + 0.03 * rng.normal(size=(100, side.shape[1]))
        rows[:, -1] = 1.0
        share.append(shown(wide, positives, negatives, at, rows, inside=inside).mean())
        cases += 1
    assert cases >= 15
    assert np.mean(share) > 0.6


def test_regions_of_an_unused_row_are_empty() -> None:
    """Without the row the certificate would contradict the answers: it then shows nothing."""
    positives = lifted(np.array([[-1.0], [1.0], [0.5]]))
    negatives = lifted(np.array([[1.1], [9.0]]))
    certificate = Certificate(np.array([0.05, 1.2, 0.0]), np.array([1.0, 0.0]))
    assert holds_exactly(certificate, positives, negatives, 1.0)
    assert not shown(certificate, positives, negatives, 1, negatives, inside=True).any()
    assert not shown(certificate, positives, negatives, 2, positives, inside=False).any()


# -- hopeless and awkward input ------------------------------------------------------------------


@FEW
@given(SEEDS, st.sampled_from([0.05, 1.0]))
def test_badly_scaled_columns_change_no_answer(seed, gamma) -> None:
    positives, negatives, _ = problem(seed)
    scale = np.append(10 ** np.random.default_rng(seed).uniform(-6, 6, positives.shape[1] - 1), 1.0)
    optimum = optimum_by_clarabel(positives, negatives)
    assume(abs(optimum / (1 + gamma) - 1) > 1e-5)
    positives, negatives = positives * scale, negatives * scale
    found = decide(positives, negatives, 1 + gamma)
    assert found.verdict is (FEASIBLE if optimum > 1 + gamma else INFEASIBLE)
    if found.verdict is FEASIBLE:
        assert_feasible(found, positives, negatives, 1 + gamma)
    else:
        assert exact_certificate(found.lam, found.mu, positives, negatives, gamma) is not None


@given(SEEDS, st.sampled_from([1e-300, 1e-150, 1e-12, 1e-9, 1e-6, 1.0, 1e6, 1e150, 1e300]))
def test_any_shape_of_input_gets_an_answer_that_holds(seed, size) -> None:
    """Few, equal and flat rows, of any size: no exception, no warning, no wrong claim."""
    rng = np.random.default_rng(seed)
    D, m, p = (int(rng.integers(low, high)) for low, high in ((2, 6), (1, 9), (0, 4)))
    rank = int(rng.integers(1, D))
    rows = rng.integers(-2, 3, size=(m + p, rank)) @ rng.normal(size=(rank, D - 1))
    rows += rng.choice([0.0, 1e-9, 1e-3, 1.0]) * rng.normal(size=rows.shape)
    rows = lifted(rows * np.where(rng.random(D - 1) < 0.5, size, 1.0))
    positives, negatives = rows[:m], rows[m:]
    if rng.random() < 0.5:
        positives = np.vstack([positives, positives])
    found = decide(positives, negatives, 2.0, compiled=COMPILED if seed % 2 else None)
    if found.verdict is FEASIBLE:
        assert_feasible(found, positives, negatives, 2.0)
    elif found.verdict is INFEASIBLE:
        exact = exact_certificate(found.lam, found.mu, positives, negatives, 1.0)
        assert exact is None or holds_exactly(exact, positives, negatives, 1.0)
    else:
        assert exact_certificate(found.lam, found.mu, positives, negatives, 1.0) is None


def test_rows_that_cannot_be_judged_are_unclear() -> None:
    good = lifted(np.array([[-1.0], [1.0]]))
    cases = {
        "none": (good[:0], good),
        "fewer than D": (good[:1], good),
        "an empty column": (good * [0.0, 1.0], good),
        "equal": (good[[0, 0, 0]], good),
        "not a number": (np.array([[np.nan, 1.0], [1.0, 1.0]]), good),
        "infinite": (good, np.array([[np.inf, 1.0]])),
        "nothing": (good, np.zeros((1, 2))),
    }
    for positives, negatives in cases.values():
        found = decide(positives, negatives, 2.0)
        assert found.verdict is UNCLEAR
        assert exact_certificate(found.lam, found.mu, positives, negatives, 1.0) is None
        ones = Certificate(np.ones(len(positives)), np.ones(len(negatives)))
        if len(positives) and len(negatives):
            assert not shown(ones, positives, negatives, 0, good, inside=True).any()
            assert not shown(ones, positives, negatives, 0, good[:0], inside=False).any()


def test_negatives_may_be_as_far_away_as_floats_go() -> None:
    positives = lifted(np.array([[-1.0], [1.0]]))
    for far in (1e100, 1e160, 1e308):
        found = decide(positives, lifted(np.array([[far], [3.0]])), 2.0)
        assert found.verdict in (FEASIBLE, UNCLEAR)
        assert decide(positives, lifted(np.array([[far], [1.1]])), 2.0).verdict is not FEASIBLE
        assert decide(positives, lifted(np.array([[far]])), 2.0).verdict is not INFEASIBLE


def test_without_negatives_everything_can_be() -> None:
    positives = lifted(np.array([[-1.0], [1.0], [0.2]]))
    found = decide(positives, np.empty((0, 2)), 2.0)
    assert_feasible(found, positives, np.empty((0, 2)), 2.0)
    assert found.verdict is FEASIBLE
