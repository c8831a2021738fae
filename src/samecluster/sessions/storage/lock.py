"""One writer at a time: a lock that the operating system lets go when its holder dies.

It is an empty SQLite file beside the session that stays in an exclusive transaction. That works
wherever sessions do, needs no process numbers, and leaves readers alone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from samecluster.errors import StoreError
from samecluster.sessions.storage.session_file import identity, new_file

_ATTEMPTS = 10
"""Processes that may open and close the session between our touch and our lock; more is a loop."""


_LONGEST_CHANGE = 30.0
"""Seconds to wait for others that change a small file; each takes milliseconds."""


@contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Change a file while nobody else does, of all who do it this way; waits for its turn.

    The lock is a file beside it, which stays. sqlite3.Error if the turn does not come.
    """
    lock = path.with_name(f"{path.name}-lock")
    new_file(lock)
    with closing(_exclusive(lock, _LONGEST_CHANGE)):
        yield


class WriterLock:
    """Held from its making until `release`. StoreError if another process holds it."""

    def __init__(self, session: Path) -> None:
        self._path = session.with_name(f"{session.name}-lock")
        # A holder removes the file when it lets go; the removed file, once locked, is no lock.
        for _ in range(_ATTEMPTS):
            new_file(self._path)
            self._known = identity(self._path)
            self._connection = self._locked(session)
            if self.is_in_place():
                return
            self._connection.close()
        raise StoreError(f"{session} is being opened and closed by other processes; try again")

    def is_in_place(self) -> bool:
        """Whether this is the lock that others see; somebody may have removed its file."""
        return self._known is not None and identity(self._path) == self._known

    def release(self) -> None:
        try:
            if self.is_in_place():
                self._path.unlink(missing_ok=True)
        except OSError:
            pass  # where open files cannot be removed it stays behind, and does no harm
        finally:
            self._connection.close()

    def _locked(self, session: Path) -> sqlite3.Connection:
        try:
            return _exclusive(self._path, 0)
        except sqlite3.Error:
            raise StoreError(
                f"{session} is open for writing in another process; close it there first"
            ) from None


def _exclusive(lock: Path, seconds: float) -> sqlite3.Connection:
    """A connection that alone has the file until it is closed; waits that long for it."""
    connection = sqlite3.connect(
        lock, timeout=seconds, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error:
        connection.close()
        raise
    return connection
