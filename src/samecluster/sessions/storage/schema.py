"""The tables of a session file, and how a file of an older version becomes one of this version.

The version is SQLite's ``user_version``: the number of steps that were taken. An empty file is of
version 0, so making the tables is the first step. Steps are never changed once released, only
added.

A file from elsewhere may hold more: triggers that swallow what is written, views without an end. So
a file whose tables are not exactly those of its version is refused.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from samecluster.errors import SchemaError
from samecluster.sessions.storage.connection import copy_into
from samecluster.sessions.storage.session_file import new_file

APPLICATION = int.from_bytes(b"SaCl", "big")
"""Marks a SQLite file as a session, in its ``application_id``."""

_MOST_NAMED = 3

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


def bring_up_to_date(connection: sqlite3.Connection, path: Path) -> None:
    """Take the steps that are missing, in one transaction, after a copy of the file was made.

    SchemaError, and nothing is changed, if the file is no session or of a newer version.
    """
    version = check_schema(connection, path)
    if version == len(STEPS):
        return
    if version:
        backup = path.with_name(f"{path.name}.version{version}.backup")
        new_file(backup)
        copy_into(backup, connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in STEPS[version:]:
            connection.execute(step)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def check_schema(connection: sqlite3.Connection, path: Path, *, allow_foreign: bool = False) -> int:
    """The version of the file; SchemaError if it is not one of those known here.

    With ``allow_foreign`` the events can be read although there is more in the file.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    there = _objects(connection)
    if (application, version, there) == (0, 0, {}):
        return 0
    if application != APPLICATION:
        raise SchemaError(f"{path} is a SQLite file, but not a session of samecluster")
    if version > len(STEPS):
        raise SchemaError(
            f"{path} has schema version {version}, this samecluster knows up to {len(STEPS)}; "
            "install a newer one to open it"
        )
    known = _known_objects(STEPS[: max(1, version)])
    missing = [name for name, made in known.items() if there.get(name) != made]
    foreign = there.keys() - known.keys()
    if version < 1 or missing or (foreign and not allow_foreign):
        raise SchemaError(
            f"{path} is not as samecluster made it ({_listed(missing, foreign)}), and is not used; "
            "`samecluster doctor` says more, and can save its events in a new file"
        )
    return int(version)


def foreign_objects(connection: sqlite3.Connection) -> list[str]:
    """What is in the file beside the tables of a session, such as "trigger t"."""
    return sorted(
        f"{kind} {name}" for kind, name in _objects(connection).keys() - _known_objects(STEPS)
    )


def _objects(connection: sqlite3.Connection) -> dict[tuple[str, str], str]:
    """How each table, index, view and trigger was made, without blanks, by its kind and name."""
    found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    return {(str(kind), str(name)): re.sub(r"\s", "", str(sql)) for kind, name, sql in found}


@cache
def _known_objects(steps: tuple[str, ...]) -> dict[tuple[str, str], str]:
    with closing(sqlite3.connect(":memory:")) as connection:
        for step in steps:
            connection.execute(step)
        return _objects(connection)


def _listed(missing: Sequence[tuple[str, str]], foreign: Collection[tuple[str, str]]) -> str:
    missed = [f"without its {kind} {name}" for kind, name in missing]
    more = [f"with a {kind} {name!r}" for kind, name in sorted(foreign)]
    return ", ".join([*missed, *more][:_MOST_NAMED]) or "of no known version"
