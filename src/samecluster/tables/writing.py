"""Results out: the rows as they came, with what was found about each."""

from __future__ import annotations

import contextlib
import csv
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, TypeAlias

import numpy as np

from samecluster._extras import pyarrow
from samecluster._files import written_file
from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.column import Column, TypedColumn, plain_text, typed_value
from samecluster.tables.reading.detect import STDIN
from samecluster.tables.reading.dialect import Dialect, number_pattern
from samecluster.tables.reading.images import CONTENT, is_image_folder
from samecluster.tables.result_files import NAMES, is_result_file
from samecluster.tables.table import Table

ResultFormat: TypeAlias = Literal["csv", "parquet", "jsonl"]

UNASSIGNED = "unassigned"
# A spreadsheet may pass over blanks and marks before the sign, and takes wide signs for it.
_MARKS = r"\s\x00-\x1f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
_FORMULA = re.compile(rf"[\t\r]|[{_MARKS}]*[-=+@＝＋－＠]")

FORMATS: dict[str, ResultFormat] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
}
_DIGITS = 4  # of a probability: it is calibrated to about two


@dataclass(frozen=True, eq=False)
class _ResultColumns:
    """What was found, one value per row of the table; None where there is none."""

    names: tuple[str, ...]
    cluster: list[int | str | None]
    how: list[str]
    probability: list[float | None]


@dataclass(frozen=True, eq=False)
class Found:
    """What was found about rows of a table; see `write_results`."""

    table: Table
    cluster: Sequence[Any] | Any
    how: Sequence[Any]
    probability: Sequence[float | None] | Any
    rows: IntArray | None = None


def write_results(
    table: Table,
    path: str | Path,
    cluster: Sequence[Any] | Any,
    how: Sequence[Any],
    probability: Sequence[float | None] | Any,
    *,
    rows: IntArray | None = None,
    prefix: str = "",
    raw: bool = False,
    format: ResultFormat | None = None,
    force: bool = False,
    inputs: Iterable[Path] = (),
) -> None:
    """Write the table with columns cluster, how and probability to a file, or to ``-``.

    A cluster is a number or a name; -1 or None is written as a blank, and so is a probability that
    is None or NaN. ``rows`` says which rows the values are about if not all (see
    `Preparation.kept`); the others are written as unassigned. The file appears only when it is
    complete. One that exists is replaced if it holds such results, or with ``force``; sessions,
    links and ``inputs`` (such as the file that the table is from) never are.

    In CSV, text that begins with ``= + - @``, also wide or after blanks, gets an apostrophe before
    it unless ``raw``: a spreadsheet would take it for a formula and run it.
    """
    found = Found(table, cluster, how, probability, rows)
    chosen = format or format_of(table, str(path))
    write_blocks([found], path, chosen, prefix=prefix, raw=raw, force=force, inputs=inputs)


def write_blocks(
    blocks: Iterable[Found],
    path: str | Path,
    format: ResultFormat,
    *,
    prefix: str = "",
    raw: bool = False,
    named: bool = False,
    force: bool = False,
    inputs: Iterable[Path] = (),
) -> None:
    """As `write_results`, of tables that follow each other; ``named`` if clusters have names."""
    with (
        written_file(path, is_result_file, force=force, inputs=inputs) as partial,
        partial.open("wb") as file,
        contextlib.ExitStack() as open_files,
    ):
        writer: Any = None
        for block in blocks:
            found = _over_all_rows(block, prefix)
            if format == "parquet":
                made = _arrow_table(block.table, found, named)
                if writer is None:
                    _, pq = pyarrow()
                    opened = pq.ParquetWriter(file, made.schema, compression="zstd")
                    writer = open_files.enter_context(opened)
                writer.write_table(made)
            else:
                file.write(_text(block.table, found, format, raw))


def results_as_bytes(
    table: Table,
    cluster: Sequence[Any] | Any,
    how: Sequence[Any],
    probability: Sequence[float | None] | Any,
    *,
    rows: IntArray | None = None,
    prefix: str = "",
    raw: bool = False,
    format: ResultFormat = "csv",
) -> bytes:
    """What `write_results` writes."""
    found = _over_all_rows(Found(table, cluster, how, probability, rows), prefix)
    if format != "parquet":
        return _text(table, found, format, raw)
    pa, pq = pyarrow()
    sink = pa.BufferOutputStream()
    pq.write_table(_arrow_table(table, found), sink, compression="zstd")
    return bytes(sink.getvalue())


def _text(table: Table, found: _ResultColumns, format: str, raw: bool) -> bytes:
    if format == "jsonl":
        return _json_lines(table, found)
    if format == "csv":
        return _csv(table, found, raw)
    raise InvalidInputError(f"format must be csv, parquet or jsonl, got {format!r}")


def format_of(table: Table, path: str) -> ResultFormat:
    """The format that a file of this name gets; InvalidInputError if none goes with it."""
    suffix = Path(path).suffix.lower()
    if suffix in FORMATS:
        return FORMATS[suffix]
    if path != STDIN and suffix:
        raise InvalidInputError(
            f"{path}: the name must end in .csv, .tsv, .jsonl or .parquet, or name the format"
        )
    return "jsonl" if table.format == "jsonl" else "csv"


def _over_all_rows(given: Found, prefix: str) -> _ResultColumns:
    table, names = given.table, tuple(prefix + name for name in NAMES)
    taken = next((name for name in names if name in table.columns), None)
    if taken is not None:
        raise InvalidInputError(
            f"{table.source} has a column {taken!r} already; put something before the new names, "
            "such as --prefix new_"
        )
    places = range(len(table)) if given.rows is None else given.rows.tolist()
    columns = (given.cluster, given.how, given.probability)
    for name, values in zip(NAMES, columns, strict=True):
        if len(values) != len(places):
            raise InvalidInputError(f"{name} has {len(values):,} values for {len(places):,} rows")
    found = _ResultColumns(
        names, [None] * len(table), [UNASSIGNED] * len(table), [None] * len(table)
    )
    for place, label, known, share in zip(places, *columns, strict=True):
        found.cluster[place] = _cluster(label)
        found.how[place] = _word(known)
        found.probability[place] = None if share is None or share != share else _share(float(share))
    return found


def _share(probability: float) -> float:
    """With the digits that mean something; one below 1 stays below it."""
    return min(round(probability, _DIGITS), 1 - 0.1**_DIGITS) if probability < 1 else probability


def _cluster(label: Any) -> int | str | None:
    if label is None or isinstance(label, str):
        return label
    return int(label) if int(label) >= 0 else None


def _word(known: Any) -> str:
    """How a label is known, as a word: itself, or the name of a member of an enumeration."""
    word = known if isinstance(known, str) else getattr(known, "name", None)
    if word is None:
        raise InvalidInputError(f"how must have words such as 'asked', got {known!r}")
    return str(word).lower()


def _csv(table: Table, found: _ResultColumns, raw: bool) -> bytes:
    dialect = table.dialect if table.dialect and table.format == "csv" else Dialect()
    columns = [_texts(column, dialect, raw) for column in _written(table).values()]
    names = ["" if c is None else str(c) for c in found.cluster]
    shares = [plain_text(share).replace(".", dialect.decimal) for share in found.probability]
    columns += [names if raw else [_escaped(n, dialect) for n in names], found.how, shares]
    lines: list[str] = []
    # Under this line end all that could end a line is quoted; each row is written at once.
    row = SimpleNamespace(write=lambda text: lines.append(text[:-2] + dialect.newline))
    writer = csv.writer(row, delimiter=dialect.separator, lineterminator="\r\n")
    if dialect.header:
        header = table.origin if table.format == "csv" else _written(table)
        cells = [*header, *found.names]
        writer.writerow(cells if raw else [_escaped(cell, dialect) for cell in cells])
    writer.writerows(zip(*columns, strict=True))
    try:
        return dialect.encoded("".join(lines))
    except UnicodeEncodeError as error:
        text = error.object[error.start : error.end]
        raise InvalidInputError(
            f"{text!r} cannot be written in {dialect.encoding}, the encoding of {table.source}; "
            "write .jsonl or .parquet instead"
        ) from None


def _written(table: Table) -> dict[str, Column]:
    """The columns that people want back: not the hash by which an image is known."""
    hashes = {CONTENT} if is_image_folder(table) else frozenset[str]()
    return {name: column for name, column in table.columns.items() if name not in hashes}


def _texts(column: Column, dialect: Dialect, raw: bool) -> Sequence[str]:
    if raw or column.numbers.n_numbers == len(column):
        return column.texts
    return [_escaped(text, dialect) for text in column.texts]


def _escaped(text: str, dialect: Dialect) -> str:
    if _FORMULA.match(text) is None or text.strip() in dialect.missing:
        return text
    return text if number_pattern(dialect.decimal).fullmatch(text) else "'" + text


def _json_lines(table: Table, found: _ResultColumns) -> bytes:
    added = [
        json.dumps(dict(zip(found.names, values, strict=True)), ensure_ascii=False)
        for values in zip(found.cluster, found.how, found.probability, strict=True)
    ]
    if table.format == "jsonl":
        old = table.origin
    else:
        written = _written(table)
        columns = [map(_finite, _typed(column)) for column in written.values()]
        old = [
            json.dumps(dict(zip(written, row, strict=True)), ensure_ascii=False, default=str)
            for row in zip(*columns, strict=True)
        ]
    # Lines stay as they were: the new fields go in before the last brace.
    lines = [_with_fields(before, new) for before, new in zip(old, added, strict=True)]
    encoding = table.dialect.encoding if table.dialect and table.format == "jsonl" else "utf-8"
    return ("\n".join(lines) + "\n").encode(encoding)


def _finite(value: Any) -> Any:
    """JSON has no word for NaN and infinity."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value


def _with_fields(line: str, new: str) -> str:
    """A JSON object with the fields of another at its end."""
    inside = line.rstrip()[:-1].rstrip()
    return inside + ("" if inside == "{" else ", ") + new[1:]


def _arrow_table(table: Table, found: _ResultColumns, named: bool = False) -> Any:
    pa, _ = pyarrow()
    if table.format == "parquet":
        made = table.origin
    else:
        made = pa.table({name: _arrow_column(pa, c) for name, c in _written(table).items()})
    named = named or any(isinstance(label, str) for label in found.cluster)
    labels = [None if c is None else str(c) for c in found.cluster] if named else found.cluster
    types = (pa.string() if named else pa.int64(), pa.string(), pa.float64())
    for name, values, kind in zip(
        found.names, (labels, found.how, found.probability), types, strict=True
    ):
        made = made.append_column(name, pa.array(values, kind))
    return made


def _arrow_column(pa: Any, column: Column) -> Any:
    try:
        return pa.array(_typed(column))
    except (pa.ArrowException, OverflowError):  # types mixed, or numbers of more than 64 bits
        return pa.array([text or None for text in column.texts], pa.string())


def _typed(column: Column) -> Any:
    """The values of a column with their types: numbers only if all cells are, else text."""
    if isinstance(column, TypedColumn):
        values = column.values
        return values.tolist() if isinstance(values, np.ndarray) else values
    numbers, texts = column.numbers, [text or None for text in column.texts]
    if numbers.has_text or len(numbers.infinite):
        return texts
    cells = zip(column.texts, numbers.values.tolist(), numbers.missing.tolist(), strict=True)
    typed = [None if missing else typed_value(text, value) for text, value, missing in cells]
    kinds = {type(value) for value in typed if value is not None}
    if str in kinds:
        return texts
    return typed if kinds <= {int} else [v if v is None else float(v) for v in typed]
