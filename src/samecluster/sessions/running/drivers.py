"""Drivers that carry a session's questions to an oracle or to coroutines, several at a time.

`samecluster.questions.drive` carries those of a run, batch by batch. In a session each answer may
change what comes next, so a question is taken from it when there is somebody free to answer it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from typing import Any, TypeAlias

from samecluster._parameters import check_at_least
from samecluster.errors import AnswerError, ProtocolError
from samecluster.questions.look import Look, Reply, unsure_of
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.question import SessionLook, SessionQuestion
from samecluster.sessions.session import Session

Answering: TypeAlias = Callable[[Iterable[Any]], Iterable[tuple[Any, Any]]]
"""Takes questions, or looks, when it is free for them, and gives verdicts or replies in the order
in which they come."""


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
    check_at_least("parallel", parallel, 1)
    under_way: dict[asyncio.Task[Verdict | str], str] = {}

    async def called(question: SessionQuestion) -> Verdict | str:
        return await answer(question)

    try:
        while True:
            while len(under_way) < parallel:
                question = _next_question(session, who, parallel, under_way.values())
                if not isinstance(question, SessionQuestion):
                    break
                under_way[asyncio.ensure_future(called(question))] = question.id
            if not under_way:
                return session.snapshot()
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                session.tell(under_way.pop(task), task.result(), who)
    finally:
        for task in under_way:
            task.cancel()


def drive_session(
    session: Session,
    answering: Answering,
    *,
    who: str | None,
    parallel: int = 1,
    on_answer: Callable[[], None] = lambda: None,
    looks: bool = False,
    second_looks: Callable[[Look], int] | None = None,
) -> None:
    """Carry questions to what answers until none is left; each answer is kept as it comes.

    With ``looks`` also screens of several pairs, where the session has them. ``second_looks`` says
    how many more it took to confirm the reply to one.
    """
    under_way: dict[Look, str] = {}

    def waiting() -> Iterator[Any]:
        while found := _next_question(session, who, parallel, under_way.values(), looks):
            under_way[found.look] = found.id
            yield found.look

    before = None
    while session.state.n_events != before:
        before = session.state.n_events
        # A plan may have nothing to ask until it hears all of a batch: it is asked again then.
        for look, reply in answering(waiting()):
            id_ = under_way.pop(look)
            n_more = 0 if second_looks is None else second_looks(look)
            if isinstance(look, Question):
                session.tell(id_, reply, who, second_looks=n_more)
            else:
                _tell_look(session, id_, look, reply, who, n_more)
            on_answer()


def _tell_look(
    session: Session, id_: str, look: Look, reply: Reply, who: str | None, second_looks: int
) -> None:
    """Take a reply in; as "unsure" if it joins what answers separate, so as not to ask again."""
    try:
        session.tell_look(id_, reply, who, second_looks=second_looks)
    except AnswerError:
        session.tell_look(id_, unsure_of(look), who, second_looks=second_looks)
    except ProtocolError:
        pass  # others have settled it meanwhile


def _next_question(
    session: Session,
    who: str | None,
    parallel: int,
    under_way: Collection[str],
    looks: bool = False,
) -> SessionQuestion | SessionLook | None:
    """A question whose id is not under way, if there is one and the budget allows it."""
    if any(len(under_way) >= room for room in session.state.budgets_left.values()):
        return None
    asked = session.ask_looks(who, parallel) if looks else session.ask(who, count=parallel)
    return next((q for q in asked if q.id not in under_way), None)
