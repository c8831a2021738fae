"""Operations that reply with a file: images of items, and what owners download."""

from __future__ import annotations

import asyncio
import functools
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.responses import Response

from samecluster.errors import ProtocolError
from samecluster.sessions.conflicts import Conflict
from samecluster.web.context import Call, ServerContext
from samecluster.web.errors import HttpError
from samecluster.web.operations.declared import (
    CONFLICT,
    NOT_FOUND,
    UNUSABLE,
    DeclaredReply,
    Operations,
    Parameter,
)
from samecluster.web.operations.schema import TEXT, choice, string
from samecluster.workspace.export import (
    ResultFiles,
    Snapshot,
    proof_of,
    write_labels,
    write_proof,
    write_session_report,
)

OPERATIONS = Operations()
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
    "zip": "application/zip",
}


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
    prefix = "samecluster_" if "cluster" in context.opened.table.columns else ""

    def write(known: Snapshot, file: Path) -> None:
        write_labels(context.opened, known, ResultFiles(str(file), prefix=prefix))

    return await _download(context, f"labels.{call['format']}", write)


@OPERATIONS.declare(
    "GET /report",
    "The report as one HTML page. It shows where points lie.",
    reply=_file("text/html"),
    for_owners=True,
)
async def _report(context: ServerContext, _: Call) -> Any:
    trouble = await context.thread.call(lambda session: session.trouble)
    write = functools.partial(write_session_report, context.opened)
    return await _download(context, "report.html", write, trouble)


@OPERATIONS.declare(
    "GET /proof",
    "The proof log and the points that it is about, as a .zip for `samecluster verify`. It reveals "
    "coordinates.",
    reply=_file("application/zip"),
    errors=[CONFLICT],
    for_owners=True,
)
async def _proof(context: ServerContext, _: Call) -> Any:
    def write(known: Snapshot, archive: Path) -> None:
        if proof_of(known.recovery) is None:
            raise ProtocolError("there is no proof: nothing is proven without a declared margin")
        write_proof(context.opened, known, archive.with_name("proof.jsonl.gz"))
        files = sorted(archive.parent.glob("proof.*"))
        with zipfile.ZipFile(archive, "w") as packed:
            for file in files:
                packed.write(file, file.name)

    return await _download(context, "proof.zip", write)


async def _download(
    context: ServerContext,
    name: str,
    write: Callable[[Snapshot, Path], None],
    trouble: Sequence[Conflict] = (),
) -> Response:
    """A file for an owner, made from the summary, so that no answer waits for it."""
    summary = context.thread.summary
    if summary.is_blank:
        raise ProtocolError("the session is still being worked out; try again in a moment")
    known = Snapshot(summary.recovery, summary.names, trouble)

    def made() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, name)
            write(known, file)
            return file.read_bytes()

    data = await asyncio.to_thread(made)
    held = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(data, media_type=_TYPES[name.partition(".")[2]], headers=held)
