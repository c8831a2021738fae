"""Server-sent events: who watches hears of every new summary, and nothing twice."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from samecluster.web.plot import Plot
from samecluster.web.session_thread import SessionThread
from samecluster.web.snapshot import SessionSummary

__all__ = ["stream"]

_SILENCE = 15.0
"""Seconds after which a comment keeps the connection from being taken for dead."""
_BREATH = 0.2
"""Seconds between two events: eyes need no more, and many answers make one."""


async def stream(board: SessionThread, plot: Plot) -> AsyncIterator[str]:
    """Events for one watcher, until the server stops or the watcher goes."""
    watcher = board.watch()
    before: SessionSummary | None = None
    try:
        while not board.closing:
            watcher.clear()
            now = board.summary
            for kind, data in _news(before, now, plot):
                yield f"event: {kind}\ndata: {json.dumps(data)}\n\n"
            before = now
            try:
                await asyncio.wait_for(watcher.wait(), _SILENCE)
            except TimeoutError:
                yield ": still here\n\n"
            await asyncio.sleep(_BREATH)
    finally:
        board.unwatch(watcher)


def _news(
    before: SessionSummary | None, now: SessionSummary, plot: Plot
) -> list[tuple[str, dict[str, Any]]]:
    if before is not None and before.version == now.version:
        return []
    news: list[tuple[str, dict[str, Any]]] = [("progress", dict(now.progress))]
    news.append(("labels", {"version": now.version, "plot": plot.version_for(now)}))
    told = {} if before is None else before.progress
    if now.progress["n_trouble"] != told.get("n_trouble", 0):
        news.append(("trouble", {"n_trouble": now.progress["n_trouble"]}))
    if now.progress["ended"] and now.progress["ended"] != told.get("ended"):
        news.append(("ended", {"ended": now.progress["ended"]}))
    return news
