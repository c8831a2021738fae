"""The log: an event is stored before anything rests on it, and trying something out writes none."""

import pytest

from samecluster.errors import SchemaError, StoreError
from samecluster.sessions.event_log import EventLog
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.session_cases import AT, Clock, answer_event, opened_event


class FullStore(MemoryStore):
    """Takes nothing in once it is full, and notes what the state was when it was written to."""

    is_full = False
    log: EventLog

    def append(self, events):
        self.n_events_seen = self.log.state.n_events
        if self.is_full:
            raise StoreError("the disk is full")
        return super().append(events)


@pytest.fixture
def store() -> FullStore:
    store = FullStore()
    store.log = EventLog(store, State(), Clock())
    store.log.append([opened_event(4)])
    return store


def test_events_are_stored_then_taken_in_then_acknowledged(store) -> None:
    events = [answer_event("item 0", "item 1", "same"), answer_event("item 2", "item 1", "same")]
    assert store.log.append(events) == 3
    assert store.n_events_seen == 1, "the state has not seen what is not stored yet"
    assert [event.sequence for event in store.log.events()] == [1, 2, 3]
    assert store.log.state == State(store.read())


def test_what_could_not_be_stored_has_not_happened(store) -> None:
    before = store.log.state.copy()
    store.is_full = True
    with pytest.raises(StoreError, match="disk is full"):
        store.log.append([answer_event("item 0", "item 1", "same")])
    assert store.log.state == before == State(store.read())
    store.is_full = False
    assert store.log.append([answer_event("item 0", "item 1", "same")]) == 2


def test_trying_something_out_writes_nothing(store) -> None:
    before = store.log.state.copy()
    draft = store.log.draft("closed", "ann", {}, {"item 0": 0})
    assert draft.at == AT.replace("+", ".000+")
    assert draft.body == {"numbers": {"item 0": 0}}
    imagined = store.log.imagined(answer_event("item 0", "item 1", "same"), draft)
    assert (imagined.n_events, imagined.finished, imagined.numbers) == (3, True, {"item 0": 0})
    with pytest.raises(SchemaError, match="unusable"):
        store.log.imagined(answer_event("item 0", "item 0", "same"))
    assert store.log.state == before == State(store.read())


def test_a_closed_log_says_so(store) -> None:
    store.log.close()
    with pytest.raises(StoreError, match="closed"):
        store.log.append([answer_event("item 0", "item 1", "same")])
