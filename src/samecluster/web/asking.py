"""Operations of somebody who answers: the next questions, leases, answers, undo, placements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samecluster.sessions.asking import SessionQuestion
from samecluster.sessions.session import Session
from samecluster.web.board import Urgency
from samecluster.web.desk import Call, Desk, Handler
from samecluster.web.placing import place

__all__ = ["OPERATIONS"]


# More at once cost more questions: people who would wait get one that is put ahead of its turn, but
# the checks of an audit all come at once, however many these are.
_SEVERAL = 2


async def _next(desk: Desk, call: Call) -> Any:
    def ask(session: Session) -> tuple[list[SessionQuestion], str]:
        if len(desk.seen) > 1:
            session.widen(_SEVERAL)
        asked = session.ask(call.who, call["count"], desk.lease_seconds)
        return asked, "" if asked else session.progress().ended

    asked, ended = await desk.board.call(ask, Urgency.ASK)
    summary = desk.board.summary
    return {
        "questions": [desk.views.question(one, summary) for one in asked],
        "ended": ended,
        "waiting": not asked and not ended,
    }


async def _heartbeat(desk: Desk, call: Call) -> Any:
    held = await desk.board.call(
        lambda session: session.renew(call["questions"], call.who, desk.lease_seconds),
        Urgency.ASK,
    )
    return {"held": held}


async def _release(desk: Desk, call: Call) -> Any:
    await desk.board.call(lambda session: session.release(call.who), Urgency.ASK)
    return {}


async def _answer(desk: Desk, call: Call) -> Any:
    return await _take(
        desk,
        lambda session: session.tell(call["question"], call["verdict"], call.who, key=call["key"]),
    )


async def _flag(desk: Desk, call: Call) -> Any:
    return await _take(
        desk,
        lambda session: session.flag(call["question"], call["note"], call.who, key=call["key"]),
    )


async def _place(desk: Desk, call: Call) -> Any:
    def put(session: Session) -> list[int]:
        done = place(session, call["item"], call["group"], call.who, call["key"])
        if done:
            desk.placed[call.who] = done
        return done

    sequences = await desk.board.call(put, Urgency.ANSWER)
    summary = desk.board.summary
    last = max(sequences, default=summary.sequence)
    return {"sequence": last, "settled": len(sequences), "progress": summary.progress}


async def _undo(desk: Desk, call: Call) -> Any:
    def back(session: Session) -> SessionQuestion | None:
        placed, last = desk.placed.pop(call.who, []), session.state.last_answer(call.who)
        together = last is not None and last.sequence in placed
        question = None
        for _ in placed if together else [None]:
            question = session.undo(call.who, desk.lease_seconds)
        return question

    question = await desk.board.call(back, Urgency.ANSWER)
    summary = desk.board.summary
    return {"question": None if question is None else desk.views.question(question, summary)}


async def _groups(desk: Desk, call: Call) -> Any:
    if "item" in call.given:
        row: int | None = desk.views.row(call["item"])
    else:
        asked = await desk.board.call(
            lambda session: session.ask(call.who, 1, desk.lease_seconds), Urgency.ASK
        )
        row = asked[0].rows[0] if asked else None
    return desk.views.groups(row, desk.board.summary)


async def _take(desk: Desk, work: Callable[[Session], int]) -> Any:
    """An answer: the reply comes after it is committed, and does not wait for what follows."""
    sequence = await desk.board.call(work, Urgency.ANSWER)
    return {"sequence": sequence, "progress": desk.board.summary.progress}


OPERATIONS: dict[str, Handler] = {
    "next": _next,
    "heartbeat": _heartbeat,
    "release": _release,
    "answer": _answer,
    "flag": _flag,
    "place": _place,
    "undo": _undo,
    "groups": _groups,
}
