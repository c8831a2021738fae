"""Who may come in: personal links, kept apart from the session, and only as hashes.

The file is in the user's own folder for state and readable by nobody else. A link works until it is
revoked, also after a restart of the server; it is not in the session file, so that a copy of that
file lets nobody in.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from samecluster.errors import InvalidInputError, StoreError
from samecluster.sessions.storage.lock import one_at_a_time

ROLES = ("owner", "annotator")
_LONGEST_NAME = 100
_SHORTEST_TOKEN = 16
# Browsers that came in by the link of an earlier start of the server stay in; not for ever.
_MOST_STARTS = 20


@dataclass(frozen=True)
class Participant:
    """A person with a link; ``name`` is None for the person who started the server without one."""

    name: str | None
    role: str

    @property
    def is_owner(self) -> bool:
        return self.role == "owner"


def session_id(session: Path) -> str:
    """A short name for a session, made from its path without links: the same on every start."""
    return hashlib.sha256(str(session.resolve()).encode()).hexdigest()[:16]


def links_file(session: Path) -> Path:
    """Where the links of a session are kept."""
    configured = os.environ.get("XDG_STATE_HOME")
    state = Path(configured) if configured else Path.home() / ".local" / "state"
    return state / "samecluster" / f"{session_id(session)}.links.json"


class Participants:
    """The links of a session. Other processes may add to them at any time."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._read_version: tuple[int, int] | None = None
        self._links: dict[str, Mapping[str, Any]] = {}
        self._address: str | None = None
        self._tokens: dict[str, Participant] = {}

    @property
    def address(self) -> str | None:
        """The URL of the server, or its last one."""
        self._read()
        return self._address

    def set_address(self, address: str) -> None:
        with self._changed():
            self._address = address

    def accept(self, token: str, person: Participant) -> None:
        """Let a token in that the user has chosen; it is not kept."""
        if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isalnum():
            raise InvalidInputError(
                f"--token must be at least {_SHORTEST_TOKEN} letters and digits, got {len(token)} "
                "characters; leave it out to have one made"
            )
        self._tokens[_hash(token)] = person

    def invite(self, person: Participant, *, start: bool = False) -> str:
        """Make a link for a person, and return its secret; only a hash of it is kept."""
        secret = secrets.token_urlsafe(24)
        made = datetime.now(UTC).isoformat(timespec="seconds")
        link = {"who": checked_name(person.name), "role": person.role, "made": made}
        with self._changed():
            self._links[_hash(secret)] = {**link, "start": start}
            starts = [hashed for hashed, link in self._links.items() if link.get("start")]
            for old in starts[:-_MOST_STARTS]:
                del self._links[old]
        return secret

    def revoke(self, name: str) -> int:
        """End all links of a person; return how many there were."""
        with self._changed():
            before = len(self._links)
            self._links = {h: link for h, link in self._links.items() if link["who"] != name}
        return before - len(self._links)

    def person(self, secret: str) -> Participant | None:
        """The person whose link has this secret; None if there is none."""
        hashed = _hash(secret)
        if hashed in self._tokens:
            return self._tokens[hashed]
        self._read()
        link = self._links.get(hashed)
        return None if link is None else Participant(link["who"], link["role"])

    def roles(self) -> dict[str | None, str]:
        """The role of each person who has a link."""
        self._read()
        found = {link["who"]: str(link["role"]) for link in self._links.values()}
        return {**found, **{person.name: person.role for person in self._tokens.values()}}

    @contextmanager
    def _changed(self) -> Iterator[None]:
        """Read, change and write while no other process does: none undoes what another did."""
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with one_at_a_time(self.file):
                self._read()
                yield
                self._write()
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise StoreError(
                f"links cannot be kept in {self.file.parent} ({why}); set XDG_STATE_HOME to a "
                "folder that can be written"
            ) from None

    def _read(self) -> None:
        try:
            version = _version(self.file)
            if version == self._read_version:
                return
            stored = json.loads(self.file.read_text(encoding="utf-8"))
            self._links, self._address = _checked_links(stored["links"]), stored["address"]
        except FileNotFoundError:
            self._links, self._address, self._read_version = {}, None, None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise StoreError(
                f"the links in {self.file} cannot be read ({error}); remove the file and invite "
                "people again"
            ) from None
        else:
            self._read_version = version

    def _write(self) -> None:
        """Readers find the file as it was or as it is, never half of it."""
        # Files that mkstemp makes are readable by their owner only.
        handle, name = tempfile.mkstemp(dir=self.file.parent, prefix=".links-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"version": 1, "address": self._address, "links": self._links}, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        self._read_version = _version(self.file)


def _version(file: Path) -> tuple[int, int]:
    """Each change makes another file; the time tells apart those that got the same inode."""
    found = file.stat()
    return found.st_mtime_ns, found.st_ino


def _checked_links(stored: Any) -> dict[str, Mapping[str, Any]]:
    links = dict(stored)
    for link in links.values():
        if not isinstance(link["who"], str | None) or link["role"] not in ROLES:
            raise ValueError("a link has no person or no role")
    return links


def checked_name(name: str | None) -> str | None:
    """A name that can stand in the session; InvalidInputError otherwise."""
    if name is None or (name.strip() and name.isprintable() and len(name) <= _LONGEST_NAME):
        return name
    raise InvalidInputError(
        f"the name of a person must be 1 to {_LONGEST_NAME} printable characters, got {name!r}"
    )


def _hash(secret: str) -> str:
    # Secrets are random and long: a slow hash would add nothing.
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
