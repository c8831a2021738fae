"""Tables from Python objects: data frames of any make, arrays, dictionaries of columns."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from samecluster.errors import InvalidInputError
from samecluster.tables.column import TypedColumn
from samecluster.tables.messages import first_repeated, reason_of
from samecluster.tables.reading.detect import read_table
from samecluster.tables.reading.npy import table_of_array
from samecluster.tables.table import Table


def as_table(data: Any, source: str = "data") -> Table:
    """A table from a path, a data frame (pandas, polars and alike), a dictionary or an array.

    >>> as_table({"x": [1.0, 2.5], "name": ["a", "b"]})
    <Table data: 2 rows, 2 columns>
    >>> as_table([[1, 2, 3], [4, 5, 6]]).names
    ('x0', 'x1', 'x2')
    """
    if isinstance(data, Table):
        return data
    if isinstance(data, str | Path):
        return read_table(data)
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        return _framed(data, source)
    try:
        array = np.asarray(data)
    except ValueError as error:
        raise InvalidInputError(
            f"{source}: rows of one length are needed ({reason_of(error)})"
        ) from None
    if isinstance(data, list | tuple) and array.ndim == 2 and array.dtype.kind not in "biuf":
        # An array of mixed types would make text of the numbers.
        return _framed(
            {f"x{at}": list(cells) for at, cells in enumerate(zip(*data, strict=True))}, source
        )
    return table_of_array(array, source)


def _framed(frame: Any, source: str) -> Table:
    of_columns = "column_names" if hasattr(frame, "column_names") else "columns"
    names = list(frame if isinstance(frame, Mapping) else getattr(frame, of_columns))
    twice = first_repeated(map(str, names))
    if twice is not None:
        raise InvalidInputError(f"{source}: two columns have the same name, {twice!r}; rename one")
    columns = [TypedColumn(str(name), _values(frame[name])) for name in names]
    if not columns or not len(columns[0]):
        raise InvalidInputError(f"{source} is empty: it needs columns and rows")
    return Table(source, columns, format="frame")


def _values(column: Any) -> Any:
    """Numbers as an array, anything else as a list of Python objects."""
    if isinstance(column, list | tuple) and not all(isinstance(v, int | float) for v in column):
        return list(column)
    array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if array.ndim != 1:
        raise InvalidInputError(f"a column must be one-dimensional, got shape {array.shape}")
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    made_floats = array.dtype.kind == "f" and "int" in kind  # as whole numbers with gaps become
    if array.dtype.kind in "fiu" and not made_floats:
        return array
    for listing in ("to_list", "to_pylist"):
        if hasattr(column, listing):
            return getattr(column, listing)()
    return list(column)
