"""One cluster up to an error: the promise is kept on points never seen, and the sample is as small
as the inequality allows."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta

from samecluster import Verdict
from samecluster._typing import BoolArray, FloatArray
from samecluster.api import learn_cluster
from samecluster.errors import InvalidInputError
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.questions.run import Run
from samecluster.recovery.paper.one_cluster import (
    error_bound,
    fit_cluster,
    plan_cluster,
    sample_size,
)

ERROR, FAILURE, MARGIN = 0.1, 0.1, 0.05


class Rim:
    """A cluster in a cap of the unit ball; half of all points are foreign and lie in its MVEE."""

    def __init__(self, d: int) -> None:
        rng = np.random.default_rng(d)
        sphere = rng.normal(size=(400_000, d))
        sphere /= np.linalg.norm(sphere, axis=1, keepdims=True)
        ball = sphere * rng.random((len(sphere), 1)) ** (1 / d)
        self.members = ball[ball[:, 0] > 0.6]
        beyond = sphere * math.sqrt(1 + MARGIN) * (1 + 1e-6 + 0.1 * rng.random((len(sphere), 1)))
        around = enclosing_ellipsoid(self.members).ellipsoid
        self.foreign = beyond[around.contains(beyond)]

    def draw(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
        inside = rng.random(n) < 0.5
        member = self.members[rng.integers(len(self.members), size=n)]
        foreign = self.foreign[rng.integers(len(self.foreign), size=n)]
        return np.where(inside[:, None], member, foreign), inside


def at_most(n_wrong: int, n: int, doubt: float) -> float:
    """An upper confidence bound on a share (Clopper–Pearson)."""
    return float(beta.ppf(1 - doubt, n_wrong + 1, n - n_wrong)) if n_wrong < n else 1.0


@pytest.mark.parametrize("d", [2, 3])
def test_the_error_is_kept_on_points_never_seen(d) -> None:
    """At most ε wrong in at least 1 − δ of the runs, where the MVEE of the members is far off.

    A run counts as kept only if its held-out points show it almost beyond doubt, and the share of
    runs that failed is below δ at 99 % confidence.
    """
    n_runs, n_held_out = 60, 4000
    world, size = Rim(d), sample_size(d, ERROR, FAILURE)
    failed = mvee_failed = 0
    for seed in range(n_runs):
        rng = np.random.default_rng([seed, d])
        sample, inside = world.draw(size, rng)
        learned = fit_cluster(sample, inside, FAILURE)
        assert learned.separator.separates
        assert learned.error <= ERROR
        held_out, truth = world.draw(n_held_out, rng)
        wrong = int(np.sum(learned.contains(held_out) != truth))
        failed += at_most(wrong, n_held_out, 1e-3) > ERROR
        mvee = enclosing_ellipsoid(sample[inside]).ellipsoid
        mvee_failed += bool(np.mean(mvee.contains(held_out) != truth) > ERROR)
    assert at_most(failed, n_runs, 0.01) <= FAILURE
    assert mvee_failed == n_runs, "the MVEE would have done, so the test shows nothing"


def test_more_points_less_error_and_too_few_break_the_promise() -> None:
    """The bound's direction: with far fewer points than stated, the error is above ε."""
    world = Rim(2)
    means = []
    for size in (15, 60, 240, 960):
        errors = []
        for seed in range(20):
            rng = np.random.default_rng([seed, size])
            learned = fit_cluster(*world.draw(size, rng), FAILURE)
            held_out, truth = world.draw(4000, rng)
            errors.append(float(np.mean(learned.contains(held_out) != truth)))
            assert errors[-1] <= learned.error
        means.append(np.mean(errors))
    assert means[0] > ERROR
    assert all(b < a / 2 for a, b in itertools.pairwise(means))


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("failure", [0.5, 0.01])
def test_the_sample_is_the_smallest_that_the_inequality_allows(d, failure) -> None:
    """2·ΣC(2m, i)·2^(−εm/2) ≤ δ and not with fewer points, in rationals."""
    for error in (0.02, 0.1, 0.4):
        size = sample_size(d, error, failure)
        assert error_bound(size, d, failure) <= error < error_bound(size - 1, d, failure)
        assert size >= 8 / error
        for m in (size, size - 1):
            ways = sum(math.comb(2 * m, i) for i in range(d * (d + 3) // 2 + 1))
            power = Fraction(str(error)) * m / 2
            bound = (2 * ways / Fraction(str(failure))) ** power.denominator
            assert (bound <= 2**power.numerator) == (m == size)


def test_the_sample_grows_as_the_paper_says() -> None:
    """m = c(D ln(1/ε) + ln(1/δ))/ε with one c for all."""
    constants = []
    for d in (1, 2, 4, 8):
        for error in (0.3, 0.1, 0.01):
            for failure in (0.2, 1e-3, 1e-9):
                stated = d * (d + 3) / 2 * math.log(1 / error) + math.log(1 / failure)
                constants.append(sample_size(d, error, failure) * error / stated)
    assert 1 < min(constants) < max(constants) < 30


def test_a_sample_that_no_ellipsoid_separates_promises_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    inside = np.linalg.norm(X, axis=1) > 1  # a ring
    learned = fit_cluster(X, inside)
    assert not learned.separator.separates
    assert learned.error == 1.0
    assert learned.contains(X[inside]).all()
    twice = fit_cluster(np.zeros((2, 2)), np.array([True, False]))
    assert twice.error == 1.0


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_door_asks_once_a_point_and_judges_all_rows(rank) -> None:
    """Any scale of the columns, flat clusters too; questions do not grow with n."""
    made = make_ellipsoids(20_000, 4, 3, rank=rank, random_state=rank)
    X = made.X * np.array([1e6, 1e-6, 1.0, 1e3]) + np.array([1e3, 0.0, 5.0, -2.0])
    oracle = LabelOracle(made.labels)
    asked = []

    def counting(i: int, j: int) -> bool:
        asked.append(i)
        return bool(made.labels[i] == made.labels[j])

    learned = learn_cluster(X, counting, 11, error=0.2, failure=0.1, random_state=0)
    truth = made.labels == made.labels[11]
    assert learned.separator.ellipsoid.rank == rank
    assert np.mean(learned.contains(X) != truth) <= learned.error <= 0.2
    assert len(asked) == len(set(asked)) <= learned.n_sample == sample_size(4, 0.2, 0.1)
    again = learn_cluster(X, oracle, 11, error=0.2, failure=0.1, random_state=0)
    assert (again.contains(X) == learned.contains(X)).all()


def test_unsure_points_are_left_out_of_the_sample() -> None:
    made = make_ellipsoids(3000, 2, 2, random_state=1)

    def verdict(i: int, j: int) -> Verdict:
        if i % 3 == 0:
            return Verdict.UNSURE
        return Verdict.of(bool(made.labels[i] == made.labels[j]))

    learned = learn_cluster(made.X, verdict, 1, error=0.1, random_state=0)
    size = sample_size(2, 0.1, 0.05)
    assert 0.5 * size < learned.n_sample < 0.8 * size
    assert learned.error == error_bound(learned.n_sample, 2, 0.05) > 0.1
    nobody = learn_cluster(made.X, lambda i, j: Verdict.UNSURE, 1, error=0.1, random_state=0)
    assert nobody.error == 1.0
    assert nobody.contains(made.X).sum() == 1


def test_an_unsure_answer_is_put_to_another_member() -> None:
    made = make_ellipsoids(200, 2, 2, random_state=2)
    run = Run(plan_cluster(made.X, 0, 0.3, 0.3, np.random.default_rng(0)))
    comparators = set()
    while run.pending:
        for question in run.pending:
            comparators.add(question.comparator)
            same = bool(made.labels[question.item] == made.labels[question.comparator])
            unsure = question.comparator == 0 and question.item % 2 == 0
            run.tell(question, Verdict.UNSURE if unsure else Verdict.of(same))
    assert len(comparators) == 2
    assert run.result.n_sample == sample_size(2, 0.3, 0.3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"error": 0.0}, "error must be between 0 and 1, got 0.0"),
        ({"failure": 1.0}, "failure must be between 0 and 1, got 1.0"),
        ({"member": 40}, "member must be a row number below 40, got 40"),
        ({"member": -1}, "member must be a row number"),
        ({"member": 1.5}, "member must be a row number"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message) -> None:
    made = make_ellipsoids(40, 2, 2, random_state=0)
    with pytest.raises(InvalidInputError, match=message):
        learn_cluster(made.X, LabelOracle(made.labels), **({"member": 0} | arguments))


def test_a_sample_without_members_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="inside must be 3 booleans"):
        fit_cluster(np.eye(3), np.zeros(3, dtype=np.bool_))
