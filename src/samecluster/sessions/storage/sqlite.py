"""A session as one SQLite file.

Write-ahead log with synchronous=FULL: an event that was appended has reached the disk. Closing
folds the log into the file, which can then be copied or moved alone. Every error of SQLite becomes
a StoreError that names the file and what to do.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from samecluster.errors import SessionNotFoundError, StoreError
from samecluster.sessions.storage.events import Event, body_text, checked_event
from samecluster.sessions.storage.lock import WriterLock
from samecluster.sessions.storage.schema import STEPS, bring_up_to_date, check_version

__all__ = ["SqliteStore", "rescue"]


class SqliteStore:
    """Events in a file.

    Parameters
    ----------
    path : the session file
    create : make the file if there is none; otherwise SessionNotFoundError
    read_only : look without writing, also while another process writes

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = SqliteStore(Path(folder.name) / "mine.samecluster", create=True)
    >>> store.append([Event("closed", "2026-01-31T12:00:00+00:00", "ann")])
    [1]
    >>> [event.who for event in store.read()]
    ['ann']
    >>> store.close(); folder.cleanup()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        read_only: bool = False,
        steps: Sequence[str] = STEPS,
    ) -> None:
        self.path = Path(path).absolute()
        self._lock: WriterLock | None = None
        self._connection: sqlite3.Connection | None = None
        if not (create or self.path.exists()):
            raise SessionNotFoundError(f"there is no session {self.path}")
        try:
            with self._errors_named():
                if not read_only:
                    self._lock = WriterLock(self.path)
                self._connection = _connected(self.path, read_only)
                if read_only:
                    check_version(self._connection, self.path, len(steps))
                else:
                    bring_up_to_date(self._connection, self.path, steps)
                self._n_events, self._digest = self._last()
        except StoreError:
            self._let_go()
            raise

    def read(self, after: int = 0) -> Iterator[Event]:
        """All events, checked: StoreError at the first that is damaged or missing."""
        before = self._digest_of(after)
        with self._errors_named():
            rows = self._open.execute(
                "SELECT sequence, kind, at, who, body, digest FROM events "
                "WHERE sequence > ? ORDER BY sequence",
                (after,),
            )
        expected = after + 1
        while True:
            with self._errors_named(f" after event {expected - 1}"):
                row = rows.fetchone()
            if row is None:
                break
            sequence, kind, at, who, body, digest = row
            # Damage can turn a text into bytes, which no digest is made of.
            readable = all(isinstance(field, int | str | None) for field in row)
            if not readable or sequence != expected or digest != _digest(before, *row[:-1]):
                raise self._damaged(expected)
            yield checked_event(Event(kind, at, who, json.loads(body), sequence))
            before, expected = digest, expected + 1
        if expected <= self._n_events:
            raise self._damaged(expected)

    def append(self, events: Sequence[Event]) -> list[int]:
        rows = []
        digest = self._digest
        for sequence, event in enumerate(events, start=self._n_events + 1):
            checked_event(replace(event, sequence=sequence))
            fields = (sequence, event.kind, event.at, event.who, body_text(event.body))
            digest = _digest(digest, *fields)
            rows.append((*fields, digest))
        with self._errors_named():
            _write(self._open, rows)
        self._n_events, self._digest = self._n_events + len(rows), digest
        return [row[0] for row in rows]

    def close(self) -> None:
        self._let_go()

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path} is closed; open the session again")
        return self._connection

    def _last(self) -> tuple[int, str]:
        row = self._open.execute(
            "SELECT sequence, digest FROM events ORDER BY sequence DESC LIMIT 1"
        ).fetchone()
        return (0, "") if row is None else (int(row[0]), str(row[1]))

    def _digest_of(self, sequence: int) -> str:
        with self._errors_named():
            row = self._open.execute(
                "SELECT digest FROM events WHERE sequence = ?", (sequence,)
            ).fetchone()
        return "" if row is None else str(row[0])

    def _damaged(self, sequence: int) -> StoreError:
        return StoreError(
            f"{self.path} is damaged at event {sequence} of {self._n_events}; the "
            f"{sequence - 1} before it are intact: restore a backup, or save those with "
            "`samecluster doctor`"
        )

    def _let_go(self) -> None:
        """Closing folds the log in; if it cannot, the log stays beside the file and is used next
        time."""
        connection, self._connection = self._connection, None
        lock, self._lock = self._lock, None
        try:
            if connection is not None:
                connection.close()
        finally:
            if lock is not None:
                lock.release()

    @contextmanager
    def _errors_named(self, where: str = "") -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"{self.path}: {_in_words(error)}{where}") from error
        except (UnicodeDecodeError, ValueError) as error:
            raise StoreError(f"{self.path} is damaged{where} ({error})") from error


def rescue(path: str | os.PathLike[str], to: str | os.PathLike[str]) -> int:
    """Copy the intact events at the beginning of a damaged session to a new file; their number."""
    if Path(to).exists():
        raise StoreError(f"{to} exists; name a new file to save the events in")
    source = SqliteStore(path, read_only=True)
    target = SqliteStore(to, create=True)
    saved = 0
    try:
        for event in source.read():
            target.append([event])
            saved = event.sequence
    except StoreError:
        if not saved:
            raise
    finally:
        source.close()
        target.close()
    return saved


def _connected(path: Path, read_only: bool) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    if read_only and not path.with_name(f"{path.name}-wal").exists():
        # Nothing is waiting to be folded in, so the file is complete; in a folder that cannot be
        # written SQLite would otherwise refuse to open it.
        mode = "ro&immutable=1"
    # Calls come one at a time, but a server may make them from several threads.
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=5.0,
        isolation_level=None,
        check_same_thread=False,
    )
    if not read_only:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error:
            connection.close()
            raise
    return connection


def _write(connection: sqlite3.Connection, rows: Sequence[tuple[object, ...]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
        connection.execute("COMMIT")
    except sqlite3.Error:
        # SQLite has taken the transaction back itself after some errors.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _digest(before: str, *fields: object) -> str:
    text = json.dumps([before, *fields], ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _in_words(error: Exception) -> str:
    """What went wrong and what to do, from the words of SQLite or of the operating system."""
    text = str(error)
    advice = {
        "full": "the disk is full; nothing was lost, make room and try again",
        "disk I/O error": "the disk refuses to write (is it full, or is there a limit on file "
        "sizes?); nothing that was acknowledged is lost",
        "readonly": "the file is read-only; change its permissions, or copy it",
        "unable to open": "the file or its folder cannot be opened for this; check the path and "
        "the permissions",
        "locked": "the file is locked by another process; close it there first",
        "not a database": "this is not a session file, or its beginning is damaged; restore a "
        "backup",
        "malformed": "the file is damaged; restore a backup, or save what is intact with "
        "`samecluster doctor`",
    }
    found = next((words for sign, words in advice.items() if sign in text), None)
    return f"{found} ({text})" if found else text
