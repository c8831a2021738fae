"""Exclusion: what a cluster reaches, and what it would reach with one more member."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster.geometry.reach.kernel import Kernel
from samecluster.recovery.certify.exclusion import Exclusion
from tests.recovery.certify.brute_force import NEAR, closure_over, gauge, line, rows

seeds = st.integers(0, 10**6)


@settings(max_examples=15)
@given(seeds, st.integers(1, 3), st.sampled_from([0.2, 1.0, 4.0]))
def test_what_is_reached_now_and_the_gauges_are_those_of_linear_programs(seed, d, margin) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(d + 16, d))
    m = d + 4
    cluster = closure_over(X, margin, range(m)).clusters[0]
    items = np.arange(m, len(X))
    exclusion = Exclusion(Kernel(), margin)
    exact = np.array([gauge(X[:m], X[item]) for item in items])
    bound = math.sqrt(1 + margin)
    decided = np.abs(exact / bound - 1) > NEAR
    reached = np.isin(items, exclusion.reached(cluster, items))
    assert (reached == (exact <= bound))[decided].all()
    assert exclusion.gauges(cluster, items) == pytest.approx(exact, rel=1e-6)


@settings(max_examples=15)
@given(seeds, st.integers(1, 3), st.sampled_from([0.2, 1.0, 4.0]))
def test_an_item_is_excluded_iff_it_would_bring_a_non_member_into_reach(seed, d, margin) -> None:
    rng = np.random.default_rng(seed)
    m, n_others = d + 2, 5
    X = np.vstack([rng.normal(size=(m, d)), 3 * rng.normal(size=(n_others + 6, d))])
    cluster = closure_over(X, margin, range(m)).clusters[0]
    exclusion = Exclusion(Kernel(), margin)
    others = np.arange(m, m + n_others)
    items = np.arange(m + n_others, len(X))
    bound = math.sqrt(1 + margin)
    shown, by, columns = exclusion.shown_outside(cluster, items, others)
    reasons = {
        int(item): (int(other), names)
        for item, other, names in zip(shown, by, columns, strict=True)
    }
    for item in items.tolist():
        gauges = [gauge(X[[*range(m), item]], X[other]) for other in others]
        one = exclusion.reached_with(cluster, item, others)
        if min(abs(g / bound - 1) for g in gauges) > NEAR:
            assert (one is not None) == (min(gauges) <= bound)
        for found in filter(None, [one, reasons.get(item)]):
            other, names = found
            assert other in others
            real = names[names >= 0]
            assert set(real.tolist()) <= {*range(m), item}
            assert gauge(X[real], X[other]) <= bound * (1 + NEAR)
        assert item not in reasons or one is not None


def test_on_a_line() -> None:
    """At γ=1 members 0 and 10 reach 2.07 beyond; with 16 as a member 19 would be reached."""
    X = line(0, 10, 16, 19, 11, 40, 12.05, 12.08)
    cluster = closure_over(X, 1.0, [0, 1]).clusters[0]
    exclusion = Exclusion(Kernel(), 1.0)
    assert exclusion.reached(cluster, rows(2, 4, 5, 6, 7)).tolist() == [4, 6]
    assert exclusion.reached(cluster, rows(5)).tolist() == []
    other, names = exclusion.reached_with(cluster, 2, rows(5, 3)) or (None, rows())
    assert other == 3
    assert {0, 2} <= set(names.tolist())
    assert exclusion.reached_with(cluster, 2, rows(5)) is None
    shown, by, columns = exclusion.shown_outside(cluster, rows(2, 4), rows(5, 3))
    assert (shown.tolist(), by.tolist()) == ([2], [3])
    assert 2 in columns[0]


def test_norms_are_in_units_of_the_cluster() -> None:
    X = line(0, 10, 5, 15, 25)
    cluster = closure_over(X, 1.0, [0, 1]).clusters[0]
    exclusion = Exclusion(Kernel(), 1.0)
    assert [exclusion.norm(cluster, item) for item in (2, 0, 3, 4)] == pytest.approx([0, 1, 2, 4])
