"""Asking and telling: the questions of a run, each once, also after a restart."""

from dataclasses import replace

import numpy as np
import pytest

from samecluster import clustering_error, recover
from samecluster.errors import (
    InvalidInputError,
    ProtocolError,
)
from samecluster.oracles import LabelOracle
from samecluster.recovery.certify.plan import Certify
from samecluster.sessions.question import question_id
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.session_cases import (
    Clock,
    answer,
    answer_all,
    instance,
    keys_of,
    kinds,
    new_session,
    other,
    reopened,
    same_known,
    truth,
)

MADE = instance()


def test_a_session_asks_what_recover_asks_and_finds_the_same_groups() -> None:
    session = new_session(n_clusters=3)
    asked = answer_all(session)
    found = recover(
        MADE.X,
        LabelOracle(MADE.labels),
        n_clusters=3,
        margin=MADE.margin,
        method=Certify(kernel="numpy", effort="fast"),
        random_state=7,
    )
    assert asked == found.n_questions == session.progress().n_questions
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    assert (session.snapshot().how == found.how).all()
    assert session.progress().ended == "nothing is left to ask"
    assert str(session.progress()).startswith("90 of 90 items have a label (")


@pytest.mark.parametrize("n", [0, 1, 7, 15])
def test_a_resumed_session_is_where_the_interrupted_one_was(n) -> None:
    session = new_session()
    answer(session, n)
    resumed = reopened(session)
    same_known(session, resumed)
    answer_all(resumed)
    uninterrupted = new_session()
    answer_all(uninterrupted)
    assert (resumed.snapshot().labels == uninterrupted.snapshot().labels).all()
    assert resumed.state.n_questions == uninterrupted.state.n_questions


def test_a_resume_feeds_the_run_what_it_asks_and_asks_nothing_twice() -> None:
    session = new_session()
    seen = {question.id for question in answer(session, 8)}
    for _ in range(3):
        session = reopened(session)
        for question in answer(session, 2):
            assert question.id not in seen
            seen.add(question.id)


def test_no_fact_is_lost_where_the_plan_asks_something_else() -> None:
    """Another machine, version or kernel; here another seed under the same answers."""
    session = new_session()
    answer(session, 12)
    moved = MemoryStore()
    opened, *rest = session.events()
    moved.append([replace(opened, body={**opened.body, "seed": 8}), *rest])
    elsewhere = Session.open(moved, keys_of(90), MADE.X, clock=Clock())
    asked = {question_id(said.items) for said in elsewhere.state.answers()}
    assert len(asked) == 12
    assert len(elsewhere.snapshot().answers) == len(session.snapshot().answers)
    while questions := elsewhere.ask():
        assert questions[0].id not in asked
        elsewhere.tell(questions[0].id, truth(questions[0]))
    assert clustering_error(elsewhere.snapshot().labels, MADE.labels) == 0


def test_telling_the_same_again_changes_nothing_also_after_a_restart() -> None:
    session = new_session()
    (question,) = session.ask()
    verdict = truth(question)
    sequence = session.tell(question.id, verdict)
    before = kinds(session)
    assert session.tell(question.id, verdict) == sequence
    resumed = reopened(session)
    assert resumed.tell(question.id, verdict) == sequence
    assert kinds(session) == kinds(resumed) == before


def test_a_key_protects_against_an_answer_that_arrives_again_after_an_undo() -> None:
    session = new_session()
    (question,) = session.ask()
    sequence = session.tell(question.id, "same", key="page 1, answer 1")
    session.undo()
    resumed = reopened(session)
    assert resumed.tell(question.id, "same", key="page 1, answer 1") == sequence
    assert resumed.state.n_questions == session.state.n_questions == 0


def test_a_key_that_only_repeated_an_answer_protects_too() -> None:
    session = new_session()
    (question,) = session.ask()
    sequence = session.tell(question.id, "same", key="answer-1")
    assert session.tell(question.id, "same", key="answer-2") == sequence
    session.undo()
    assert session.tell(question.id, "same", key="answer-2") == sequence, "it arrives again"
    assert session.state.n_questions == 0


def test_two_people_may_use_the_same_keys() -> None:
    session = new_session(method="everything")
    told = []
    for number in range(4):
        for who in ("program 1", "program 2"):
            (question,) = session.ask(who, lease_seconds=60)
            told.append(session.tell(question.id, truth(question), who, key=f"answer-{number}"))
    assert len(set(told)) == session.state.n_questions == 8
    same_known(session, reopened(session))


def test_a_key_sent_with_another_answer_is_refused_and_changes_nothing() -> None:
    session = new_session(method="everything")
    (question,), key = session.ask("ann"), "answer-1"
    session.tell(question.id, "same", "ann", key=key)
    (second,) = session.ask("ann")
    before = kinds(session)
    for other_answer in (
        lambda one: one.tell(second.id, "same", "ann", key=key),
        lambda one: one.tell(question.id, "different", "ann", key=key),
        lambda one: one.flag(question.id, "blurred", "ann", key=key),
        lambda one: one.flag(second.id, "blurred", "ann", key=key),
    ):
        for one in (session, reopened(session)):
            with pytest.raises(ProtocolError, match="key of its own"):
                other_answer(one)
            assert kinds(one) == before
    first, last = question.id.split(":")
    assert session.tell(f"{last}:{first}", "same", "ann", key=key) == 2, (
        "the same, told differently"
    )


def test_a_person_may_change_their_mind() -> None:
    session = new_session()
    (question,) = session.ask()
    session.tell(question.id, other(truth(question)))
    session.tell(question.id, truth(question))
    assert session.state.n_questions == 1
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    same_known(session, reopened(session))


@pytest.mark.parametrize(
    ("id_", "verdict", "message"),
    [
        ("item 1", "same", "is not the id of a question"),
        ("a:a", "same", "is not the id of a question"),
        ("item%201:stranger", "same", "'stranger', which is not in the data"),
        ("item%201:item%202", "maybe", "'same', 'different', 'unsure', got 'maybe'"),
    ],
)
def test_unusable_answers_are_refused_and_nothing_is_written(id_, verdict, message) -> None:
    session = new_session()
    with pytest.raises(InvalidInputError, match=message):
        session.tell(id_, verdict)
    assert kinds(session) == ["opened"]


def test_ids_hold_any_key() -> None:
    nasty = ["a:b", "100%", "ü/ö", "a b", "~", "%3A"]
    X = np.arange(6.0)[:, None]
    session = Session.create(MemoryStore(), nasty, X, parameters={"margin": 1.0})
    for one in nasty:
        for two in nasty:
            if one != two:
                shown = session.question(question_id((one, two)))
                assert {shown.item, shown.comparator} == {one, two}


def test_unsure_and_flagged_lead_to_other_questions() -> None:
    session = new_session()
    answer(session, 5)
    (first,) = session.ask()
    session.tell(first.id, "unsure")
    (second,) = session.ask()
    assert second.id != first.id
    session.flag(second.id, "the picture is blurred")
    (third,) = session.ask()
    assert third.id not in (first.id, second.id)
    notes = [said.note for said in session.state.answers() if said.note]
    assert notes == ["the picture is blurred"]
    same_known(session, reopened(session))
