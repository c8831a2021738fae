"""One writer at a time, and no lock outlives its process."""

import multiprocessing
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest

from samecluster.errors import StoreError
from samecluster.sessions.storage.lock import WriterLock
from samecluster.sessions.storage.sqlite import SqliteStore
from tests.cases.session_cases import answer_events


def _hold(path: Path, opened, done) -> None:
    store = SqliteStore(path)
    opened.set()
    done.wait()
    store.close()


def test_a_second_writer_is_told_so_and_readers_are_not_disturbed(tmp_path) -> None:
    path = tmp_path / "s.samecluster"
    store = SqliteStore(path, create=True)
    store.append(answer_events(2))
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
            reader.append(answer_events(1))
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


def test_a_lock_is_a_file_that_goes_with_it(tmp_path) -> None:
    session = tmp_path / "s.samecluster"
    lock = WriterLock(session)
    assert [path.name for path in tmp_path.iterdir()] == ["s.samecluster-lock"]
    with pytest.raises(StoreError, match=r"s\.samecluster is open for writing"):
        WriterLock(session)
    lock.release()
    assert list(tmp_path.iterdir()) == []
    WriterLock(session).release()


def test_a_lock_on_a_file_that_its_holder_just_removed_does_not_count(
    tmp_path, monkeypatch
) -> None:
    """Between `touch` and the lock the holder before may let go and remove the file: two processes
    would then hold locks on different files of the same name."""
    session, removals = tmp_path / "s.samecluster", [1]
    path = tmp_path / "s.samecluster-lock"

    def connect(file, **options):
        connection = sqlite3.connect(file, **options)
        if removals:
            removals.pop()
            connection.execute("PRAGMA schema_version")
            path.unlink()
        return connection

    connecting = SimpleNamespace(connect=connect, Error=sqlite3.Error)
    monkeypatch.setattr("samecluster.sessions.storage.lock.sqlite3", connecting)
    lock = WriterLock(session)
    assert not removals
    with pytest.raises(StoreError, match="open for writing"):
        WriterLock(session)
    lock.release()


def test_a_lock_that_is_never_the_one_on_the_file_is_given_up(tmp_path, monkeypatch) -> None:
    def connect(file, **options):
        connection = sqlite3.connect(file, **options)
        connection.execute("PRAGMA schema_version")
        Path(file).unlink()
        return connection

    connecting = SimpleNamespace(connect=connect, Error=sqlite3.Error)
    monkeypatch.setattr("samecluster.sessions.storage.lock.sqlite3", connecting)
    with pytest.raises(StoreError, match="opened and closed by other processes; try again"):
        WriterLock(tmp_path / "s.samecluster")
