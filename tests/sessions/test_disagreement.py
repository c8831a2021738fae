"""Doubts, unions, refuted margins, contradictions and their remedies."""

import numpy as np
import pytest

from samecluster import clustering_error
from samecluster.errors import (
    InvalidInputError,
)
from samecluster.sessions.question import question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state.votes import pair_of
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.session_cases import (
    FAST,
    answer,
    answer_all,
    keys_of,
    kinds,
    new_session,
    reopened,
    same_known,
    store_of,
)


def test_a_refuted_margin_does_not_stop_the_session() -> None:
    """Points of one cluster inside another's hull: no margin of 1 allows these answers."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) * 0.1 + [6, 0]])
    labels = np.repeat([0, 1], 40)
    inside = int(np.argmin(np.sum(X[:40] ** 2, axis=1)))
    labels[inside] = 1
    session = Session.create(
        MemoryStore(), keys_of(80), X, parameters={"margin": 1.0, "method": FAST}, seed=0
    )

    def say(question):
        i, j = question.rows
        return "same" if labels[i] == labels[j] else "different"

    while questions := session.ask():
        session.tell(questions[0].id, say(questions[0]))
    assert session.snapshot().labels[inside] != session.snapshot().labels[79]
    for question in session.doubt(f"item {inside}"):
        if session.ask()[0].id == question.id:
            session.tell(question.id, say(question))
    (trouble,) = session.trouble
    assert trouble.kind == "refutation"
    assert trouble.answers
    while questions := session.ask():
        session.tell(questions[0].id, say(questions[0]))
    assert clustering_error(session.snapshot().labels, labels) == 0
    same_texts = [remedy.text for remedy in trouble.remedies]
    assert any(text == f"make item {inside} an exception" for text in same_texts)
    assert any(text.startswith("take back answer") for text in same_texts)
    before = kinds(session)
    effects = [session.preview(remedy) for remedy in session.trouble[0].remedies]
    assert kinds(session) == before
    assert len(effects) == len(session.trouble[0].remedies)
    exception = next(r for r in session.trouble[0].remedies if "exception" in r.text)
    session.apply(exception)
    assert session.trouble == []
    resumed = Session.open(store_of(session), keys_of(80), X)
    same_known(session, resumed)
    session.retract(session.state.n_events)
    assert session.trouble[0].kind == "refutation"


def test_the_preview_of_an_answer_is_what_the_answer_does() -> None:
    session = new_session()
    answer(session, 11)
    for verdict in ("same", "different", "unsure"):
        (question,) = session.ask()
        before = session.snapshot().labels
        effect = session.preview_answer(question.id, verdict)
        session.tell(question.id, verdict)
        after = session.snapshot().labels
        assert effect.decided == ((before < 0) & (after >= 0)).sum()
        assert effect.undecided == ((before >= 0) & (after < 0)).sum()
        session.undo()
        session.snapshot()


def test_a_contradiction_is_listed_with_its_answers_and_can_be_taken_back() -> None:
    session = new_session()
    answer_all(session)
    known = session.snapshot()
    members = np.flatnonzero((known.labels == 0) & (known.how == "asked"))[:2]
    pair = [f"item {row}" for row in members]
    implied = session.state.facts.get(pair_of(pair)) is None
    session.tell(question_id(pair), "different", who="ben")
    (trouble,) = session.trouble
    assert trouble.kind == ("contradiction" if implied else "tie")
    assert "ben" in {said.who for said in trouble.answers}
    same_known(session, reopened(session))
    mine = next(r for r in trouble.remedies if "(ben)" in r.text)
    assert str(session.preview(mine)) == "no label changes"
    session.apply(mine)
    assert session.trouble == []


def test_merging_asks_one_pair_and_splitting_the_chosen_members() -> None:
    session = new_session()
    answer_all(session)
    question = session.merge(0, 1)
    assert question is not None
    assert session.ask()[0].id == question.id
    session.tell(question.id, "different")
    assert session.trouble == []
    last = max(session.anchors())
    chosen = [f"item {row}" for row in np.flatnonzero(session.snapshot().labels == last)[:3]]
    questions = session.split(last, chosen)
    assert {q.item for q in questions} <= set(chosen)
    assert session.ask()[0].id in {q.id for q in questions}
    with pytest.raises(InvalidInputError, match="cluster must be one of"):
        session.merge(0, 17)


def test_same_ends_a_doubt() -> None:
    session = new_session()
    answer_all(session)
    row = int(np.flatnonzero(session.snapshot().how == "proven")[0])
    questions = session.doubt(f"item {row}")
    assert len(questions) == 3
    own = session.snapshot().labels[row]
    assert session.snapshot().labels[questions[0].rows[1]] == own
    session.tell(questions[0].id, "same")
    assert session.ask() == []
