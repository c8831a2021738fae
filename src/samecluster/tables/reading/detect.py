"""Tables from files: which format a file has, and opening it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from samecluster._files import check_input, check_size
from samecluster.errors import InvalidInputError
from samecluster.tables.column import TypedColumn
from samecluster.tables.reading.delimited import is_list_of_texts, parse_delimited, parse_lines
from samecluster.tables.reading.dialect import CsvOptions
from samecluster.tables.reading.json_lines import parse_json_lines
from samecluster.tables.reading.npy import parse_npy, parse_npz
from samecluster.tables.reading.parquet import parse_parquet
from samecluster.tables.table import Table

STDIN = "-"
IMAGE_SIZE = 32

Parser = Callable[[bytes, str, int], Table]
PARSERS: dict[str, Parser] = {
    ".parquet": parse_parquet,
    ".pq": parse_parquet,
    ".jsonl": parse_json_lines,
    ".ndjson": parse_json_lines,
    ".json": parse_json_lines,
    ".npy": parse_npy,
    ".npz": parse_npz,
}
ADVICE = {
    ".xlsx": "save the sheet as CSV",
    ".xls": "save the sheet as CSV",
    ".ods": "save the sheet as CSV",
    ".pkl": "pickles can run programs and are not read; write the table as CSV or Parquet",
    ".pickle": "pickles can run programs and are not read; write the table as CSV or Parquet",
    ".feather": "write the table as Parquet",
    ".gz": "unpack it first",
    ".zip": "unpack it first",
}


def read_table(
    path: str | Path,
    options: CsvOptions | None = None,
    *,
    image_size: int | None = IMAGE_SIZE,
    image_by: str = "pixels",
) -> Table:
    """The table in a file, in a folder of images, or (path ``-``) in a CSV from standard input.

    The format goes by the end of the name: .parquet, .jsonl, .npy, .npz; anything else is text
    with separators, but for a .txt without any, which has one text per line.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "flowers.csv")
    ...     _ = file.write_text("id;width;height\\na;3,14;2\\nb;2,5;1\\n")
    ...     table = read_table(file)
    >>> table
    <Table flowers.csv: 2 rows, 3 columns>
    >>> table.column("width").numbers.values.tolist()
    [3.14, 2.5]
    """
    options = options or CsvOptions()
    if str(path) == STDIN:
        text = sys.stdin.buffer.read(options.max_bytes + 1)
        check_size("standard input", len(text), options.max_bytes)
        return parse_delimited(text, "standard input", options)
    file = Path(path)
    if file.is_dir():
        from samecluster.tables.reading.images import read_images

        return read_images(file, image_size, options.max_bytes, image_by)
    kind = file.suffix.lower()
    if kind in ADVICE:
        raise InvalidInputError(f"{file}: {kind} files cannot be read; {ADVICE[kind]}")
    check_size(file.name, check_input(file), options.max_bytes)
    data = _bytes(file)
    if kind in PARSERS:
        return with_missing(PARSERS[kind](data, file.name, options.max_bytes), options)
    if kind == ".txt" and options.separator is None and is_list_of_texts(data, file.name, options):
        return parse_lines(data, file.name, options)
    return parse_delimited(data, file.name, options)


def with_missing(table: Table, options: CsvOptions) -> Table:
    """The table, in which the words that the user names stand for no value."""
    for name, column in table.columns.items():
        if options.missing is not None and isinstance(column, TypedColumn):
            table.columns[name] = column.without(options.missing)
    return table


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror}") from None
