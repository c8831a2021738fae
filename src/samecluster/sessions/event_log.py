"""The log of a session: every change is an event, and safe before anything rests on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from samecluster.sessions.state.state import State
from samecluster.sessions.storage.events import Event, checked_event
from samecluster.sessions.storage.store import Store


class EventLog:
    """A store, and the state that its events add up to."""

    def __init__(self, store: Store, state: State, clock: Callable[[], datetime]) -> None:
        self._store, self._clock = store, clock
        self.state = state

    def append(self, events: Sequence[Event]) -> int:
        """Append and commit, then take in, then acknowledge by returning the last number.

        The order is what a session promises. The store returns once the events are on the disk, all
        or none; if it cannot, it raises, and neither the state nor the caller has seen them. In the
        other order a full disk or a crash would leave labels, or a person's screen, resting on an
        answer that the next start does not find. A crash between commit and return loses nothing:
        the caller sends the answer again, and `AnswerDesk.tell` knows it.
        """
        sequences = self._store.append(events)
        for event, sequence in zip(events, sequences, strict=True):
            self.state.apply(replace(event, sequence=sequence))
        return self.state.n_events

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
        return self._store.read()

    def close(self) -> None:
        """Close the store."""
        self._store.close()
