"""The test of reach: what is accepted is in reach, what is rejected has a witness of it."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.linear_programs import ACCEPTED
from samecluster.recovery.certify.reachability import ReachTest
from tests.recovery.certify.brute_force import NEAR, closure_over, gauge, line, rows


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.1, 1.0, 5.0]))
def test_accepted_means_within_the_bound_and_rejected_comes_with_a_witness(seed, d, margin) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(d + 12, d))
    m = d + 3
    cluster = closure_over(X, margin, range(m)).clusters[0]
    X = cluster.X  # scaled: witnesses are about these coordinates
    points = np.arange(m, len(X))
    test = ReachTest(Kernel(), margin)
    found = test.run(cluster, points)
    assert test.bound == math.sqrt(1 + margin)
    assert test.limit <= test.bound
    for at, point in enumerate(points):
        exact = gauge(X[:m], X[point])
        if at in found.accepted:
            assert exact <= test.bound * (1 + NEAR)
        else:
            assert exact >= test.bound * (1 - NEAR)
            witness = found.solved.pi[at].astype(float)
            assert np.abs(cluster.columns @ witness).max() <= 1 + 1e-3
            assert abs(cluster.whitening.lift(X[[point]])[0] @ witness) >= test.bound * (1 - 1e-3)


def test_what_floats_cannot_decide_rationals_do() -> None:
    """Exactly at the bound: Σ|w| = 2 = √(1+3) for 3/2 over 0 and 1, at any place and size."""
    for offset, scale in [(0.0, 1.0), (1024.0, 2.0**-20), (-3.0, 2.0**40)]:
        X = offset * scale + scale * line(0, 1, 1.5, 1.5 + 2.0**-12)
        cluster = closure_over(X, 3.0, [0, 1]).clusters[0]
        found = ReachTest(Kernel(), 3.0).run(cluster, rows(2, 3))
        assert found.accepted.tolist() == [0]
        ids = set(cluster.ids[found.solved.basis[0]].tolist())
        assert {0, 1} & ids


@pytest.mark.parametrize("end", [(1.5, 0.0), (0.75, 0.75), (-0.5, 0.75), (0.25, -0.5)])
def test_a_hair_beyond_the_bound_is_never_accepted(end) -> None:
    """Over a triangle the gauge is |x| + |y| + |1 - x - y|; at γ=3 it may be 2 and not more."""
    hairs = np.concatenate([[0.0], 2.0 ** -np.arange(12.0, 53.0), -(2.0 ** -np.arange(12.0, 53.0))])
    around = np.array(end) + hairs[:, None] * np.sign(end)
    X = np.concatenate([[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], around])
    cluster = closure_over(X, 3.0, [0, 1, 2]).clusters[0]
    found = ReachTest(Kernel(), 3.0).run(cluster, np.arange(3, len(X)))
    exact = [[Fraction(float(value)) for value in row] for row in around]
    within = [abs(x) + abs(y) + abs(1 - x - y) <= 2 for x, y in exact]
    assert 0 < sum(within) < len(within)
    assert found.accepted.tolist() == np.flatnonzero(within).tolist()


class UnreliableKernel(Kernel):
    """Says that every point is in reach, and has wrong weights for every second one."""

    def solve(self, *arguments: Any, **options: Any) -> Any:
        found = super().solve(*arguments, **options)
        found.status[:] = ACCEPTED
        found.inverse[::2] *= 1.5
        return found


def test_what_single_precision_says_is_not_believed() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    points = np.arange(8, 60)
    found = [
        ReachTest(kernel, 1.0).run(closure_over(X, 1.0, range(8)).clusters[0], points).accepted
        for kernel in (Kernel(), UnreliableKernel())
    ]
    assert 5 < len(found[0]) < 47
    assert found[0].tolist() == found[1].tolist()
