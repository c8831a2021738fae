"""A column of text, or the pictures of a folder, as vectors of a model that the user names.

Vectors are worked out once: they are kept in a file of the user's cache, by the fingerprint of the
model and a hash of the item, so that opening a session again waits for no model.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.embedding_models import embedding_model
from samecluster.tables.features.encoders import VectorEncoder, mean_and_scale
from samecluster.tables.features.text import texts_of
from samecluster.tables.reading.images import CONTENT, is_image_folder
from samecluster.tables.table import Table


@dataclass(frozen=True, eq=False)
class ModelEmbeddingEncoder(VectorEncoder):
    """Vectors of length 1. ``column`` has the texts; None is for the pictures of a folder."""

    kind: ClassVar[str] = "model embedding"

    @classmethod
    def fit(
        cls, table: Table, rows: IntArray, column: str | None, model: str, scale: bool
    ) -> ModelEmbeddingEncoder:
        fingerprint = embedding_model(model, _kind(column)).fingerprint
        X = _vectors(table, rows, column, model)
        return cls(column, model, fingerprint, *mean_and_scale(X, scale))

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        found = embedding_model(self.model, _kind(self.column)).fingerprint
        if found != self.fingerprint:
            raise InvalidInputError(
                f"the features are from a model {self.model} with fingerprint {self.fingerprint}, "
                f"and the one that is there now has {found}; the session needs the one of before"
            )
        return self.centred(_vectors(table, rows, self.column, self.model))


def _kind(column: str | None) -> str:
    return "pictures" if column is None else "texts"


def _vectors(table: Table, rows: IntArray, column: str | None, name: str) -> FloatArray:
    model = embedding_model(name, _kind(column))
    if column is not None:
        texts = texts_of(table, column, rows)
        keys = [hashlib.blake2b(text.encode(), digest_size=16).hexdigest() for text in texts]
        return _kept(model.fingerprint, keys, lambda at: model.of_texts([texts[i] for i in at]))
    if not is_image_folder(table):
        raise InvalidInputError(f"{table.source} is no folder of images, as the session needs")
    names, contents = table.column("name").texts, table.column(CONTENT).texts
    files = [Path(table.origin) / names[row] for row in rows]
    keys = [contents[row] for row in rows]
    return _kept(model.fingerprint, keys, lambda at: model.of_pictures([files[i] for i in at]))


def _kept(
    fingerprint: str, keys: Sequence[str], make: Callable[[list[int]], FloatArray]
) -> FloatArray:
    """(keys, width) vectors, made of those items (by their places) that are not kept yet."""
    known = _read(fingerprint)
    first: dict[str, int] = {}
    for at, key in enumerate(keys):
        if key not in known:
            first.setdefault(key, at)
    if first:
        made = np.asarray(make(list(first.values())), dtype=np.float32)
        new = dict(zip(first, made, strict=True))
        _write(fingerprint, new)
        known |= new
    return np.stack([known[key] for key in keys]).astype(np.float64)


def _file(fingerprint: str) -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return folder / "samecluster" / f"vectors-{fingerprint}.sqlite"


def _read(fingerprint: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    file = _file(fingerprint)
    if file.exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(file)) as kept:
            for key, vector in kept.execute("SELECT key, vector FROM vectors"):
                found[key] = np.frombuffer(vector, dtype="<f4")
    return found


def _write(fingerprint: str, vectors: dict[str, Any]) -> None:
    """Without a place to keep them they are made again next time."""
    file = _file(fingerprint)
    with suppress(OSError, sqlite3.Error):
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file)) as kept, kept:
            kept.execute("CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, vector BLOB)")
            rows = [(key, one.astype("<f4").tobytes()) for key, one in vectors.items()]
            kept.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
