"""The tables of a session file, and how a file of an older version becomes one of this version.

The version is SQLite's ``user_version``: the number of steps that were taken. An empty file is of
version 0, so making the tables is the first step. Steps are never changed once released, only
added.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from samecluster.errors import SchemaError

__all__ = ["APPLICATION", "STEPS", "bring_up_to_date"]

APPLICATION = int.from_bytes(b"SaCl", "big")
"""Marks a SQLite file as a session, in its ``application_id``."""

STEPS = (
    # The digest of an event covers the digest before it, so that damage anywhere is noticed.
    """
    CREATE TABLE events (
        sequence INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        at TEXT NOT NULL,
        who TEXT,
        body TEXT NOT NULL,
        digest TEXT NOT NULL
    ) STRICT
    """,
)


def bring_up_to_date(
    connection: sqlite3.Connection, path: Path, steps: Sequence[str] = STEPS
) -> None:
    """Take the steps that are missing, in one transaction, after a copy of the file was made.

    SchemaError, and nothing is changed, if the file is no session or of a newer version.
    """
    version = check_version(connection, path, len(steps))
    if version == len(steps):
        return
    if version:
        _back_up(connection, path.with_name(f"{path.name}.version{version}.backup"))
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in steps[version:]:
            connection.execute(step)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(steps)}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_version(connection: sqlite3.Connection, path: Path, known: int) -> int:
    """The version of the file; SchemaError if it cannot be brought up to the one known here."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application, version, n_tables) == (0, 0, 0):
        return 0
    if application != APPLICATION:
        raise SchemaError(f"{path} is a SQLite file, but not a session of samecluster")
    if version > known:
        raise SchemaError(
            f"{path} has schema version {version}, this samecluster knows up to {known}; "
            "install a newer one to open it"
        )
    return int(version)


def _back_up(connection: sqlite3.Connection, to: Path) -> None:
    copy = sqlite3.connect(to)
    try:
        connection.backup(copy)
    finally:
        copy.close()
