"""Which columns are used, why the others are not, and what stands in the way."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from samecluster._typing import BoolArray, IntArray
from samecluster.tables.column import Column, Numbers
from samecluster.tables.features.identifiers import why_identifier
from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.messages import brief
from samecluster.tables.reading.dialect import number_pattern
from samecluster.tables.table import Table

__all__ = [
    "ColumnSelection",
    "ColumnUse",
    "missing_values_message",
    "not_numbers_message",
    "rows_with_missing",
    "select_columns",
]

_FEW_CATEGORIES = 20  # of more kinds each becomes a column, and words say more
# One or two texts are errors in a column of any length; in a long one a tenth of the cells may be
# (an unlisted mark for "no value"). With more, the column is text in which some cells are digits.
_FEW_ERRORS, _ERRORS_PER_NUMBER = 2, 0.1
_LONGEST_SHOWN = 30  # characters of a cell in a message of one line
_LONGEST_LIST = 80  # characters of names of columns in a line that can be copied
_MOST_REASONS = 4  # columns whose reason is part of a message


@dataclass(frozen=True)
class ColumnUse:
    """What becomes of a column, and why."""

    name: str
    used: bool
    why: str
    is_identifier: bool = False


@dataclass(frozen=True, eq=False)
class ColumnSelection:
    """The columns of numbers to use, what becomes of every column, and what stands in the way."""

    table: Table
    options: FeatureOptions
    numbers: tuple[str, ...]
    uses: tuple[ColumnUse, ...]
    faults: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that features are made of."""
        return (*self.numbers, *self.options.categories, *self.options.texts)

    @cached_property
    def missing(self) -> BoolArray:
        """The rows (n,) that lack a value in a column that is used."""
        return rows_with_missing(self.table, self.numbers, self.columns)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is done without being asked, in a line each, and how to have it otherwise."""
        doubtful = [use.name for use in self.uses if use.is_identifier]
        return (_left_out(doubtful, self.numbers),) if doubtful else ()

    @cached_property
    def problems(self) -> tuple[str, ...]:
        """All that keeps the table from being used, one line per problem."""
        source = self.table.source
        found = list(self.faults)
        if len(self.table) < 2:
            return (*found, f"{source} has only 1 row; at least 2 are needed")
        n_missing = int(np.count_nonzero(self.missing))
        if n_missing and not self.options.drop_missing:
            found.append(missing_values_message(self.table, self.columns, self.missing))
        elif len(self.table) - n_missing < 2:
            found.append(f"{source}: fewer than 2 rows are without missing values")
        return tuple(found)


def select_columns(table: Table, options: FeatureOptions) -> ColumnSelection:
    """Decide for each column of a table whether it is used, and why."""
    for name in (*(options.features or ()), *options.categories, *options.texts, *options.roles):
        table.column(name)
    for name in options.ignore:
        table.column(name)
    numbers: list[str] = []
    uses: list[ColumnUse] = []
    faults: list[str] = []
    others = {*options.categories, *options.texts}
    for column in table.columns.values():
        use, fault = _use(table, column, options)
        uses.append(use)
        if fault:
            faults.append(fault)
        if use.used and column.name not in others:
            numbers.append(column.name)
    if options.features is not None:
        numbers = list(dict.fromkeys(options.features))
    faults += [fault for name in numbers for fault in _infinite(table, table.column(name))]
    if not (numbers or options.categories or options.texts or table.matrices or faults):
        faults.append(_nothing_to_use(table, uses))
    return ColumnSelection(table, options, tuple(numbers), tuple(uses), tuple(faults))


def rows_with_missing(
    table: Table, numbers: tuple[str, ...], columns: tuple[str, ...]
) -> BoolArray:
    """The rows (n,) that lack a value in one of the columns, or in a matrix of features."""
    lacking = np.zeros(len(table), dtype=np.bool_)
    as_numbers = set(numbers)
    for name in columns:
        column = table.column(name)
        lacking |= column.numbers.missing if name in as_numbers else column.missing
    for matrix in table.matrices.values():
        lacking |= np.isnan(matrix).any(axis=1)
    return lacking


def missing_values_message(table: Table, columns: tuple[str, ...], lacking: BoolArray) -> str:
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


def not_numbers_message(table: Table, column: Column, rows: IntArray) -> str:
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
    named = shlex.quote(brief(column.name))
    return (
        f"{table.place(row, column.name)}: {_shown(cell)} is no number{more}; correct it, count it "
        f"as missing with --na, or leave out the column with --ignore {named}"
    )


def _use(table: Table, column: Column, options: FeatureOptions) -> tuple[ColumnUse, str | None]:
    name = column.name
    named = options.roles.get(name)
    if named is not None:
        return ColumnUse(name, False, named), None
    if name in options.categories:
        count = len(set(column.texts))
        return ColumnUse(name, True, f"categories ({count:,}), one column each"), None
    if name in options.texts:
        return ColumnUse(name, True, f"text, as {options.text_dimensions} numbers"), None
    if name in options.ignore:
        return ColumnUse(name, False, "left out as asked"), None
    if options.features is not None:
        return _named(table, column, options)
    if options.texts or table.matrices:
        instead = "text" if options.texts else next(iter(table.matrices))
        return ColumnUse(name, False, f"shown only: features are the {instead}"), None
    return _by_content(table, column, options)


def _named(table: Table, column: Column, options: FeatureOptions) -> tuple[ColumnUse, str | None]:
    if column.name not in options.named:
        return ColumnUse(column.name, False, "not among the features named"), None
    numbers = column.numbers
    use = ColumnUse(column.name, True, _number(options))
    if not numbers.n_numbers:
        name = brief(column.name)
        return use, (
            f"{table.source}, column {name!r}: there are no numbers in it; use it with "
            f"--categories {name} or --text {name}, or leave it out"
        )
    if numbers.has_text:
        return use, not_numbers_message(table, column, numbers.not_numbers)
    return use, None


def _by_content(
    table: Table, column: Column, options: FeatureOptions
) -> tuple[ColumnUse, str | None]:
    numbers, name = column.numbers, column.name
    if bool(numbers.missing.all()):
        return ColumnUse(name, False, "empty"), None
    if numbers.has_text:
        if _is_typing_error(numbers):
            return (
                ColumnUse(name, False, "numbers and text mixed"),
                not_numbers_message(table, column, numbers.not_numbers),
            )
        return ColumnUse(name, False, _text(column)), None
    values = numbers.values
    present = values if not numbers.missing.any() else values[~numbers.missing]
    if len(column) > 1 and bool((present == present[0]).all()):
        return ColumnUse(
            name, False, f"constant: always {_shown(column.texts[_first(numbers.missing)])}"
        ), None
    why = None if table.is_matrix else why_identifier(column)
    if why is not None:
        return ColumnUse(name, False, why, is_identifier=True), None
    return ColumnUse(name, True, _number(options)), None


def _left_out(doubtful: list[str], numbers: tuple[str, ...]) -> str:
    """That columns look like identifiers, and what to say about them."""
    left, used = (",".join(names) for names in (doubtful, (*numbers, *doubtful)))
    what = "it looks like an identifier" if len(doubtful) == 1 else "they look like identifiers"
    named = f" {shlex.quote(used)}" if len(used) <= _LONGEST_LIST else " and all columns to use"
    return (
        f"Left out: {brief(left, _LONGEST_LIST)}, as {what}. Settle it with --ignore "
        f"{shlex.quote(brief(left, _LONGEST_LIST))}, or use it with --features{named}."
    )


def _is_typing_error(numbers: Numbers) -> bool:
    """Few cells among the numbers are text: probably mistakes, not codes."""
    n_texts, n_numbers = len(numbers.not_numbers), numbers.n_numbers
    few = n_texts <= _FEW_ERRORS or n_texts <= _ERRORS_PER_NUMBER * n_numbers
    return few and n_texts <= n_numbers


def _number(options: FeatureOptions) -> str:
    return "number, standardised" if options.scale else "number"


def _first(missing: BoolArray) -> int:
    return int(np.argmin(missing))


def _text(column: Column) -> str:
    kinds, name = len(set(column.texts)), brief(column.name)
    if kinds == len(column):
        return f"text, all different: --id {name} or --text {name} would use it"
    if kinds <= _FEW_CATEGORIES:
        return f"text of {kinds} kinds: --categories {name} would use it"
    return f"text of {kinds:,} kinds: --text {name} would use it"


def _infinite(table: Table, column: Column) -> list[str]:
    rows = column.numbers.infinite
    if not len(rows):
        return []
    row = int(rows[0])
    more = f" (so are {len(rows) - 1:,} more)" if len(rows) > 1 else ""
    return [
        f"{table.place(row, column.name)}: {_shown(column.texts[row])} is no finite number{more}; "
        f"correct it, or leave out the column with --ignore {shlex.quote(brief(column.name))}"
    ]


def _nothing_to_use(table: Table, uses: list[ColumnUse]) -> str:
    why = "; ".join(f"{brief(use.name)!r}: {use.why}" for use in uses[:_MOST_REASONS])
    more = f"; and {len(uses) - _MOST_REASONS:,} more" if len(uses) > _MOST_REASONS else ""
    return (
        f"{table.source} has no column of numbers to use ({why}{more}); name some with --features, "
        "--categories or --text"
    )


def _shown(cell: str) -> str:
    return repr(brief(cell, _LONGEST_SHOWN))
