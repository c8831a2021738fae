"""The rows of a large file, some at a time, each part a table of its own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TextIO

from samecluster._files import check_input
from samecluster.errors import InvalidInputError
from samecluster.tables.reading.delimited import (
    Cut,
    check_separator,
    cut,
    cut_rows,
    quoted_rows,
    ragged,
    table_of_cells,
)
from samecluster.tables.reading.detect import ADVICE, PARSERS, STDIN, with_missing
from samecluster.tables.reading.dialect import (
    CsvOptions,
    Dialect,
    check_text,
    encoding_of,
    sniffed_dialect,
)
from samecluster.tables.reading.json_lines import parse_json_lines, table_of_json
from samecluster.tables.reading.parquet import parquet_blocks, parse_parquet
from samecluster.tables.table import Table

SIZE = 1 << 25
"""Characters at a time; the table and its results take about ten times that."""

_START = 1 << 12  # bytes that the encoding is found from


def is_large(path: str | Path, size: int = SIZE) -> bool:
    """Whether a file is of a kind that `table_blocks` reads, and larger than one of its parts."""
    file = Path(path)
    if str(path) == STDIN or file.is_dir() or not (_is_text(file) or _is_parquet(file)):
        return False
    return check_input(file) > size


def table_blocks(path: str | Path, options: CsvOptions, size: int = SIZE) -> Iterator[Table]:
    """Tables that together have the rows of a file of text, JSON lines or Parquet.

    Only the first table of a text file has its header and byte order mark.
    """
    file = Path(path)
    blocks = parquet_blocks(file) if _is_parquet(file) else _texts(file, options, size)
    for table in blocks:
        yield with_missing(table, options)


def _is_text(file: Path) -> bool:
    return _is_json(file) or file.suffix.lower() not in (*PARSERS, *ADVICE)


def _is_json(file: Path) -> bool:
    return PARSERS.get(file.suffix.lower()) is parse_json_lines


def _is_parquet(file: Path) -> bool:
    return PARSERS.get(file.suffix.lower()) is parse_parquet


def _texts(file: Path, options: CsvOptions, size: int) -> Iterator[Table]:
    source, encoding, is_json = file.name, "utf-8", _is_json(file)
    try:
        with file.open("rb") as raw:
            encoding, is_marked = encoding_of(
                raw.read(_START), source, None if is_json else options.encoding
            )
            raw.seek(0)
            stream = io.TextIOWrapper(raw, encoding, newline="")
            text = stream.read(size) + stream.readline()
            is_marked = is_marked and text.startswith("\ufeff")
            text, blocks = text.removeprefix("\ufeff"), _json if is_json else _delimited
            dialect = Dialect(encoding=encoding, byte_order_mark=is_marked)
            yield from blocks(text, stream, source, dialect, options, size)
    except UnicodeError as error:
        raise InvalidInputError(
            f"{source} is no {encoding} ({getattr(error, 'reason', error)}); name the encoding, "
            "such as --encoding cp1252"
        ) from None
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from None


def _json(
    begin: str, stream: TextIO, source: str, dialect: Dialect, _: CsvOptions, size: int
) -> Iterator[Table]:
    names: tuple[str, ...] = ()
    for before, text in _whole_lines(begin, stream, source, dialect, size):
        table = table_of_json(text, source, dialect, before, names)
        names, dialect = table.names, replace(dialect, byte_order_mark=False)
        yield table


def _delimited(
    begin: str, stream: TextIO, source: str, dialect: Dialect, options: CsvOptions, size: int
) -> Iterator[Table]:
    dialect = sniffed_dialect(begin, options, dialect.encoding, dialect.byte_order_mark)
    first: Table | None = None
    for header, cells, lines in _cuts(begin, stream, source, dialect, size):
        if first is None:
            first = table_of_cells((header, cells, lines), source, dialect)
            check_separator(first, options)
            dialect = replace(dialect, header=False, byte_order_mark=False)
            yield first
        elif cells.width != len(first.names):
            raise InvalidInputError(ragged(source, int(lines[0]), len(first.names), cells.width))
        else:
            yield table_of_cells((first.origin, cells, lines), source, dialect)


def _cuts(begin: str, stream: TextIO, source: str, dialect: Dialect, size: int) -> Iterator[Cut]:
    """Cells in parts. From the first quote on rows are cut one by one: they may have line ends."""
    before = 0
    for before, text in _whole_lines(begin, stream, source, dialect, size):
        if '"' in text:
            break
        yield cut(text, source, dialect, before)
        dialect = replace(dialect, header=False)
    else:
        return
    rows: list[tuple[int, list[str]]] = []
    room = size
    lines = chain(io.StringIO(text, newline=""), stream)
    for line, row in quoted_rows(_checked(lines, source, dialect, before), source, dialect, before):
        rows.append((line, row))
        room -= sum(map(len, row)) + len(row)
        if room < 0:
            yield cut_rows(rows, source, dialect)
            dialect, rows, room = replace(dialect, header=False), [], size
    if rows:
        yield cut_rows(rows, source, dialect)


def _checked(lines: Iterator[str], source: str, dialect: Dialect, before: int) -> Iterator[str]:
    for number, line in enumerate(lines, before):
        check_text(line, source, dialect.encoding, number)
        yield line


def _whole_lines(
    begin: str, stream: TextIO, source: str, dialect: Dialect, size: int
) -> Iterator[tuple[int, str]]:
    """Parts that end with a line, each with the number of lines before it; none is blank."""
    text, before = begin, 0
    while text:
        check_text(text, source, dialect.encoding, before)
        if text.strip():
            yield before, text
        before += text.count("\n") + text.count("\r") - text.count("\r\n")
        text = stream.read(size) + stream.readline()
