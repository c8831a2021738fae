"""The rows of a session: a key and a digest each, by which other data is noticed.

Neither coordinates nor cells can be computed from a digest of 64 bits of a row, but a guess of a
row can be checked against it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError

_SIZE = 8  # bytes of a digest


@dataclass(frozen=True)
class Changes:
    """How rows differ from those before: the keys that came, went, and have other content."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    reordered: bool = False

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed or self.reordered)

    def __str__(self) -> str:
        if self.reordered and not (self.added or self.removed or self.changed):
            return "the same rows in another order"
        return (
            f"{len(self.added):,} rows added, {len(self.removed):,} removed, "
            f"{len(self.changed):,} changed"
        )


@dataclass(frozen=True)
class Items:
    """Keys and digests of rows, in their order."""

    keys: tuple[str, ...]
    digests: tuple[str, ...]

    @classmethod
    def of(cls, keys: Sequence[str], X: FloatArray, contents: Sequence[str] | None) -> Items:
        """Checked keys, with the digests of ``contents`` or else of the rows of X (n, d)."""
        keys = tuple(keys)
        if len(keys) != len(X):
            raise InvalidInputError(f"keys must be one a row: {len(keys)} keys, {len(X)} rows")
        for row, key in enumerate(keys):
            if not isinstance(key, str) or not key:
                raise InvalidInputError(f"keys must be texts, got {key!r} for row {row}")
        twice = [key for key, count in Counter(keys).items() if count > 1]
        if twice:
            raise InvalidInputError(
                f"keys must be different; {twice[0]!r} is given to {keys.count(twice[0])} rows"
            )
        return cls(keys, tuple(_digests(X, contents)))

    @classmethod
    def from_body(cls, body: Mapping[str, Any]) -> Items:
        text, width = body["digests"], 2 * _SIZE
        if len(text) != width * len(body["keys"]) or len(set(body["keys"])) != len(body["keys"]):
            raise ValueError("keys and digests must be one a row, and keys all different")
        return cls(
            tuple(body["keys"]), tuple(text[i : i + width] for i in range(0, len(text), width))
        )

    def body(self) -> dict[str, Any]:
        return {"keys": list(self.keys), "digests": "".join(self.digests)}

    def checked_key(self, key: str) -> str:
        """The key itself; InvalidInputError if no row has it."""
        if key not in self.row_of:
            raise InvalidInputError(f"item must be a key of the data, got {key!r}")
        return key

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {key: row for row, key in enumerate(self.keys)}

    @cached_property
    def digest_of(self) -> dict[str, str]:
        return dict(zip(self.keys, self.digests, strict=True))

    def changes(self, new: Items) -> Changes:
        before, after = self.digest_of, new.digest_of
        return Changes(
            tuple(key for key in new.keys if key not in before),
            tuple(key for key in self.keys if key not in after),
            tuple(key for key in new.keys if key in before and before[key] != after[key]),
            reordered=self.keys != new.keys,
        )


def _digests(X: FloatArray, contents: Sequence[str] | None) -> list[str]:
    if contents is not None:
        if len(contents) != len(X):
            raise InvalidInputError(
                f"contents must be one a row: {len(contents)} contents, {len(X)} rows"
            )
        return [_digest(content.encode("utf-8", "surrogatepass")) for content in contents]
    # Adding zero makes -0.0 and 0.0 the same.
    rows = np.ascontiguousarray(X + 0.0, dtype="<f8")
    return [_digest(row.tobytes()) for row in rows]


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=_SIZE).hexdigest()
