"""Operations that change how the session goes on: names, disagreement, remedies, choices.

Things are tried out on a second copy of the session, so that nobody waits for a preview.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

from samecluster.errors import ProtocolError
from samecluster.sessions.conflicts import Conflict, Effect, Remedy
from samecluster.sessions.question import SessionQuestion
from samecluster.sessions.session import Session
from samecluster.sessions.storage.events import body_text
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.web.context import Call, Handler, ServerContext
from samecluster.web.errors import HttpError
from samecluster.workspace.next_steps import choices
from samecluster.workspace.open import OpenSession

__all__ = ["OPERATIONS", "on_a_twin"]


async def _name(desk: ServerContext, call: Call) -> Any:
    if call["number"] not in desk.board.summary.anchors:
        raise HttpError(404, f"there is no cluster {call['number']}")
    return await _change(desk, lambda session: session.name(call["number"], call["name"], call.who))


async def _doubt(desk: ServerContext, call: Call) -> Any:
    asked = await desk.board.call(lambda session: session.doubt(call["item"], call.who))
    return _asked(asked)


async def _merge(desk: ServerContext, call: Call) -> Any:
    one, two = call["clusters"]
    if one == two:
        raise HttpError(422, f"two different clusters can be merged, got {one} twice")
    asked = await desk.board.call(lambda session: session.merge(one, two, call.who))
    return _asked([] if asked is None else [asked])


async def _split(desk: ServerContext, call: Call) -> Any:
    asked = await desk.board.call(
        lambda session: session.split(call["cluster"], call["items"], call.who)
    )
    return _asked(asked)


async def _preview(desk: ServerContext, call: Call) -> Any:
    return await _tried_out(
        desk, lambda session: session.preview_answer(call["question"], call["verdict"], call.who)
    )


async def _trouble(desk: ServerContext, _: Call) -> Any:
    found = await desk.board.call(lambda session: session.trouble)
    return {"trouble": [_as_json(one) for one in found]}


async def _preview_remedy(desk: ServerContext, call: Call) -> Any:
    return await _tried_out(desk, lambda session: session.preview(_remedy(session, call["id"])))


async def _apply_remedy(desk: ServerContext, call: Call) -> Any:
    return await _change(
        desk, lambda session: session.apply(_remedy(session, call["id"]), call.who)
    )


async def _choices(desk: ServerContext, _: Call) -> Any:
    summary = desk.board.summary
    ended, recovery = summary.progress["ended"], summary.recovery
    if not ended or recovery is None:
        return {"ended": ended, "choices": []}
    found = choices(recovery, summary.parameters.get("max_questions"))
    return {"ended": ended, "choices": [{"key": c.key, "text": c.text} for c in found]}


async def _choose(desk: ServerContext, call: Call) -> Any:
    def choose(session: Session) -> None:
        budget = session.state.parameters.get("max_questions")
        offered = choices(session.snapshot(), budget) if session.progress().ended else []
        chosen = next((one for one in offered if one.key == call["key"]), None)
        if chosen is None:
            raise ProtocolError("there is no such choice now; look at the choices again")
        if chosen.parameters is None:
            session.finish(call.who)
        else:
            session.set_parameters(who=call.who, **chosen.parameters)

    return await _change(desk, choose)


async def _change(desk: ServerContext, work: Callable[[Session], None]) -> Any:
    await desk.board.call_and_see(work)
    return {"progress": desk.board.summary.progress}


async def _tried_out(desk: ServerContext, look: Callable[[Session], Effect]) -> Any:
    effect = await asyncio.to_thread(on_a_twin, desk.opened, look)
    return {
        "text": str(effect),
        "undecided": effect.undecided,
        "decided": effect.decided,
        "changed": effect.changed,
    }


def _asked(questions: list[SessionQuestion]) -> dict[str, Any]:
    return {"questions": len(questions), "ids": [one.id for one in questions]}


def _as_json(trouble: Conflict) -> dict[str, Any]:
    return {
        "kind": trouble.kind,
        "text": trouble.text,
        "answers": [
            {"sequence": said.sequence, "who": said.who or said.source, "text": str(said)}
            for said in trouble.answers
        ],
        "remedies": [{"id": _id_of(one), "text": one.text} for one in trouble.remedies],
    }


def _id_of(remedy: Remedy) -> str:
    """The same for the same remedy, as long as it is one."""
    told = "\n".join(f"{kind} {body_text(body)}" for kind, body in remedy.events)
    return hashlib.sha256(told.encode()).hexdigest()[:32]


def _remedy(session: Session, id_: str) -> Remedy:
    for trouble in session.trouble:
        for remedy in trouble.remedies:
            if _id_of(remedy) == id_:
                return remedy
    raise ProtocolError("that is no remedy any more; look at what does not fit again")


OPERATIONS: dict[str, Handler] = {
    "name": _name,
    "doubt": _doubt,
    "merge": _merge,
    "split": _split,
    "preview": _preview,
    "trouble": _trouble,
    "preview_remedy": _preview_remedy,
    "apply_remedy": _apply_remedy,
    "choices": _choices,
    "choose": _choose,
}


T = TypeVar("T")


def on_a_twin(opened: OpenSession, look: Callable[[Session], T]) -> T:
    """What a look at the session as it is in its file gives; takes as long as a resume."""
    with contextlib.closing(SqliteStore(opened.path, read_only=True)) as store:
        return look(opened.data.session(store))
