"""A table of some rows of data that need not fit into memory.

Features are there from the start; any other column is read when its cells are needed.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.points.files import FilePoints, data_files, is_parquet
from samecluster.tables.column import Column, TypedColumn
from samecluster.tables.features.identifiers import why_identifier
from samecluster.tables.item_keys import checked_ids
from samecluster.tables.reading.parquet import column_kinds, first_cells, read_cells
from samecluster.tables.table import Table

# The rows that are looked at for identifiers: a counter of up to 10^7 rows shows even if shuffled.
_FIRST_ROWS = 10_000


def columns_of_numbers(path: str | Path, without: Collection[str]) -> tuple[str, ...] | None:
    """The columns of Parquet files that hold numbers, but for some; None for .npy, which has all.

    Only the first file of a folder is looked at: the others must be like it.
    """
    first = data_files(path)[0]
    if not is_parquet(first):
        if without:
            raise InvalidInputError(
                f"{first} has no column {sorted(without)[0]!r}; columns have names in Parquet only"
            )
        return None
    kinds = column_kinds(first)
    missing = sorted(set(without) - kinds.keys())
    if missing:
        raise InvalidInputError(f"{first} has no column {missing[0]!r}; it has {', '.join(kinds)}")
    found = tuple(name for name, is_number in kinds.items() if is_number and name not in without)
    if not found:
        raise InvalidInputError(f"{first} has no columns of numbers; it has {', '.join(kinds)}")
    return found


def identifiers_in(path: str | Path, names: Collection[str]) -> tuple[str, ...]:
    """The columns of Parquet files that look like identifiers in their first rows."""
    columns = first_cells(data_files(path)[0], tuple(names), _FIRST_ROWS)
    return tuple(column.name for column in columns if why_identifier(column) is not None)


class SampledTable(Table):
    """Rows ``rows`` (m,) of the data, whose features are X (m, d)."""

    def __init__(self, source: str, points: FilePoints, rows: IntArray, X: FloatArray) -> None:
        self.numbers = rows
        columns = _columns(points, rows, X)
        super().__init__(source, columns, format="frame")

    def row_name(self, row: int) -> str:
        """A row by its number in all the data."""
        return f"row {self.numbers[row]}"


def sampled_keys(table: SampledTable, id_column: str | None, n_drawn: int) -> list[str]:
    """What the rows go by: their ids, or their numbers in all the data.

    InvalidInputError for an id that is blank or not the only one of its kind among the first
    ``n_drawn`` rows. Of rows that were added later it is too late to say so: they have the number
    as well.
    """
    if id_column is None:
        return [table.row_name(at) for at in range(len(table))]
    keys = [text.strip() for text in table.column(id_column).texts]
    seen = set(keys[:n_drawn])
    for at in range(n_drawn, len(keys)):
        if not keys[at] or keys[at] in seen:
            keys[at] = f"{keys[at]} ({table.row_name(at)})".strip()
        seen.add(keys[at])
    return checked_ids(table, id_column, keys)


def _columns(points: FilePoints, rows: IntArray, X: FloatArray) -> list[Column]:
    """The features as they are stored, the other columns, and where each row is."""
    first, _ = points.files[0]
    columns: dict[str, Column] = {}
    if is_parquet(first):
        columns = {name: _CellsToRead(name, points, rows) for name in column_kinds(first)}
    for at, name in enumerate(points.names):
        shown = name if is_parquet(first) else f"x{name}"
        columns[shown] = TypedColumn(shown, X[:, at].astype(points.dtype))
    columns.setdefault("row", TypedColumn("row", rows))
    return list(columns.values())


class _CellsToRead(TypedColumn):
    """A column whose cells are read when they are needed."""

    def __init__(self, name: str, points: FilePoints, rows: IntArray) -> None:
        self.name = name
        self._points, self._rows = points, rows

    def __len__(self) -> int:
        return len(self._rows)

    @cached_property
    def values(self) -> Any:  # type: ignore[override]
        return read_cells(self._points.files, self.name, self._rows)
