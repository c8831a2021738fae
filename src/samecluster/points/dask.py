"""Points in Dask arrays and DataFrames: worked on where they are, and only results come back.

Blocks of fixed size are cut from the collection whatever its own chunks, so that all containers
give the same work. A task works on several blocks; if its worker dies, Dask does it again on
another. Every task returns a checksum of its rows (`_mark`), so a collection that changes between
two passes, or is not the same twice, is noticed.
"""

from __future__ import annotations

import itertools
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from samecluster._extras import dask, dask_distributed
from samecluster._typing import Array
from samecluster.errors import InvalidInputError, SameClusterError
from samecluster.points.block_work import Shares, Work
from samecluster.points.protocol import check_matrix

_MAX_TASK_ROWS = 1 << 18  # enough work for the overhead of a task, enough tasks for all workers
_TASKS_PER_THREAD = 4  # computed at once here: no thread is idle for long, and results stay few

T = TypeVar("T")


def is_dask(source: Any) -> bool:
    """Whether this is a collection of Dask; works without Dask installed."""
    return hasattr(source, "__dask_graph__")


class DaskPoints:
    """A Dask array (n, d) or a Dask DataFrame of numbers.

    Work goes to the scheduler that Dask would use now: the current client of `distributed`, or
    else a local one.
    """

    def __init__(self, source: Any, columns: Sequence[str] | None = None) -> None:
        if hasattr(type(source), "to_dask_array"):
            self._array, self._names = _of_frame(source, columns)
            self._part = "partition"
        else:
            if columns is not None:
                raise InvalidInputError(
                    "columns can only be chosen in Parquet files and DataFrames"
                )
            self._array, self._part = _of_array(source), "chunk"
            self._names = tuple(str(at) for at in range(self._array.shape[1]))
        self._ends = list(itertools.accumulate(int(rows) for rows in self._array.chunks[0]))
        self._marks: dict[int, int] = {}

    @property
    def n(self) -> int:
        return self._ends[-1]

    @property
    def d(self) -> int:
        return len(self._names)

    def blocks(self, size: int) -> Iterator[Array]:
        """Refused: what comes in blocks comes to the client."""
        del size
        raise InvalidInputError("Dask collections are worked on where they are, not read in blocks")

    def row(self, at: int) -> Array:
        return np.asarray(self._array[at].compute())

    def column(self, at: int) -> str:
        return repr(self._names[at])

    def place(self, row: int) -> str:
        at = int(np.searchsorted(self._ends, row, side="right"))
        before = self._ends[at - 1] if at else 0
        return f"row {row} ({self._part} {at}, row {row - before} of it)"

    def check_unchanged(self) -> None:
        """Every task has checked its own rows."""

    def worked_on(
        self, work: Work[T], shares: Shares, size: int, threads: int
    ) -> Iterator[tuple[int, T | None]]:
        """See `samecluster.points.block_work.over_blocks`."""
        array = _recut(self._array, size)
        tasks = _tasks(array, shares, size, self._marks)
        for (begin, end), result in zip(
            _ranges(array), _Scheduler(array, threads).results(tasks, work), strict=True
        ):
            counts = [min(size, end - at) for at in range(begin, end, size)]
            if result is None:
                yield from ((count, None) for count in counts)
                continue
            self._marks[begin] = self._checked_mark(begin, result)
            yield from zip(counts, result.results, strict=True)

    def _checked_mark(self, begin: int, result: _Result) -> int:
        if not result.as_before:
            raise InvalidInputError(
                f"{self.place(begin)}: the rows from here on changed while they were read, or the "
                "collection is not the same each time; try again when nobody writes to it"
            )
        return result.mark


def _of_array(source: Any) -> Any:
    """A Dask array whose chunks are known and hold whole rows."""
    _, da = dask()
    if not isinstance(source, da.Array):
        raise InvalidInputError(
            f"of Dask's collections arrays and DataFrames hold points, got {type(source).__name__}"
        )
    if source.ndim == 2 and any(np.isnan(rows) for rows in source.chunks[0]):
        source = source.compute_chunk_sizes()
    check_matrix(source, "the Dask array")
    if 0 in source.chunks[0]:
        raise _empty("chunk", source.chunks[0].index(0))
    return source.rechunk({1: -1})


def _of_frame(source: Any, columns: Sequence[str] | None) -> tuple[Any, tuple[str, ...]]:
    """A DataFrame as an array with known chunks, and the names of its columns."""
    delayed_of, da = dask()[0].delayed, dask()[1]
    names = tuple(source.columns) if columns is None else tuple(columns)
    missing = [name for name in names if name not in source.columns]
    if missing:
        raise InvalidInputError(
            f"the DataFrame has no column {missing[0]!r}; it has "
            f"{', '.join(map(str, source.columns))}"
        )
    frame = source[list(names)]
    types = [_number_type(name, kind) for name, kind in zip(names, frame.dtypes, strict=True)]
    if not types:
        raise InvalidInputError("the DataFrame has no columns")
    dtype = np.result_type(*types)
    lengths = [int(rows) for rows in frame.map_partitions(len).compute()]
    if 0 in lengths:
        raise _empty("partition", lengths.index(0))
    parts = [
        da.from_delayed(
            delayed_of(_matrix)(part, names, dtype, number), (rows, len(names)), dtype=dtype
        )
        for number, (part, rows) in enumerate(zip(frame.to_delayed(), lengths, strict=True))
    ]
    return da.concatenate(parts), tuple(str(name) for name in names)


def _number_type(name: Any, kind: Any) -> np.dtype[Any]:
    plain = getattr(kind, "numpy_dtype", kind)  # those of pandas that may be missing
    if not isinstance(plain, np.dtype) or plain.kind not in "fiub":
        raise InvalidInputError(
            f"the DataFrame's column {name!r} holds {kind}; only numbers are allowed: choose "
            "others with columns=[...]"
        )
    return plain


def _empty(part: str, number: int) -> InvalidInputError:
    return InvalidInputError(
        f"{part} {number} has no rows; take it away if that is right, for example by repartitioning"
    )


def _matrix(part: Any, names: tuple[Any, ...], dtype: Any, number: int) -> Array:
    """On a worker: a partition (a pandas DataFrame) as a matrix."""
    there = tuple(part.columns)
    if there != names:
        raise InvalidInputError(
            f"partition {number} has another schema: columns {', '.join(map(str, there))} instead "
            f"of {', '.join(map(str, names))}"
        )
    out = np.empty((len(part), len(names)), dtype=dtype)
    for at, name in enumerate(names):
        column = part[name]
        if column.isna().any() and out.dtype.kind != "f":
            row = int(np.argmax(column.isna().to_numpy()))
            raise InvalidInputError(
                f"partition {number}, row {row}, column {name!r} is empty; every number is needed"
            )
        try:
            out[:, at] = column.to_numpy(dtype=dtype, na_value=np.nan)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"partition {number} has another schema: column {name!r} holds {column.dtype} "
                f"({error})"
            ) from None
    return out


def _recut(array: Any, size: int) -> Any:
    """The array in chunks of a number of blocks each, about as large as they are."""
    usual = min(int(np.median(array.chunks[0])), _MAX_TASK_ROWS)
    return array.rechunk({0: max(1, usual // size) * size, 1: -1})


def _ranges(array: Any) -> Iterator[tuple[int, int]]:
    ends = itertools.accumulate(array.chunks[0])
    return ((end - rows, end) for end, rows in zip(ends, array.chunks[0], strict=True))


@dataclass(frozen=True, eq=False)
class _Result:
    """What a task found: its results by block, and whether its rows are those of the last pass."""

    mark: int
    as_before: bool
    results: list[Any]


@dataclass(frozen=True, eq=False)
class _Task:
    """Rows that a worker has, and what it needs to know about them."""

    rows: Any
    shares: list[Any]
    size: int
    mark: int | None


def _tasks(array: Any, shares: Shares, size: int, marks: dict[int, int]) -> Iterator[_Task | None]:
    """A task for each chunk, None where there is nothing to do: then it is not even read."""
    chunks = array.to_delayed()[:, 0]
    for (begin, end), rows in zip(_ranges(array), chunks, strict=True):
        own = [shares(at, min(at + size, end)) for at in range(begin, end, size)]
        is_idle = all(share is None for share in own)
        yield None if is_idle else _Task(rows, own, size, marks.get(begin))


def _work(rows: Any, shares: list[Any], size: int, mark: int | None, work: Any) -> _Result:
    """On a worker: work on rows, block by block."""
    rows = np.ascontiguousarray(rows)
    now = _mark(rows)
    if mark not in (None, now):
        return _Result(now, False, [])
    results = [
        None if share is None else work(rows[at * size : (at + 1) * size], share)
        for at, share in enumerate(shares)
    ]
    return _Result(now, True, results)


def _mark(rows: Array) -> int:
    return zlib.crc32(rows.data, len(rows))


def _itself(value: T) -> T:
    return value


class _Scheduler:
    """Who does the tasks: the client of a cluster, or the local scheduler."""

    def __init__(self, array: Any, threads: int) -> None:
        self._dask, _ = dask()
        self._threads = threads
        get = self._dask.base.get_scheduler(collections=[array])
        owner = getattr(get, "__self__", None)
        self._client: Any = owner if hasattr(owner, "scheduler_info") else None

    def results(self, tasks: Iterator[_Task | None], work: Any) -> Iterator[_Result | None]:
        """Results in the order of the tasks."""
        return self._elsewhere(tasks, work) if self._client else self._here(tasks, work)

    def _here(self, tasks: Iterator[_Task | None], work: Any) -> Iterator[_Result | None]:
        while batch := list(itertools.islice(tasks, _TASKS_PER_THREAD * self._threads)):
            asked = [self._delayed(task, work) for task in batch]
            yield from self._dask.compute(*asked, num_workers=self._threads)

    def _elsewhere(self, tasks: Iterator[_Task | None], work: Any) -> Iterator[_Result | None]:
        # The result of a task, not data sent to workers: if they die, the scheduler has it again.
        client = self._client
        sent = client.submit(_itself, work, pure=False)
        asked = [self._delayed(task, sent) for task in tasks]
        futures = deque(client.compute([one for one in asked if one is not None]))
        try:
            for one in asked:
                yield None if one is None else _result_of(futures[0])
                if one is not None:
                    futures.popleft()
        finally:
            client.cancel([*futures, sent])

    def _delayed(self, task: _Task | None, work: Any) -> Any:
        if task is None:
            return None
        return self._dask.delayed(_work, pure=False, traverse=False)(
            task.rows, task.shares, task.size, task.mark, work
        )


def _result_of(future: Any) -> Any:
    distributed = dask_distributed()
    gone = (distributed.KilledWorker, distributed.client.FutureCancelledError, OSError)
    try:
        return future.result()
    except gone as error:
        raise SameClusterError(
            f"the Dask cluster could not finish a block ({type(error).__name__}: {error}); the "
            "answers are kept by whoever asked, so start again when its workers are up"
        ) from error
