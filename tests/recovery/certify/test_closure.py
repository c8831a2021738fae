"""Closure: all that the asked members reach, step by step, and nothing else."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from samecluster.geometry.reach.kernel import Kernel
from samecluster.instances import make_ellipsoids
from samecluster.points.survey import Survey
from samecluster.proof.checker import check
from samecluster.proof.log import ProofLog
from samecluster.recovery.certify.closure import Closure
from tests.recovery.certify.brute_force import closure_of, closure_over, labelled, line, rows

seeds = st.integers(0, 10**6)
margins = st.sampled_from([0.05, 0.5, 1.0, 3.0])


@settings(max_examples=20)
@given(seeds, st.integers(1, 3), margins)
def test_it_grows_exactly_what_follows(seed, d, margin) -> None:
    """Beside one linear program for each point, over all members, until nothing is added."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(24, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    asked = range(d + 1 + int(rng.integers(3)))
    expected, clear = closure_of(X, asked, margin)
    assume(clear)
    closure = closure_over(X, margin, asked)
    closure.close(len(X))
    assert labelled(closure) == expected
    assert labelled(closure, -1) == set(range(24)) - expected
    check(X, closure.log.lines())


@settings(max_examples=10)
@given(seeds, margins)
def test_two_names_that_are_merged_reach_what_both_reach(seed, margin) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 2))
    expected, clear = closure_of(X, range(4), margin)
    assume(clear)
    closure = closure_over(X, margin, [0, 1], [2, 3])
    closure.close(2)
    closure.merge(0, 1)
    assert closure.alive == [0]
    assert labelled(closure) >= {0, 1, 2, 3}
    closure.close(20)
    assert labelled(closure) == expected


def test_the_boundary_belongs_to_the_reach() -> None:
    """At γ=3 two members 0 and 1 reach [-1/2, 3/2], ends included, and no more."""
    X = line(0, 1, 1.5, -0.5, 1.5 + 1e-6, -0.5 - 1e-6, 0.25)
    closure = closure_over(X, 3.0, [0, 1])
    closure.reach.run(closure.clusters[0], rows(2))  # a test by itself labels nothing
    assert labelled(closure) == {0, 1}
    outside = line(0, 1, 1.5 + 1e-6)
    alone = closure_over(outside, 3.0, [0, 1])
    alone.close(3)
    assert labelled(alone) == {0, 1}
    closure.close(4)
    assert {2, 3} & labelled(closure) <= {int(i) for i in closure.order[:4]}
    closure.close(len(X))
    # With the ends as members, everything else here is within the new reach.
    assert labelled(closure) == set(range(7))


def test_one_member_proves_only_copies_of_itself() -> None:
    X = line(2, 2, 2 + 1e-6, 5)
    closure = closure_over(X, 3.0, [0])
    closure.close(4)
    assert labelled(closure) == {0, 1}


def test_a_level_is_a_prefix_of_the_order() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    closure = closure_over(X, 1.0, range(10))
    asked = set(range(10))
    for level in (0, 20, 60):
        closure.close(level)
        assert labelled(closure) <= asked | {int(i) for i in closure.order[:level]}
    assert len(labelled(closure)) > 30


@pytest.mark.parametrize("margin", [0.3, 1.0])
def test_climbing_proves_what_closing_proves(margin) -> None:
    made = make_ellipsoids(1500, 3, 3, margin=margin, random_state=1)
    asked = [np.flatnonzero(made.labels == c)[:9].tolist() for c in range(3)]
    closed, climbed = (closure_over(made.X, margin, *asked) for _ in range(2))
    closed.close(1500)
    for level in (200, 600, 1500):
        climbed.climb(level)
    assert (climbed.labels == closed.labels).mean() > 0.99
    for closure in (closed, climbed):
        verified = check(made.X, closure.log.lines())
        assert (verified.labels == closure.labels).all()
        assert ((closure.labels == made.labels) | (closure.labels < 0)).all()


def test_columns_that_are_pruned_are_named_as_they_were_used() -> None:
    """A long growth prunes columns again and again; every record must still name its own."""
    made = make_ellipsoids(4000, 5, 1, random_state=0)
    closure = closure_over(made.X, 1.0, range(24))
    closure.close(4000)
    assert closure.clusters[0].pruned > 0
    assert len(labelled(closure)) > 3000
    assert (check(made.X, closure.log.lines()).labels == closure.labels).all()


def test_points_set_apart_are_never_labelled() -> None:
    X = line(0, 1, 0.5, 0.25)
    closure = closure_over(X, 1.0, [0, 1])
    closure.set_apart(rows(2))
    closure.close(4)
    assert labelled(closure) == {0, 1, 3}


def test_a_sample_takes_in_more_points() -> None:
    X, more = line(0, 1, 0.5), line(0.6, 9, 0.7)
    survey = Survey.of(np.concatenate([X, more]))
    tau = np.array([1e-9])
    closure = Closure(X, 1.0, tau, ProofLog("", 1.0, None, tau), Kernel(), 0, survey)
    assert closure.order.tolist() == [0, 1, 2], "a sample is in random order already"
    for item in (0, 1):
        closure.ask(item, 0)
    closure.close(3)
    closure.extend(more)
    assert closure.level_sizes[-1] == 6
    assert labelled(closure) == {0, 1, 2}
    closure.close(6)
    assert labelled(closure) == {0, 1, 2, 3, 5}


def test_points_that_join_extend_the_reach() -> None:
    X = line(0, 1, 10, 5, 30)
    closure = closure_over(X, 1.0, [0, 1])
    closure.close(5)
    assert labelled(closure) == {0, 1}
    closure.join(0, rows(2))
    closure.close(5)
    assert labelled(closure) == {0, 1, 2, 3}
    closure.refine(4)
    closure.close(5)
    assert labelled(closure) == {0, 1, 2, 3}


def test_items_go_with_the_cluster_in_which_they_are_most_central() -> None:
    X = line(0, 1, 100, 140, 2, 120, 45)
    closure = closure_over(X, 1.0, [0, 1], [2, 3])
    assert closure.nearest(rows(4, 5, 6)).tolist() == [0, 1, 1]
    assert closure.alive == [0, 1]
