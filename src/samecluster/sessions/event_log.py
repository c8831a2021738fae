"""The log of a session: every change is an event, and safe before anything rests on it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from samecluster.errors import StoreError
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event, checked_event
from samecluster.sessions.storage.store import Store


class Overtaken(Exception):
    """While an answer was judged, another one of the same person was written down."""


class EventLog:
    """A store, and the state that its events add up to.

    Another thread may write events with `append_aside`; all else is for the session's own thread.

    Attributes
    ----------
    lock : held while something is written, and while the state changes
    waiting : events that are in the store, and not in the state until `take_in`
    on_event : called with each event that was waiting, once the state has it
    """

    def __init__(self, store: Store, state: State, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock
        self.state = state
        self.lock = threading.RLock()
        self.waiting: deque[Event] = deque()
        self._numbers: Mapping[str, int] = {}
        self.on_event: Callable[[Event], None] = lambda _: None

    def append(self, events: Sequence[Event], *, is_judged: bool = False) -> int:
        """Append and commit, then take in, then acknowledge by returning the last number.

        The order is what a session promises. The store returns once the events are on the disk, all
        or none; if it cannot, it raises, and neither the state nor the caller has seen them. In the
        other order a full disk or a crash would leave labels, or a person's screen, resting on an
        answer that the next start does not find. A crash between commit and return loses nothing:
        the caller sends the answer again, and `AnswerDesk.tell` knows it.

        Overtaken, and nothing is written, if ``is_judged`` and what the judgement rests on (what
        the same person has said) has changed meanwhile.
        """
        with self.lock:
            is_overtaken = any(event.who == events[-1].who for event in self.waiting)
            self.take_in()
            if is_judged and is_overtaken:
                raise Overtaken
            for event in self._stored(events):
                self.state.apply(event)
            self._numbers = {}
            return self.state.n_events

    def append_aside(self, events: Sequence[Event]) -> list[int]:
        """Append and commit from another thread, for the state to take in later; their numbers."""
        if not events:
            return []
        with self.lock:
            if self._numbers:
                first = replace(events[0], body={**events[0].body, "numbers": dict(self._numbers)})
                events = [first, *events[1:]]
            stored = self._stored(events)
            self._numbers = {}
            self.waiting.extend(stored)
            return [event.sequence for event in stored]

    def keep_numbers(self, numbers: Mapping[str, int]) -> None:
        """Keep cluster numbers of the state with the next event, whoever writes it.

        If there are events that the state does not know, a run that follows them might number in
        another order, so that the numbers are written at once.
        """
        with self.lock:
            self._numbers = numbers
            if numbers and self.waiting:
                with suppress(StoreError):  # they are kept with the next event that can be kept
                    self.append_aside([self.draft("parameters", None, {"parameters": {}})])

    def take_in(self) -> None:
        """Bring the state to where the store is."""
        with self.lock:
            while self.waiting:
                event = self.waiting.popleft()
                self.state.apply(event)
                self.on_event(event)

    def _stored(self, events: Sequence[Event]) -> list[Event]:
        sequences = self._store.append(events)
        numbered = zip(events, sequences, strict=True)
        return [replace(event, sequence=sequence) for event, sequence in numbered]

    def draft(
        self,
        kind: str,
        who: str | None,
        body: Mapping[str, Any],
        numbers: Mapping[str, int] | None = None,
    ) -> Event:
        """An event of this moment, not written yet; ``numbers`` of clusters are kept with it."""
        at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
        return Event(kind, at, who, {**body, "numbers": dict(numbers)} if numbers else body)

    def imagined(self, *drafts: Event) -> State:
        """What the state would be after these events; nothing is written."""
        state = self.state.copy()
        for draft in drafts:
            state.apply(replace(checked_event(draft), sequence=state.n_events + 1))
        return state

    def events(self) -> Iterator[Event]:
        """All that has happened, in order, as the store has it."""
        with self.lock:
            return iter(list(self._store.read()))

    def close(self) -> None:
        """Close the store."""
        with self.lock:
            self.take_in()
            self._store.close()


class Recorder(EventLog):
    """The log as the parts of a session write it, who change something through here only.

    Each event is completed with the cluster numbers that are new, and preceded by the one that says
    that an audit has begun, if it has.
    """

    def __init__(
        self, store: Store, state: State, clock: Callable[[], datetime], known: KnownLabels
    ) -> None:
        super().__init__(store, state, clock)
        self._known = known

    def record(
        self, kind: str, who: str | None, body: Mapping[str, Any], *, is_judged: bool = False
    ) -> int:
        """Write an event down; its sequence number, once it is safe."""
        drafts = self._drafts(kind, who, body, self._known.new_numbers())
        return self.append(drafts, is_judged=is_judged)

    def record_if_usable(
        self,
        kind: str,
        who: str | None,
        body: Mapping[str, Any],
        rows: tuple[Engine, Mapping[str, int]] | None = None,
    ) -> None:
        """Write an event down if a run can follow it, or raise what the run raises.

        ``rows``, if the event brings other ones: an engine for them, and the numbers to be kept.
        """
        engine, numbers = rows or (None, self._known.new_numbers())
        drafts = self._drafts(kind, who, body, numbers)
        imagined = self._known.of_state(self.imagined(*drafts), engine)
        imagined.prepare()
        with self.lock:
            is_as_imagined = not self.waiting
            self.append(drafts)
        self._known.replace_run(imagined if is_as_imagined else imagined.of_state(self.state))

    def _drafts(
        self, kind: str, who: str | None, body: Mapping[str, Any], numbers: Mapping[str, int]
    ) -> list[Event]:
        """The event, after one that says that an audit has begun if none has said so yet.

        From then on a new epoch has to do with a smaller share of what the confidence leaves.
        """
        drafts = [self.draft(kind, who, body, numbers)]
        if self._known.has_new_audit():
            error, confidence = self.state.parameters["audit"]
            begun = {"error": error, "confidence": confidence}
            drafts.insert(0, self.draft("audit", None, begun))
        return drafts
