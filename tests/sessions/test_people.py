"""Several people: nobody gets what another looks at, nobody waits, the majority decides."""

from dataclasses import replace

import numpy as np
import pytest

from samecluster import clustering_error
from samecluster.questions.pair import Verdict
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.session import Session
from samecluster.sessions.state.votes import pair_of
from tests.cases.session_cases import (
    FAST,
    Clock,
    answer,
    instance,
    new_session,
    other,
    reopened,
    same_known,
    truth,
)

MADE = instance()


def test_nobody_gets_a_question_that_somebody_else_looks_at() -> None:
    clock = Clock()
    session = new_session(clock=clock, method={**FAST, "batch": 4})
    answer(session, 6)
    seen: dict[str, str] = {}
    for who in ("ann", "ben", "cem"):
        for question in session.ask(who, count=2, lease_seconds=60):
            assert question.id not in seen
            seen[question.id] = who
    assert set(seen.values()) >= {"ann", "ben"}
    for who in ("ann", "ben"):
        again = session.ask(who, count=2, lease_seconds=60)
        assert {question.id for question in again} <= {i for i, w in seen.items() if w == who}


def test_nobody_waits_for_somebody_who_left() -> None:
    clock = Clock()
    session = new_session(clock=clock)
    (question,) = session.ask("ann", lease_seconds=60)
    (beside,) = session.ask("ben", lease_seconds=60)
    assert beside.item != question.item
    assert session.ask("ben", lease_seconds=60) == [beside]
    clock.move(61)
    (same,) = session.ask("ben", lease_seconds=60)
    assert same.id == question.id
    session.tell(same.id, truth(same), "ben")
    late = session.tell(question.id, truth(question), "ann")
    assert session.state.book.votes_of_event(late)[0].who == "ann"
    assert session.state.n_questions == 1
    (following,) = session.ask("ann", lease_seconds=60)
    session.release("ann")
    assert session.ask("ben", lease_seconds=60)[0].id == following.id


@pytest.mark.parametrize("n_people", [2, 5])
@pytest.mark.parametrize("margin", [1.0, "auto"])
def test_nobody_waits_for_another_and_all_ends_well(n_people: int, margin: float | str) -> None:
    """People who answer in any order get questions until every label is known."""
    made = instance(45)
    session = new_session(made, clock=Clock(), margin=margin)
    rng = np.random.default_rng(n_people)
    looking_at: dict[str, SessionQuestion] = {}
    n_waits = 0
    while True:
        for who in (f"p{i}" for i in range(n_people)):
            if who not in looking_at and (found := session.ask(who, lease_seconds=60)):
                assert found[0].id not in {other.id for other in looking_at.values()}
                looking_at[who] = found[0]
            elif who not in looking_at and session.progress().n_labelled < 45:
                n_waits += 1
        if not looking_at:
            break
        who = str(rng.choice(sorted(looking_at)))
        question = looking_at.pop(who)
        session.tell(question.id, truth(question, made), who)
    assert session.progress().ended == "nothing is left to ask"
    assert clustering_error(session.snapshot().labels, made.labels) == 0
    assert n_waits == 0
    same_known(session, reopened(session, made))


def test_an_answer_that_was_put_ahead_of_its_turn_can_be_undone() -> None:
    session = new_session(clock=Clock())
    session.ask("ann", lease_seconds=60)
    (ahead,) = session.ask("ben", lease_seconds=60)
    before = session.snapshot().labels
    session.tell(ahead.id, truth(ahead), "ben")
    same_known(session, reopened(session))
    assert session.undo("ben") == replace(ahead, before=Verdict(truth(ahead)))
    np.testing.assert_array_equal(session.snapshot().labels, before)
    session.release("ann")
    session.release("ben")
    same_known(session, reopened(session))


def test_a_late_answer_that_nobody_asks_for_any_more_is_a_fact() -> None:
    session = new_session()
    answer(session, 4)
    (leased,) = session.ask("ann")
    session.undo()
    (again,) = session.ask()
    session.tell(again.id, "unsure")
    session.tell(leased.id, truth(leased), "ann")
    assert session.state.book.vote(pair_of((leased.item, leased.comparator)), "ann")
    same_known(session, reopened(session))


def test_the_majority_decides_and_a_tie_is_unsure_and_listed() -> None:
    session = new_session(opinions=3)
    (question,) = session.ask("ann")
    wrong = other(truth(question))
    session.tell(question.id, wrong, "ann")
    pair = pair_of((question.item, question.comparator))
    assert session.state.facts[pair].verdict.value == wrong
    session.tell(question.id, truth(question), "ben")
    assert session.state.facts[pair].verdict.value == "unsure"
    assert [trouble.kind for trouble in session.trouble] == ["tie"]
    same_known(session, reopened(session))
    assert question.id in {q.id for q in session.ask("cem", count=5)}
    session.tell(question.id, truth(question), "cem")
    assert session.state.facts[pair].verdict.value == truth(question)
    assert session.trouble == []
    assert session.state.n_questions == 1
    same_known(session, reopened(session))


def test_a_panel_is_asked_each_question_as_often_as_wanted() -> None:
    session = new_session(opinions=2)
    people = ("ann", "ben")
    asked = dict.fromkeys(people, 0)
    while sum(answer_one(session, who, asked) for who in people):
        pass
    assert asked["ann"] == asked["ben"] == session.state.n_questions
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def answer_one(session: Session, who: str, asked: dict[str, int]) -> bool:
    questions = session.ask(who)
    if questions:
        session.tell(questions[0].id, truth(questions[0]), who)
        asked[who] += 1
    return bool(questions)


def test_undo_takes_back_ones_own_last_answer() -> None:
    session = new_session(method={**FAST, "batch": 4})
    answer(session, 6)
    (mine,) = session.ask("ann", lease_seconds=60)
    session.tell(mine.id, truth(mine), "ann")
    (theirs,) = session.ask("ben", lease_seconds=60)
    session.tell(theirs.id, truth(theirs), "ben")
    undone = session.undo("ann")
    assert undone is not None
    assert undone.id == mine.id
    assert session.ask("ann")[0].id == mine.id
    assert session.undo("cem") is None
    assert session.state.n_questions == 7
    same_known(session, reopened(session))


def test_a_question_about_a_row_that_an_update_removed_gives_way_to_another() -> None:
    session = new_session(clock=Clock())
    (gone,) = session.ask("ann", lease_seconds=60)
    (beside,) = session.ask("ben", lease_seconds=60)
    keep = [row for row in range(90) if f"item {row}" != gone.item]
    session.update([f"item {row}" for row in keep], MADE.X[keep])
    (following,) = session.ask("ann", lease_seconds=60)
    assert gone.item not in (following.item, following.comparator)
    assert [one.id for one in session.ask("ben", lease_seconds=60)] == [beside.id]


def test_undoing_an_answer_takes_nothing_from_who_looks_at_it_by_now() -> None:
    clock = Clock()
    session = new_session(clock=clock, method="everything")
    (question,) = session.ask("ann", lease_seconds=60)
    clock.move(60)
    assert session.ask("ben", lease_seconds=60)[0].id == question.id
    session.tell(question.id, truth(question), "ann")
    again = session.undo("ann", lease_seconds=60)
    assert again is not None
    assert again.id == question.id, "it is shown again"
    session.release("ann")
    (other,) = session.ask("cem", lease_seconds=60)
    assert other.id != question.id, "ben still looks at it"
