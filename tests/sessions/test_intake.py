"""Answers that are kept while the session is busy: once each, under their keys, and all or none."""

import numpy as np
import pytest

from samecluster.errors import ProtocolError, StoreError
from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.session_cases import answer, instance, new_session, reopened, same_known, truth

MADE = instance(45)


def asked(session: Session, who: str) -> SessionQuestion:
    return session.ask(who, lease_seconds=60)[0]


def sent(question: SessionQuestion, who: str, key: str | None = None) -> SentAnswer:
    return SentAnswer(question.id, truth(question, MADE), who, key)


def test_an_answer_is_in_the_store_at_once_and_in_the_state_when_it_is_taken_in() -> None:
    session = new_session(MADE)
    answer(session, 3, MADE)
    before = session.state.copy()
    questions = [asked(session, who) for who in ("ann", "ben")]
    group = [sent(one, who) for one, who in zip(questions, ("ann", "ben"), strict=True)]
    assert session.intake.take(group) == [5, 6]
    assert session.state == before
    assert [event.who for event in session.events()][-2:] == ["ann", "ben"]
    session.take_in()
    assert session.state.n_events == 6
    same_known(session, reopened(session, MADE))


def test_what_has_no_ticket_is_left_to_the_session() -> None:
    session = new_session(MADE)
    question = asked(session, "ann")
    assert session.intake.take([sent(question, "ben"), sent(question, "ann", "k" * 8)]) == [None, 2]
    assert session.intake.take([sent(question, "ann", "k" * 8)]) == [None]
    session.take_in()
    assert session.tell(question.id, truth(question, MADE), "ann", key="k" * 8) == 2
    assert session.intake.take([SentAnswer("nonsense", "same", "ann")]) == [None]
    nobody = session.ask()[0]
    assert session.intake.take([SentAnswer(nobody.id, "same")]) == [None]


def test_a_key_that_was_sent_with_another_answer_is_refused_also_within_a_group() -> None:
    session = new_session(MADE, method="everything")
    one, two = session.ask("ann", count=2, lease_seconds=60)
    again = [sent(one, "ann", "key-0001"), sent(two, "ann", "key-0001")]
    assert session.intake.take(again) == [2, None]
    session.take_in()
    assert session.intake.take(again[1:]) == [None]
    with pytest.raises(ProtocolError, match="key-0001"):
        session.tell(two.id, truth(two, MADE), "ann", key="key-0001")


def test_what_cannot_be_stored_can_be_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    session = new_session(MADE)
    question = asked(session, "ann")
    with monkeypatch.context() as patch:

        def full(self, events):
            raise StoreError("the disk is full")

        patch.setattr(MemoryStore, "append", full)
        with pytest.raises(StoreError):
            session.intake.take([sent(question, "ann")])
    assert session.intake.take([sent(question, "ann")]) == [2]


def test_numbers_that_people_have_seen_stay() -> None:
    session = new_session(MADE)
    while len(session.anchors()) < 2:
        answer(session, 1, MADE)
    question = asked(session, "ann")
    session.show_numbers()
    seen = session.anchors()
    session.intake.take([sent(question, "ann")])
    session.take_in()
    kept = {number: anchor for anchor, number in session.state.numbers.items()}
    assert kept
    assert kept.items() <= {**seen, **kept}.items()
    two = reopened(session, MADE)
    assert {n: a for n, a in two.anchors().items() if n in kept} == {
        n: a for n, a in session.anchors().items() if n in kept
    }
    np.testing.assert_array_equal(session.snapshot().labels, two.snapshot().labels)


def test_a_session_with_kept_answers_ends_as_one_that_was_told_them() -> None:
    session = new_session(MADE)
    while questions := session.ask("ann", lease_seconds=60):
        assert session.intake.take([sent(questions[0], "ann")]) != [None]
        session.take_in()
    told = new_session(MADE)
    while questions := told.ask("ann", lease_seconds=60):
        told.tell(questions[0].id, truth(questions[0], MADE), "ann")
    assert session.state.n_questions == told.state.n_questions
    np.testing.assert_array_equal(session.snapshot().labels, told.snapshot().labels)
    same_known(session, reopened(session, MADE))
