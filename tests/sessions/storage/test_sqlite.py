"""Session files: the conformance suite, versions of the schema, damage, clear words."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from samecluster.errors import SchemaError, SessionNotFoundError, StoreError
from samecluster.sessions.storage.schema import APPLICATION, STEPS
from samecluster.sessions.storage.sqlite import SqliteStore, rescue
from samecluster.sessions.storage.store import MemoryStore
from samecluster.testing import check_store
from tests.cases.session_cases import answer_events


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
    store.append(answer_events(3))
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


def test_a_newer_schema_is_refused_and_unchanged(tmp_path, monkeypatch) -> None:
    path = tmp_path / "s.samecluster"
    with monkeypatch.context() as patch:
        newer = (*STEPS, "ALTER TABLE events ADD COLUMN mood TEXT")
        patch.setattr("samecluster.sessions.storage.schema.STEPS", newer)
        SqliteStore(path, create=True).close()
    before = path.read_bytes()
    for read_only in (False, True):
        with pytest.raises(SchemaError, match="schema version 2, this samecluster knows up to 1"):
            SqliteStore(path, read_only=read_only)
    assert path.read_bytes() == before


def test_an_older_schema_is_brought_up_to_date_after_a_backup(tmp_path, monkeypatch) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answer_events(5))
    store.close()
    with monkeypatch.context() as patch:
        newer = (*STEPS, "CREATE INDEX by_kind ON events (kind)")
        patch.setattr("samecluster.sessions.storage.schema.STEPS", newer)
        store = SqliteStore(path)
        assert len(list(store.read())) == 5
        store.close()
    backup = SqliteStore(tmp_path / "s.samecluster.version1.backup", read_only=True)
    assert len(list(backup.read())) == 5
    backup.close()
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA user_version").fetchone() == (2,)
        assert file.execute("PRAGMA application_id").fetchone() == (APPLICATION,)
    file.close()


def test_a_migration_that_fails_changes_nothing(tmp_path, monkeypatch) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answer_events(5))
    store.close()
    newer = (*STEPS, "CREATE INDEX by_kind ON events (kind)", "DROP TABLE absent")
    with monkeypatch.context() as patch:
        patch.setattr("samecluster.sessions.storage.schema.STEPS", newer)
        with pytest.raises(StoreError, match="no such table: absent"):
            SqliteStore(path)
    store = SqliteStore(path)
    assert len(list(store.read())) == 5
    store.close()
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT count(*) FROM sqlite_master").fetchone() == (1,)
    file.close()


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
        store.append(answer_events(2))
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
    store.append(answer_events(9))
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
    store.append(answer_events(9))
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


def test_an_append_returns_when_the_disk_has_the_event(tmp_path, monkeypatch) -> None:
    """Only with synchronous=FULL (2) does SQLite flush its log to the disk at each commit."""
    made: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remembered(*place, **options):
        made.append(connect(*place, **options))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    store = SqliteStore(tmp_path / "s.samecluster", create=True)
    (file,) = (
        one
        for one in made
        if one.execute("PRAGMA database_list").fetchone()[2].endswith("s.samecluster")
    )
    assert file.execute("PRAGMA synchronous").fetchone() == (2,)
    assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.append(answer_events(1))
    assert not file.in_transaction
    store.close()
