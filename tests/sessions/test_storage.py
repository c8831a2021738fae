"""Stores: the conformance suite, versions of the file, and clear words when it cannot be used."""

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from samecluster.errors import SchemaError, SessionNotFoundError, StoreError
from samecluster.sessions.storage.events import FORMAT, KINDS, Event, checked_event
from samecluster.sessions.storage.schema import APPLICATION, STEPS
from samecluster.sessions.storage.sqlite import SqliteStore, rescue
from samecluster.sessions.storage.store import MemoryStore
from samecluster.testing import check_store

AT = "2026-01-31T12:00:00+00:00"


def answers(n: int) -> list[Event]:
    return [
        Event(
            "answered",
            AT,
            "ann",
            {"items": [f"a{i}", f"b{i}"], "verdict": "same", "role": "plan"},
        )
        for i in range(n)
    ]


def test_memory_and_file_pass_the_conformance_suite(tmp_path) -> None:
    check_store(MemoryStore, keeps=False)
    check_store(lambda: SqliteStore(tmp_path / "s.samecluster", create=True))


class _Forgetful(MemoryStore):
    """A store that breaks the promise of all or none."""

    def append(self, events):
        return [super(_Forgetful, self).append([event])[0] for event in events]


def test_the_conformance_suite_notices_a_store_that_keeps_half(tmp_path) -> None:
    with pytest.raises(AssertionError, match="all or none"):
        check_store(_Forgetful, keeps=False)


def test_a_closed_file_is_alone_in_its_folder(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answers(3))
    store.close()
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_bytes().count(b"a2") == 1


def test_no_session_there(tmp_path) -> None:
    with pytest.raises(SessionNotFoundError, match=r"there is no session .*none\.samecluster"):
        SqliteStore(tmp_path / "none.samecluster")
    with pytest.raises(StoreError, match=r"cannot be opened|No such file"):
        SqliteStore(tmp_path / "no folder" / "s.samecluster", create=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", [b"name,height\nann,3\n" * 200, b"\x89PNG" + bytes(4096)])
def test_a_file_that_is_no_session_is_left_alone(tmp_path, content) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="not a session file"):
        SqliteStore(path, create=True)
    assert path.read_bytes() == content


def test_another_programs_database_is_left_alone(tmp_path) -> None:
    path = tmp_path / "other.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE things (x)")
    other.commit()
    other.close()
    with pytest.raises(SchemaError, match="not a session of samecluster"):
        SqliteStore(path)


def test_a_newer_schema_is_refused_and_unchanged(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    newer = (*STEPS, "ALTER TABLE events ADD COLUMN mood TEXT")
    store = SqliteStore(path, create=True, steps=newer)
    store.close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(SchemaError, match="schema version 2, this samecluster knows up to 1"):
            SqliteStore(path, read_only=read_only)
    assert path.read_bytes() == before


def test_an_older_schema_is_brought_up_to_date_after_a_backup(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answers(5))
    store.close()
    steps = (*STEPS, "CREATE INDEX by_kind ON events (kind)")
    store = SqliteStore(path, steps=steps)
    assert len(list(store.read())) == 5
    store.close()
    backup = SqliteStore(tmp_path / "s.samecluster.version1.backup", read_only=True)
    assert len(list(backup.read())) == 5
    backup.close()
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (2,)
        assert file.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    file.close()


def test_a_migration_that_fails_changes_nothing(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answers(5))
    store.close()
    steps = (*STEPS, "CREATE INDEX by_kind ON events (kind)", "DROP TABLE absent")
    with pytest.raises(StoreError, match="no such table: absent"):
        SqliteStore(path, steps=steps)
    store = SqliteStore(path)
    assert len(list(store.read())) == 5
    store.close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    file.close()


def _hold(path: Path, opened, done) -> None:
    store = SqliteStore(path)
    opened.set()
    done.wait()
    store.close()


def test_a_second_writer_is_told_so_and_readers_are_not_disturbed(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answers(2))
    store.close()
    spawn = multiprocessing.get_context("spawn")
    opened, done = spawn.Event(), spawn.Event()
    holder = spawn.Process(target=_hold, args=(path, opened, done))
    holder.start()
    opened.wait()
    try:
        with pytest.raises(StoreError, match="open for writing in another process"):
            SqliteStore(path)
        reader = SqliteStore(path, read_only=True)
        assert len(list(reader.read())) == 2
        with pytest.raises(StoreError, match="read-only"):
            reader.append(answers(1))
        reader.close()
    finally:
        done.set()
        holder.join()
    SqliteStore(path).close()


def test_the_lock_of_a_dead_process_does_not_last(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    SqliteStore(path, create=True).close()
    spawn = multiprocessing.get_context("spawn")
    opened, done = spawn.Event(), spawn.Event()
    holder = spawn.Process(target=_hold, args=(path, opened, done))
    holder.start()
    opened.wait()
    holder.kill()
    holder.join()
    SqliteStore(path).close()


READING = """
import os, sys
from samecluster.errors import StoreError
from samecluster.sessions.storage.sqlite import SqliteStore

if os.geteuid() == 0:  # who may write anything
    os.setuid(65534)
reader = SqliteStore(sys.argv[1], read_only=True)
print(len(list(reader.read())))
reader.close()
try:
    SqliteStore(sys.argv[1])
except StoreError as error:
    print(error)
"""


def test_a_read_only_file_can_be_read_and_says_why_not_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.samecluster"
        store = SqliteStore(path, create=True)
        store.append(answers(2))
        store.close()
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", READING, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        Path(folder).chmod(0o755)
    assert done.returncode == 0, done.stderr
    read, said = done.stdout.split("\n", 1)
    assert read == "2"
    assert "permission" in said.lower()
    assert str(path) in said


def test_a_changed_event_is_found_and_those_before_it_are_saved(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answers(9))
    store.close()
    file = sqlite3.connect(path)
    file.execute("UPDATE events SET body = replace(body, 'same', 'different') WHERE sequence = 6")
    file.commit()
    file.close()
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="damaged at event 6 of 9; the 5 before it are intact"):
        list(store.read())
    store.close()
    saved = tmp_path / "saved.samecluster"
    assert rescue(path, saved) == 5
    store = SqliteStore(saved)
    assert [event.body["items"][0] for event in store.read()] == ["a0", "a1", "a2", "a3", "a4"]
    store.close()
    with pytest.raises(StoreError, match="exists; name a new file"):
        rescue(path, saved)


@pytest.mark.parametrize("gone", [1, 4, 9])
def test_a_missing_event_is_noticed(tmp_path, gone) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answers(9))
    store.close()
    file = sqlite3.connect(path)
    file.execute("DELETE FROM events WHERE sequence = ?", (gone,))
    file.commit()
    file.close()
    store = SqliteStore(path)
    if gone == 9:  # indistinguishable from an event that was never written
        assert len(list(store.read())) == 8
    else:
        with pytest.raises(StoreError, match=f"damaged at event {gone}"):
            list(store.read())
    store.close()


GOOD: dict[str, dict[str, Any]] = {
    "opened": {
        "format": FORMAT,
        "keys": ["a"],
        "digests": "",
        "preparation": {},
        "parameters": {},
        "seed": 1,
    },
    "answered": {"items": ["a", "b"], "role": "plan", "verdict": "same"},
    "unsure": {"items": ["a", "b"], "role": "beside", "key": "k", "numbers": {"a": 0}},
    "flagged": {"items": ["a", "b"], "role": "extra", "note": "blurred"},
    "retracted": {"sequence": 3, "items": ["a", "b"]},
    "named": {"anchor": "a", "number": 0, "text": "cats"},
    "imported": {"source": "old.csv", "answers": [["a", "b", "different"]]},
    "updated": {"keys": ["a"], "digests": "", "numbers": {}},
    "parameters": {"parameters": {"margin": 0.5}},
    "audit": {"error": 0.01, "confidence": 0.95},
    "closed": {},
}
BAD = [
    ("answered", {"items": ["a", "a"]}),
    ("answered", {"items": ["a"]}),
    ("answered", {"items": [1, 2]}),
    ("answered", {"verdict": "unsure"}),
    ("answered", {"role": "hero"}),
    ("unsure", {"numbers": {"a": -1}}),
    ("opened", {"format": FORMAT + 1}),
    ("opened", {"seed": -3}),
    ("opened", {"keys": "abc"}),
    ("retracted", {"sequence": True}),
    ("imported", {"answers": [["a", "b"]]}),
    ("imported", {"answers": [["a", "b", "maybe"]]}),
    ("named", {"text": None}),
    ("audit", {"error": 2}),
    ("parameters", {"parameters": 3}),
]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_a_good_body_and_needs_its_fields(kind) -> None:
    checked_event(Event(kind, AT, None, GOOD[kind]))
    for field in GOOD[kind].keys() - {"key", "numbers"}:
        if kind in ("retracted", "updated") or (kind == "flagged" and field != "note"):
            continue
        with pytest.raises(SchemaError, match=f"has no '{field}'"):
            checked_event(
                Event(kind, AT, None, {k: v for k, v in GOOD[kind].items() if k != field})
            )


@pytest.mark.parametrize(("kind", "change"), BAD, ids=str)
def test_an_unusable_body_is_refused(kind, change) -> None:
    with pytest.raises(SchemaError, match=r"unusable|format"):
        checked_event(Event(kind, AT, None, {**GOOD[kind], **change}))


@pytest.mark.parametrize("at", ["2026-01-31T12:00:00", "2026-01-31T12:00:00+02:00", "noon"])
def test_times_are_in_utc(at) -> None:
    with pytest.raises(SchemaError, match="ISO 8601 in UTC"):
        checked_event(Event("closed", at))
