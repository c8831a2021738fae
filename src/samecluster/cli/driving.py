"""A session driven by an oracle that is not a person: several questions at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.session import Session

__all__ = ["Answering", "drive_session"]

Answering: TypeAlias = Callable[[Iterable[Question]], Iterable[tuple[Question, Verdict]]]
"""Takes questions when it is free for them, and gives verdicts in the order in which they come."""


def drive_session(
    session: Session,
    answering: Answering,
    *,
    who: str | None,
    parallel: int = 1,
    on_answer: Callable[[], None] = lambda: None,
) -> None:
    """Carry questions to whoever answers until none is left; each answer is kept as it comes."""
    under_way: dict[Question, str] = {}

    def waiting() -> Iterator[Question]:
        while len(under_way) < _n_left(session):
            asked = set(under_way.values())
            fresh = [q for q in session.ask(who, count=parallel) if q.id not in asked]
            if not fresh:
                return
            question = Question(*fresh[0].rows)
            under_way[question] = fresh[0].id
            yield question

    before = None
    while session.state.n_events != before:
        before = session.state.n_events
        # A plan may have nothing to ask until it hears all of a batch: it is asked anew after that.
        for question, verdict in answering(waiting()):
            session.tell(under_way.pop(question), verdict, who)
            on_answer()


def _n_left(session: Session) -> float:
    budget = session.state.parameters.get("max_questions")
    return float("inf") if budget is None else budget - session.state.n_questions
