"""Operations that change how the session goes on: names, disagreement, remedies, choices.

Previews are made on a second copy of the session, so that nobody waits for them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from samecluster.errors import ProtocolError
from samecluster.sessions.conflicts import Conflict, Effect, Remedy
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.session import Session
from samecluster.sessions.storage.events import body_text
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.web.context import Call, ServerContext
from samecluster.web.errors import HttpError
from samecluster.web.operations.declared import (
    CLUSTER_NUMBER,
    CONFLICT,
    ITEM,
    ITEM_KEY,
    LOOK_ID,
    NOT_FOUND,
    PROGRESS,
    QUESTION_ID,
    UNUSABLE,
    VERDICT,
    Operations,
    Parameter,
)
from samecluster.web.operations.schema import (
    COUNT,
    TEXT,
    array,
    choice,
    integer,
    nullable,
    record,
    shared,
    string,
)
from samecluster.workspace.next_steps import choices
from samecluster.workspace.open import OpenSession

OPERATIONS = Operations()
_REMEDY_ID = string(maxLength=64)
_CHANGED = record(progress=PROGRESS)
_ASKED = shared(
    "Asked",
    record(
        questions=integer(minimum=0, description="How many questions come next because of it."),
        ids=array(TEXT, description="Their ids."),
    ),
)
_EFFECT = shared("Effect", record(text=TEXT, undecided=COUNT, decided=COUNT, changed=COUNT))
_SAID = shared(
    "Said",
    record(
        sequence=COUNT,
        who=nullable(TEXT),
        text=TEXT,
        items=array(ITEM, maxItems=2, description="The two that it is about."),
    ),
)
_REMEDY = shared("Remedy", record(id=TEXT, text=TEXT))
_TROUBLE = shared(
    "Trouble",
    record(
        kind=choice("contradiction", "tie", "refutation"),
        text=TEXT,
        answers=array(_SAID),
        remedies=array(_REMEDY),
    ),
)


@OPERATIONS.declare(
    "POST /clusters/{number}/name",
    "Name a group.",
    parameters=[Parameter("number", CLUSTER_NUMBER, "path", required=True)],
    body=record(name=string(minLength=1, maxLength=200)),
    reply=_CHANGED,
    errors=[NOT_FOUND, CONFLICT],
)
async def _name(context: ServerContext, call: Call) -> Any:
    if context.thread.summary.cluster(call["number"]) is None:
        raise HttpError(NOT_FOUND, f"there is no cluster {call['number']}")
    return await _change(
        context, lambda session: session.name(call["number"], call["name"], call.who)
    )


@OPERATIONS.declare(
    "POST /doubt",
    "This label is wrong: questions about the item come next.",
    body=record(item=ITEM_KEY),
    reply=_ASKED,
    errors=[CONFLICT],
)
async def _doubt(context: ServerContext, call: Call) -> Any:
    asked = await context.thread.call(lambda session: session.doubt(call["item"], call.who))
    return _asked(asked)


@OPERATIONS.declare(
    "POST /merge",
    "Two groups are one: the question that decides it comes next.",
    body=record(clusters=array(CLUSTER_NUMBER, minItems=2, maxItems=2)),
    reply=_ASKED,
    errors=[CONFLICT],
)
async def _merge(context: ServerContext, call: Call) -> Any:
    one, two = call["clusters"]
    if one == two:
        raise HttpError(UNUSABLE, f"two different clusters can be merged, got {one} twice")
    asked = await context.thread.call(lambda session: session.merge(one, two, call.who))
    return _asked([] if asked is None else [asked])


@OPERATIONS.declare(
    "POST /preview",
    "What an answer would do to the labels; nothing changes.",
    body=record(question=QUESTION_ID, verdict=VERDICT),
    reply=_EFFECT,
    errors=[CONFLICT],
)
async def _preview(context: ServerContext, call: Call) -> Any:
    return await _preview_of(
        context, lambda session: session.preview_answer(call["question"], call["verdict"], call.who)
    )


@OPERATIONS.declare(
    "GET /trouble",
    "What does not fit together, the answers to look at again (the likeliest to be wrong first), "
    "and remedies.",
    reply=record(trouble=array(_TROUBLE)),
)
async def _trouble(context: ServerContext, _: Call) -> Any:
    found = await context.thread.call(lambda session: session.ranked_conflicts())
    return {"trouble": [_as_json(one, context) for one in found]}


@OPERATIONS.declare(
    "POST /second-look",
    "If it is time, check for slips of people: what rests on one answer is put from another side "
    "and comes next, a look or a question.",
    body=record(),
    reply=record(
        question=nullable(LOOK_ID),
        text=string(
            description="Which answer does not fit, or that it is a check; empty if none comes."
        ),
    ),
)
async def _second_look(context: ServerContext, call: Call) -> Any:
    found = await context.thread.call(lambda session: session.look_again(call.who))
    if found is None:
        return {"question": None, "text": ""}
    return {"question": found.question.id, "text": context.names.in_text(str(found))}


@OPERATIONS.declare(
    "POST /remedies/preview",
    "What a remedy would do to the labels; nothing changes.",
    body=record(id=_REMEDY_ID),
    reply=_EFFECT,
    errors=[CONFLICT],
)
async def _preview_remedy(context: ServerContext, call: Call) -> Any:
    return await _preview_of(context, lambda session: session.preview(_remedy(session, call["id"])))


@OPERATIONS.declare(
    "POST /remedies/apply",
    "Choose a remedy.",
    body=record(id=_REMEDY_ID),
    reply=_CHANGED,
    errors=[CONFLICT],
    for_owners=True,
)
async def _apply_remedy(context: ServerContext, call: Call) -> Any:
    return await _change(
        context, lambda session: session.apply(_remedy(session, call["id"]), call.who)
    )


@OPERATIONS.declare(
    "GET /choices",
    "What can be done when nothing is left to ask; empty before.",
    reply=record(ended=TEXT, choices=array(record(key=TEXT, text=TEXT))),
)
async def _choices(context: ServerContext, _: Call) -> Any:
    summary = context.thread.summary
    ended = summary.progress["ended"]
    found = choices(summary.recovery, summary.parameters) if ended else []
    return {"ended": ended, "choices": [{"key": c.key, "text": c.text} for c in found]}


@OPERATIONS.declare(
    "POST /choices",
    "Choose how to go on, or to stop.",
    body=record(key=string(minLength=1, maxLength=8)),
    reply=_CHANGED,
    errors=[CONFLICT],
    for_owners=True,
)
async def _choose(context: ServerContext, call: Call) -> Any:
    def choose(session: Session) -> None:
        parameters = session.state.parameters
        offered = choices(session.snapshot(), parameters) if session.progress().ended else []
        chosen = next((one for one in offered if one.key == call["key"]), None)
        if chosen is None:
            raise ProtocolError("there is no such choice now; look at the choices again")
        chosen.take(session, call.who)

    return await _change(context, choose)


@OPERATIONS.declare(
    "POST /stop-at",
    "Stop once about this share of the labels may be wrong; null for 0.1 %. It may change again.",
    body=record(share=nullable({"type": "number", "minimum": 0, "maximum": 0.5})),
    reply=_CHANGED,
    errors=[UNUSABLE],
    for_owners=True,
)
async def _stop_at(context: ServerContext, call: Call) -> Any:
    share = call["share"]
    return await _change(
        context, lambda session: session.set_parameters(who=call.who, expected_error=share)
    )


async def _change(context: ServerContext, work: Callable[[Session], None]) -> Any:
    await context.thread.call_and_see(work)
    return {"progress": context.thread.summary.progress}


async def _preview_of(context: ServerContext, look: Callable[[Session], Effect]) -> Any:
    effect = await asyncio.to_thread(on_a_copy, context.opened, look)
    return {"text": str(effect), **asdict(effect)}


def _asked(questions: list[SessionQuestion]) -> dict[str, Any]:
    return {"questions": len(questions), "ids": [one.id for one in questions]}


def _as_json(trouble: Conflict, context: ServerContext) -> dict[str, Any]:
    readable, views = context.names.in_text, context.views
    return {
        "kind": trouble.kind,
        "text": readable(trouble.text),
        "answers": [
            {
                "sequence": said.sequence,
                "who": said.who or said.source,
                "text": readable(str(said)),
                "items": [views.item(views.row(key)) for key in said.items],
            }
            for said in trouble.answers
        ],
        "remedies": [{"id": _id_of(one), "text": readable(one.text)} for one in trouble.remedies],
    }


def _id_of(remedy: Remedy) -> str:
    """An id that is made from the remedy's events, so that it stays the same while they do."""
    text = "\n".join(f"{kind} {body_text(body)}" for kind, body in remedy.events)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _remedy(session: Session, id_: str) -> Remedy:
    for trouble in session.trouble:
        for remedy in trouble.remedies:
            if _id_of(remedy) == id_:
                return remedy
    raise ProtocolError("that is no remedy any more; look at what does not fit again")


def on_a_copy(opened: OpenSession, look: Callable[[Session], Effect]) -> Effect:
    """What ``look`` returns for a copy of the session, read from its file; as slow as a resume."""
    with contextlib.closing(SqliteStore(opened.path, read_only=True)) as store:
        return look(opened.data.session(store))
