"""Both stores pass the suite; one with a fault is refused, in words that name it."""

from dataclasses import replace

import pytest

from samecluster.errors import StoreError
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.sessions.storage.store import MemoryStore
from samecluster.testing import check_store


def test_our_stores_pass(tmp_path) -> None:
    check_store(MemoryStore, keeps=False)
    check_store(lambda: SqliteStore(tmp_path / "s.samecluster", create=True))


def test_a_store_that_outlives_its_process_passes() -> None:
    kept: list[Event] = []
    check_store(lambda: _over(kept))


def _over(kept: list[Event]) -> MemoryStore:
    store = MemoryStore()
    store._events = kept
    return store


class HalfKept(MemoryStore):
    def append(self, events):
        return [super(HalfKept, self).append([event])[0] for event in events]


class FromZero(MemoryStore):
    def append(self, events):
        return [number - 1 for number in super().append(events)]


class Backwards(MemoryStore):
    def read(self, after=0):
        return reversed(list(super().read(after)))


class FromTheStart(MemoryStore):
    def read(self, after=0):
        return super().read(0)


class Trimming(MemoryStore):
    """Loses what is not printable."""

    def append(self, events):
        printable = [
            replace(event, body={**event.body, "text": event.body["text"].strip("\0")})
            if "text" in event.body and isinstance(event.body["text"], str)
            else event
            for event in events
        ]
        return super().append(printable)


class Anonymous(MemoryStore):
    def append(self, events):
        return super().append([replace(event, who=event.who or "") for event in events])


class NeverClosed(MemoryStore):
    def close(self):
        pass


class ClosedOnce(MemoryStore):
    def close(self):
        if self._closed:
            raise StoreError("closed already")
        super().close()


class Lenient(MemoryStore):
    """Takes what is no event."""

    def append(self, events):
        first = len(self._events) + 1
        self._events += [replace(event, sequence=first + n) for n, event in enumerate(events)]
        return [event.sequence for event in self._events[first - 1 :]]


@pytest.mark.parametrize(
    ("store", "sentence"),
    [
        (HalfKept, "all or none are kept"),
        (FromZero, "numbers count from 1"),
        (Backwards, "events are read in order"),
        (FromTheStart, "after=2 begins with 3"),
        (Trimming, "any text is kept as it is"),
        (Anonymous, "nobody is kept as None"),
        (NeverClosed, "a closed store raises StoreError"),
        (Lenient, "a bad event is refused with SchemaError"),
    ],
)
def test_a_broken_store_is_refused(store, sentence) -> None:
    with pytest.raises(AssertionError, match=sentence):
        check_store(store, keeps=False)


def test_a_store_that_cannot_be_closed_twice_is_refused() -> None:
    with pytest.raises(StoreError, match="closed already"):
        check_store(ClosedOnce, keeps=False)


def test_a_store_that_forgets_is_refused_if_it_says_that_it_keeps() -> None:
    with pytest.raises(AssertionError, match="the same after closing and opening"):
        check_store(MemoryStore)


def test_a_store_that_begins_to_count_again_is_refused() -> None:
    kept: list[Event] = []

    class Recounting(MemoryStore):
        def append(self, events):
            numbers = super().append(events)
            return numbers if self._events is not kept else [n - len(kept) for n in numbers]

    opened: list[Recounting] = []

    def opening() -> Recounting:
        store = Recounting()
        if opened:
            kept.extend(opened[0]._events)
            store._events = kept
        opened.append(store)
        return store

    with pytest.raises(AssertionError, match="numbers go on after opening"):
        check_store(opening)
