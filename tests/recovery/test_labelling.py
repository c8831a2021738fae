"""What is known so far: written by methods, numbered by the order of answers."""

import numpy as np
import pytest

from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How


@pytest.fixture
def ledger() -> Ledger:
    return Ledger([Answer(Question(4, 2), Verdict.DIFFERENT)])


@pytest.fixture
def labelling(ledger) -> Labelling:
    problem = Problem(np.zeros((6, 1)), n_clusters=None, margin=1.0, rng=np.random.default_rng(0))
    return Labelling(problem, "test", ledger)


def test_answers_that_were_there_before_are_no_questions(labelling, ledger) -> None:
    assert labelling.n_questions == 0
    ledger.record(Answer(Question(0, 1), Verdict.SAME))
    assert labelling.n_questions == 1
    assert len(labelling.answers) == 2


def test_items_set_apart_lose_their_label_and_are_listed_once(labelling) -> None:
    labelling.mark(np.arange(6), 0, How.PREDICTED)
    labelling.set_apart([3])
    labelling.set_apart([1, 3])
    assert labelling.exceptions == (1, 3)
    assert labelling.unlabelled().tolist() == [1, 3]
    assert labelling.labels[[1, 3]].tolist() == [-1, -1]


def test_a_confirmed_item_is_asked_and_certain(labelling) -> None:
    labelling.mark(np.arange(6), 0, How.PREDICTED)
    labelling.confirm(2, 1)
    assert labelling.recovery().probability is None, "without a model nothing has a probability"
    labelling.note_probability(np.full(6, 0.5))
    labelling.confirm(4, 1)
    assert labelling.labels.tolist() == [0, 0, 1, 0, 1, 0]
    assert np.asarray(labelling.probability).tolist() == [0.5, 0.5, 0.5, 0.5, 1.0, 0.5]


def test_clusters_are_numbered_by_the_first_answer_about_them(labelling) -> None:
    labelling.mark(np.arange(6), np.array([7, 7, 3, 3, 5, -1]), How.PROVEN)
    labelling.number_clusters()
    assert labelling.labels.tolist() == [2, 2, 0, 0, 1, -1], "2 and 4 were asked, 2 is lower"


def test_a_reset_keeps_answers_exceptions_and_search(labelling) -> None:
    labelling.mark(np.arange(6), 0, How.PREDICTED)
    labelling.note_probability(np.ones(6))
    labelling.note_exceptions([5, 2, 5])
    labelling.reset()
    assert labelling.n_labelled == 0
    assert labelling.probability is None
    assert labelling.exceptions == (2, 5)
    assert len(labelling.answers) == 1


def test_a_recovery_is_a_copy(labelling) -> None:
    labelling.mark(np.arange(6), 0, How.PROVEN)
    before = labelling.recovery()
    labelling.reset()
    assert (before.labels == 0).all()
    assert before.count(How.PROVEN) == 6
