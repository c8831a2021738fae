"""Cells without a value: which there are, what is said of them, and what marks those filled in."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.tables.features.encoders import KeptAsJson
from samecluster.tables.messages import brief
from samecluster.tables.table import Table

_MOST_ROWS = 10  # rows that a message lists
_LONGEST_LIST = 80  # characters of names of columns in a line


@dataclass(frozen=True, eq=False)
class MissingCells:
    """The cells without a value in columns that features are made of.

    ``rows`` (n,) marks the rows that have one, ``numbers`` and ``others`` how many there are per
    column of numbers, and of categories or text. ``matrices`` are given features with gaps.
    """

    table: Table
    rows: BoolArray
    numbers: dict[str, int]
    others: dict[str, int]
    matrices: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, numbers: Collection[str], columns: Sequence[str]) -> MissingCells:
        """Look at some columns, of which ``numbers`` are used as numbers."""
        rows, numbers = np.zeros(len(table), dtype=np.bool_), frozenset(numbers)
        counts: tuple[dict[str, int], dict[str, int]] = {}, {}
        for name in columns:
            column, is_number = table.column(name), name in numbers
            missing = column.numbers.missing if is_number else column.missing
            if missing.any():
                rows |= missing
                counts[not is_number][name] = int(np.count_nonzero(missing))
        with_gaps = []
        for name, matrix in table.matrices.items():
            lacking = np.isnan(matrix).any(axis=1)
            if lacking.any():
                rows |= lacking
                with_gaps.append(name)
        return cls(table, rows, *counts, tuple(with_gaps))

    def __str__(self) -> str:
        rows, n = np.flatnonzero(self.rows), self.n_cells
        cells = "1 cell is" if n == 1 else f"{n:,} cells are"
        names = brief(", ".join((*self.numbers, *self.others)), _LONGEST_LIST)
        return f"{cells} missing, in {self.table.row_names(rows)} ({names})"

    @property
    def n_rows(self) -> int:
        return int(np.count_nonzero(self.rows))

    @property
    def n_cells(self) -> int:
        return sum((*self.numbers.values(), *self.others.values()))

    def stops(self, missing: str) -> bool:
        """Whether nothing can be done with the table if missing cells are treated so."""
        return bool(self.n_rows if missing == "error" else self.matrices and missing == "median")

    def problem(self) -> str:
        """Which rows lack a value, as an error that says what may be done."""
        rows = np.flatnonzero(self.rows)
        first, names = int(rows[0]), (*self.numbers, *self.others)
        column = next((name for name in names if self.table.column(name).missing[first]), None)
        count = "1 row has" if len(rows) == 1 else f"{len(rows):,} rows have"
        return (
            f"{self.table.place(first, column)}: no value; {count} missing values "
            f"({self.table.row_names(rows, _MOST_ROWS)}): fill them in (--missing median does so "
            "with medians), leave out the column with --ignore, or the rows with --missing drop"
        )

    def note(self) -> str:
        """What stands in for them, and how to have it otherwise."""
        rows, n = np.flatnonzero(self.rows), self.n_cells
        parts = []
        if self.numbers:
            names = brief(", ".join(self.numbers), _LONGEST_LIST)
            parts.append(f"by the median of the column, marked in a 0/1 column ({names})")
        if self.others:
            parts.append(f"as none of those known ({brief(', '.join(self.others), _LONGEST_LIST)})")
        cells = "1 missing cell is" if n == 1 else f"{n:,} missing cells are"
        return (
            f"{cells} filled in: {'; '.join(parts)}. See {self.table.row_names(rows)}; --missing "
            "drop leaves these rows out, --missing error stops."
        )


@dataclass(frozen=True, eq=False)
class GapEncoder(KeptAsJson):
    """A 0/1 column for each of these columns: 1 where the cell is missing."""

    columns: tuple[str, ...]
    kind: ClassVar[str] = "gaps"

    @classmethod
    def fit(cls, table: Table, columns: Collection[str]) -> GapEncoder:
        """Of columns that lack values in the same rows the first stands for all."""
        first: dict[bytes, str] = {}
        for name in columns:
            first.setdefault(table.column(name).numbers.missing.tobytes(), name)
        return cls(tuple(first.values()))

    @property
    def width(self) -> int:
        return len(self.columns)

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        marks = [table.column(name).numbers.missing[rows] for name in self.columns]
        return np.column_stack(marks).astype(np.float64)
