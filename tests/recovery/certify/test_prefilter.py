"""The prefilter spares programs and never drops a point that is in reach."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster.recovery.certify.prefilter import SlabFilter, likely_reached
from samecluster.recovery.certify.reachability import QUIET
from tests.recovery.certify.brute_force import closure_over, gauge, line


@settings(max_examples=8)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.1, 1.0, 4.0]))
def test_what_is_in_reach_survives_also_when_members_join(seed, d, margin) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-6, 7, size=d)
    X = np.vstack([rng.normal(size=(30, d)), 8 + rng.normal(size=(10, d))]) * scale
    last = d + 6
    closure = closure_over(X, margin, [0])
    cluster, bound = closure.clusters[0], math.sqrt(1 + margin)
    points = np.arange(last, len(X))
    slabs = SlabFilter(closure.X, points, cluster, bound)
    excluded = np.zeros(len(X), bool)
    excluded[points[::5]] = True
    for new in range(1, last):  # the first d change the cluster's coordinates, the others do not
        survivors = QUIET(slabs.survivors)(cluster, excluded)  # one member: slabs are thin
        assert len(set(survivors.tolist())) == len(survivors)
        assert not excluded[survivors].any()
        assert set(survivors.tolist()) <= set(points.tolist())
        dropped = np.setdiff1d(points[~excluded[points]], survivors)
        for point in dropped.tolist():
            assert gauge(X[:new] / scale, X[point] / scale) > bound
        cluster.ask(new)


def test_what_is_far_off_is_dropped_and_the_deepest_come_first() -> None:
    X = line(0, 10, 11, 30, 5, 13, 8, -40)
    closure = closure_over(X, 1.0, [0, 1])
    slabs = SlabFilter(closure.X, np.arange(2, 8), closure.clusters[0], math.sqrt(2))
    excluded = np.zeros(8, bool)
    assert slabs.survivors(closure.clusters[0], excluded).tolist() == [4, 6, 2]
    excluded[6] = True
    assert slabs.survivors(closure.clusters[0], excluded).tolist() == [4, 2]
    closure.clusters[0].ask(3)  # a member at 30: slabs only widen
    assert slabs.survivors(closure.clusters[0], excluded).tolist() == [5, 2, 4, 3]


def test_the_likeliest_non_members_are_those_beyond_the_item() -> None:
    items = np.array([[4.0, 0.0], [0.0, -4.0]])
    others = np.array([[5.0, 0.0], [-5.0, 0.0], [0.0, 5.0], [0.0, -5.0], [3.0, 3.0]])
    likely = likely_reached(items, others, np.zeros(2))
    assert likely.shape == (2, 3)
    assert set(likely[:, 0].tolist()) <= {0, 1, 2, 3}
    assert {0, 1} & set(likely[0].tolist())
    assert {2, 3} & set(likely[1].tolist())
    assert likely_reached(items, others[:1], np.zeros(2)).tolist() == [[0], [0]]
