"""A driver that carries questions of a session to coroutines, several at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from samecluster.errors import InvalidInputError
from samecluster.questions.pair import Verdict
from samecluster.recovery.result import Recovery
from samecluster.sessions.asking import SessionQuestion
from samecluster.sessions.session import Session

__all__ = ["drive_async"]


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
