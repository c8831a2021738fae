"""What every store of a session's events keeps to."""

from __future__ import annotations

from collections.abc import Callable

from samecluster.errors import SchemaError, StoreError
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.store import Store

_AT = "2026-01-31T12:00:00+00:00"


def check_store(open_store: Callable[[], Store], *, keeps: bool = True) -> None:
    """Check that a store keeps the promises of `samecluster.sessions.storage.store.Store`.

    Parameters
    ----------
    open_store : opens the same, at first empty, place each time it is called
    keeps : whether what was appended is there again after closing and opening

    >>> from samecluster.sessions.storage.store import MemoryStore
    >>> check_store(MemoryStore, keeps=False)
    """
    store = open_store()
    _check_order(store)
    _check_all_or_none(store)
    _check_texts(store)
    events = list(store.read())
    store.close()
    store.close()
    _check_closed(store)
    if keeps:
        again = open_store()
        assert list(again.read()) == events, "events are the same after closing and opening"
        _check_goes_on(again, len(events))
        again.close()


def _named(text: str) -> Event:
    return Event("named", _AT, "ann", {"anchor": "a", "number": 0, "text": text})


def _check_order(store: Store) -> None:
    assert list(store.read()) == [], "a new store is empty"
    assert store.append([]) == [], "appending nothing is no error"
    assert store.append([_named("one"), _named("two")]) == [1, 2], "numbers count from 1"
    assert store.append([_named("three")]) == [3], "numbers have no gaps"
    read = list(store.read())
    assert [event.sequence for event in read] == [1, 2, 3], "events are read in order"
    assert [event.body["text"] for event in read] == ["one", "two", "three"], "bodies are kept"
    assert {(event.kind, event.at, event.who) for event in read} == {("named", _AT, "ann")}
    assert [event.sequence for event in store.read(after=2)] == [3], "after=2 begins with 3"
    assert list(store.read(after=3)) == [], "nothing is after the last event"


def _check_all_or_none(store: Store) -> None:
    before = list(store.read())
    for bad in (
        Event("nonsense", _AT),
        Event("named", _AT, None, {"anchor": "a"}),
        Event("named", "yesterday", None, {"anchor": "a", "number": 0, "text": ""}),
    ):
        try:
            store.append([_named("good"), bad])
        except SchemaError:
            pass
        else:
            raise AssertionError(f"a bad event is refused with SchemaError: {bad}")
        assert list(store.read()) == before, "of events appended together, all or none are kept"


def _check_texts(store: Store) -> None:
    texts = ["", "naïve 中文 🙂", "a'b\"c;--", "line\nbreak\ttab", "x" * 100_000, "\u0000"]
    first = len(list(store.read()))
    store.append([_named(text) for text in texts])
    read = [event.body["text"] for event in store.read(after=first)]
    assert read == texts, "any text is kept as it is"
    store.append([Event("closed", _AT)])
    assert list(store.read())[-1].who is None, "nobody is kept as None"


def _check_closed(store: Store) -> None:
    for call in (lambda: store.append([_named("late")]), lambda: list(store.read())):
        try:
            call()
        except StoreError:
            continue
        raise AssertionError("a closed store raises StoreError")


def _check_goes_on(store: Store, n_events: int) -> None:
    assert store.append([_named("next")]) == [n_events + 1], "numbers go on after opening"
