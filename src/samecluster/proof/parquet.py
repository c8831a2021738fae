"""Proof logs as Parquet tables: the lines of a log to rows and back. Files are opened elsewhere.

A row for each record, in order: of a run of `in` records each has its own, of an `sdp` record all
items have one. What a kind of record does not have is null. The header is in the metadata.

line     int64, the number of the line; rows of one line are a run of `in` records
kind     string
item     int64, of `cluster`, `answer`, `in` (y), `out` (y), `last` (y)
cluster  int64, of `in`, `out`, `last`, `sdp`, `differ` (A)
other    int64, of `answer` (j), `out` (n), `differ` (B)
word     string, of `answer` (the verdict), `sdp` (the side)
columns  list of int64, of `in`, `out`
items    list of int64, of `sdp`
inner, outer  list of (name int64, weight double), of `sdp`, `differ`: columns with λ, others with μ
weight   double, of `sdp` (w)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from samecluster._extras import pyarrow
from samecluster._files import MAX_BYTES, check_size
from samecluster.errors import InvalidInputError
from samecluster.proof.log import FIELDS

_HEADER = b"samecluster"
_PER_VALUE = 64  # bytes in memory of a value on its way to a line: an array, and Python's objects
_ROWS_PER_GROUP = 65_536  # rows held in memory while writing; reading takes one group at a time
_UNREADABLE = (AttributeError, OSError, LookupError, RecursionError, TypeError, ValueError)


class RowWriter:
    """Writes a log line by line to a binary file, in groups of rows that are whole lines.

    The file is complete when the ``with`` block is left.
    """

    def __init__(self, header: Any, sink: Any) -> None:
        self._pa, pq = pyarrow()
        self._schema = _schema(self._pa).with_metadata({_HEADER: json.dumps(header)})
        self._writer = pq.ParquetWriter(sink, self._schema, compression="zstd")
        self._group: list[Any] = []
        self._single: list[dict[str, Any]] = []  # rows of records that are a line by themselves
        self._number = 0

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._write_group()
        self._writer.close()

    def write(self, line: Any) -> None:
        kind, *fields = line
        if kind != "in":
            self._single.append({"line": self._number, "kind": kind, **_row(kind, fields)})
        else:
            self._gather_single()
            self._group.append(_run(self._pa, self._schema, self._number, *fields))
        self._number += 1
        if sum(map(len, self._group)) + len(self._single) >= _ROWS_PER_GROUP:
            self._write_group()

    def _gather_single(self) -> None:
        self._group.append(self._pa.RecordBatch.from_pylist(self._single, self._schema))
        self._single = []

    def _write_group(self) -> None:
        self._gather_single()
        self._writer.write_table(self._pa.Table.from_batches(self._group))
        self._group = []


def read_rows(source: Any, max_bytes: int = MAX_BYTES) -> Iterator[Any]:
    """The lines of a log from a binary file, as they were written; a group of rows at a time."""
    pa, pq = pyarrow()
    try:
        file = pq.ParquetFile(source)
        header = (file.schema_arrow.metadata or {}).get(_HEADER)
        if header is None:
            raise LookupError("its metadata has no header of one")
        yield json.loads(header)
        for group in range(file.num_row_groups):
            found = file.metadata.row_group(group)
            n_values = sum(found.column(at).num_values for at in range(found.num_columns))
            check_size("a group of rows", n_values * _PER_VALUE, max_bytes)
            yield from _lines(pa, file.read_row_group(group))
    except (pa.ArrowException, *_UNREADABLE) as error:
        raise InvalidInputError(f"not a proof log in Parquet: {error}") from error


def _schema(pa: Any) -> Any:
    weighed = pa.list_(pa.struct([("name", pa.int64()), ("weight", pa.float64())]))
    return pa.schema(
        [
            ("line", pa.int64()),  # rows of one line are a run of `in` records
            ("kind", pa.string()),
            ("item", pa.int64()),
            ("cluster", pa.int64()),
            ("other", pa.int64()),  # another item, or for `differ` another cluster
            ("word", pa.string()),  # the verdict, or the side
            ("columns", pa.list_(pa.int64())),
            ("items", pa.list_(pa.int64())),
            ("inner", weighed),  # columns and their weights
            ("outer", weighed),  # non-members and their weights
            ("weight", pa.float64()),
        ]
    )


def _run(pa: Any, schema: Any, number: int, cluster: int, rows: Any) -> Any:
    """A run of `in` records as a batch of rows."""
    table = np.asarray(rows, dtype=np.int64)
    length, width = table.shape
    ends = pa.array(np.arange(length + 1) * (width - 1), pa.int32())
    filled = {
        "line": pa.array(np.full(length, number)),
        "kind": pa.repeat("in", length),
        "item": pa.array(table[:, 0]),
        "cluster": pa.array(np.full(length, cluster)),
        "columns": pa.ListArray.from_arrays(ends, pa.array(table[:, 1:].ravel())),
    }
    empty = {field.name: pa.nulls(length, field.type) for field in schema}
    return pa.RecordBatch.from_pydict({**empty, **filled}, schema)


def _lines(pa: Any, table: Any) -> Iterator[list[Any]]:
    """The lines of a group of rows."""
    table = table.combine_chunks()
    runs = table["kind"].to_numpy() == "in"
    singles = iter(table.filter(pa.array(~runs)).to_pylist())
    number, columns = table["line"].to_numpy(), table["columns"]
    item, cluster = (table[name].fill_null(-1).to_numpy() for name in ("item", "cluster"))
    begins = np.append(True, ~runs[1:] | ~runs[:-1] | (number[1:] != number[:-1]))[: len(table)]
    starts = np.flatnonzero(begins)
    for start, end in zip(starts, [*starts[1:], len(table)], strict=False):
        if not runs[start]:
            yield _line(next(singles))
            continue
        names = columns.slice(start, end - start).combine_chunks().flatten().to_numpy()
        rows = np.column_stack([item[start:end], names.reshape(end - start, -1)])
        yield ["in", int(cluster[start]), rows.tolist()]


def _row(kind: str, fields: list[Any]) -> dict[str, Any]:
    """A record as a row: weights, which are text in a log, become the numbers that they are."""
    row = dict(zip(FIELDS[kind], fields, strict=True))
    for side in ("inner", "outer"):
        if side in row:
            pairs = [(name, float.fromhex(weight)) for name, weight in row[side]]
            row[side] = [{"name": name, "weight": weight} for name, weight in pairs]
    if "weight" in row:
        row["weight"] = float.fromhex(row["weight"])
    return row


def _line(row: dict[str, Any]) -> list[Any]:
    """A record from its row."""
    for side in ("inner", "outer"):
        if row[side] is not None:
            row[side] = [[pair["name"], pair["weight"].hex()] for pair in row[side]]
    if row["weight"] is not None:
        row["weight"] = row["weight"].hex()
    return [row["kind"], *(row[field] for field in FIELDS[row["kind"]])]
