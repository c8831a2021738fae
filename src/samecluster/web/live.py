"""Server-sent events: what changed from one summary to the next, for each watcher."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from samecluster.web.plot import Plot
from samecluster.web.session_thread import SessionThread
from samecluster.web.snapshot import SessionSummary

_SILENCE = 15.0
"""Seconds after which a comment keeps the connection from being taken for dead."""
_LOOK = 2.0
"""Seconds after which a link is looked at again: a revoked one ends the stream."""
_PAUSE = 0.2
"""Seconds between two summaries that are sent; many answers then make one event."""


async def stream(
    thread: SessionThread, plot: Plot, is_welcome: Callable[[], bool] = lambda: True
) -> AsyncIterator[str]:
    """Events for one watcher, until the server stops, the watcher leaves or is not welcome."""
    watcher = thread.watch()
    before: SessionSummary | None = None
    silent = 0.0
    try:
        while not thread.closing and is_welcome():
            watcher.clear()
            now = thread.summary
            for kind, data in news(before, now, plot):
                yield f"event: {kind}\ndata: {json.dumps(data)}\n\n"
            before = now
            try:
                await asyncio.wait_for(watcher.wait(), _LOOK)
                silent = 0.0
            except TimeoutError:
                silent += _LOOK
            if silent >= _SILENCE:
                silent = 0.0
                yield ": still here\n\n"
            await asyncio.sleep(_PAUSE)
    finally:
        thread.unwatch(watcher)


def news(
    before: SessionSummary | None, now: SessionSummary, plot: Plot
) -> list[tuple[str, dict[str, Any]]]:
    """Events, as kind and data, that say what is new since the summary ``before``."""
    if before is not None and before.version == now.version:
        return []
    found: list[tuple[str, dict[str, Any]]] = [("progress", dict(now.progress))]
    found.append(("labels", {"version": now.version, "plot": plot.version_for(now)}))
    old = {} if before is None else before.progress
    if now.progress["n_trouble"] != old.get("n_trouble", 0):
        found.append(("trouble", {"n_trouble": now.progress["n_trouble"]}))
    if now.progress["ended"] and now.progress["ended"] != old.get("ended"):
        found.append(("ended", {"ended": now.progress["ended"]}))
    return found
