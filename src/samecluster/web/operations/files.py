"""Operations that reply with a file: images of items, and what owners download."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from samecluster.web.context import Call, ServerContext
from samecluster.web.errors import HttpError
from samecluster.web.operations import downloads
from samecluster.web.operations.declared import (
    CONFLICT,
    NOT_FOUND,
    UNUSABLE,
    DeclaredReply,
    Operations,
    Parameter,
)
from samecluster.web.operations.schema import TEXT, choice, string

OPERATIONS = Operations()


def _file(*kinds: str) -> DeclaredReply:
    """A reply that is a file of one of these media types."""
    return DeclaredReply("The file.", dict.fromkeys(kinds, string(format="binary")))


@OPERATIONS.declare(
    "GET /images/{opaque}",
    "An image, of the type that its content says.",
    parameters=[Parameter("opaque", TEXT, "path", required=True)],
    reply=_file("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"),
    errors=[NOT_FOUND],
)
async def _image(context: ServerContext, call: Call) -> Any:
    images = context.images
    found = None if images is None else await asyncio.to_thread(images.read, call["opaque"])
    if found is None:
        raise HttpError(NOT_FOUND, "there is no such image")
    data, kind = found
    return Response(data, media_type=kind, headers={"cache-control": "private, max-age=86400"})


@OPERATIONS.declare(
    "GET /export",
    "The data with cluster, how and probability.",
    parameters=[Parameter("format", choice("csv", "jsonl", "parquet"), required=True)],
    reply=_file("text/csv", "application/x-ndjson", "application/vnd.apache.parquet"),
    errors=[UNUSABLE],
    for_owners=True,
)
async def _export(context: ServerContext, call: Call) -> Any:
    return await _download(context, downloads.labels, call["format"])


@OPERATIONS.declare(
    "GET /report",
    "The report as one HTML page. It shows where points lie.",
    reply=_file("text/html"),
    for_owners=True,
)
async def _report(context: ServerContext, _: Call) -> Any:
    trouble = await context.thread.call(lambda session: session.trouble)
    return await _download(context, downloads.report, trouble)


@OPERATIONS.declare(
    "GET /proof",
    "The proof log and the points that it is about, as a .zip for `samecluster verify`. It reveals "
    "coordinates.",
    reply=_file("application/zip"),
    errors=[CONFLICT],
    for_owners=True,
)
async def _proof(context: ServerContext, _: Call) -> Any:
    return await _download(context, downloads.proof)


async def _download(
    context: ServerContext, make: Callable[..., downloads.Download], *more: Any
) -> Response:
    made = await asyncio.to_thread(make, context.opened, context.thread.summary, *more)
    held = {"content-disposition": f'attachment; filename="{made.name}"'}
    return Response(made.data, media_type=made.kind, headers=held)
