"""Operations of people who answer: the next questions, leases, answers, undo, placements."""

from __future__ import annotations

from typing import Any

from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.session import Session
from samecluster.web.context import Call, ServerContext
from samecluster.web.operations.declared import (
    ANSWER_KEY,
    CLUSTER_NAME,
    CLUSTER_NUMBER,
    CONFLICT,
    ITEM,
    ITEM_KEY,
    PROGRESS,
    QUESTION,
    QUESTION_ID,
    UNUSABLE,
    VERDICT,
    Operations,
    Parameter,
)
from samecluster.web.operations.group_choice import place
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

OPERATIONS = Operations()
_TAKEN = shared("Taken", record(sequence=COUNT, progress=PROGRESS))

# Questions per batch when several people answer. A larger batch costs more questions: a person who
# would wait gets one that is put ahead of its turn. Checks of an audit come all at once anyway.
_BATCH_OF_SEVERAL = 2


@OPERATIONS.declare(
    "POST /next",
    "The next questions for you, leased to you for lease_seconds.",
    body=record(count=integer(minimum=1, maximum=3)),
    reply=record(
        questions=array(QUESTION, maxItems=3),
        ended=TEXT,
        waiting=boolean(description="Others hold all that is left; ask again soon."),
    ),
    errors=[CONFLICT],
)
async def _next(context: ServerContext, call: Call) -> Any:
    def ask(session: Session) -> tuple[list[SessionQuestion], str]:
        if len(context.seen) > 1:
            session.widen(_BATCH_OF_SEVERAL)
        asked = session.ask(call.who, call["count"], context.lease_seconds)
        return asked, "" if asked else session.progress().ended

    asked, ended = await context.thread.call(ask, Urgency.ASK)
    summary = context.thread.summary
    return {
        "questions": [context.views.question(question, summary) for question in asked],
        "ended": ended,
        "waiting": not asked and not ended,
    }


@OPERATIONS.declare(
    "POST /heartbeat",
    "You are still looking at these: keep them yours.",
    body=record(questions=array(QUESTION_ID, maxItems=10)),
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
    body=record(question=QUESTION_ID, verdict=VERDICT, key=ANSWER_KEY),
    reply=_TAKEN,
    errors=[CONFLICT],
)
async def _answer(context: ServerContext, call: Call) -> Any:
    sent = SentAnswer(call["question"], call["verdict"], call.who, call["key"])
    sequence = await context.thread.answer(sent)
    return {"sequence": sequence, "progress": context.thread.summary.progress}


@OPERATIONS.declare(
    "POST /flags",
    "A question that cannot be answered as it stands, and why; counts as unsure.",
    body=record(question=QUESTION_ID, note=string(maxLength=2000), key=ANSWER_KEY),
    reply=_TAKEN,
    errors=[CONFLICT],
)
async def _flag(context: ServerContext, call: Call) -> Any:
    sequence = await context.thread.call(
        lambda session: session.flag(call["question"], call["note"], call.who, key=call["key"]),
        Urgency.ANSWER,
    )
    return {"sequence": sequence, "progress": context.thread.summary.progress}


@OPERATIONS.declare(
    "POST /placements",
    "The item is in this group (null: in none of them): answers all open questions that this "
    "settles.",
    body=record(item=ITEM_KEY, group=nullable(CLUSTER_NUMBER), key=ANSWER_KEY),
    reply=record(
        sequence=COUNT,
        settled=integer(minimum=0, description="Questions that it answered."),
        progress=PROGRESS,
    ),
    errors=[CONFLICT],
)
async def _place(context: ServerContext, call: Call) -> Any:
    def put(session: Session) -> list[int]:
        done = place(session, call["item"], call["group"], call.who, call["key"])
        if done:
            context.placed[call.who] = done
        return done

    sequences = await context.thread.call(put, Urgency.ANSWER)
    summary = context.thread.summary
    last = max(sequences, default=summary.sequence)
    return {"sequence": last, "settled": len(sequences), "progress": summary.progress}


@OPERATIONS.declare(
    "POST /undo",
    "Take your own last answer (or placement) back; that question comes again first.",
    body=record(),
    reply=record(question=nullable(QUESTION)),
    errors=[CONFLICT],
)
async def _undo(context: ServerContext, call: Call) -> Any:
    def back(session: Session) -> SessionQuestion | None:
        placed, last = context.placed.pop(call.who, []), session.state.last_answer(call.who)
        together = last is not None and last.sequence in placed
        question = None
        for _ in placed if together else [None]:
            question = session.undo(call.who, context.lease_seconds)
        return question

    question = await context.thread.call(back, Urgency.ANSWER)
    summary = context.thread.summary
    return {"question": None if question is None else context.views.question(question, summary)}


@OPERATIONS.declare(
    "GET /groups",
    "The groups that an item can be put into; the item of your next question unless one is named.",
    parameters=[Parameter("item", ITEM_KEY)],
    reply=record(
        item=nullable(ITEM),
        groups=array(
            record(number=CLUSTER_NUMBER, name=CLUSTER_NAME, members=array(ITEM, maxItems=6))
        ),
    ),
    errors=[UNUSABLE],
)
async def _groups(context: ServerContext, call: Call) -> Any:
    if "item" in call.given:
        row: int | None = context.views.row(call["item"])
    else:
        asked = await context.thread.call(
            lambda session: session.ask(call.who, 1, context.lease_seconds), Urgency.ASK
        )
        row = asked[0].rows[0] if asked else None
    return context.views.groups(row, context.thread.summary)
