"""Tables from NumPy arrays, in files and in memory."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from samecluster._files import MAX_BYTES, check_size
from samecluster._typing import Array
from samecluster.errors import InvalidInputError
from samecluster.tables.column import TypedColumn
from samecluster.tables.messages import reason_of
from samecluster.tables.table import Table


def parse_npy(data: bytes, source: str, _: int = MAX_BYTES) -> Table:
    """The matrix of an .npy file: rows are items, columns are x0, x1, ..."""
    return table_of_array(_loaded(data, source), source)


def parse_npz(data: bytes, source: str, max_bytes: int = MAX_BYTES) -> Table:
    """The arrays of an .npz file side by side: a vector is a column, a matrix several."""
    archive = _loaded(data, source)
    columns: list[TypedColumn] = []
    matrices = 0
    with archive:
        check_size(source, sum(one.file_size for one in archive.zip.infolist()), max_bytes)
        for name in archive.files:
            array = _member(archive, name, source)
            if array.ndim == 1:
                columns.append(TypedColumn(name, array))
            else:
                matrices += 1
                prefix = "x" if name.startswith("arr_") or name in ("X", "x") else name
                columns += _columns(array, f"{source}, array {name!r}", prefix)
    if not columns:
        raise InvalidInputError(f"{source} holds no arrays")
    return Table(
        source, columns, format="array", is_matrix=matrices == 1 and len(archive.files) == 1
    )


def table_of_array(array: Array, source: str) -> Table:
    """A matrix (n, d) as a table whose columns are all features."""
    return Table(source, _columns(array, source, "x"), format="array", is_matrix=True)


def _columns(array: Array, source: str, prefix: str) -> list[TypedColumn]:
    if array.ndim == 1 and array.dtype.names:
        return [TypedColumn(name, array[name]) for name in array.dtype.names]
    if array.ndim != 2:
        raise InvalidInputError(
            f"{source}: two dimensions are needed (rows are items), got shape {array.shape}"
        )
    if array.dtype.kind == "c":
        raise InvalidInputError(f"{source} holds complex numbers; only real ones are allowed")
    if not array.size:
        raise InvalidInputError(f"{source} is empty: its shape is {array.shape}")
    # Column by column is how tables are read from here on.
    turned = np.ascontiguousarray(array.T.astype(np.int8) if array.dtype.kind == "b" else array.T)
    return [TypedColumn(f"{prefix}{at}", turned[at]) for at in range(len(turned))]


def _loaded(data: bytes, source: str) -> Any:
    if not data:
        raise InvalidInputError(f"{source} is empty")
    try:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
    except Exception as error:  # the header is Python text: a damaged one can raise anything
        raise InvalidInputError(_unreadable(source, error)) from None
    if source.lower().endswith(".npz") != isinstance(loaded, np.lib.npyio.NpzFile):
        raise InvalidInputError(f"{source} is not what its name says; rename it to .npy or .npz")
    return loaded


def _member(archive: Any, name: str, source: str) -> Array:
    try:
        return np.asarray(archive[name])
    except Exception as error:  # as in _loaded
        raise InvalidInputError(_unreadable(f"{source}, array {name!r}", error)) from None


def _unreadable(source: str, error: Exception) -> str:
    if "allow_pickle" in str(error) or "pickle" in str(error).lower():
        return (
            f"{source} holds Python objects, which can run programs and are not read; "
            "save an array of numbers"
        )
    return f"{source} is no NumPy file, or is cut short: {reason_of(error)}"
