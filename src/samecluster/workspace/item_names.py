"""Items as people know them: by id, by file name, or by line and first words; never by a hash.

Sessions know an item without an id by a hash of its row, which is the same in every file and order.
Texts that are made of such keys become readable here, where the data is at hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from samecluster.errors import InvalidInputError
from samecluster.tables.display import columns_to_show
from samecluster.tables.messages import brief
from samecluster.tables.reading.images import is_image_folder
from samecluster.workspace.data import SessionData

_HASH = re.compile(r"\b[0-9a-f]{32}(?:#\d+)?(?![0-9a-f#])")
_LONGEST = 40  # characters of a row's first words: enough to tell, and several fit in a sentence
_GONE = "an item that is not in the data now"


def without_keys(text: str) -> str:
    """The text without the keys of items whose data is not at hand."""
    return _HASH.sub("an item", text)


class ItemNames:
    """The names of the items of a session, by their keys."""

    def __init__(self, data: SessionData) -> None:
        self._data = data
        self._row_of = {key: int(row) for key, row in zip(data.keys, data.rows, strict=True)}
        self._has_ids = data.preparation.options.id_column is not None  # may look like our hashes
        self._columns = columns_to_show(data.table, data.preparation.options)

    def __call__(self, key: str) -> str:
        """How a person knows an item; ids name themselves."""
        if self._has_ids or not _HASH.fullmatch(key):
            return key
        row = self._row_of.get(key)
        return _GONE if row is None else self._named(row)

    def in_text(self, text: str) -> str:
        """The text with names where it has keys."""
        return _HASH.sub(lambda found: self(found[0]), text)

    def known(self, keys: Iterable[str]) -> list[str]:
        """The names of those that are in the data."""
        return [name for name in map(self, keys) if name != _GONE]

    def key(self, given: str) -> str:
        """The key of the item that somebody means: by key, file name, or line or row."""
        if given in self._row_of:
            return given
        table = self._data.table
        found = [key for key, row in self._row_of.items() if given in self._ways(row)]
        if len(found) == 1:
            return found[0]
        by_row = "'row 17'" if table.lines is None else "'line 17'"
        where = "its file name" if is_image_folder(table) else "its id" if self._has_ids else by_row
        are = "several items are" if found else "there is no item"
        raise InvalidInputError(f"{are} {given!r} in {table.source}; name one by {where}")

    def _ways(self, row: int) -> tuple[str, ...]:
        table = self._data.table
        if is_image_folder(table):
            return (table.column("name").texts[row],)
        return (table.row_name(row), self._named(row))

    def _named(self, row: int) -> str:
        table = self._data.table
        if is_image_folder(table):
            return table.column("name").texts[row]
        cells = (table.column(name).texts[row].strip() for name in self._columns)
        words = brief(", ".join(filter(None, cells)), _LONGEST)
        return f"{table.row_name(row)} ({words})" if words else table.row_name(row)
