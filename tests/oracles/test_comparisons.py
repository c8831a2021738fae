"""Theorem 10: of all comparisons only the designed ones tell anything, and one choice each."""

import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.errors import InvalidInputError
from samecluster.instances.comparisons import (
    Separation,
    designed_comparison,
    make_circle,
    ordering_points,
)
from samecluster.oracles import ComparisonOracle
from samecluster.questions.comparison import Comparison


def oracles(problem: Separation) -> list[ComparisonOracle]:
    """One for each hypothesis that may be hidden in the metric."""
    points = ordering_points(problem)
    return [ComparisonOracle(points, problem.metric(j)) for j in range(len(problem.hypotheses))]


def is_designed(comparison: Comparison) -> bool:
    """Whether it compares a_i b_i with b_i c_i, in any order."""
    pairs = {frozenset(comparison.first), frozenset(comparison.second)}
    i = min(comparison.first) // 3
    return pairs == {frozenset({3 * i, 3 * i + 1}), frozenset({3 * i + 1, 3 * i + 2})}


def assert_only_the_designed_ones_tell(problem: Separation) -> None:
    """All comparisons of all pairs, under all hypotheses."""
    asked = oracles(problem)
    n = len(problem.points)
    pairs = list(itertools.combinations_with_replacement(range(3 * n), 2))
    for first, second in itertools.product(pairs, repeat=2):
        comparison = Comparison(first, second)
        if not is_designed(comparison):
            answers = {oracle.answer(comparison) for oracle in asked}
            assert len(answers) == 1, comparison
    for i in range(n):
        for j, oracle in enumerate(asked):
            negative = problem.product(j, i) < 0
            comparison = designed_comparison(i)
            assert is_designed(comparison)
            assert oracle.answer(comparison) is negative
            assert oracle.answer(Comparison(comparison.second, comparison.first)) is not negative


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_every_other_comparison_is_independent_of_the_hypothesis(n) -> None:
    assert_only_the_designed_ones_tell(make_circle(n))


numbers = st.fractions(-1, 1, max_denominator=20)


@given(st.data(), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_so_it_is_for_any_problem_with_signs(data, d, n, k) -> None:
    """The reduction does not depend on the circle: any points, any hypotheses h ≥ 0."""
    vectors = st.lists(numbers, min_size=d, max_size=d).map(tuple)
    problem = Separation(
        points=tuple(data.draw(vectors) for _ in range(n)),
        hypotheses=tuple(tuple(abs(value) for value in data.draw(vectors)) for _ in range(k)),
    )
    if all(problem.product(j, i) for j in range(k) for i in range(n)):
        assert_only_the_designed_ones_tell(problem)
    else:
        with pytest.raises(InvalidInputError, match="orthogonal"):
            ordering_points(problem)


@pytest.mark.parametrize("n", [2, 3, 10, 40])
def test_a_point_of_the_circle_tells_one_hypothesis_from_the_others(n) -> None:
    """⟨h_j, x_i⟩ < 0 iff i = j: a positive sign rules out one hypothesis, so n − 1 are needed."""
    circle = make_circle(n)
    assert all(value > 0 for h in circle.hypotheses for value in h)
    for h in circle.hypotheses:
        assert h[1] ** 2 + h[2] ** 2 == 1, "on the circle, exactly"
    for i in range(n):
        assert [j for j in range(n) if circle.product(j, i) < 0] == [i]
        assert all(circle.product(j, i) != 0 for j in range(n))


def test_the_reduction_finds_the_hypothesis_far_beyond_floats() -> None:
    """With 40 points the largest coordinate is 3·6⁴⁰ and the answers are still right."""
    circle = make_circle(40)
    points = ordering_points(circle)
    for hidden in (0, 17, 39):
        oracle = ComparisonOracle(points, circle.metric(hidden))
        assert [i for i in range(40) if oracle.answer(designed_comparison(i))] == [hidden]


def test_floats_would_lose_the_points_after_about_17_steps() -> None:
    """From there on c_i = 3·a_i in floats, and every hypothesis gets the same answers."""
    circle = make_circle(25)
    rounded = [[float(value) for value in point] for point in ordering_points(circle)]
    asked = [ComparisonOracle(rounded, circle.metric(j)) for j in range(25)]
    pairs = zip(rounded[::3], rounded[2::3], strict=True)
    kept = [c != [3 * value for value in a] for a, c in pairs]
    lost_from = kept.index(False)
    assert 15 <= lost_from <= 18
    assert not any(kept[lost_from:])
    for i in range(25):
        n_answers = len({oracle.answer(designed_comparison(i)) for oracle in asked})
        if i < 10:
            assert n_answers == 2, "floats still suffice"
        if i >= lost_from:
            assert n_answers == 1


def test_comparisons_know_the_whole_matrix_and_round_nothing() -> None:
    """A W with correlations: (1, 1) is at distance 0, (1, −1) at 2, in squares 0 and 4."""
    oracle = ComparisonOracle([(0, 0), (1, 1), (1, -1), (Fraction(1, 3), 0)], [(1, -1), (-1, 1)])
    assert oracle.answer(Comparison((0, 1), (0, 0)))
    assert oracle.answer(Comparison((0, 3), (0, 2)))
    assert not oracle.answer(Comparison((0, 2), (0, 3)))
    tiny = ComparisonOracle([(0,), (1,), (1 + Fraction(1, 10**50),)], [(1,)])
    assert not tiny.answer(Comparison((0, 2), (0, 1)))
    assert "3 points" in repr(tiny)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"\(d, d\)"):
        ComparisonOracle([(0, 0)], [(1,)])
    with pytest.raises(InvalidInputError, match="n must be at least 2"):
        make_circle(1)
    large = Separation(points=((Fraction(2),),), hypotheses=((Fraction(1),),))
    with pytest.raises(InvalidInputError, match="at most 1"):
        ordering_points(large)
