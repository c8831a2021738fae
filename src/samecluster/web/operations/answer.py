"""Operations of people who answer: the next questions and looks, leases, answers, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from samecluster.questions.pair import Verdict
from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.question import SessionLook, SessionQuestion, question_id
from samecluster.sessions.session import Session
from samecluster.web.context import Call, ServerContext
from samecluster.web.operations.declared import (
    ANSWER_KEY,
    CONFLICT,
    LOOK,
    LOOK_ID,
    PROGRESS,
    QUESTION,
    QUESTION_ID,
    REPLY,
    SECONDS,
    VERDICT,
    Operations,
)
from samecluster.web.operations.schema import (
    COUNT,
    TEXT,
    array,
    boolean,
    integer,
    nullable,
    record,
    shared,
    string,
)
from samecluster.web.session_thread import Urgency
from samecluster.web.snapshot import SessionSummary

T = TypeVar("T")

OPERATIONS = Operations()
_TAKEN = shared("Taken", record(sequence=COUNT, progress=PROGRESS))
_OR_WHY_NONE = {
    "ended": TEXT,
    "waiting": boolean(description="Others hold all that is left; ask again soon."),
}

# Questions per batch when several people answer. A larger batch costs more questions: a person who
# would wait gets one that is put ahead of its turn. Checks of an audit come all at once anyway.
_BATCH_OF_SEVERAL = 2


@OPERATIONS.declare(
    "POST /next",
    "The next questions for you, leased to you for lease_seconds.",
    body=record(count=integer(minimum=1, maximum=3)),
    reply=record(questions=array(QUESTION, maxItems=3), **_OR_WHY_NONE),
    errors=[CONFLICT],
)
async def _next(context: ServerContext, call: Call) -> Any:
    return await _asked(context, call, Session.ask, "questions", context.views.question)


@OPERATIONS.declare(
    "POST /looks/next",
    "The next looks for you, leased to you for lease_seconds: pairs, and screens of several pairs "
    "if the session has these.",
    body=record(count=integer(minimum=1, maximum=3)),
    reply=record(looks=array(LOOK, maxItems=3), **_OR_WHY_NONE),
    errors=[CONFLICT],
)
async def _next_looks(context: ServerContext, call: Call) -> Any:
    return await _asked(context, call, Session.ask_looks, "looks", context.views.look)


@OPERATIONS.declare(
    "POST /heartbeat",
    "You are still looking at these questions and looks: keep them yours.",
    body=record(questions=array(LOOK_ID, maxItems=10)),
    reply=record(held=array(TEXT, description="Those that are still yours.")),
)
async def _heartbeat(context: ServerContext, call: Call) -> Any:
    held = await context.thread.call(
        lambda session: session.renew(call["questions"], call.who, context.lease_seconds),
        Urgency.ASK,
    )
    return {"held": held}


@OPERATIONS.declare(
    "POST /release",
    "You are leaving: others may have your questions. Send it with fetch and keepalive.",
    body=record(),
    reply=record(),
)
async def _release(context: ServerContext, call: Call) -> Any:
    await context.thread.call(lambda session: session.release(call.who), Urgency.ASK)
    return {}


@OPERATIONS.declare(
    "POST /answers",
    "An answer; the reply comes once it is safe on disk.",
    body=record({"seconds": SECONDS}, question=QUESTION_ID, verdict=VERDICT, key=ANSWER_KEY),
    reply=_TAKEN,
    errors=[CONFLICT],
)
async def _answer(context: ServerContext, call: Call) -> Any:
    verdict, seconds = Verdict(call["verdict"]), call.given.get("seconds")
    return await _keep(
        context, SentAnswer(call["question"], verdict, call.who, call["key"], seconds)
    )


@OPERATIONS.declare(
    "POST /looks",
    "The reply to a look, taken as a whole or not at all; this comes once it is safe on disk.",
    body=record({"seconds": SECONDS}, look=LOOK_ID, reply=REPLY, key=ANSWER_KEY),
    reply=_TAKEN,
    errors=[CONFLICT],
)
async def _reply(context: ServerContext, call: Call) -> Any:
    sequence = await context.thread.call(
        lambda session: session.tell_look(
            call["look"],
            call["reply"],
            call.who,
            key=call["key"],
            seconds=call.given.get("seconds"),
        ),
        Urgency.ANSWER,
    )
    return {"sequence": sequence, "progress": context.thread.summary.progress}


@OPERATIONS.declare(
    "POST /looks/undo",
    "Take your own last answer back, a look as a whole; it comes again first.",
    body=record(),
    reply=record(look=nullable(LOOK)),
    errors=[CONFLICT],
)
async def _undo_look(context: ServerContext, call: Call) -> Any:
    look = await context.thread.call(
        lambda session: session.undo(call.who, context.lease_seconds), Urgency.ANSWER
    )
    summary = context.thread.summary
    return {"look": None if look is None else context.views.look(look, summary)}


@OPERATIONS.declare(
    "POST /flags",
    "A question that cannot be answered as it stands, and why; counts as unsure.",
    body=record(question=QUESTION_ID, note=string(maxLength=2000), key=ANSWER_KEY),
    reply=_TAKEN,
    errors=[CONFLICT],
)
async def _flag(context: ServerContext, call: Call) -> Any:
    question, note = call["question"], call["note"]
    return await _keep(
        context, SentAnswer(question, Verdict.UNSURE, call.who, call["key"], note=note)
    )


@OPERATIONS.declare(
    "POST /undo",
    "Take your own last answer back; that question comes again first.",
    body=record(),
    reply=record(question=nullable(QUESTION)),
    errors=[CONFLICT],
)
async def _undo(context: ServerContext, call: Call) -> Any:
    def back(session: Session) -> SessionQuestion | None:
        question = session.undo(call.who, context.lease_seconds)
        if isinstance(question, SessionLook):
            first = question.look.questions[0]
            return session.question(question_id(map(context.views.key, first.shown)))
        return question

    question = await context.thread.call(back, Urgency.ANSWER)
    summary = context.thread.summary
    return {"question": None if question is None else context.views.question(question, summary)}


async def _asked(
    context: ServerContext,
    call: Call,
    asking: Callable[[Session, str | None, int, float], list[T]],
    called: str,
    shown: Callable[[T, SessionSummary], dict[str, Any]],
) -> Any:
    """What is asked next, or why nothing is."""

    def ask(session: Session) -> tuple[list[T], str]:
        if len(context.seen) > 1:
            session.widen(_BATCH_OF_SEVERAL)
        asked = asking(session, call.who, call["count"], context.lease_seconds)
        return asked, "" if asked else session.progress().ended

    asked, ended = await context.thread.call(ask, Urgency.ASK)
    summary = context.thread.summary
    found = [shown(one, summary) for one in asked]
    return {called: found, "ended": ended, "waiting": not asked and not ended}


async def _keep(context: ServerContext, answer: SentAnswer) -> Any:
    """Take an answer; the reply comes once it is committed, before the next question is known."""
    sequence = await context.thread.answer(answer)
    return {"sequence": sequence, "progress": context.thread.summary.progress}
