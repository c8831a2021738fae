"""Which columns are used, why the others are not, and what stands in the way."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from samecluster._typing import BoolArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.columns import Column
from samecluster.tables.dialect import number_pattern
from samecluster.tables.table import Table

__all__ = ["Choice", "ColumnUse", "Wanted", "choose"]

_ROWS_FOR_IDENTIFIER = 10  # fewer whole numbers may well differ by chance
_IDENTIFIER_NAME = re.compile(r"(?:.*[\W_])?(?:id|idx|index|key|nr|no)|.*I[Dd]|column 1")
_EXACT_WHOLE = 2.0**53
_FEW_CATEGORIES = 20
_LONGEST_SHOWN = 30


@dataclass(frozen=True)
class Wanted:
    """What a user wants done with the columns.

    ``features`` names the columns of numbers; None takes all that look like measurements (or none
    of them, if there are ``texts``, vectors or pixels to use instead). ``categories`` become 0/1
    columns, ``texts`` become ``text_dimensions`` numbers each.
    """

    features: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    id_column: str | None = None
    truth: str | None = None
    labels: str | None = None
    categories: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    scale: bool = True
    reduce: int | None = None
    drop_missing: bool = False
    text_dimensions: int = 50

    def __post_init__(self) -> None:
        for name in ("reduce", "text_dimensions"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInputError(f"{name} must be at least 1, got {value}")
        roles = {"the id": self.id_column, "the truth": self.truth, "the labels": self.labels}
        for name in (*(self.features or ()), *self.categories, *self.texts):
            for role, column in roles.items():
                if name == column:
                    raise InvalidInputError(f"column {name!r} cannot be a feature and {role}")

    @property
    def roles(self) -> dict[str, str]:
        """Columns that are never features, and what they are instead."""
        given = ((self.id_column, "the id"), (self.truth, "the truth"), (self.labels, "the labels"))
        return {name: role for name, role in given if name is not None}


@dataclass(frozen=True)
class ColumnUse:
    """What becomes of a column, and why."""

    name: str
    used: bool
    why: str


@dataclass(frozen=True, eq=False)
class Choice:
    """The columns of numbers to use, what becomes of every column, and what stands in the way."""

    table: Table
    wanted: Wanted
    numbers: tuple[str, ...]
    uses: tuple[ColumnUse, ...]
    faults: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that features are made of."""
        return (*self.numbers, *self.wanted.categories, *self.wanted.texts)

    @cached_property
    def missing(self) -> BoolArray:
        """The rows (n,) that lack a value in a column that is used."""
        return rows_with_missing(self.table, self.numbers, self.columns)

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """All that keeps the table from being used, a line each."""
        source = self.table.source
        if len(self.table) < 2:
            return (f"{source} has only 1 row; at least 2 are needed",)
        found = list(self.faults)
        n_missing = int(np.count_nonzero(self.missing))
        if n_missing and not self.wanted.drop_missing:
            found.append(missing_values(self.table, self.columns, self.missing))
        elif len(self.table) - n_missing < 2:
            found.append(f"{source}: fewer than 2 rows are without missing values")
        return tuple(found)


def choose(table: Table, wanted: Wanted) -> Choice:
    """Go through the columns of a table."""
    for name in (*(wanted.features or ()), *wanted.categories, *wanted.texts, *wanted.roles):
        table.column(name)
    for name in wanted.ignore:
        table.column(name)
    numbers: list[str] = []
    uses: list[ColumnUse] = []
    faults: list[str] = []
    for column in table.columns.values():
        use, fault = _use(table, column, wanted)
        uses.append(use)
        if fault:
            faults.append(fault)
        if use.used and column.name not in (*wanted.categories, *wanted.texts):
            numbers.append(column.name)
    if wanted.features is not None:
        numbers = list(dict.fromkeys(wanted.features))
    faults += [fault for name in numbers for fault in _infinite(table, table.column(name))]
    if not (numbers or wanted.categories or wanted.texts or table.blocks or faults):
        faults.append(_nothing_to_use(table, uses))
    return Choice(table, wanted, tuple(numbers), tuple(uses), tuple(faults))


def rows_with_missing(
    table: Table, numbers: tuple[str, ...], columns: tuple[str, ...]
) -> BoolArray:
    """The rows (n,) that lack a value in one of the columns, or in a block."""
    lacking = np.zeros(len(table), dtype=np.bool_)
    for name in columns:
        column = table.column(name)
        lacking |= column.numbers.missing if name in numbers else column.missing
    for block in table.blocks.values():
        lacking |= np.isnan(block).any(axis=1)
    return lacking


def missing_values(table: Table, columns: tuple[str, ...], lacking: BoolArray) -> str:
    """Say which rows lack a value, and of which columns."""
    rows = np.flatnonzero(lacking)
    first = int(rows[0])
    column = next((name for name in columns if table.column(name).missing[first]), None)
    count = "1 row has" if len(rows) == 1 else f"{len(rows):,} rows have"
    return (
        f"{table.place(first, column)}: no value; {count} missing values "
        f"({table.row_names(rows)}): fill them in, leave out the column with --ignore, or leave "
        "out the rows with --drop-missing"
    )


def not_numbers(table: Table, column: Column, rows: IntArray) -> str:
    """Say that cells are no numbers, and what may be done."""
    row = int(rows[0])
    cell = column.texts[row]
    dialect = table.dialect
    if dialect and dialect.separator != ",":
        other = "." if dialect.decimal == "," else ","
        if number_pattern(other).fullmatch(cell):
            return (
                f"{table.place(row, column.name)}: {_shown(cell)} is no number with decimal mark "
                f"{dialect.decimal!r}; name the other one with --decimal {other}"
            )
    more = f" (so are {len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return (
        f"{table.place(row, column.name)}: {_shown(cell)} is no number{more}; correct it, count it "
        f"as missing with --na, or leave out the column with --ignore {column.name}"
    )


def _use(table: Table, column: Column, wanted: Wanted) -> tuple[ColumnUse, str | None]:
    name = column.name
    named = wanted.roles.get(name)
    if named is not None:
        return ColumnUse(name, False, named), None
    if name in wanted.categories:
        count = len(set(column.texts))
        return ColumnUse(name, True, f"categories ({count:,}), one column each"), None
    if name in wanted.texts:
        return ColumnUse(name, True, f"text, as {wanted.text_dimensions} numbers"), None
    if name in wanted.ignore:
        return ColumnUse(name, False, "left out as asked"), None
    if wanted.features is not None:
        return _named(table, column, wanted)
    if wanted.texts or table.blocks:
        instead = "text" if wanted.texts else next(iter(table.blocks))
        return ColumnUse(name, False, f"shown only: features are the {instead}"), None
    return _by_its_looks(table, column, wanted)


def _named(table: Table, column: Column, wanted: Wanted) -> tuple[ColumnUse, str | None]:
    if column.name not in (wanted.features or ()):
        return ColumnUse(column.name, False, "not among the features named"), None
    numbers = column.numbers
    use = ColumnUse(column.name, True, _number(wanted))
    if not numbers.n_numbers:
        return use, (
            f"{table.source}, column {column.name!r}: there are no numbers in it; use it with "
            f"--categories {column.name} or --text {column.name}, or leave it out"
        )
    return use, not_numbers(table, column, numbers.odd) if len(numbers.odd) else None


def _by_its_looks(table: Table, column: Column, wanted: Wanted) -> tuple[ColumnUse, str | None]:
    numbers, name = column.numbers, column.name
    if bool(numbers.missing.all()):
        return ColumnUse(name, False, "empty"), None
    if len(numbers.odd):
        if numbers.n_numbers >= len(numbers.odd):
            return (
                ColumnUse(name, False, "numbers and text mixed"),
                not_numbers(table, column, numbers.odd),
            )
        return ColumnUse(name, False, _text(column)), None
    values = numbers.values
    present = values if not numbers.missing.any() else values[~numbers.missing]
    if len(present) and bool((present == present[0]).all()):
        return ColumnUse(
            name, False, f"constant: always {_shown(column.texts[_first(numbers.missing)])}"
        ), None
    if not table.is_matrix and _looks_like_identifier(column):
        return ColumnUse(name, False, "whole numbers, all different: an identifier?"), None
    return ColumnUse(name, True, _number(wanted)), None


def _number(wanted: Wanted) -> str:
    return "number, standardised" if wanted.scale else "number"


def _first(missing: BoolArray) -> int:
    return int(np.argmin(missing))


def _text(column: Column) -> str:
    kinds = len(set(column.texts))
    if kinds == len(column):
        return f"text, all different: --id {column.name} or --text {column.name} would use it"
    if kinds <= _FEW_CATEGORIES:
        return f"text of {kinds} kinds: --categories {column.name} would use it"
    return f"text of {kinds:,} kinds: --text {column.name} would use it"


def _looks_like_identifier(column: Column) -> bool:
    numbers = column.numbers
    if numbers.missing.any():
        return False
    few = len(column) < _ROWS_FOR_IDENTIFIER
    if few and not _IDENTIFIER_NAME.fullmatch(column.name):
        return False
    values = numbers.values
    with np.errstate(invalid="ignore"):
        if not bool((values == np.trunc(values)).all()):
            return False
    if np.abs(values).max() >= _EXACT_WHOLE:
        return column.is_distinct()  # as numbers, neighbours would be one
    return len(np.unique(values)) == len(values)


def _infinite(table: Table, column: Column) -> list[str]:
    rows = column.numbers.infinite
    if not len(rows):
        return []
    row = int(rows[0])
    more = f" (so are {len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return [
        f"{table.place(row, column.name)}: {_shown(column.texts[row])} is no finite number{more}; "
        f"correct it, or leave out the column with --ignore {column.name}"
    ]


def _nothing_to_use(table: Table, uses: list[ColumnUse]) -> str:
    why = "; ".join(f"{use.name!r}: {use.why}" for use in uses[:4])
    more = f"; and {len(uses) - 4:,} more" if len(uses) > 4 else ""
    return (
        f"{table.source} has no column of numbers to use ({why}{more}); name some with --features, "
        "--categories or --text"
    )


def _shown(cell: str) -> str:
    return repr(cell if len(cell) <= _LONGEST_SHOWN else cell[: _LONGEST_SHOWN - 1] + "…")
