"""Parameters that change, budgets, and a session that is declared done."""

import pytest

from samecluster import clustering_error
from samecluster.errors import (
    InvalidInputError,
)
from tests.cases.session_cases import (
    FAST,
    answer,
    answer_all,
    instance,
    kinds,
    new_session,
    reopened,
    same_known,
)

MADE = instance()


def test_the_budget_stops_the_questions_and_a_larger_one_goes_on() -> None:
    session = new_session(max_questions=5)
    assert answer_all(session) == 5
    assert session.progress().ended == "the budget of 5 questions is spent"
    session = reopened(session)
    assert session.ask() == []
    session.set_parameters(max_questions=7)
    assert answer_all(session) == 2
    session.set_parameters(max_questions=None)
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_margin_k_and_method_may_change_and_answers_are_kept() -> None:
    session = new_session()
    answer(session, 10)
    for change in ({"margin": 0.5}, {"n_clusters": 3}, {"method": "everything"}, {"method": FAST}):
        session.set_parameters(**change)
        same_known(session, reopened(session))
        answer(session, 1)
    assert session.state.n_questions == 14
    before = kinds(session)
    with pytest.raises(InvalidInputError, match="n_clusters must be from 2"):
        session.set_parameters(n_clusters=1)
    with pytest.raises(InvalidInputError, match="got 'features'"):
        session.set_parameters(features="a,b")
    assert kinds(session) == before
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_a_finished_session_asks_nothing_until_something_happens() -> None:
    session = new_session()
    answer(session, 3)
    session.finish("ann")
    assert session.ask() == []
    assert reopened(session).progress().ended == "finished"
    session.undo()
    assert len(session.ask()) == 1
