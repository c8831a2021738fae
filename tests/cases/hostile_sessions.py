"""Session files whose digests are right and whose events are not: anybody can write such a file."""

import copy
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from samecluster.sessions.storage.schema import APPLICATION, STEPS
from samecluster.sessions.storage.sqlite import event_digest

Row: TypeAlias = tuple[int, str, str, str | None, Any]
"""Sequence number, kind, time, person, and the body as JSON or as text."""

BAD: tuple[Any, ...] = (
    *(None, -1, 10**30, 10**12, "", [], {}, "x", True, 1e308, 0.5, [None], {"a": 1}, [[[]]]),
    *("\ud800", "\x00", ["a", "a"], [1, 2], "../../x", {"a": {"b": [1]}}, -1.5, "1e999"),
)


def rows_of(path: Path) -> list[Row]:
    with closing(sqlite3.connect(path)) as file:
        found = file.execute("SELECT sequence, kind, at, who, body FROM events").fetchall()
    return [(number, kind, at, who, json.loads(body)) for number, kind, at, who, body in found]


def write_session(path: Path, rows: list[Row]) -> None:
    """A session file with these events, and digests that fit them."""
    digest = ""
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        for step in STEPS:
            file.execute(step)
        for sequence, kind, at, who, body in rows:
            text = body if isinstance(body, str) else json.dumps(body)
            digest = event_digest(digest, sequence, kind, at, who, text)
            file.execute(
                "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)",
                (sequence, kind, at, who, text, digest),
            )
        file.execute(f"PRAGMA application_id = {APPLICATION}")
        file.execute(f"PRAGMA user_version = {len(STEPS)}")


def _places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something could be replaced: every field, and the first of every list."""
    inner = value.items() if isinstance(value, dict) else enumerate(value[:1])
    for key, one in inner:
        yield (*before, key)
        if isinstance(one, dict | list):
            yield from _places(one, (*before, key))


def _mutated(body: Any, rng: random.Random, place: tuple[Any, ...]) -> tuple[str, Any]:
    changed = copy.deepcopy(body)
    *path, last = place
    inner = changed
    for key in path:
        inner = inner[key]
    if rng.random() < 0.15:
        del inner[last]
        return "deleted", changed
    inner[last] = rng.choice(BAD)
    return json.dumps(inner[last])[:20], changed


def mutants(rows: list[Row], n: int, seed: int = 7) -> Iterator[tuple[str, list[Row]]]:
    """Sessions with one field of one event replaced or missing, and what was done."""
    rng = random.Random(seed)
    first = list(_places(rows[0][4]))
    for number in range(n):
        # Most of what a session holds is in its first event; each of its fields in turn.
        at = 0 if number % 2 == 0 else rng.randrange(len(rows))
        place = first[(number // 2) % len(first)] if at == 0 else None
        body = rows[at][4]
        place = place or rng.choice(list(_places(body)) or [("more",)])
        told, changed = _mutated({"more": 1, **body} if place == ("more",) else body, rng, place)
        row = (*rows[at][:4], changed)
        name = f"event {at + 1} ({rows[at][1]}) {'.'.join(map(str, place))}: {told}"
        yield name, [*rows[:at], row, *rows[at + 1 :]]
