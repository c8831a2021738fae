"""Cluster numbers and names: they stay, whenever and whatever happens."""

import pytest

from samecluster.errors import (
    InvalidInputError,
)
from samecluster.sessions.session import Session
from tests.cases.session_cases import (
    answer_all,
    instance,
    new_session,
    reopened,
    truth,
)

MADE = instance()


def shown_numbers(session: Session) -> dict[int, int]:
    """The true cluster behind each public number that is there to stay."""
    kept = set(session.state.numbers.values())
    return {
        number: int(MADE.labels[int(anchor.split()[1])])
        for number, anchor in session.anchors().items()
        if number in kept
    }


def test_numbers_do_not_depend_on_when_somebody_looks() -> None:
    watched, unwatched = new_session(), new_session()
    while questions := watched.ask():
        watched.tell(questions[0].id, truth(questions[0]))
        watched.snapshot()
    answer_all(unwatched)
    assert (watched.snapshot().labels == unwatched.snapshot().labels).all()
    # What was shown as cluster 2 for a while turned out to be part of another.
    assert set(watched.snapshot().labels) == {0, 1, 3}
    assert set(watched.aliases()) == {2, 4}


def test_numbers_and_names_survive_undo_resume_and_update() -> None:
    session = new_session()
    answer_all(session)
    named = max(session.anchors())
    session.name(named, "the far ones")
    numbers = shown_numbers(session)
    assert len(numbers) >= 2
    for _ in range(3):
        session.undo()
    answer_all(session)
    assert {n: c for n, c in shown_numbers(session).items() if n in numbers} == numbers
    session = reopened(session)
    assert session.names() == {named: "the far ones"}
    finished = shown_numbers(session)
    assert numbers.items() <= finished.items()
    anchor = session.anchors()[named]
    keep = [row for row in range(90) if f"item {row}" != anchor]
    session.update([f"item {row}" for row in keep], MADE.X[keep])
    answer_all_updated(session, keep)
    assert session.anchors()[named] != anchor
    assert shown_numbers(session) == finished
    assert session.names() == {named: "the far ones"}


def answer_all_updated(session: Session, keep: list[int]) -> None:
    while questions := session.ask():
        i, j = questions[0].rows
        same = MADE.labels[keep[i]] == MADE.labels[keep[j]]
        session.tell(questions[0].id, "same" if same else "different")


def test_a_name_needs_a_cluster() -> None:
    session = new_session()
    answer_all(session)
    with pytest.raises(InvalidInputError, match="cluster must be one of 0, 1, 3, got 9"):
        session.name(9, "nobody")
