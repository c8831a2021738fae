"""Points in files that need not fit into memory: .npy, Parquet, and folders of either.

Blocks are read, not mapped: memory stays what a block takes, and a file that is cut short while it
is read is an error, not a crash.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from samecluster._extras import pyarrow
from samecluster._files import MAX_BYTES, check_input, check_size
from samecluster._typing import Array
from samecluster.errors import InvalidInputError
from samecluster.points.dask import DaskPoints, is_dask
from samecluster.points.protocol import ArrayPoints, Points, check_matrix, recut

_BATCH = 65_536  # rows of Parquet per read: a few MB, which also bounds pyarrow's own copies
_RANGE = 262_144  # rows of a .npy file per reader: as many as a block of a sweep (large/sweep.py)


def as_points(source: Any, columns: Sequence[str] | None = None) -> Points:
    """Points from a path, an array, a memory map or Dask; Points themselves stay as they are."""
    if isinstance(source, str | Path):
        return open_points(source, columns)
    if is_dask(source):
        return DaskPoints(source, columns)
    if columns is not None:
        raise InvalidInputError("columns can only be chosen in Parquet files and DataFrames")
    return source if hasattr(source, "blocks") else ArrayPoints(source)


def open_points(
    path: str | Path, columns: Sequence[str] | None = None, max_bytes: int = MAX_BYTES
) -> FilePoints:
    """Points in a .npy file, a Parquet file, or a folder of such files in the order of their names.

    ``columns`` of Parquet files; all if None, and all must be numbers. A group of rows of such a
    file, which is read as a whole, may take ``max_bytes``.
    """
    files = data_files(path)
    names = tuple(columns) if columns is not None else None
    parts: list[_Part] = []
    for file in files:
        part = _open_part(file, names, max_bytes)
        if parts and part.layout != parts[0].layout:
            raise InvalidInputError(
                f"{file} has another layout than {files[0]}: {part.layout} instead of "
                f"{parts[0].layout}; all files of a folder need the same columns"
            )
        parts.append(part)
    return FilePoints(parts)


def data_files(path: str | Path) -> list[Path]:
    """The file itself, or those of a folder that hold data, in the order of their names."""
    where = Path(path)
    if where.is_dir():
        return _files_in(where)
    check_input(where)
    return [where]


def is_parquet(file: Path) -> bool:
    """Whether a file is read as Parquet, by its name."""
    return file.suffix.lower() in _PARQUET


def _files_in(folder: Path) -> list[Path]:
    found = [f for f in sorted(folder.rglob("*")) if f.is_file() and f.name[0] not in "._"]
    known = [f for f in found if f.suffix.lower() in (".npy", *_PARQUET)]
    if not known:
        raise InvalidInputError(f"{folder} holds no .npy and no .parquet files")
    return known


@dataclass(frozen=True)
class _State:
    """What a file looked like when it was opened."""

    size: int
    modified: int

    @classmethod
    def of(cls, path: Path) -> _State | None:
        try:
            stat = path.stat()
        except OSError:
            return None
        return cls(stat.st_size, stat.st_mtime_ns)


class _Part:
    """One file: its rows, its columns, and the rows in pieces of any size."""

    n: int
    names: tuple[str, ...]
    dtype: np.dtype[Any]

    def __init__(self, path: Path) -> None:
        self.path, self.state = path, _State.of(path)

    @property
    def layout(self) -> str:
        return f"columns {', '.join(self.names)}"

    def pieces(self, first: int, size: int) -> Iterator[Array]:
        """All rows; best is a piece of ``first`` rows and then of ``size``, as they are needed."""
        raise NotImplementedError

    def ranges(self) -> list[tuple[int, int]]:
        """Where the file can be cut to be read by several: rows from here to before there."""
        raise NotImplementedError

    def read(self, begin: int, end: int) -> Array:
        """The rows of one of the ranges."""
        raise NotImplementedError

    def changed(self) -> InvalidInputError:
        return InvalidInputError(
            f"{self.path} changed while it was read; try again when nobody writes to it"
        )


class _NpyPart(_Part):
    def __init__(self, path: Path) -> None:
        super().__init__(path)
        try:
            mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # the header is Python text: a damaged one can raise anything
            raise InvalidInputError(
                f"{path} is no NumPy file of numbers, or is cut short: {error}"
            ) from None
        check_matrix(mapped, str(path))
        self.n, d = mapped.shape
        self.names = tuple(str(at) for at in range(d))
        self.dtype = mapped.dtype
        self._offset, self._by_rows = mapped.offset, mapped.flags.c_contiguous

    @property
    def layout(self) -> str:
        return f"{len(self.names)} columns"

    def pieces(self, first: int, size: int) -> Iterator[Array]:
        cuts = [0, *range(min(first, self.n), self.n, size), self.n]
        for begin, end in itertools.pairwise(cuts):
            if end > begin:
                yield self.read(begin, end)

    def ranges(self) -> list[tuple[int, int]]:
        return [(at, min(at + _RANGE, self.n)) for at in range(0, self.n, _RANGE)]

    def read(self, begin: int, end: int) -> Array:
        if not self._by_rows:
            return np.array(np.load(self.path, mmap_mode="r", allow_pickle=False)[begin:end])
        d = len(self.names)
        offset = self._offset + begin * d * self.dtype.itemsize
        count = (end - begin) * d
        numbers = np.fromfile(self.path, dtype=self.dtype, count=count, offset=offset)
        if len(numbers) < count:
            raise self.changed()
        return numbers.reshape(-1, d)


class _ParquetPart(_Part):
    def __init__(self, path: Path, columns: tuple[str, ...] | None, max_bytes: int) -> None:
        super().__init__(path)
        pa, pq = pyarrow()
        try:
            with pq.ParquetFile(path) as file:
                schema, self.n = file.schema_arrow, file.metadata.num_rows
                groups = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
        except (pa.ArrowException, OSError) as error:
            raise InvalidInputError(
                f"{path} is no Parquet file, or is cut short: {error}"
            ) from None
        self._ends = list(itertools.accumulate(groups))
        self.names = tuple(schema.names) if columns is None else columns
        missing = [name for name in self.names if name not in schema.names]
        if missing:
            raise InvalidInputError(
                f"{path} has no column {missing[0]!r}; it has {', '.join(schema.names)}"
            )
        self._check_types(schema)
        if not self.n:
            raise InvalidInputError(f"{path} has no rows; take it away if that is right")
        types = [schema.field(name).type.to_pandas_dtype() for name in self.names]
        self.dtype = np.result_type(*types)
        size = max(groups) * len(self.names) * self.dtype.itemsize
        check_size(f"{path}: a group of rows", size, max_bytes)

    def _check_types(self, schema: Any) -> None:
        is_ = pyarrow()[0].types
        for name in self.names:
            kind = schema.field(name).type
            if not (is_.is_integer(kind) or is_.is_floating(kind) or is_.is_boolean(kind)):
                raise InvalidInputError(
                    f"{self.path}, column {name!r} holds {kind}; only numbers are allowed: choose "
                    "others with columns=[...]"
                )

    def pieces(self, first: int, size: int) -> Iterator[Array]:
        del first, size  # rows are stored in groups, whatever is needed
        return self._pieces(None, 0)

    def ranges(self) -> list[tuple[int, int]]:
        begins = [0, *self._ends[:-1]]
        return [(begin, end) for begin, end in zip(begins, self._ends, strict=True) if end > begin]

    def read(self, begin: int, end: int) -> Array:
        group = self._ends.index(end)
        return np.concatenate(list(self._pieces([group], begin)))

    def _pieces(self, groups: list[int] | None, done: int) -> Iterator[Array]:
        pa, pq = pyarrow()
        try:
            with pq.ParquetFile(self.path) as file:
                for batch in file.iter_batches(_BATCH, groups, columns=list(self.names)):
                    yield self._matrix(batch, done)
                    done += len(batch)
        except (pa.ArrowException, OSError) as error:
            if self.state != _State.of(self.path):
                raise self.changed() from None
            raise InvalidInputError(f"{self.path}, after row {done}: {error}") from None

    def _matrix(self, batch: Any, done: int) -> Array:
        out = np.empty((len(batch), len(self.names)), dtype=self.dtype)
        for at, name in enumerate(self.names):
            column = batch.column(name)
            if column.null_count:
                row = done + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
                raise InvalidInputError(
                    f"{self.path}, row {row}, column {name!r} is empty; every number is needed: "
                    "in blocks missing values are not filled in"
                )
            out[:, at] = column.to_numpy(zero_copy_only=False)
        return out


_PARQUET = (".parquet", ".pq")


def _open_part(path: Path, columns: tuple[str, ...] | None, max_bytes: int) -> _Part:
    if is_parquet(path):
        return _ParquetPart(path, columns, max_bytes)
    if path.suffix.lower() != ".npy":
        raise InvalidInputError(f"{path} must end in .npy or .parquet, or be a folder of such")
    if columns is not None:
        raise InvalidInputError(f"columns can only be chosen in Parquet files, not in {path}")
    return _NpyPart(path)


class FilePoints:
    """The rows of one or more files, one after the other."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self._ends = list(itertools.accumulate(part.n for part in parts))
        self.dtype = np.result_type(*(part.dtype for part in parts))

    def ranges(self) -> Iterator[tuple[int, Callable[[], Array]]]:
        """How many rows a reader takes, and the reader, for all rows in order."""
        for part in self._parts:
            for begin, end in part.ranges():
                yield end - begin, partial(part.read, begin, end)

    @property
    def n(self) -> int:
        return self._ends[-1]

    @property
    def d(self) -> int:
        return len(self._parts[0].names)

    def blocks(self, size: int) -> Iterator[Array]:
        for part in self._parts:
            if part.state != _State.of(part.path):
                raise part.changed()
        yield from recut(self._pieces(size), size)

    def _pieces(self, size: int) -> Iterator[Array]:
        for part, end in zip(self._parts, self._ends, strict=True):
            yield from part.pieces(size - (end - part.n) % size, size)

    def row(self, at: int) -> Array:
        number = int(np.searchsorted(self._ends, at, side="right"))
        part = self._parts[number]
        at -= self._ends[number - 1] if number else 0
        begin, end = next(cut for cut in part.ranges() if cut[0] <= at < cut[1])
        return np.asarray(part.read(begin, end)[at - begin])

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns; numbers from 0 where they have none."""
        return self._parts[0].names

    @property
    def files(self) -> list[tuple[Path, int]]:
        """The files in order, and how many rows each has."""
        return [(part.path, part.n) for part in self._parts]

    def column(self, at: int) -> str:
        return repr(self.names[at])

    def place(self, row: int) -> str:
        at = int(np.searchsorted(self._ends, row, side="right"))
        before = self._ends[at - 1] if at else 0
        return f"{self._parts[at].path}, row {row - before}"

    def check_unchanged(self) -> None:
        for part in self._parts:
            if part.state != _State.of(part.path):
                raise part.changed()
