"""Session files of earlier releases are read by this one, with all that was said in them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from samecluster import clustering_error
from samecluster.errors import SchemaError
from samecluster.sessions.session import Session
from samecluster.sessions.storage import events
from samecluster.sessions.storage.events import KINDS
from samecluster.sessions.storage.sqlite import SqliteStore

FILES = sorted((Path(__file__).parents[1] / "golden").glob("*.samecluster"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def golden(request, tmp_path) -> tuple[Path, dict]:
    copy = tmp_path / request.param.name
    shutil.copy(request.param, copy)
    return copy, json.loads(request.param.with_suffix(".json").read_text())


def test_there_is_a_file_with_every_kind_of_event() -> None:
    assert FILES
    expected = json.loads(FILES[-1].with_suffix(".json").read_text())
    assert {kind for _, kind, *_ in expected["events"]} == set(KINDS)


def test_an_older_program_says_that_it_cannot_open_a_session_with_looks_and_changes_nothing(
    tmp_path, monkeypatch
) -> None:
    """What a program of format 1 does: it knows neither the format nor the kind of event."""
    path = tmp_path / FILES[-1].name
    shutil.copy(FILES[-1], path)
    expected = json.loads(FILES[-1].with_suffix(".json").read_text())
    monkeypatch.setattr(events, "FORMAT", 1)
    bodies = {kind: body for kind, body in events._BODIES.items() if kind != "looked"}
    monkeypatch.setattr(events, "_BODIES", bodies)
    with pytest.raises(SchemaError, match="install a newer one to open it") as told:
        Session.open(SqliteStore(path), expected["keys"], expected["X"])
    assert "\n" not in str(told.value)
    assert path.read_bytes() == FILES[-1].read_bytes()
    looked = next(one for one in expected["events"] if one[1] == "looked")
    number, kind, at, who, body = looked
    with pytest.raises(SchemaError, match="written by a newer samecluster"):
        events.checked_event(events.Event(kind, at, who, body, number))


def test_events_are_read_as_they_were_written(golden) -> None:
    path, expected = golden
    store = SqliteStore(path, read_only=True)
    found = [[e.sequence, e.kind, e.at, e.who, dict(e.body)] for e in store.read()]
    store.close()
    assert found == expected["events"]


def test_the_session_goes_on_with_every_answer_number_and_name(golden) -> None:
    path, expected = golden
    with Session.open(SqliteStore(path), expected["keys"], expected["X"]) as session:
        facts = [[*fact.items, fact.verdict.value] for fact in session.state.facts.values()]
        assert facts == expected["facts"]
        assert session.state.n_questions == expected["n_questions"]
        assert session.state.numbers == expected["numbers"]
        assert {str(number): name for number, name in session.names().items()} == expected["names"]
        assert session.undo("ann") is not None
        truth = expected["truth"]
        while questions := session.ask("ann"):
            i, j = questions[0].rows
            session.tell(questions[0].id, "same" if truth[i] == truth[j] else "different", "ann")
        known = session.snapshot()
        assert known.audit is not None
        asked = known.how == "asked"
        assert clustering_error(known.labels[asked], np.array(truth)[asked]) == 0
