"""Which item is which, whatever file or order it comes in.

An item is known by its id, or else by what its row says. Never by row number or path: answers
given about an item must find it again in a file that was sorted, moved or saved by another
program.

The canonical form of a row: for each column (in the order of their names) the name and the cell.
A cell that is a number counts as that number (a whole one that no float holds, as its digits), so
`1.50` and `1.5` are the same, and a row means the same in CSV, Parquet and JSON; any other cell
counts as its text without space around it.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter
from collections.abc import Iterable

import numpy as np

from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.tables.column import Column, Numbers, is_whole
from samecluster.tables.table import Table

_EXACT_WHOLE = 2.0**53  # below it, different whole numbers are different floats
_LONGEST_WHOLE = 400  # characters; the largest float has 309 digits
_DIGEST_BYTES = 16  # two of a billion rows collide with probability below 1e-20
_NUMBER, _TEXT, _NONE = b"n", b"t", b"-"


def item_keys(
    table: Table, id_column: str | None = None, ignoring: Iterable[str] = ()
) -> list[str]:
    """A key for each row: its id, or a hash of its cells.

    Rows that say the same are told apart by number: the second has ``#2`` after its hash. Columns
    in ``ignoring`` (labels, truth) do not count; they may change while the item stays the same.

    >>> from samecluster.tables import as_table
    >>> table = as_table({"x": [1, 2, 1], "name": ["a", "b", "a"]})
    >>> first, second, third = item_keys(table)
    >>> third == first + "#2"
    True
    """
    if id_column is not None:
        return _ids(table, table.column(id_column))
    for name in ignoring:
        table.column(name)
    hashes = _hashes(table, {*ignoring, *table.incidental})
    if len(set(hashes)) == len(hashes):
        return hashes
    seen: Counter[str] = Counter()
    keys = []
    for found in hashes:
        seen[found] += 1
        keys.append(found if seen[found] == 1 else f"{found}#{seen[found]}")
    return keys


def _ids(table: Table, column: Column) -> list[str]:
    ids = [text.strip() for text in column.texts]
    whole = column.numbers.values if _is_float_column(column) else None
    if whole is not None:
        # Whole numbers come as floats where a program met a missing value among them.
        ids = [
            str(int(v)) if v.is_integer() else t for v, t in zip(whole.tolist(), ids, strict=True)
        ]
    return checked_ids(table, column.name, ids)


def _is_float_column(column: Column) -> bool:
    values = getattr(column, "values", None)
    return isinstance(values, np.ndarray) and values.dtype.kind == "f"


def checked_ids(table: Table, name: str, ids: list[str]) -> list[str]:
    """The ids of a column; InvalidInputError for one that is blank or there twice."""
    if len(set(ids)) == len(ids) and "" not in ids:
        return ids
    first: dict[str, int] = {}
    for row, key in enumerate(ids):
        if not key:
            raise InvalidInputError(
                f"{table.place(row, name)}: the id is blank; every row needs one"
            )
        if first.setdefault(key, row) != row:
            raise InvalidInputError(
                f"{table.place(row, name)}: the id {key!r} is also that of "
                f"{table.row_name(first[key])}; ids must differ"
            )
    raise AssertionError("ids are all different and filled")


def _hashes(table: Table, ignoring: set[str]) -> list[str]:
    names = sorted(name for name in table.names if name not in ignoring)
    start = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    start.update(b"".join(_framed(name.encode()) for name in names))
    pieces = _pieces([table.column(name) for name in names])
    if not names:
        pieces = [_rows_of(list(matrix.T)) for _, matrix in sorted(table.matrices.items())]
    hashes = []
    for row in zip(*pieces, strict=True):
        state = start.copy()
        state.update(b"".join(row))
        hashes.append(state.hexdigest())
    return hashes


def _pieces(columns: list[Column]) -> list[list[bytes]]:
    """The cells of each row as bytes, neighbouring columns of plain numbers at once."""
    pieces: list[list[bytes]] = []
    together: list[FloatArray] = []
    for column in columns:
        if _is_plain(column.numbers):
            together.append(column.numbers.values)
            continue
        if together:
            pieces.append(_rows_of(together))
            together = []
        pieces.append(_cells_of(column))
    return [*pieces, _rows_of(together)] if together else pieces


def _is_plain(numbers: Numbers) -> bool:
    """Numbers only, none so large that two whole numbers may be one float."""
    return numbers.n_numbers == len(numbers.values) and bool(
        np.abs(numbers.values).max(initial=0.0) < _EXACT_WHOLE
    )


def _cells_of(column: Column) -> list[bytes]:
    numbers, texts = column.numbers, [text.strip() for text in column.texts]
    if len(numbers.not_numbers) == len(texts):
        return [_text(text) for text in texts]
    known = zip(numbers.values.tolist(), numbers.missing.tolist(), texts, strict=True)
    return [
        _NONE if none else _number(value) if _says_all(value, text) else _text(text)
        for value, none, text in known
    ]


def _says_all(value: float, text: str) -> bool:
    """The float is all that the text says: it is a number, and no whole one cut short."""
    if abs(value) < _EXACT_WHOLE:
        return True
    if math.isnan(value):
        return False
    if not is_whole(text):
        return True
    return math.isfinite(value) and len(text) <= _LONGEST_WHOLE and int(value) == int(text)


def _number(value: float) -> bytes:
    return _NUMBER + struct.pack("<d", value + 0.0)  # + 0.0 makes one zero of both


def _text(text: str) -> bytes:
    return _TEXT + _framed(text.encode("utf-8", "surrogatepass"))


def _framed(data: bytes) -> bytes:
    """Bytes after their length, so that where they end is no matter of what they are."""
    return struct.pack("<I", len(data)) + data


def _rows_of(columns: list[FloatArray]) -> list[bytes]:
    """Each row of columns of numbers as bytes, as `_number` would write them."""
    cells = np.empty((len(columns[0]), len(columns)), dtype=[("kind", "S1"), ("value", "<f8")])
    cells["kind"] = _NUMBER
    for at, values in enumerate(columns):
        cells["value"][:, at] = values + 0.0
    together, width = cells.tobytes(), cells.itemsize * len(columns)
    return [together[at : at + width] for at in range(0, len(together), width)]
