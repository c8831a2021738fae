"""How SQLite is opened for a session file, copied, and understood when it refuses.

A session file may come from anywhere, so nothing in it is trusted but its events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
}
"""Far above what a session needs, far below what a file could ask for."""


def connected(path: Path, read_only: bool) -> sqlite3.Connection:
    """A connection to a file that is there."""
    mode = "ro" if read_only else "rw"
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
    try:
        # Nothing in the file is called, and cells that do not fit are no reason to read beyond.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        for limit, most in _LIMITS.items():
            connection.setlimit(limit, most)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def make_durable(connection: sqlite3.Connection) -> None:
    """From here on a commit returns when the disk has it."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def copy_into(path: Path, connection: sqlite3.Connection) -> None:
    """Copy all of the database into an empty file."""
    with closing(sqlite3.connect(path)) as copy:
        connection.backup(copy)


def backed_up(connection: sqlite3.Connection, places: Iterator[Path]) -> Path | None:
    """The first of these files that could take all of the database."""
    for path in places:
        try:
            copy_into(path, connection)
        except (sqlite3.Error, OSError):
            path.unlink(missing_ok=True)
        else:
            return path
    return None


def in_words(error: Exception) -> str:
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
