"""Tables from and to Parquet, through pyarrow, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._extras import pyarrow
from samecluster._files import MAX_BYTES, check_size
from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.column import TypedColumn
from samecluster.tables.messages import reason_of
from samecluster.tables.table import Table

_BATCH = 65_536
_FEW = 256  # rows of a batch whose cells may be of any size


def parse_parquet(data: bytes, source: str, max_bytes: int = MAX_BYTES) -> Table:
    """The table in the bytes of a Parquet file."""
    pa, pq = pyarrow()
    if not data:
        raise InvalidInputError(f"{source} is empty")
    with _readable(f"{source} is no Parquet file, or is cut short", ValueError):
        found = _unpacked(pa, pq.ParquetFile(pa.BufferReader(data)), source, max_bytes)
    if not found.num_rows or not found.num_columns:
        raise InvalidInputError(
            f"{source} is empty: {found.num_rows} rows, {found.num_columns} columns"
        )
    return _table(pa, found, source)


def parquet_blocks(file: Path) -> Iterator[Table]:
    """The rows of a Parquet file, some at a time."""
    pa, pq = pyarrow()
    unreadable = _readable(f"{file.name} is no Parquet file, or is cut short")
    with unreadable, pq.ParquetFile(file) as opened:
        for batch in opened.iter_batches(_BATCH):
            yield _table(pa, pa.Table.from_batches([batch]), file.name)


@contextmanager
def _readable(otherwise: str, *also: type[Exception]) -> Iterator[None]:
    """InvalidInputError that begins like this, and says why, if a file cannot be read."""
    try:
        yield
    except (pyarrow()[0].ArrowException, OSError, *also) as error:
        raise InvalidInputError(f"{otherwise}: {reason_of(error)}") from None


def _table(pa: Any, found: Any, source: str) -> Table:
    columns = [
        TypedColumn(name, _values(pa, column))
        for name, column in zip(found.column_names, found.columns, strict=True)
    ]
    return Table(source, columns, format="parquet", origin=found)


def _unpacked(pa: Any, file: Any, source: str, max_bytes: int) -> Any:
    """All rows, measured before: what is packed well is refused before it fills the memory.

    Of numbers the size is known; a text may stand for a million cells, so that batches are read.
    """
    kinds = [field.type for field in file.schema_arrow]
    width = sum(kind.bit_width for kind in kinds if pa.types.is_primitive(kind))
    check_size(source, file.metadata.num_rows * width // 8, max_bytes)
    if not all(map(pa.types.is_primitive, kinds)):
        size = 0
        for batch in file.iter_batches(_FEW):
            size += batch.nbytes
            check_size(source, size, max_bytes)
    return file.read()


def column_kinds(file: Path) -> dict[str, bool]:
    """The columns of a Parquet file, and whether each holds numbers."""
    pa, pq = pyarrow()
    with _readable(f"{file} is no Parquet file, or is cut short"):
        schema = pq.read_schema(file)
    is_number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    return {field.name: any(kind(field.type) for kind in is_number) for field in schema}


def first_cells(file: Path, names: Sequence[str], most: int) -> list[TypedColumn]:
    """Some columns of the first rows of a Parquet file."""
    pa, pq = pyarrow()
    with _readable(f"{file} cannot be read"), pq.ParquetFile(file) as opened:
        batch = next(opened.iter_batches(most, columns=list(names)), None)
    return [] if batch is None else [TypedColumn(n, _values(pa, batch.column(n))) for n in names]


def read_cells(files: Sequence[tuple[Path, int]], name: str, rows: IntArray) -> Any:
    """The cells of a column in some rows, which are numbered through all files.

    Files come with their numbers of rows. Numbers are an array, anything else a list.
    """
    pa, pq = pyarrow()
    order = np.argsort(rows, kind="stable")
    ranked, found, begin = rows[order], [], 0
    for file, n_rows in files:
        done = begin
        unreadable = _readable(f"{file}: column {name!r} cannot be read", KeyError)
        with unreadable, pq.ParquetFile(file) as opened:
            for batch in opened.iter_batches(_BATCH, columns=[name]):
                mine = slice(*np.searchsorted(ranked, [done, done + len(batch)]))
                found.append(batch.column(0).take(pa.array(ranked[mine] - done)))
                done += len(batch)
        begin += n_rows
    place = np.empty(len(rows), dtype=np.int64)
    place[order] = np.arange(len(rows))
    return _values(pa, pa.chunked_array(found).take(pa.array(place)))


def _values(pa: Any, column: Any) -> Any:
    numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if numeric and not column.null_count and not pa.types.is_float16(column.type):
        return column.to_numpy()
    return column.to_pylist()
