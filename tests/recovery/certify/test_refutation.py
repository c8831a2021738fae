"""Refutation: which answers cannot all be right, and the largest margin that they allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster.geometry.reach.kernel import Kernel
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.certify.refutation import (
    _shrunk,
    answers_about,
    answers_of,
    first_conflict,
    largest_margin,
    smallest_conflict,
)
from tests.recovery.certify.brute_force import closure_over, knowing, line, rows

TAU = np.array([1e-9])


def said(*answers: tuple[int, int, str]) -> list[Answer]:
    return [Answer(Question(i, j), Verdict(verdict)) for i, j, verdict in answers]


def test_a_conflict_is_found_in_any_cluster() -> None:
    closure = closure_over(line(0, 2, 10, 12, 1, 11, 30), 1.0, [0, 1], [2, 3])
    assert first_conflict(closure, {}) is None
    assert first_conflict(closure, {0: rows(5, 6), 1: rows(4, 6)}) is None
    assert first_conflict(closure, {0: rows(6, 4)}) == (4, 0)
    assert first_conflict(closure, {0: rows(6), 1: rows(6, 5)}) == (5, 1)
    assert first_conflict(closure, {1: rows(5)}) == (5, 1)


@settings(max_examples=15)
@given(st.floats(0.01, 0.9), st.floats(-5, 5), st.floats(0.1, 100))
def test_the_largest_margin_is_the_one_at_which_the_item_comes_into_reach(t, at, size) -> None:
    """Members at 0 and 1 reach 1 + t iff √(1+γ) ≥ 1 + 2t."""
    allowed = (1 + 2 * t) ** 2 - 1
    X = at + size * line(0, 1, 1 + t)
    answers = said((0, 1, "same"), (2, 0, "different"))
    found = largest_margin(X, size * TAU, answers, 8.0, Kernel(), seed=0)
    assert allowed - 3 * 8.0 * 2.0**-16 <= found <= allowed * (1 + 1e-6)


def test_chains_of_points_lower_the_margin_that_is_allowed() -> None:
    """A point in between is reached first, and carries the reach farther."""
    answers = said((0, 1, "same"), (2, 0, "different"))
    without = largest_margin(line(0, 1, 1.5), TAU, answers, 8.0, Kernel(), seed=0)
    within = largest_margin(line(0, 1, 1.5, 1.25), TAU, answers, 8.0, Kernel(), seed=0)
    assert without == pytest.approx(3.0, abs=1e-3)
    assert within == pytest.approx(1.25, abs=1e-3)


def test_identical_points_in_different_clusters_allow_no_margin() -> None:
    answers = said((0, 1, "same"), (2, 0, "different"))
    for margin in (1.0, 1e-9):  # at the second, floats cannot confirm that a copy is in reach
        assert largest_margin(line(0, 1, 1), TAU, answers, margin, Kernel(), seed=0) == 0.0
    assert largest_margin(line(0.0, 1, -0.0), TAU, answers, 1.0, Kernel(), seed=0) == 0.0
    inside = largest_margin(line(0, 1, 0.5), TAU, answers, 1.0, Kernel(), seed=0)
    assert inside == 0.0, "within the hull of the members"


def test_the_answers_that_are_named_are_needed_all() -> None:
    """Only the ends of a cluster reach the item: the chain that joins them, and its own answer."""
    X = line(0, 3, 10, 5, 12)
    star = said((0, 1, "same"), (0, 2, "same"), (0, 3, "same"), (4, 0, "different"))
    closure = closure_over(X, 1.0, [0, 1, 2, 3])
    closure.close(5)
    found = smallest_conflict(closure, star, 4, 0, [0, 1, 2, 3])
    assert found is not None
    assert {a.question.pair for a in found} == {(0, 2), (0, 4)}
    chain = said((0, 1, "same"), (1, 2, "same"), (2, 3, "same"), (4, 3, "different"))
    found = smallest_conflict(closure, chain, 4, 0, [0, 1, 2, 3])
    assert found is not None
    assert {a.question.pair for a in found} == {(0, 1), (1, 2), (2, 3), (3, 4)}
    assert smallest_conflict(closure, star, 0, 0, [0, 1, 2, 3]) is None, "a member itself"
    far = closure_over(line(0, 3, 10, 5, 40), 1.0, [0, 1, 2, 3])
    assert smallest_conflict(far, star, 4, 0, [0, 1, 2, 3]) is None, "it is not reached"


@given(st.sets(st.integers(0, 30), min_size=1), st.randoms(use_true_random=False))
def test_nothing_that_is_left_can_be_left_out(needed, random) -> None:
    members = list(range(31))
    random.shuffle(members)
    assert set(_shrunk(members, lambda some: needed <= set(some))) == needed


def test_the_answers_of_a_log() -> None:
    known = knowing(line(0, 1, 10, 30), 1.0, [0, 1], [2])
    known.take_answer(Question(2, 0), 0, Verdict.DIFFERENT)
    answers = answers_of(known.log)
    assert [(a.question.pair, a.verdict.value) for a in answers] == [
        ((0, 1), "same"),
        ((0, 2), "different"),
    ]
    name_of = known.names.name_of
    assert answers_about(answers, 2, None, name_of) == tuple(answers)
    assert answers_about(answers, 2, 0, name_of) == tuple(answers)
    assert answers_about(answers, 3, 0, name_of) == (answers[0],)
    assert answers_about(answers, 3, 1, name_of) == ()
