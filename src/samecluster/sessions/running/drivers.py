"""Drivers that carry a session's questions to an oracle or to coroutines, several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeAlias

from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.session import Session

__all__ = ["Answering", "drive_async", "drive_session"]


async def drive_async(
    session: Session,
    answer: Callable[[SessionQuestion], Awaitable[Verdict | str]],
    *,
    who: str | None = None,
    parallel: int = 1,
) -> Recovery:
    """Answer a session's questions until none is left for this person.

    Up to ``parallel`` questions are under way; answers are taken in as they come. If ``answer``
    raises, what was answered before is kept, and the error is passed on.
    """
    if parallel < 1:
        raise InvalidInputError(f"parallel must be at least 1, got {parallel}")
    under_way: dict[asyncio.Task[Verdict | str], SessionQuestion] = {}
    try:
        while True:
            asked = {question.id for question in under_way.values()}
            for question in session.ask(who, count=parallel):
                if question.id not in asked and len(under_way) < parallel:
                    under_way[asyncio.ensure_future(_call(answer, question))] = question
            if not under_way:
                return session.snapshot()
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                session.tell(under_way.pop(task).id, task.result(), who)
    finally:
        for task in under_way:
            task.cancel()


async def _call(
    answer: Callable[[SessionQuestion], Awaitable[Verdict | str]], question: SessionQuestion
) -> Verdict | str:
    return await answer(question)


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
