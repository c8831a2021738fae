"""Prediction after inference or proof: one cluster has one label, whoever wrote it."""

from typing import Any

import numpy as np
import pytest

from samecluster import clustering_error, recover, start
from samecluster.oracles import LabelOracle
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.plan import PredictRun
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How


def told(*said: tuple[int, int, str]) -> tuple[Answer, ...]:
    return tuple(Answer(Question(i, j), Verdict(verdict)) for i, j, verdict in said)


@pytest.fixture
def two_groups():
    """Rows 0 to 9 and 10 to 19 of two clusters, and a stray that was asked about first."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(10, 2)), rng.normal(size=(10, 2)) + 20, [[10.0, 10.0]]])
    answers = told(
        (20, 0, "different"), (20, 10, "different"), (0, 1, "same"), (10, 11, "same"),
        (0, 10, "different"),
    )  # fmt: skip
    problem = Problem(X, None, None, np.random.default_rng(0), answers=answers)
    return problem, Labelling(problem, "test", Ledger(answers))


def test_known_labels_and_predicted_ones_of_a_cluster_are_the_same(two_groups) -> None:
    problem, labelling = two_groups
    # Numbered by the first answer about them, as the margin search does: the stray is 0.
    labelling.mark(np.array([20]), 0, How.ASKED)
    labelling.mark(np.arange(8), 1, How.INFERRED)
    labelling.mark(np.arange(10, 18), 2, How.INFERRED)
    labelling.mark(np.array([0, 1]), 1, How.ASKED)
    labelling.mark(np.array([10, 11]), 2, How.ASKED)
    PredictRun(problem, labelling, expected_error=1.0).write_all()
    assert len(set(labelling.labels[:10].tolist())) == 1
    assert len(set(labelling.labels[10:20].tolist())) == 1
    assert labelling.labels[0] != labelling.labels[10]
    assert (labelling.how[2:8] == How.INFERRED).all()


def test_a_label_that_nobody_was_asked_about_is_kept(two_groups) -> None:
    problem, labelling = two_groups
    labelling.mark(np.arange(8), 0, How.INFERRED)
    labelling.mark(np.arange(12, 18), 1, How.INFERRED)
    labelling.mark(np.array([0, 1]), 0, How.ASKED)
    PredictRun(problem, labelling, expected_error=1.0).write_all()
    assert len(set(labelling.labels[12:18].tolist())) == 1
    assert labelling.labels[12] not in labelling.labels[:8]
    assert not labelling.recovery().count(How.ASKED) > 5, "the founder of a name is not asked"


@pytest.mark.parametrize("seed", [5, 7])
def test_background_points_do_not_mix_up_clusters(seed) -> None:
    """Strays that were asked about first shifted the numbers that prediction gave to clusters."""
    rng = np.random.default_rng(seed)
    n, k = 400, 4
    truth, centres = np.repeat(np.arange(k), n), rng.uniform(-9, 9, (k, 2))
    X = rng.uniform(-1, 1, (k * n, 2)) * rng.uniform(0.5, 2, (k, 2))[truth] + centres[truth]
    m = int(rng.integers(10, 120))
    X, truth = np.vstack([X, rng.uniform(-12, 12, (m, 2))]), np.r_[truth, k + np.arange(m)]
    found = recover(X, lambda i, j: bool(truth[i] == truth[j]), random_state=seed, max_questions=90)
    for label in np.unique(found.labels[found.labels >= 0]):
        own = found.labels == label
        held = set(truth[own & (found.how == "asked")].tolist())
        assert len(held) <= 1, "asked items of one label are of one cluster"
    assert clustering_error(found.labels[: k * n], truth[: k * n]) < 0.02


@pytest.mark.parametrize("seed", range(3))
def test_a_run_begun_with_all_answers_expects_about_as_many_errors(seed) -> None:
    """Its probabilities are judged by what it says of each point before that point is placed."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 240)
    X = rng.normal(size=(4, 3))[labels] * 2.2 + rng.normal(size=(240, 3)) * 0.8
    declared: Any = {"method": "predict", "random_state": 0}
    live = recover(X, LabelOracle(labels), max_questions=150, **declared)
    again = start(X, answers=live.answers, max_questions=151, **declared).snapshot()
    assert live.probability is not None
    assert again.probability is not None
    expected, expected_again = 1 - live.probability.mean(), 1 - again.probability.mean()
    assert expected_again <= 1.5 * expected + 0.005
