"""The file of all exchanges with a model, a line of JSON each: a record, and a cache.

Only its owner can read it. It holds prompts and replies, no key; of pictures their SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

from samecluster._files import check_input, check_size
from samecluster.errors import InvalidInputError

_HEADER = {"samecluster": "exchanges with a language model", "version": 1}


def exchange_key(url: str, model: str, messages: list[dict[str, Any]], more: Any) -> str:
    """The same prompt to the same model has the same key."""
    said = json.dumps([url, model, messages, more], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


class Transcript:
    """Replies by the key of what was sent; in memory only, if there is no path."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._replies: dict[str, str] = {}
        self._lock = threading.Lock()
        if path is not None:
            self._begin(path)

    def __len__(self) -> int:
        return len(self._replies)

    def reply(self, key: str) -> str | None:
        """What was said to the same before."""
        return self._replies.get(key)

    def keep(self, key: str, reply: str, **more: Any) -> None:
        """An exchange is kept when this returns."""
        with self._lock:
            self._replies[key] = reply
            if self.path is not None:
                self._append({"key": key, **_without_pictures(more), "reply": reply})

    def _begin(self, path: Path) -> None:
        try:
            is_new = not os.path.lexists(path)
            if is_new:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._append(_HEADER)
                return
            if path.is_symlink():
                raise InvalidInputError(f"{path} is a link; name the file that it leads to")
            check_size(path, check_input(path))
            self._read(path)
            if os.name == "posix" and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                path.chmod(0o600)
        except OSError as error:
            raise InvalidInputError(
                f"exchanges with the model cannot be kept in {path}: {error.strerror}"
            ) from None

    def _read(self, path: Path) -> None:
        with path.open("rb") as file:
            if _parsed(file.readline()) != _HEADER:
                raise InvalidInputError(
                    f"{path} is no file of exchanges with a language model; name another"
                )
            for line in file:
                # The last line of a process that was killed may be torn.
                said = _parsed(line)
                if isinstance(said, dict) and isinstance(said.get("reply"), str):
                    self._replies[str(said.get("key"))] = said["reply"]

    def _append(self, line: dict[str, Any]) -> None:
        assert self.path is not None
        # Begins with a line end, so that a line after a torn one is whole.
        text = json.dumps(line, ensure_ascii=True)
        begin = "" if line is _HEADER else "\n"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path, flags, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(f"{begin}{text}".encode())


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _without_pictures(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_pictures(of) for name, of in value.items()}
    if isinstance(value, list):
        return [_without_pictures(of) for of in value]
    if isinstance(value, str) and value.startswith("data:image/"):
        return f"sha256:{hashlib.sha256(value.encode()).hexdigest()}"
    return value
