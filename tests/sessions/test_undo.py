"""Answers that are taken back: the last one, an older one, and what is asked then."""

import pytest

from samecluster import clustering_error, start
from samecluster.errors import (
    ProtocolError,
)
from samecluster.sessions.question import question_id
from tests.cases.session_cases import (
    answer,
    answer_all,
    instance,
    new_session,
    other,
    reopened,
    same_known,
    truth,
)

MADE = instance()


def test_undo_shows_the_question_again_first_and_without_limit_across_restarts() -> None:
    session = new_session()
    asked = answer(session, 9)
    for question in reversed(asked):
        session = reopened(session)
        again = session.undo()
        assert again is not None
        assert again.id == question.id
        assert [shown.id for shown in session.ask(count=5)] == [question.id]
        assert session.ask()[0].before is not None
    assert session.undo() is None
    assert session.state.n_questions == 0
    for question in asked:
        (shown,) = session.ask()
        assert shown.id == question.id
        session.tell(shown.id, truth(shown))
    same_known(session, reopened(session))


def test_saying_the_same_again_after_undo_rebuilds_nothing(monkeypatch) -> None:
    runs = []

    def counted(*data, **parameters):
        runs.append(start(*data, **parameters))
        return runs[-1]

    monkeypatch.setattr("samecluster.sessions.running.engine.start", counted)
    session = new_session()
    answer(session, 9)
    session.prepare()
    assert len(runs) == 1
    for _ in range(3):
        session.undo()
    for _ in range(3):
        (question,) = session.ask()
        session.tell(question.id, truth(question))
    session.snapshot()
    assert len(runs) == 1
    session.undo()
    (question,) = session.ask()
    session.tell(question.id, "unsure")
    session.snapshot()
    assert len(runs) == 2


def test_a_wrong_answer_undone_leaves_no_trace_in_the_outcome() -> None:
    session, clean = new_session(), new_session()
    answer(session, 6)
    (question,) = session.ask()
    session.tell(question.id, other(truth(question)))
    session.undo()
    answer_all(session)
    answer_all(clean)
    assert (session.snapshot().labels == clean.snapshot().labels).all()
    assert session.snapshot().answers == clean.snapshot().answers


def test_after_another_verdict_the_plan_decides_what_comes_next() -> None:
    session = new_session()
    asked = answer(session, 6)
    for _ in range(3):
        session.undo()
    (question,) = session.ask()
    assert question.id == asked[3].id
    session.tell(question.id, other(truth(question)))
    assert all(shown.before is None for shown in session.ask())


def test_retracting_an_older_answer_keeps_the_others() -> None:
    session = new_session()
    asked = answer(session, 10)
    third = next(s for s in session.state.answers() if question_id(s.items) == asked[2].id)
    session.retract(third.sequence)
    assert session.state.n_questions == 9
    same_known(session, reopened(session))
    seen = {question.id for question in asked} - {asked[2].id}
    while questions := session.ask():
        assert questions[0].id not in seen
        session.tell(questions[0].id, truth(questions[0]))
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    with pytest.raises(ProtocolError, match="nothing to take back"):
        session.retract(third.sequence)
    with pytest.raises(ProtocolError, match="nothing to take back"):
        session.retract(1)
