"""Text tables (CSV, TSV and their kin) to columns of cells."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.column import TextColumn, TypedColumn
from samecluster.tables.messages import brief, first_repeated
from samecluster.tables.reading.dialect import (
    SEPARATORS,
    CsvOptions,
    Dialect,
    decoded,
    number_pattern,
    sniffed_dialect,
)
from samecluster.tables.table import Table

_SAMPLE_ROWS = 100  # they say which columns seem to be numbers; a wrong guess only costs time
_LONGEST_NAME = 2  # words of a first line that names the only column of a table
_SHARE_OF_ROWS = 0.8  # with as many cells as the first line, if it is a table, perhaps a broken one
_CUT_ALONE = 3  # the first columns (ids, as a rule) are cut out without the rest


def parse_delimited(data: bytes, source: str, options: CsvOptions) -> Table:
    """The table in the bytes of a text file."""
    text, encoding, mark = decoded(data, source, options.encoding)
    if not text.strip():
        raise InvalidInputError(f"{source} is empty: a header line and at least one row are needed")
    dialect = sniffed_dialect(text, options, encoding, mark)
    table = table_of_cells(cut(text, source, dialect), source, dialect)
    if not len(table):
        raise InvalidInputError(
            f"{source} has no rows: a header line and at least one row are needed"
        )
    check_separator(table, options)
    return table


def is_list_of_texts(data: bytes, source: str, options: CsvOptions) -> bool:
    """Whether the lines are sentences: no separator cuts them all into as many cells."""
    text, encoding, mark = decoded(data, source, options.encoding)
    separator = sniffed_dialect(text, options, encoding, mark).separator
    lines = [line for line in text.splitlines()[:_SAMPLE_ROWS] if line.strip()]
    if not lines or len(lines[0].split()) <= _LONGEST_NAME:
        return False
    counts = [line.count(separator) for line in lines]
    return not counts[0] or counts.count(counts[0]) < _SHARE_OF_ROWS * len(lines)


def parse_lines(data: bytes, source: str, options: CsvOptions) -> Table:
    """A text per line, in the column ``text``; blank lines are none."""
    text, _, _ = decoded(data, source, options.encoding)
    found = [(at, line.strip()) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    lines = np.array([at for at, _ in found], dtype=np.int64)
    column = TypedColumn("text", [line for _, line in found])
    return Table(source, [column], format="lines", lines=lines)


def check_separator(table: Table, options: CsvOptions) -> None:
    """InvalidInputError if another separator would give a table of one column several."""
    dialect = table.dialect
    assert dialect is not None
    other = _better_separator(table, dialect, options) if len(table.names) == 1 else None
    if other is not None:
        raise InvalidInputError(
            f"{table.source}, line 1: with separator {dialect.separator!r} there is one column "
            f"only; the separator seems to be {other!r}"
        )


def table_of_cells(found: Cut, source: str, dialect: Dialect) -> Table:
    """The table that has been cut."""
    header, cells, lines = found
    names = _names(header, cells.width)
    twice = first_repeated(names)
    if twice is not None:
        raise InvalidInputError(
            f"{source}, line 1: two columns have the same name, {brief(twice)!r}; rename one, or "
            "say --no-header if this is no header"
        )
    columns = [TextColumn(name, cells, at, dialect) for at, name in enumerate(names)]
    return Table(source, columns, format="csv", dialect=dialect, lines=lines, origin=header)


class _CutCells:
    """Cells that have been cut out row by row."""

    def __init__(self, rows: list[list[str]], width: int) -> None:
        self.n_rows, self.width = len(rows), width
        self._columns = list(zip(*rows, strict=True))

    def column(self, at: int) -> Sequence[str]:
        return self._columns[at]

    def floats(self, at: int) -> FloatArray | None:  # noqa: ARG002
        return None


class _PlainCells:
    """Cells of lines without quotes: most are only used as numbers, all columns at once."""

    def __init__(self, lines: list[str], width: int, dialect: Dialect) -> None:
        self.n_rows, self.width = len(lines), width
        self._lines, self._dialect = lines, dialect

    def column(self, at: int) -> Sequence[str]:
        separator = self._dialect.separator
        if at < _CUT_ALONE:
            return [line.split(separator, at + 1)[at] for line in self._lines]
        return self._all[at :: self.width]

    def floats(self, at: int) -> FloatArray | None:
        return self._floats.get(at)

    @cached_property
    def _all(self) -> list[str]:
        return self._dialect.separator.join(self._lines).split(self._dialect.separator)

    @cached_property
    def _floats(self) -> dict[int, FloatArray]:
        """The columns that seem to be numbers; none if one of them has something else in it."""
        separator, matches = self._dialect.separator, number_pattern(".").fullmatch
        start = [line.split(separator) for line in self._lines[:_SAMPLE_ROWS]]
        columns = [
            at for at, cells in enumerate(zip(*start, strict=True)) if all(map(matches, cells))
        ]
        if not columns or self._dialect.decimal != ".":
            return {}
        try:
            matrix = np.loadtxt(
                self._lines, delimiter=separator, usecols=columns, comments=None, ndmin=2
            )
        except ValueError:
            return {}
        if len(matrix) != self.n_rows:
            return {}
        return dict(zip(columns, np.ascontiguousarray(matrix.T), strict=True))


Cut = tuple[list[str] | None, _CutCells | _PlainCells, IntArray]
"""The header's cells, those of the rows, and the line of each row."""


def cut(text: str, source: str, dialect: Dialect, before: int = 0) -> Cut:
    """Cells of a text that begins after so many lines of its file."""
    if '"' not in text:
        return _plain(text, source, dialect, before)
    rows = quoted_rows(io.StringIO(text, newline=""), source, dialect, before)
    return cut_rows(list(rows), source, dialect)


def _plain(text: str, source: str, dialect: Dialect, before: int) -> Cut:
    """Without quotes every line is a row and every separator an edge: split all at once."""
    separator = dialect.separator
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    every = text.split("\n")
    if every[-1] == "":
        del every[-1]
    numbers = np.arange(1, len(every) + 1) + before
    if not all(every) or not every[-1].strip():
        # A line of separators only is a row of blanks; one of nothing or spaces is no row.
        filled = [at for at, line in enumerate(every) if separator in line or line.strip()]
        every, numbers = [every[at] for at in filled], numbers[filled]
    width = every[0].count(separator) + 1
    uneven = next((at for at, line in enumerate(every) if line.count(separator) + 1 != width), None)
    if uneven is not None:
        found = every[uneven].count(separator) + 1
        raise InvalidInputError(ragged(source, int(numbers[uneven]), width, found))
    header = every[0].split(separator) if dialect.header else None
    if header is not None:
        del every[0]
        numbers = numbers[1:]
    return header, _PlainCells(every, width, dialect), numbers


def quoted_rows(
    text: Iterable[str], source: str, dialect: Dialect, before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line that each begins on. With quotes a row may go over several lines."""
    # Texts of documents may be long; the limit is the module's own, so it is set back.
    limit = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    reader = csv.reader(text, delimiter=dialect.separator, strict=True)
    begins = before + 1
    try:
        for row in reader:
            if row and (len(row) > 1 or row[0].strip()):
                yield begins, row
            begins = before + reader.line_num + 1
    except csv.Error as error:
        raise InvalidInputError(
            f"{source}, line {begins}: {error}; is a quote missing or one too many?"
        ) from None
    finally:
        csv.field_size_limit(limit)


def cut_rows(found: list[tuple[int, list[str]]], source: str, dialect: Dialect) -> Cut:
    """Rows that have been cut, of one width."""
    width = len(found[0][1]) if found else 0
    for line, row in found:
        if len(row) != width:
            raise InvalidInputError(ragged(source, line, width, len(row)))
    header = found.pop(0)[1] if dialect.header and found else None
    lines = np.array([line for line, _ in found], np.int64)
    return header, _CutCells([row for _, row in found], width), lines


def _better_separator(table: Table, dialect: Dialect, options: CsvOptions) -> str | None:
    """A separator that every line has equally often, though it is not the one in use."""
    (column,) = table.columns.values()
    lines = [*(table.origin or ()), *column.texts[:_SAMPLE_ROWS]]
    for other in SEPARATORS:
        counts = {line.count(other) for line in lines}
        is_even = len(counts) == 1 and 0 not in counts
        if is_even and other not in (dialect.separator, options.decimal):
            return other
    return None


def ragged(source: str, line: int, expected: int, found: int) -> str:
    side = "a cell is missing" if found < expected else "a separator inside a cell needs quotes"
    return f"{source}, line {line}: {expected} cells expected, {found} found; perhaps {side}"


def _names(header: list[str] | None, width: int) -> list[str]:
    if header is None:
        return [f"x{at}" for at in range(width)]
    return [cell.strip() or f"column {at}" for at, cell in enumerate(header, 1)]
