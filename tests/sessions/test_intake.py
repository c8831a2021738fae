"""Answers that are kept while the session is busy: once each, under their keys, and all or none."""

import random
import threading
from dataclasses import replace

import numpy as np
import pytest

from samecluster.errors import ProtocolError, StoreError
from samecluster.questions.pair import Verdict
from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.question import SessionQuestion, question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.campaign import runs
from tests.cases.session_cases import answer, instance, new_session, reopened, same_known, truth

MADE = instance(45)


def asked(session: Session, who: str) -> SessionQuestion:
    return session.ask(who, lease_seconds=60)[0]


def sent(question: SessionQuestion, who: str, key: str | None = None) -> SentAnswer:
    return SentAnswer(question.id, Verdict(truth(question, MADE)), who, key)


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


def test_what_needs_judgement_is_left_to_the_session() -> None:
    session = new_session(MADE)
    question = asked(session, "ann")
    assert session.intake.take([sent(question, "ann", "k" * 8)]) == [2]
    # Sent again, before and after the session knows of it; and said again under another key.
    for _ in range(2):
        assert session.intake.take([sent(question, "ann", "k" * 8)]) == [None]
        assert session.intake.take([sent(question, "ann", "l" * 8)]) == [None]
        session.take_in()
    assert session.judge(sent(question, "ann", "k" * 8)) == 2
    assert session.intake.take([SentAnswer("nonsense", Verdict.SAME, "ann")]) == [None]
    assert session.intake.take([SentAnswer("no:such", Verdict.SAME, "ann")]) == [None]
    never_asked = SentAnswer(question_id(["item 7", "item 31"]), Verdict.SAME, "ann")
    assert session.intake.take([never_asked]) == [None]
    next_one = asked(session, "ann")
    impossible = replace(sent(next_one, "ann"), seconds=-1.0)
    assert session.intake.take([impossible, sent(next_one, "ben")]) == [None, 3]
    session.take_in()
    session.undo("ben")
    assert session.intake.take([sent(next_one, "ben", "m" * 8)]) == [None], "the run was there"
    for who in ("ann", "ben"):
        session.release(who)
    same_known(session, reopened(session, MADE))


def test_questions_that_people_want_asked_and_checks_of_audits_need_judgement() -> None:
    session = new_session(MADE, audit=(0.2, 0.8))
    question = asked(session, "ann")
    session._queue.want((question.item, question.comparator), "ann")
    assert session.intake.take([sent(question, "ann")]) == [None]
    session.judge(sent(question, "ann"))
    while session.snapshot().audit is None:
        question = asked(session, "ann")
        assert session.intake.take([sent(question, "ann")]) != [None]
        session.take_in()
    check = asked(session, "ann")
    assert session.intake.take([sent(check, "ann")]) == [None]
    session.judge(sent(check, "ann"))
    assert [event.kind for event in session.events()][-2:] == ["audit", "answered"]


def test_a_key_that_was_sent_with_another_answer_is_refused_also_within_a_group() -> None:
    session = new_session(MADE, method="everything")
    one, two = session.ask("ann", count=2, lease_seconds=60)
    again = [sent(one, "ann", "key-0001"), sent(two, "ann", "key-0001")]
    assert session.intake.take(again) == [2, None]
    session.take_in()
    assert session.intake.take(again[1:]) == [None]
    with pytest.raises(ProtocolError, match="key-0001"):
        session.judge(again[1])
    assert session.intake.take([sent(two, "ben", "key-0001")]) == [3], "keys belong to a person"


def test_an_answer_that_was_kept_while_the_same_one_was_judged_is_not_kept_twice() -> None:
    """The first sending went to the session, which took its time; the second was kept."""
    session = new_session(MADE)
    question = asked(session, "ann")
    role = session._queue.role

    def slowly(pair: tuple[str, str]) -> str:
        session._queue.role = role  # type: ignore[method-assign]
        assert session.intake.take([sent(question, "ann", "key-0001")]) == [2]
        return role(pair)

    session._queue.role = slowly  # type: ignore[method-assign]
    assert session.judge(sent(question, "ann", "key-0001")) == 2
    assert session.state.n_events == 2
    assert [event.kind for event in session.events()] == ["opened", "answered"]


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


def test_parameters_that_were_tried_before_an_answer_came_are_kept_after_it() -> None:
    session = new_session(MADE)
    answer(session, 2, MADE)
    question = asked(session, "ann")
    imagined = session._log.imagined

    def slowly(*drafts: Event) -> State:
        assert session.intake.take([sent(question, "ann")]) == [4]
        return imagined(*drafts)

    session._log.imagined = slowly  # type: ignore[method-assign]
    session.set_parameters(n_clusters=3)
    session._log.imagined = imagined  # type: ignore[method-assign]
    assert [event.kind for event in session.events()][-2:] == ["answered", "parameters"]
    same_known(session, reopened(session, MADE))


@pytest.mark.parametrize("seed", range(runs(6, 60)))
def test_numbers_that_people_have_seen_stay(seed: int) -> None:
    """Whatever comes when: a number that was shown is the anchor's, also after a crash."""
    rng, made = random.Random(seed), instance(60, 6, seed)
    session = new_session(made, method=rng.choice(["everything", {"name": "certify", "batch": 3}]))
    shown: dict[str, int] = {}
    for _ in range(60):
        questions = session.ask(who := rng.choice("abc"), lease_seconds=60)
        if not questions:
            break
        anchors = session.anchors()
        luck = rng.random()
        sending = SentAnswer(questions[0].id, Verdict(truth(questions[0], made)), who)
        if luck < 0.3:  # the summary is behind what is kept
            session.intake.take([sending])
            session.show_numbers()
        elif luck < 0.6:
            session.show_numbers()
            session.intake.take([sending])
        else:
            session.judge(sending)
        new = session._known.new_numbers() if luck < 0.6 else {}
        session.take_in()
        assert set(new.values()) <= anchors.keys()
        shown |= new
        now, aliases = session.snapshot().labels, session.aliases()
        for anchor, number in shown.items():
            assert now[session.state.items.keys.index(anchor)] == aliases.get(number, number)
            assert anchor in session.state.numbers
        again = reopened(session, made)
        assert again.anchors() == session.anchors()
        np.testing.assert_array_equal(again.snapshot().labels, session.snapshot().labels)


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


def test_threads_that_send_the_same_at_once_are_all_told_the_same_number() -> None:
    """Four threads send every answer, as a person does who hears nothing; one of them wins."""
    session = new_session(MADE, method="everything")
    for n in range(20):
        question = asked(session, "ann")
        sending, found = sent(question, "ann", f"key-{n:04d}"), list[int | None]()
        start = threading.Barrier(5)

        def send(sending=sending, found=found, start=start) -> None:
            start.wait()
            found.extend(session.intake.take([sending]))

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        start.wait()
        judged = session.judge(sending)
        for thread in threads:
            thread.join()
        session.take_in()
        assert set(found) <= {judged, None}
        assert session.judge(sending) == judged
    keys = [event.body["key"] for event in session.events() if "key" in event.body]
    assert len(keys) == len(set(keys)) == 20
