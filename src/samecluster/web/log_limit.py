"""Lines of one kind in the server's log: the first few, then how many were left out.

Whoever can make a server complain could otherwise fill the disk that answers are kept on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

__all__ = ["LineLimit", "limit_lines"]

_MOST = 5
_MINUTE = 60.0


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
