"""What nobody can take from everybody else: connections, time, and lines of the server's log.

Whoever reaches the port can open connections and say nothing, link or not. A request has to arrive
within seconds, and when there are too many connections those that wait for one go first. Whoever
can make a server complain could fill the disk that answers are kept on, so lines of one kind are
few.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_MOST_CONNECTIONS = 400
"""Far below the 1,024 files that a process may usually have open."""
_LONGEST_REQUEST = 20.0
"""Seconds in which a request has to arrive, head and body."""
_LOOK = 5.0
"""Seconds between two looks at a connection."""
_MOST = 5
_MINUTE = 60.0


class LimitedProtocol(H11Protocol):
    """A connection that is closed if it keeps the server waiting for a request."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._waiting_since, self._has_asked = time.monotonic(), False
        self._look_again()
        if len(self.connections) > _MOST_CONNECTIONS:
            others: list[Any] = [one for one in self.connections if one is not self]
            waiting = [one for one in others if one.is_waiting() and not one.transport.is_closing()]
            # Those of people who have asked something stay longest.
            first = min(waiting, key=lambda o: (o._has_asked, o._waiting_since), default=self)
            first.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._look.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._waiting_since, self._has_asked = time.monotonic(), True
        super().on_response_complete()

    def is_waiting(self) -> bool:
        """Whether the rest of a request, or all of it, has still to come."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _look_again(self) -> None:
        self._look = self.loop.call_later(_LOOK, self._close_if_idle)

    def _close_if_idle(self) -> None:
        if not self.is_waiting():
            self._waiting_since = time.monotonic()
        elif time.monotonic() - self._waiting_since >= _LONGEST_REQUEST:
            self.transport.abort()
            return
        self._look_again()


class LineLimit(logging.Filter):
    """Lets 5 lines per minute through from each place in the code that writes one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._begun: dict[tuple[str, int], float] = {}
        self._counts: dict[tuple[str, int], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        kind, now = (record.pathname, record.lineno), self._clock()
        if now - self._begun.get(kind, -_MINUTE) >= _MINUTE:
            left_out = self._counts.get(kind, 0) - _MOST
            self._begun[kind], self._counts[kind] = now, 0
            if left_out > 0:
                record.msg = f"{record.getMessage()} (and {left_out:,} lines like this before)"
                record.args = ()
        self._counts[kind] += 1
        return self._counts[kind] <= _MOST


def limit_lines(names: Iterable[str] = ("samecluster.web", "uvicorn.error", "asyncio")) -> None:
    """Limit what these loggers write, once each."""
    for name in names:
        logger = logging.getLogger(name)
        if not any(isinstance(one, LineLimit) for one in logger.filters):
            logger.addFilter(LineLimit())
