"""Known labels in a column, known pairs in a file; whether they agree is checked elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from samecluster.errors import InvalidInputError
from samecluster.tables.reading.detect import read_table
from samecluster.tables.reading.dialect import CsvOptions
from samecluster.tables.table import Table

_VERDICTS = {"same": True, "different": False}


class KnownLabel(NamedTuple):
    """A row and the group that it is known to belong to."""

    row: int
    label: str


class KnownPair(NamedTuple):
    """Two rows that are known to be in the same group, or in different ones."""

    row: int
    other: int
    same: bool


def read_labels(table: Table, column: str) -> list[KnownLabel]:
    """The rows whose label is known; a blank cell is an unknown label.

    >>> from samecluster.tables import as_table
    >>> read_labels(as_table({"x": [1, 2, 3], "kind": ["a", None, "b"]}), "kind")
    [KnownLabel(row=0, label='a'), KnownLabel(row=2, label='b')]
    """
    found = table.column(column)
    known = zip(found.texts, found.missing.tolist(), strict=True)
    labels = [(row, text.strip()) for row, (text, none) in enumerate(known) if not none]
    return [KnownLabel(row, label) for row, label in labels if label]


def read_pairs(
    path: str | Path, keys: Sequence[str], options: CsvOptions | None = None
) -> list[KnownPair]:
    """Pairs of items from a file: two ids and `same` or `different` per line.

    ``keys`` are the ids of the rows (`item_keys` with an id column). A first line of a text
    file that has neither an id nor a verdict is a header.
    """
    options = options or CsvOptions()
    headless = CsvOptions(
        options.separator, options.decimal, options.encoding, options.missing, header=False
    )
    table = read_table(path, headless)
    if len(table.names) != 3:
        raise InvalidInputError(
            f"{table.source}: three columns are needed (id, id, same or different), got "
            f"{len(table.names)}"
        )
    place = {key: row for row, key in enumerate(keys)}
    first, second, third = (table.column(name).texts for name in table.names)
    pairs = []
    for row, (one, other, word) in enumerate(zip(first, second, third, strict=True)):
        verdict = _VERDICTS.get(word.strip().lower())
        if verdict is None and row == 0 and table.format == "csv" and one.strip() not in place:
            continue  # the header
        if verdict is None:
            raise InvalidInputError(
                f"{table.place(row)}, cell 3: 'same' or 'different' is needed, got {word!r}"
            )
        ends = [_found(table, row, at, key, place) for at, key in ((1, one), (2, other))]
        if ends[0] == ends[1]:
            raise InvalidInputError(f"{table.place(row)}: {one.strip()!r} is paired with itself")
        pairs.append(KnownPair(ends[0], ends[1], verdict))
    return pairs


def _found(table: Table, row: int, cell: int, key: str, place: dict[str, int]) -> int:
    try:
        return place[key.strip()]
    except KeyError:
        raise InvalidInputError(
            f"{table.place(row)}, cell {cell}: no item has the id {key.strip()!r}"
        ) from None
