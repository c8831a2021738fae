"""A session as one SQLite file.

Write-ahead log with synchronous=FULL: an event that was appended has reached the disk. Closing
folds the log into the file, which can then be copied or moved alone. Every error of SQLite becomes
a StoreError that names the file and what to do.

A file that was deleted, moved or replaced meanwhile takes no more events. The open database still
has all of them, and saves them in a new file: when it is noticed, or else on closing.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from samecluster.errors import SchemaError, StoreError
from samecluster.sessions.storage.connection import backed_up, connected, in_words, make_durable
from samecluster.sessions.storage.events import Event, body_text, checked_event
from samecluster.sessions.storage.lock import WriterLock
from samecluster.sessions.storage.schema import bring_up_to_date, check_schema, foreign_objects
from samecluster.sessions.storage.session_file import SessionFile


class SqliteStore:
    """Events in a file.

    Parameters
    ----------
    path : the session file
    create : make the file if there is none; otherwise SessionNotFoundError
    read_only : look without writing, also while another process writes
    allow_foreign : read events although the file has triggers or tables that are not ours; the
        attribute ``foreign`` names them

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
        allow_foreign: bool = False,
    ) -> None:
        self._file = SessionFile(path)
        self.path = self._file.path
        self._lock: WriterLock | None = None
        self._connection: sqlite3.Connection | None = None
        self._saved: tuple[tuple[int, str], Path] | None = None
        self._file.check(create)
        try:
            with self._errors_named():
                if read_only:
                    self._connection = connected(self.path, read_only)
                    check_schema(self._connection, self.path, allow_foreign=allow_foreign)
                else:
                    self._open_to_write(create)
                self.foreign = foreign_objects(self._open) if allow_foreign else []
                self._n_events, self._digest = self._last()
        except BaseException:
            self.discard()
            raise

    def _open_to_write(self, create: bool) -> None:
        """Under the lock, so that of two processes that begin a session one makes the file."""
        self._lock = WriterLock(self.path)
        if create:
            self._file.make()
        self._connection = connected(self.path, read_only=False)
        # Another program's file is left as it is.
        check_schema(self._connection, self.path)
        make_durable(self._connection)
        self._file.remember()
        bring_up_to_date(self._connection, self.path)

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
            if not readable or sequence != expected or digest != event_digest(before, *row[:-1]):
                raise self._damaged(expected)
            yield checked_event(Event(kind, at, who, self._body(sequence, body), sequence))
            before, expected = digest, expected + 1
        if expected <= self._n_events:
            raise self._damaged(expected)

    def append(self, events: Sequence[Event]) -> list[int]:
        rows = []
        digest = self._digest
        for sequence, event in enumerate(events, start=self._n_events + 1):
            checked_event(replace(event, sequence=sequence))
            fields = (sequence, event.kind, event.at, event.who, body_text(event.body))
            digest = event_digest(digest, *fields)
            rows.append((*fields, digest))
        with self._errors_named():
            self._check_place()
            self._write(rows)
        self._n_events, self._digest = self._n_events + len(rows), digest
        return [row[0] for row in rows]

    def close(self) -> None:
        """StoreError, after the events were saved elsewhere, if the file is not in its place."""
        trouble = self._trouble() if self._connection is not None else ""
        if not trouble:
            self._let_go()
            return
        try:
            error = self._saved_elsewhere(trouble, "")
            # What is in the log goes into the file, wherever that is now: the log must not be taken
            # for that of the file which has its place.
            with suppress(sqlite3.Error):
                self._open.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            self._let_go()
        self._file.remove_log()
        raise error

    def discard(self) -> None:
        """Close, and remove the file if this store made it: the session was not begun after all."""
        if self._file.is_ours and self._connection is not None and not self._trouble():
            self._connection.close()
            self._connection = None
        if self._file.is_ours and self._connection is None:
            self._file.remove()
        self._let_go()

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError(f"{self.path} is closed; open the session again")
        return self._connection

    def _trouble(self) -> str:
        return self._file.trouble() if self._lock is not None else ""

    def _check_place(self) -> None:
        """StoreError if what is written now would not be in the file of this name."""
        if trouble := self._trouble():
            raise self._saved_elsewhere(trouble, ", so this is not kept")
        if self._lock is not None and not self._lock.is_in_place():
            self._lock.release()
            self._lock = WriterLock(self.path)

    def _saved_elsewhere(self, trouble: str, consequence: str) -> StoreError:
        """Save all events in a new file, and say so."""
        told = f"{self.path} {trouble} while it was in use{consequence}"
        with self._errors_named():
            last = self._last()  # also of another program, which may have written since
        if self._saved is None or self._saved[0] != last:
            copy = backed_up(self._open, self._file.copies())
            if copy is None:
                return StoreError(
                    f"{told}; its {self._n_events:,} events could not be saved in any folder: put "
                    "the file back, or make room, before you stop"
                )
            self._saved = last, copy
        return StoreError(
            f"{told}; all {self._n_events:,} events until then are saved in {self._saved[1]}: "
            "stop, move that file to where the session was, and start again"
        )

    def _write(self, rows: Sequence[tuple[object, ...]]) -> None:
        connection = self._open
        connection.execute("BEGIN IMMEDIATE")
        try:
            if self._last() != (self._n_events, self._digest):
                raise StoreError(
                    f"{self.path} was written to by another program, so this is not kept; stop and "
                    "start again"
                )
            connection.executemany("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", rows)
            connection.execute("COMMIT")
        except (sqlite3.Error, StoreError):
            # SQLite has taken the transaction back itself after some errors.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        self._file.remember_log()

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

    def _body(self, sequence: int, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SchemaError(
                f"{self.path}: event {sequence} cannot be read ({error or 'it is too deep'})"
            ) from None

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
            raise StoreError(f"{self.path}: {in_words(error)}{where}") from error
        except (UnicodeDecodeError, ValueError) as error:
            raise StoreError(f"{self.path} is damaged{where} ({error})") from error


def rescue(path: str | os.PathLike[str], to: str | os.PathLike[str]) -> int:
    """Copy the intact events at the beginning of a damaged session to a new file; their number."""
    if Path(to).exists():
        raise StoreError(f"{to} exists; name a new file to save the events in")
    source = SqliteStore(path, read_only=True, allow_foreign=True)
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


def event_digest(before: str, *fields: object) -> str:
    text = json.dumps([before, *fields], ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
