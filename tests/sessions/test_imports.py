"""Answers from elsewhere: no questions, refused if they contradict, taken back as a whole."""

import numpy as np
import pytest

from samecluster import clustering_error
from samecluster.errors import (
    AnswerError,
    InvalidInputError,
)
from tests.cases.session_cases import (
    answer,
    answer_all,
    instance,
    kinds,
    new_session,
    other,
    reopened,
    same_known,
    truth,
)

MADE = instance()


def known_pairs(n: int) -> list[tuple[str, str, str]]:
    firsts = {int(label): int(np.argmax(MADE.labels == label)) for label in range(3)}
    return [
        (f"item {row}", f"item {firsts[int(MADE.labels[row])]}", "same")
        for row in range(n)
        if row not in firsts.values()
    ]


def test_imports_guide_the_run_are_no_questions_and_go_as_they_came() -> None:
    session, without = new_session(), new_session()
    answer(session, 3)
    before = session.snapshot().labels
    sequence = session.import_answers(known_pairs(60), "old labels.csv", who="ann")
    assert session.state.n_questions == 3
    assert (session.snapshot().labels >= 0).sum() > (before >= 0).sum()
    same_known(session, reopened(session))
    asked = answer_all(session)
    assert asked + 3 < answer_all(without)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    votes_of_event = session.state.book.votes_of_event
    assert {vote.source for vote in votes_of_event(sequence)} == {"old labels.csv"}
    session.retract(sequence, known_pairs(60)[0][:2])
    assert len(votes_of_event(sequence)) == len(known_pairs(60)) - 1
    session.retract(sequence)
    assert votes_of_event(sequence) == []
    same_known(session, reopened(session))


def test_direct_contradictions_are_refused_and_both_answers_named() -> None:
    session = new_session()
    (asked,) = answer(session, 1)
    opposite = (asked.comparator, asked.item, other(truth(asked)))
    fine = ("item 80", "item 81", "same")
    before = kinds(session)
    with pytest.raises(AnswerError, match="nothing was imported") as caught:
        session.import_answers([fine, opposite], "old.csv")
    told = str(caught.value)
    assert f"{asked.item} and {asked.comparator} {truth(asked)}" in told
    assert f"{opposite[0]} and {opposite[1]} {opposite[2]} (old.csv)" in told
    with pytest.raises(AnswerError, match="item 81 and item 80 different") as caught:
        session.import_answers([fine, ("item 81", "item 80", "different")], "old.csv")
    assert "item 80 and item 81 same" in str(caught.value)
    assert kinds(session) == before
    session.import_answers([fine, fine, (asked.item, asked.comparator, truth(asked))], "old.csv")
    session.import_answers([("item 80", "item 81", "unsure")], "new.csv")
    with pytest.raises(AnswerError, match=r"(?s)old\.csv.*new\.csv"):
        session.import_answers([("item 80", "item 81", "different")], "new.csv")


def test_an_import_may_side_with_most_people_and_break_a_tie() -> None:
    session = new_session(opinions=3)
    (question,) = session.ask("ann")
    pair = (question.item, question.comparator)
    for who, verdict in (("ann", "same"), ("ben", "same"), ("cem", "different")):
        session.tell(question.id, verdict, who)
    session.import_answers([(*pair, "same")], "more.csv")
    session.undo("ann")
    session.undo("ben")
    session.import_answers([(*pair, "different")], "other.csv")


def test_contradictions_of_an_import_are_listed_before_anything_is_written() -> None:
    session = new_session()
    asked = answer(session, 8)
    wrong = [(q.item, q.comparator, other(truth(q))) for q in asked[:1]]
    chain = [("item 1", "item 2", "same"), ("item 2", "item 3", "same")]
    torn = [*chain, ("item 1", "item 3", "different")]
    before = kinds(session)
    with pytest.raises(AnswerError, match=r"(?s)nothing was imported: 1 sets.*old\.csv"):
        session.import_answers(torn, "old.csv")
    assert len(session.contradictions_with(torn, "old.csv")) == 1
    assert kinds(session) == before
    with pytest.raises(InvalidInputError, match="answer 2: 'stranger' is not a key"):
        session.import_answers([*chain[:1], ("item 1", "stranger", "same")], "old.csv")
    session.import_answers(torn, "old.csv", despite_contradictions=True)
    assert [t.kind for t in session.trouble] == ["contradiction"]
    session.import_answers(wrong, "other.csv", despite_contradictions=True)
    assert sorted(t.kind for t in session.trouble) == ["contradiction", "tie"]
    same_known(session, reopened(session))
