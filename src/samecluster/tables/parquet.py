"""Tables from and to Parquet, through pyarrow, which is an extra."""

from __future__ import annotations

from typing import Any

from samecluster.errors import InvalidInputError
from samecluster.extras import pyarrow
from samecluster.tables.columns import TypedColumn
from samecluster.tables.reasons import reason_of
from samecluster.tables.table import Table

__all__ = ["parse_parquet"]


def parse_parquet(data: bytes, source: str) -> Table:
    """The table in the bytes of a Parquet file."""
    pa, pq = pyarrow()
    if not data:
        raise InvalidInputError(f"{source} is empty")
    try:
        found = pq.read_table(pa.BufferReader(data))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InvalidInputError(
            f"{source} is no Parquet file, or is cut short: {reason_of(error)}"
        ) from None
    if not found.num_rows or not found.num_columns:
        raise InvalidInputError(
            f"{source} is empty: {found.num_rows} rows, {found.num_columns} columns"
        )
    columns = [
        TypedColumn(name, _values(pa, column))
        for name, column in zip(found.column_names, found.columns, strict=True)
    ]
    return Table(source, columns, format="parquet", origin=found)


def _values(pa: Any, column: Any) -> Any:
    numeric = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if numeric and not column.null_count and not pa.types.is_float16(column.type):
        return column.to_numpy()
    return column.to_pylist()
