"""A table in memory: columns by name, where each row came from, and what came along with it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.column import Column
from samecluster.tables.messages import brief, first_few, first_repeated
from samecluster.tables.reading.dialect import Dialect

Format: TypeAlias = Literal["csv", "jsonl", "parquet", "array", "frame", "images", "lines"]

_MOST_NAMES = 12  # columns that a message lists


class Table:
    """Columns by name, all of one length.

    Parameters
    ----------
    source : what messages call the table, as a rule the file's name.
    columns : the columns in order.
    format : what the table was read from.
    dialect : how the text file is written, if it is one.
    lines : for text files, the line that each row begins on, counted from 1.
    matrices : features (n, d) by name that are no columns, such as vectors or pixels.
    is_matrix : the columns are those of an array: all of them are features.
    incidental : columns that say where an item is, not what it is; its key does not use them.
    origin : what is needed to write the rows out unchanged, depending on the format.
    """

    def __init__(
        self,
        source: str,
        columns: Sequence[Column],
        *,
        format: Format,
        dialect: Dialect | None = None,
        lines: IntArray | None = None,
        matrices: Mapping[str, FloatArray] | None = None,
        is_matrix: bool = False,
        incidental: frozenset[str] = frozenset(),
        origin: Any = None,
    ) -> None:
        self.source = source
        self.columns = {column.name: column for column in columns}
        self.format = format
        self.dialect = dialect
        self.lines = lines
        self.matrices = dict(matrices or {})
        self.is_matrix = is_matrix
        self.incidental = incidental
        self.origin = origin
        twice = first_repeated(column.name for column in columns)
        if twice is not None:
            raise InvalidInputError(
                f"{source}: two columns have the same name, {brief(twice)!r}; rename one"
            )
        self.n_rows = len(columns[0]) if columns else 0
        for column in columns:
            if len(column) != self.n_rows:
                raise InvalidInputError(
                    f"{source}: {column.name!r} has {len(column):,} rows and {columns[0].name!r} "
                    f"has {self.n_rows:,}; all need the same number"
                )

    def __repr__(self) -> str:
        return f"<Table {self.source}: {self.n_rows:,} rows, {len(self.columns):,} columns>"

    def __len__(self) -> int:
        return self.n_rows

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def column(self, name: str) -> Column:
        """A column by its name; InvalidInputError that lists the names if there is none."""
        try:
            return self.columns[name]
        except KeyError:
            listed = first_few([brief(name) for name in self.names], _MOST_NAMES)
            raise InvalidInputError(
                f"{self.source} has no column {brief(name)!r}; it has {listed}"
            ) from None

    def place(self, row: int, column: str | None = None) -> str:
        """Where a row, or one of its cells, is: file, line (or row) and column."""
        where = f"{self.source}, {self.row_name(row)}"
        return where if column is None else f"{where}, column {brief(column)!r}"

    def row_name(self, row: int) -> str:
        """A row as users find it: by line in text files, else by its number from 0."""
        return f"line {self.lines[row]}" if self.lines is not None else f"row {row}"

    def row_names(self, rows: Sequence[int] | IntArray, most: int = 5) -> str:
        """Several rows, the first few of them listed: 'lines 3, 8 and 12'."""
        rows = np.asarray(rows)
        numbers = [str(n) for n in (rows if self.lines is None else self.lines[rows]).tolist()]
        kind = "row" if self.lines is None else "line"
        if len(numbers) == 1:
            return f"{kind} {numbers[0]}"
        if len(numbers) > most:
            return f"{kind}s {first_few(numbers, most)}"
        return f"{kind}s {', '.join(numbers[:-1])} and {numbers[-1]}"

    def with_matrices(self, matrices: Mapping[str, FloatArray]) -> Table:
        """The same table with these matrices of features instead of its own."""
        table = copy.copy(self)
        table.matrices = dict(matrices)
        return table
