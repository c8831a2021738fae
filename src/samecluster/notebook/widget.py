"""The widget: requests of the page in the browser, answered in this process without a server."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

import anywidget

from samecluster.errors import InvalidInputError
from samecluster.notebook.one_document import widget_module
from samecluster.recovery.result.result import Recovery
from samecluster.tables import as_table
from samecluster.tables.frame_points import FrameFeatures, is_frame
from samecluster.tables.reading.load import LoadedData
from samecluster.web.app import build_app
from samecluster.web.links import Participant, Participants, links_file
from samecluster.web.security import Hosts
from samecluster.web.server import ServeOptions, server_context
from samecluster.workspace.open import OpenSession
from samecluster.workspace.request import Request

T = TypeVar("T")

_SECRET = "inthesameprocess0000"  # there is no way in but by this process
_HEADERS = {
    "host": "localhost",
    "authorization": f"Bearer {_SECRET}",
    "x-samecluster": "1",
    "content-type": "application/json",
}


@dataclass(frozen=True)
class FrameRequest(Request):
    """What `samecluster label` would be asked for, about ``frame`` in place of a file."""

    frame: Any = None

    def load(self, words_replace: bool = False) -> LoadedData:  # noqa: ARG002 - files have words
        """The frame as a table."""
        if not is_frame(self.frame) or hasattr(self.frame, "collect"):
            raise InvalidInputError(
                "frame must be a data frame with its rows, or a mapping of columns, got "
                f"{type(self.frame).__name__}"
            )
        return LoadedData(as_table(self.frame, self.data), ())


class AskWidget(anywidget.AnyWidget):
    """Questions about a frame; made by `samecluster.ask`.

    Attributes
    ----------
    recovery : what is known now
    """

    _esm = widget_module()

    def __init__(
        self,
        opened: OpenSession,
        frame: Any,
        show: Sequence[str],
        who: str | None,
        image_column: str | None = None,
    ) -> None:
        super().__init__()
        self._opened, self._frame = opened, frame
        people = Participants(links_file(opened.path))
        people.accept(_SECRET, Participant(who, "owner"))
        options = ServeOptions(show=show, who=who, image_column=image_column, images_inside=True)
        self._context = server_context(opened, opened.table.source, people, options)
        self._app = build_app(self._context, Hosts.of("localhost"), "notebook")
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self.on_msg(self._take)

    @property
    def recovery(self) -> Recovery:
        """What is known now, with all answers that were acknowledged."""
        known = self._done(self._context.thread.call(lambda session: session.snapshot()))
        kind = type(self._frame).__module__.partition(".")[0]
        index = self._frame.index if kind == "pandas" else None
        names = self._opened.table.names
        return replace(known, frame=FrameFeatures(names, None, (), kind, index))

    def to_frame(self) -> Any:
        """The columns cluster, how and probability, as a frame of the kind that came in."""
        return self.recovery.to_frame()

    def close(self) -> None:
        """End the session; its file stays."""
        if self._thread.is_alive():
            self._context.thread.close()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        super().close()

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the page gets for a request: id, status and text."""
        return self._done(self._answered(request))

    def _take(self, _: Any, request: dict[str, Any], __: Any) -> None:
        """A request of the page: the reply is sent when it is there, and nobody waits for it."""
        done = asyncio.run_coroutine_threadsafe(self._answered(request), self._loop)
        done.add_done_callback(lambda found: self.send(found.result()))

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def _done(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _answered(self, request: dict[str, Any]) -> dict[str, Any]:
        sent: list[dict[str, Any]] = []
        address = urlsplit(request["path"])
        body = (request.get("body") or "").encode()
        headers = {**_HEADERS, "content-length": str(len(body))}
        scope = {
            "type": "http",
            "method": request["method"],
            "path": address.path,
            "raw_path": address.path.encode(),
            "root_path": "",
            "query_string": address.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        text = b"".join(message.get("body", b"") for message in sent).decode()
        return {"id": request["id"], "status": sent[0]["status"], "text": text}
