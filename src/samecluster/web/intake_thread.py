"""The thread that writes answers down while the session's thread works out questions.

All answers that wait go into one commit, so that a crowd waits for the disk once.
"""

from __future__ import annotations

import logging
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from samecluster.errors import StoreError
from samecluster.sessions.intake import Intake, SentAnswer

_TURN = 0.0005
"""Seconds after which a busy thread lets another go on. An answer changes threads several times,
and would wait for the one that works out questions each time: with Python's 0.005 too long."""

log = logging.getLogger("samecluster.web")


@dataclass
class _Sent:
    """An answer on its way; ``done`` gets its number, or None if the session has to judge it."""

    answer: SentAnswer
    done: Future[int | None] = field(default_factory=Future)


class IntakeThread:
    """Writes answers down as they come; ``on_kept`` is called after each commit."""

    def __init__(self, intake: Intake, on_kept: Callable[[], object]) -> None:
        self._intake, self._on_kept = intake, on_kept
        self._queue: queue.SimpleQueue[_Sent | None] = queue.SimpleQueue()
        sys.setswitchinterval(min(_TURN, sys.getswitchinterval()))
        self._thread = threading.Thread(target=self._work, name="answers", daemon=True)
        self._thread.start()

    def put(self, answer: SentAnswer) -> Future[int | None]:
        """Write an answer down if it needs no judgement; its sequence number once it is safe."""
        sent = _Sent(answer)
        self._queue.put(sent)
        return sent.done

    def close(self, seconds: float) -> None:
        """Finish what has come, within this time."""
        self._queue.put(None)
        self._thread.join(seconds)

    def _work(self) -> None:
        while True:
            found = [self._queue.get()]
            while not self._queue.empty():
                found.append(self._queue.get())
            self._take([one for one in found if one and one.done.set_running_or_notify_cancel()])
            if None in found:
                return

    def _take(self, group: list[_Sent]) -> None:
        try:
            numbers = self._intake.take([one.answer for one in group])
        except BaseException as error:
            if isinstance(error, StoreError):
                # People cannot do much about it; whoever sits at the terminal can.
                log.error("%s", error)
            for one in group:
                one.done.set_exception(error)
            return
        for one, number in zip(group, numbers, strict=True):
            one.done.set_result(number)
        self._on_kept()
