"""Operations of somebody who looks: progress, plot, groups, reasons, images, files to take home.

All but a few are made from the last summary, so that looking keeps nobody from answering.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from starlette.responses import FileResponse, Response, StreamingResponse

import samecluster
from samecluster.recovery.result.how import How
from samecluster.web import downloads
from samecluster.web.context import Call, Handler, ServerContext
from samecluster.web.errors import HttpError
from samecluster.web.links import place_of
from samecluster.web.live import stream
from samecluster.web.operations.schema import FILE
from samecluster.web.views import why
from samecluster.workspace.all_rows import sample_line

__all__ = ["OPERATIONS"]

_HERE = 60.0
"""Seconds after their last request that somebody counts as being here."""


async def _session(desk: ServerContext, call: Call) -> Any:
    now = datetime.now(UTC)
    here = sum((now - seen).total_seconds() < _HERE for seen in desk.seen.values())
    return {
        "id": place_of(desk.opened.path),
        "title": desk.opened.table.source,
        "who": call.who,
        "role": call.person.role,
        "lease_seconds": desk.lease_seconds,
        "columns": list(desk.views.columns),
        "n_people": here,
        "which_group": desk.board.summary.may_choose,
        "kind": desk.views.kind,
        "sample": sample_line(desk.opened, desk.opened.path.name),
        "version": samecluster.__version__,
    }


async def _progress(desk: ServerContext, _: Call) -> Any:
    return desk.board.summary.progress


async def _events(desk: ServerContext, _: Call) -> Any:
    return StreamingResponse(stream(desk.board, desk.plot), media_type="text/event-stream")


async def _openapi(_: ServerContext, __: Call) -> Any:
    return FileResponse(FILE, media_type="application/json")


async def _people(desk: ServerContext, _: Call) -> Any:
    counted = await desk.board.call(
        lambda session: Counter(said.who for said in session.state.answers() if not said.source)
    )
    roles = desk.people.roles()
    everybody = dict.fromkeys([*roles, *counted, *desk.seen])
    found = [
        {
            "who": who,
            "role": roles.get(who),
            "n_answers": counted.get(who, 0),
            "last": _time(desk.seen.get(who)),
        }
        for who in everybody
    ]
    return {"people": found}


async def _plot(desk: ServerContext, _: Call) -> Any:
    return await asyncio.to_thread(desk.plot.points, desk.board.summary)


async def _plot_labels(desk: ServerContext, _: Call) -> Any:
    return desk.plot.labels(desk.board.summary)


async def _clusters(desk: ServerContext, _: Call) -> Any:
    return {"clusters": desk.views.clusters(desk.board.summary)}


async def _members(desk: ServerContext, call: Call) -> Any:
    found = desk.views.members(
        call["number"],
        call["offset"],
        call["limit"],
        call.given.get("how"),
        desk.board.summary,
    )
    if found is None:
        raise HttpError(404, f"there is no cluster {call['number']}")
    return found


async def _why(desk: ServerContext, call: Call) -> Any:
    row, recovery = desk.views.row(call["item"]), desk.board.summary.recovery
    if recovery is None:
        return {"text": "Nothing is known yet.", "how": "unassigned"}
    text = await asyncio.to_thread(why, recovery, row, desk.views)
    return {"text": text, "how": How(recovery.how_codes[row]).name.lower()}


async def _image(desk: ServerContext, call: Call) -> Any:
    images = desk.images
    found = None if images is None else await asyncio.to_thread(images.read, call["opaque"])
    if found is None:
        raise HttpError(404, "there is no such image")
    data, kind = found
    return Response(data, media_type=kind, headers={"cache-control": "private, max-age=86400"})


async def _export(desk: ServerContext, call: Call) -> Any:
    return await _download(desk, downloads.labels, call["format"])


async def _report(desk: ServerContext, _: Call) -> Any:
    trouble = await desk.board.call(lambda session: session.trouble)
    return await _download(desk, downloads.report, trouble)


async def _proof(desk: ServerContext, _: Call) -> Any:
    return await _download(desk, downloads.proof)


async def _download(
    desk: ServerContext, make: Callable[..., downloads.Download], *more: Any
) -> Response:
    made = await asyncio.to_thread(make, desk.opened, desk.board.summary, *more)
    held = {"content-disposition": f'attachment; filename="{made.name}"'}
    return Response(made.data, media_type=made.kind, headers=held)


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat(timespec="seconds")


OPERATIONS: dict[str, Handler] = {
    "session": _session,
    "progress": _progress,
    "events": _events,
    "openapi": _openapi,
    "people": _people,
    "plot": _plot,
    "plot_labels": _plot_labels,
    "clusters": _clusters,
    "members": _members,
    "why": _why,
    "image": _image,
    "export": _export,
    "report": _report,
    "proof": _proof,
}
