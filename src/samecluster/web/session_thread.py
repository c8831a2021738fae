"""A session that many requests use at once: calls queue for the one thread that owns it.

While the queue is empty, the thread works out the next questions and publishes a summary that
requests read without waiting. Answers do not queue for it: they are committed by a thread of their
own, and the session takes them in before its next call.
"""

from __future__ import annotations

import asyncio
import enum
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from samecluster.errors import StoreError
from samecluster.sessions.intake import SentAnswer
from samecluster.sessions.session import Session
from samecluster.web.intake_thread import IntakeThread
from samecluster.web.snapshot import SessionSummary

T = TypeVar("T")

_OVERDUE = 1.0
"""Seconds after which a summary is made although calls are waiting; more if it takes long."""
_SHARE = 10
"""While calls wait, at most 1/10 of the time goes into summaries."""
_IDLE_SHARE = 3
"""With nothing else to do, at most 1/4: threads of one process work in turns."""
_LONGEST_CLOSE = 5.0
"""Seconds that `close` waits for the thread; answers are on disk either way."""

log = logging.getLogger("samecluster.web")


class Urgency(enum.IntEnum):
    """Which calls come first: the lowest number, then the oldest."""

    ANSWER = 0
    ASK = 1
    LOOK = 2
    LAST = 3


@dataclass(order=True)
class _Call:
    urgency: Urgency
    number: int
    work: Callable[[Session], Any] | None = field(compare=False)
    done: Future[Any] = field(compare=False, default_factory=Future)


class SessionThread:
    """The session, the queue of calls, and the watchers that wait for the next summary.

    Made in the thread that opened the session; from then on only its own thread uses the session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._queue: queue.PriorityQueue[_Call] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._watchers: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}
        self._watching = threading.Lock()
        self._tried = self._prepared = self._version = -1
        self._due_at = self._idle_due_at = 0.0
        self._error_on_closing: StoreError | None = None
        self.closing = False
        self.summary = SessionSummary.blank(session)
        self._thread = threading.Thread(target=self._work, name="session", daemon=True)
        self._thread.start()
        self._intake = IntakeThread(session.intake, lambda: self._queued(_nothing, Urgency.LAST))

    async def call(self, work: Callable[[Session], T], urgency: Urgency = Urgency.LOOK) -> T:
        """Run ``work`` on the session in its thread; await what it returns."""
        self._check_open()
        return await asyncio.wrap_future(self._queued(work, urgency))

    async def answer(self, answer: SentAnswer) -> int:
        """Keep an answer; its sequence number once it is safe."""
        self._check_open()
        number = await asyncio.wrap_future(self._intake.put(answer))
        if number is None:
            number = await self.call(lambda session: session.judge(answer), Urgency.ANSWER)
        return number

    async def call_and_see(self, work: Callable[[Session], T]) -> T:
        """The same, with a new summary before it returns: for rare changes."""

        def both(session: Session) -> T:
            result = work(session)
            self._publish()
            return result

        return await self.call(both)

    def watch(self) -> asyncio.Event:
        """An event that is set at every new summary, and when the thread is stopped."""
        watcher = asyncio.Event()
        with self._watching:
            self._watchers[watcher] = asyncio.get_running_loop()
        return watcher

    def unwatch(self, watcher: asyncio.Event) -> None:
        with self._watching:
            self._watchers.pop(watcher, None)

    def stop(self) -> None:
        """Take no more calls and wake all watchers, so that their streams end."""
        self.closing = True
        self._wake()

    def close(self) -> bool:
        """Finish the queue, then close the session; False if it was still busy.

        StoreError if the file of the session is gone; it says where the answers were saved.
        """
        self.stop()
        self._intake.close(_LONGEST_CLOSE)
        self._queue.put(_Call(Urgency.LAST, next(self._numbers), None))
        self._thread.join(_LONGEST_CLOSE)
        error, self._error_on_closing = self._error_on_closing, None
        if error is not None:
            raise error
        return not self._thread.is_alive()

    def _check_open(self) -> None:
        if self.closing:
            raise StoreError("the server is being stopped; send it again when it is back")

    def _queued(self, work: Callable[[Session], T], urgency: Urgency) -> Future[T]:
        call = _Call(urgency, next(self._numbers), work)
        self._queue.put(call)
        return call.done

    def _work(self) -> None:
        while True:
            call = self._next_call()
            if call is None:
                self._catch_up()
                continue
            if call.work is None:
                try:
                    self._session.close()
                except StoreError as error:
                    self._error_on_closing = error
                return
            self._do(call)
            if self._is_behind() and time.monotonic() > self._due_at:
                self._catch_up()

    def _next_call(self) -> _Call | None:
        """The next call; None as soon as there is time for other things."""
        try:
            if not self._is_behind():
                return self._queue.get()
            is_prepared = self._prepared == self._session.state.n_events
            rest = self._idle_due_at - time.monotonic() if is_prepared else 0.0
            return self._queue.get(timeout=rest) if rest > 0 else self._queue.get(block=False)
        except queue.Empty:
            return None

    def _do(self, call: _Call) -> None:
        if call.work is None or not call.done.set_running_or_notify_cancel():
            return
        try:
            self._session.take_in()
            call.done.set_result(call.work(self._session))
        except BaseException as error:
            if isinstance(error, StoreError):
                # People cannot do much about it; whoever sits at the terminal can.
                log.error("%s", error)
            call.done.set_exception(error)

    def _is_behind(self) -> bool:
        return self._tried != self._session.state.n_events

    def _catch_up(self) -> None:
        """Work out the next questions, and publish a summary unless a call came meanwhile."""
        try:
            self._session.prepare()
            self._prepared = self._session.state.n_events
            due_at = self._idle_due_at if self._queue.empty() else self._due_at
            if time.monotonic() > due_at:
                self._publish()
        except Exception:
            # The next call for questions raises it again; nobody waits for this one.
            log.exception("the next questions could not be worked out")
            self._tried = self._session.state.n_events

    def _publish(self) -> None:
        self._version += 1
        start = time.monotonic()
        self._session.show_numbers()
        self.summary = SessionSummary.of(self._session, self._version)
        self._tried = self.summary.sequence
        end = time.monotonic()
        self._due_at = end + max(_OVERDUE, _SHARE * (end - start))
        self._idle_due_at = end + _IDLE_SHARE * (end - start)
        self._wake()

    def _wake(self) -> None:
        with self._watching:
            for watcher, loop in self._watchers.items():
                if not loop.is_closed():
                    loop.call_soon_threadsafe(watcher.set)


def _nothing(_: Session) -> None:
    """A call that only wakes the thread."""
