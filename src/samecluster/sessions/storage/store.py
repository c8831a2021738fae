"""Where events are kept: a protocol of three methods, and a store in memory.

`samecluster.testing.check_store` is the suite that every store passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from samecluster.errors import StoreError
from samecluster.sessions.storage.events import Event, checked_event


class Store(Protocol):
    """A list of events that only grows."""

    def read(self, after: int = 0) -> Iterator[Event]:
        """The events with a higher sequence number, in order."""
        ...

    def append(self, events: Sequence[Event]) -> list[int]:
        """Take events in, all or none, and return their sequence numbers.

        When this returns they are safe: nothing that happens to this process loses them.
        StoreError if that cannot be said, and then none of them is kept.
        """
        ...

    def close(self) -> None:
        """Let go of the place. A closed store raises StoreError; closing twice is no error."""
        ...


class MemoryStore:
    """Events in memory, for trying things out; gone with the process.

    >>> store = MemoryStore()
    >>> store.append([Event("closed", "2026-01-31T12:00:00+00:00")])
    [1]
    >>> [event.kind for event in store.read()]
    ['closed']
    """

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._closed = False

    def read(self, after: int = 0) -> Iterator[Event]:
        self._check_open()
        return iter(self._events[after:])

    def append(self, events: Sequence[Event]) -> list[int]:
        self._check_open()
        first = len(self._events) + 1
        numbered = [
            replace(checked_event(event), sequence=sequence)
            for sequence, event in enumerate(events, start=first)
        ]
        self._events += numbered
        return [event.sequence for event in numbered]

    def close(self) -> None:
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StoreError("the store is closed; open the session again")
