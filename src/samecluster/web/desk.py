"""What the server does for each operation of openapi.json, by its id.

A method takes the person and the checked fields of the request, and gives JSON or a response.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from starlette.responses import FileResponse, Response, StreamingResponse

import samecluster
from samecluster.errors import ProtocolError
from samecluster.recovery.result import How
from samecluster.sessions.asking import SessionQuestion
from samecluster.sessions.events import body_text
from samecluster.sessions.session import Session
from samecluster.sessions.trouble import Effect, Remedy, Trouble
from samecluster.web import downloads
from samecluster.web.board import Board, Urgency
from samecluster.web.description import FILE
from samecluster.web.images import Images
from samecluster.web.live import stream
from samecluster.web.people import People, Person
from samecluster.web.placing import place
from samecluster.web.plot import Plot
from samecluster.web.reasons import why
from samecluster.web.refusal import Refusal
from samecluster.web.views import Views
from samecluster.workbench.choices import choices
from samecluster.workbench.opening import Opened

__all__ = ["Desk"]

Given = Mapping[str, Any]
_HERE = 60.0
"""Seconds after their last request that somebody counts as being here."""


@dataclass
class Desk:
    """Everything that requests need: the session on its board, and how it is shown."""

    opened: Opened
    board: Board
    views: Views
    plot: Plot
    images: Images | None
    people: People
    lease_seconds: float
    _seen: dict[str | None, datetime] = field(default_factory=dict)
    _placed: dict[str | None, list[int]] = field(default_factory=dict)

    def note(self, person: Person) -> None:
        """Somebody is here."""
        self._seen[person.name] = datetime.now(UTC)

    # -- the session -----------------------------------------------------------------------------

    async def session(self, person: Person, given: Given) -> Any:
        now = datetime.now(UTC)
        here = sum((now - seen).total_seconds() < _HERE for seen in self._seen.values())
        return {
            "title": self.opened.table.source,
            "who": person.name,
            "role": person.role,
            "lease_seconds": self.lease_seconds,
            "columns": list(self.views.columns),
            "n_people": here,
            "which_group": self.board.summary.may_choose,
            "kind": self.views.kind,
            "version": samecluster.__version__,
        }

    async def progress(self, person: Person, given: Given) -> Any:
        return self.board.summary.progress

    async def events(self, person: Person, given: Given) -> Any:
        return StreamingResponse(stream(self.board, self.plot), media_type="text/event-stream")

    async def openapi(self, person: Person, given: Given) -> Any:
        return FileResponse(FILE, media_type="application/json")

    async def people_(self, person: Person, given: Given) -> Any:
        counted = await self.board.call(
            lambda session: Counter(said.who for said in session.state.answers() if not said.source)
        )
        roles = self.people.roles()
        everybody = dict.fromkeys([*roles, *counted, *self._seen])
        found = [
            {
                "who": who,
                "role": roles.get(who),
                "n_answers": counted.get(who, 0),
                "last": _time(self._seen.get(who)),
            }
            for who in everybody
        ]
        return {"people": found}

    # -- questions and answers -------------------------------------------------------------------

    async def next(self, person: Person, given: Given) -> Any:
        def ask(session: Session) -> tuple[list[SessionQuestion], str]:
            asked = session.ask(person.name, given["count"], self.lease_seconds)
            return asked, "" if asked else session.progress().ended

        asked, ended = await self.board.call(ask, Urgency.ASK)
        summary = self.board.summary
        return {
            "questions": [self.views.question(one, summary) for one in asked],
            "ended": ended,
            "waiting": not asked and not ended,
        }

    async def heartbeat(self, person: Person, given: Given) -> Any:
        held = await self.board.call(
            lambda session: session.renew(given["questions"], person.name, self.lease_seconds),
            Urgency.ASK,
        )
        return {"held": held}

    async def release(self, person: Person, given: Given) -> Any:
        await self.board.call(lambda session: session.release(person.name), Urgency.ASK)
        return {}

    async def answer(self, person: Person, given: Given) -> Any:
        return await self._take(
            lambda session: session.tell(
                given["question"], given["verdict"], person.name, key=given["key"]
            )
        )

    async def flag(self, person: Person, given: Given) -> Any:
        return await self._take(
            lambda session: session.flag(
                given["question"], given["note"], person.name, key=given["key"]
            )
        )

    async def place(self, person: Person, given: Given) -> Any:
        def put(session: Session) -> list[int]:
            done = place(session, given["item"], given["group"], person.name, given["key"])
            if done:
                self._placed[person.name] = done
            return done

        sequences = await self.board.call(put, Urgency.ANSWER)
        summary = self.board.summary
        last = max(sequences, default=summary.sequence)
        return {"sequence": last, "settled": len(sequences), "progress": summary.progress}

    async def undo(self, person: Person, given: Given) -> Any:
        def back(session: Session) -> SessionQuestion | None:
            placed, last = self._placed.pop(person.name, []), session.state.last_answer(person.name)
            together = last is not None and last.sequence in placed
            question = None
            for _ in placed if together else [None]:
                question = session.undo(person.name, self.lease_seconds)
            return question

        question = await self.board.call(back, Urgency.ANSWER)
        summary = self.board.summary
        return {"question": None if question is None else self.views.question(question, summary)}

    async def groups(self, person: Person, given: Given) -> Any:
        if "item" in given:
            row: int | None = self.views.row(given["item"])
        else:
            asked = await self.board.call(
                lambda session: session.ask(person.name, 1, self.lease_seconds), Urgency.ASK
            )
            row = asked[0].rows[0] if asked else None
        return self.views.groups(row, self.board.summary)

    # -- what is known ---------------------------------------------------------------------------

    async def plot_(self, person: Person, given: Given) -> Any:
        return await asyncio.to_thread(self.plot.points, self.board.summary)

    async def plot_labels(self, person: Person, given: Given) -> Any:
        return self.plot.labels(self.board.summary)

    async def clusters(self, person: Person, given: Given) -> Any:
        return {"clusters": self.views.clusters(self.board.summary)}

    async def members(self, person: Person, given: Given) -> Any:
        found = self.views.members(
            given["number"],
            given["offset"],
            given["limit"],
            given.get("how"),
            self.board.summary,
        )
        if found is None:
            raise Refusal(404, f"there is no cluster {given['number']}")
        return found

    async def name(self, person: Person, given: Given) -> Any:
        if given["number"] not in self.board.summary.anchors:
            raise Refusal(404, f"there is no cluster {given['number']}")
        return await self._change(
            lambda session: session.name(given["number"], given["name"], person.name)
        )

    async def why(self, person: Person, given: Given) -> Any:
        row, recovery = self.views.row(given["item"]), self.board.summary.recovery
        if recovery is None:
            return {"text": "Nothing is known yet.", "how": "unassigned"}
        text = await asyncio.to_thread(why, recovery, row, self.views)
        return {"text": text, "how": How(recovery.how_codes[row]).name.lower()}

    async def image(self, person: Person, given: Given) -> Any:
        images = self.images
        found = None if images is None else await asyncio.to_thread(images.read, given["opaque"])
        if found is None:
            raise Refusal(404, "there is no such image")
        data, kind = found
        return Response(data, media_type=kind, headers={"cache-control": "private, max-age=86400"})

    # -- disagreement ----------------------------------------------------------------------------

    async def doubt(self, person: Person, given: Given) -> Any:
        asked = await self.board.call(lambda session: session.doubt(given["item"], person.name))
        return {"questions": len(asked)}

    async def merge(self, person: Person, given: Given) -> Any:
        one, two = given["clusters"]
        if one == two:
            raise Refusal(422, f"two different clusters can be merged, got {one} twice")
        asked = await self.board.call(lambda session: session.merge(one, two, person.name))
        return {"questions": 0 if asked is None else 1}

    async def split(self, person: Person, given: Given) -> Any:
        asked = await self.board.call(
            lambda session: session.split(given["cluster"], given["items"], person.name)
        )
        return {"questions": len(asked)}

    async def preview(self, person: Person, given: Given) -> Any:
        return _effect(
            await self.board.call(
                lambda session: session.preview_answer(given["question"], given["verdict"])
            )
        )

    async def trouble(self, person: Person, given: Given) -> Any:
        found = await self.board.call(lambda session: session.trouble)
        return {"trouble": [_trouble(one) for one in found]}

    async def preview_remedy(self, person: Person, given: Given) -> Any:
        return _effect(
            await self.board.call(lambda session: session.preview(_remedy(session, given["id"])))
        )

    async def apply_remedy(self, person: Person, given: Given) -> Any:
        return await self._change(
            lambda session: session.apply(_remedy(session, given["id"]), person.name)
        )

    # -- the end ---------------------------------------------------------------------------------

    async def choices(self, person: Person, given: Given) -> Any:
        summary = self.board.summary
        ended, recovery = summary.progress["ended"], summary.recovery
        if not ended or recovery is None:
            return {"ended": ended, "choices": []}
        found = choices(recovery, summary.parameters.get("max_questions"))
        return {"ended": ended, "choices": [{"key": c.key, "text": c.text} for c in found]}

    async def choose(self, person: Person, given: Given) -> Any:
        def choose(session: Session) -> None:
            budget = session.state.parameters.get("max_questions")
            offered = choices(session.snapshot(), budget) if session.progress().ended else []
            chosen = next((one for one in offered if one.key == given["key"]), None)
            if chosen is None:
                raise ProtocolError("there is no such choice now; look at the choices again")
            if chosen.parameters is None:
                session.finish(person.name)
            else:
                session.set_parameters(who=person.name, **chosen.parameters)

        return await self._change(choose)

    async def export(self, person: Person, given: Given) -> Any:
        return await self._download(downloads.labels, given["format"])

    async def report(self, person: Person, given: Given) -> Any:
        trouble = await self.board.call(lambda session: session.trouble)
        return await self._download(downloads.report, trouble)

    async def proof(self, person: Person, given: Given) -> Any:
        return await self._download(downloads.proof)

    async def _take(self, work: Callable[[Session], int]) -> Any:
        sequence = await self.board.call(work, Urgency.ANSWER)
        return {"sequence": sequence, "progress": self.board.summary.progress}

    async def _change(self, work: Callable[[Session], None]) -> Any:
        await self.board.call_and_see(work)
        return {"progress": self.board.summary.progress}

    async def _download(self, make: Callable[..., downloads.Download], *more: Any) -> Response:
        made = await asyncio.to_thread(make, self.opened, self.board.summary, *more)
        held = {"content-disposition": f'attachment; filename="{made.name}"'}
        return Response(made.data, media_type=made.kind, headers=held)


def _effect(effect: Effect) -> dict[str, Any]:
    return {
        "text": str(effect),
        "undecided": effect.undecided,
        "decided": effect.decided,
        "changed": effect.changed,
    }


def _trouble(trouble: Trouble) -> dict[str, Any]:
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


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")
