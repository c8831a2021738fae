"""The reach theorem, numerically: linear and semidefinite programs and brute force agree."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samecluster._typing import FloatArray
from samecluster.geometry.margin import _solve
from samecluster.geometry.reach import linear_programs
from samecluster.geometry.reach.checks import chosen_columns
from samecluster.geometry.reach.kernel import Kernel
from samecluster.proof.checker import check
from samecluster.proof.fingerprint import fingerprint
from samecluster.proof.log import ProofLog
from samecluster.recovery.certify.closure import Closure
from tests.cases.reach_cases import both_kernels, gauge, lifted

seeds = st.integers(0, 10**6)


@given(seeds, st.integers(1, 6), st.integers(1, 30))
def test_programs_find_the_gauge_and_a_feasible_witness(seed, d, extra) -> None:
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(d + 1 + extra, d)))
    targets = lifted(2 * rng.normal(size=(8, d)))
    start = np.arange(d + 1)
    none = np.zeros(8, dtype=np.int64)
    inverse = np.linalg.inv(columns[start].T)
    solved = linear_programs.solve(targets, none, start[None], inverse[None], columns, 1e9, 0.0)
    for at, target in enumerate(targets):
        exact = gauge(columns, target)
        assert solved.total[at] == pytest.approx(exact, rel=1e-7)
        basis = columns[solved.basis[at]]
        weights = np.linalg.solve(basis.T, target)
        assert np.abs(weights).sum() == pytest.approx(exact, rel=1e-7)
    # With a bound in the middle, rejected targets come with a witness: an affine function that
    # is at most 1 on every column and above the bound at the target.
    bound = float(np.median(solved.total)) * (1 + 1e-6)
    solved = linear_programs.solve(targets, none, start[None], inverse[None], columns, bound, bound)
    rejected = np.flatnonzero(solved.status == linear_programs.REJECTED)
    for at in rejected.tolist():
        witness = solved.pi[at]
        assert np.abs(columns @ witness).max() <= 1 + 1e-9
        assert abs(targets[at] @ witness) > bound


@given(seeds, st.integers(1, 6), st.integers(1, 30))
def test_a_private_column_is_one_more_column_for_its_target_alone(seed, d, extra) -> None:
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(d + 1 + extra, d)))
    targets, private = lifted(2 * rng.normal(size=(8, d))), lifted(2 * rng.normal(size=(8, d)))
    start = np.arange(d + 1)
    inverse = np.linalg.inv(columns[start].T)
    solved = linear_programs.solve(
        targets, np.zeros(8, int), start[None], inverse[None], columns, 1e9, 0.0, private=private
    )
    chosen = chosen_columns(solved.basis, columns, private)
    for at, target in enumerate(targets):
        exact = gauge(np.vstack([columns, private[at]]), target)
        assert solved.total[at] == pytest.approx(exact, rel=1e-7)
        weights = np.linalg.solve(chosen[at].T, target)
        assert np.abs(weights).sum() == pytest.approx(exact, rel=1e-7)


def members_and_others(seed) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(12, 3)), 3 * rng.normal(size=(60, 3))])


@cache
def n_excluded_by_gauge(seed, margin, others) -> int:
    """By thousands of linear programs, which are the same for both kernels."""
    X, limit = members_and_others(seed), math.sqrt(1 + margin) * (1 - 1e-6)
    with_item = (np.vstack([lifted(X[:12]), lifted(X[[item]])]) for item in range(30, 72))
    outside = lifted(X[list(others)])
    return sum(any(gauge(rows, row) <= limit for row in outside) for rows in with_item)


@both_kernels
def test_items_are_excluded_only_if_the_checker_agrees_and_nearly_always_if_it_would(
    compiled,
) -> None:
    margin, shown_in_all, could_be = 0.5, 0, 0
    for seed in range(10):
        X, tau = members_and_others(seed), np.full(3, 1e-9)
        log = ProofLog(fingerprint(X), margin, None, tau)
        closure = Closure(X, margin, tau, log, Kernel(compiled), seed)
        for item in range(12):
            closure.ask(item, 0)
        others, items = np.arange(12, 30), np.arange(30, 72)
        # Only those that the members do not reach anyway are non-members without contradiction.
        others = np.setdiff1d(others, closure.exclusion.reached(closure.clusters[0], others))
        shown, by, columns = closure.exclusion.shown_outside(closure.clusters[0], items, others)
        log.add_cluster(0)
        for item in range(1, 12):
            log.add_answer(0, item, "same")
        for other in others.tolist():
            log.add_answer(0, other, "different")
        for item, other, names in zip(shown.tolist(), by.tolist(), columns, strict=True):
            log.add_outside(item, 0, other, names)
        check(X, log.lines())
        could_be += n_excluded_by_gauge(seed, margin, tuple(others.tolist()))
        shown_in_all += len(shown)
    assert 0.8 * could_be <= shown_in_all <= could_be * 1.01 + 1


@given(seeds, st.integers(1, 3), st.integers(0, 8))
def test_squared_gauge_is_the_semidefinite_optimum(seed, d, extra) -> None:
    """max ỹᵀQỹ with x̃ᵀQx̃ ≤ 1 on the members equals gauge² (theory, sections 2 and 5)."""
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(d + 1 + extra, d)))
    target = lifted(1.5 * rng.normal(size=(1, d)))
    # In coordinates in which the members have Σ x̃x̃ᵀ = m·I, the bound tr Q ≤ D of this solver
    # follows from the constraints and does no harm.
    root = np.linalg.cholesky(np.linalg.inv(columns.T @ columns / len(columns)))
    assume(np.linalg.cond(root) < 1e3)
    _, rho = _solve(columns @ root, target @ root, np.ones(1))
    assert math.sqrt(rho) == pytest.approx(gauge(columns, target[0]), rel=1e-5)


@given(seeds, st.integers(1, 3), st.floats(0.1, 3.0))
def test_reach_is_the_hull_plus_beta_times_its_differences(seed, d, margin) -> None:
    """K + β(K − K), by its support function: y is in it iff no direction sees it outside."""
    rng = np.random.default_rng(seed)
    members = rng.normal(size=(d + 1 + int(rng.integers(6)), d))
    beta = (math.sqrt(1 + margin) - 1) / 2
    directions = rng.normal(size=(4000, d))
    along = members @ directions.T
    reach = (1 + beta) * along.max(axis=0) - beta * along.min(axis=0)
    for y in 1.5 * rng.normal(size=(10, d)):
        value = gauge(lifted(members), np.append(y, 1.0))
        slack = (reach - directions @ y) / np.linalg.norm(directions, axis=1)
        if value <= math.sqrt(1 + margin):
            assert slack.min() >= -1e-9
        elif d == 1 or value > 1.3 * math.sqrt(1 + margin):
            assert slack.min() < 0


@both_kernels
@pytest.mark.parametrize("d", [1, 2, 4])
def test_closure_proves_only_what_the_checker_confirms_and_all_that_is_near(d, compiled) -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, d])
        X = rng.normal(size=(400, d)) * np.exp(rng.normal(size=d))
        X[::7] = X[::7].round(1)
        X[1::9] = X[::9][: len(X[1::9])]
        tau = 1e-9 * np.ptp(X, axis=0)
        margin = float(rng.choice([0.05, 0.5, 2.0]))
        log = ProofLog(fingerprint(X), margin, None, tau)
        closure = Closure(X, margin, tau, log, Kernel(compiled), seed)
        log.add_cluster(0)
        closure.ask(0, 0)
        for item in range(1, d + 3):
            if closure.labels[item] < 0:
                log.add_answer(item, 0, "same")
                closure.ask(item, 0)
                closure.close(len(X))
        verified = check(X, log.lines())
        assert (verified.labels == closure.labels).all()
        # Nothing that is clearly in reach of the proven members was missed.
        members = np.flatnonzero(closure.labels == 0)
        some = members[rng.permutation(len(members))[:60]]
        limit = math.sqrt(1 + margin)
        for y in np.flatnonzero(closure.labels < 0)[:10]:
            assert gauge(lifted(X[some]), np.append(X[y], 1.0)) > limit * (1 - 1e-6)
