"""Vectors that live apart from what is shown, joined to a table by id or by order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.tables.column import TypedColumn
from samecluster.tables.item_keys import item_keys
from samecluster.tables.messages import reason_of
from samecluster.tables.reading.images import is_image_folder
from samecluster.tables.table import Table

_SHOWN_AT_EACH_END = 3
_LISTS = (list, tuple, np.ndarray)


@dataclass(frozen=True, eq=False)
class JoinedVectors:
    """A table with its vectors, how they were joined, and the first and last pairs to look at."""

    table: Table
    how: str
    pairs: tuple[tuple[str, str], ...]
    n_unused: int


def join_vectors(
    table: Table, vectors: Table, *, id_column: str | None = None, order: str | None = None
) -> JoinedVectors:
    """Give a table the rows of another one as features, and no others that came with it.

    By ``id_column`` if both tables have it; else by order, and then both need as many rows. Images
    have an order only by name, so by-order needs ``order="name"`` with a folder.
    """
    if order not in (None, "name"):
        raise InvalidInputError(f"order must be 'name', got {order!r}")
    by_id = id_column is not None and id_column in vectors.columns
    if by_id and id_column is not None:
        rows, n_unused = _by_id(table, vectors, id_column), len(vectors) - len(table)
        how = f"by id ({id_column})"
    else:
        _check_order(table, vectors, order)
        rows, n_unused, how = np.arange(len(table)), 0, "by order"
    matrix = _matrix(vectors, id_column)
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, at = bad[0].tolist()
        raise InvalidInputError(
            f"{vectors.place(row)}, number {at} of the vector: {matrix[row, at]}; only finite "
            "numbers are allowed"
        )
    keys = item_keys(table, id_column) if by_id else None
    pairs = tuple(
        (_described(table, row, keys), vectors.row_name(int(rows[row])))
        for row in _ends(len(table))
    )
    return JoinedVectors(table.with_matrices({"vectors": matrix[rows]}), how, pairs, n_unused)


def _by_id(table: Table, vectors: Table, id_column: str) -> np.ndarray:
    place = {key: row for row, key in enumerate(item_keys(vectors, id_column))}
    rows = []
    for row, key in enumerate(item_keys(table, id_column)):
        if key not in place:
            raise InvalidInputError(
                f"{table.place(row, id_column)}: {vectors.source} has no vector for {key!r}"
            )
        rows.append(place[key])
    return np.array(rows, dtype=np.int64)


def _check_order(table: Table, vectors: Table, order: str | None) -> None:
    if is_image_folder(table) and order != "name":
        raise InvalidInputError(
            f"{vectors.source} has no names: if its rows are in the order of the names of the "
            "images, say --order name"
        )
    if len(table) != len(vectors):
        raise InvalidInputError(
            f"{vectors.source} has {len(vectors):,} rows and {table.source} has {len(table):,}; "
            "without ids both need as many"
        )


def _matrix(vectors: Table, id_column: str | None) -> FloatArray:
    columns = [column for name, column in vectors.columns.items() if name != id_column]
    for column in columns:
        if isinstance(column, TypedColumn) and isinstance(column.values[0], _LISTS):
            return _unfolded(vectors, column)
    numbers = [column for column in columns if column.numbers.n_numbers == len(column)]
    if not numbers:
        raise InvalidInputError(f"{vectors.source} has no column of numbers only, so no vectors")
    return np.column_stack([column.numbers.values for column in numbers])


def _unfolded(vectors: Table, column: TypedColumn) -> FloatArray:
    """A column of lists of numbers, as Parquet and JSON files have vectors."""
    width = len(column.values[0])
    for row, value in enumerate(column.values):
        if not isinstance(value, _LISTS) or len(value) != width:
            raise InvalidInputError(
                f"{vectors.place(row, column.name)}: a list of {width} numbers is needed"
            )
    try:
        return np.array([list(value) for value in column.values], dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{vectors.source}, column {column.name!r}: lists of numbers are needed "
            f"({reason_of(error)})"
        ) from None


def _described(table: Table, row: int, keys: list[str] | None) -> str:
    if keys is not None:
        return keys[row]
    return table.column("name").texts[row] if is_image_folder(table) else table.row_name(row)


def _ends(n: int) -> list[int]:
    """The first and the last rows, each once."""
    ends = {*range(min(n, _SHOWN_AT_EACH_END)), *range(max(0, n - _SHOWN_AT_EACH_END), n)}
    return sorted(ends)
