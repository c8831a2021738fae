"""The log of a session: every change is an event, and safe before anything rests on it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event, checked_event
from samecluster.sessions.storage.store import Store


class EventLog:
    """A store, and the state that its events add up to.

    Another thread may append events with `append_aside`; all else is for the session's own.

    Attributes
    ----------
    lock : held while something is written
    waiting : events that are in the store, and not in the state until `take_in`
    numbers : of clusters, seen by people, to be kept with the next event
    on_event : called with each event that was waiting once the state has it
    """

    def __init__(self, store: Store, state: State, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock
        self.state = state
        self.lock = threading.RLock()
        self.waiting: deque[Event] = deque()
        self.numbers: dict[str, int] = {}
        self.on_event: Callable[[Event], None] = lambda _: None

    def append(self, events: Sequence[Event]) -> int:
        """Append and commit, then take in, then acknowledge by returning the last number.

        The order is what a session promises. The store returns once the events are on the disk, all
        or none; if it cannot, it raises, and neither the state nor the caller has seen them. In the
        other order a full disk or a crash would leave labels, or a person's screen, resting on an
        answer that the next start does not find. A crash between commit and return loses nothing:
        the caller sends the answer again, and `AnswerDesk.tell` knows it.
        """
        with self.lock:
            self.take_in()
            sequences = self._store.append(events)
            for event, sequence in zip(events, sequences, strict=True):
                self.state.apply(replace(event, sequence=sequence))
            return self.state.n_events

    def append_aside(self, events: Sequence[Event]) -> list[int]:
        """Append and commit from another thread, for the state to take in later; their numbers."""
        if not events:
            return []
        with self.lock:
            first, *others = events
            if self.numbers:
                first = replace(first, body={**first.body, "numbers": self.numbers})
            sequences = self._store.append([first, *others])
            self.numbers = {}
            for event, sequence in zip((first, *others), sequences, strict=True):
                self.waiting.append(replace(event, sequence=sequence))
            return sequences

    def take_in(self) -> None:
        """Bring the state to where the store is."""
        with self.lock:
            while self.waiting:
                event = self.waiting.popleft()
                self.state.apply(event)
                self.on_event(event)

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
