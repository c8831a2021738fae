"""The connection to a Dask cluster, and files that its workers read themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from samecluster._extras import dask, dask_distributed
from samecluster._typing import Array
from samecluster.errors import InvalidInputError
from samecluster.points.dask import DaskPoints
from samecluster.points.files import FilePoints, open_points

_TIMEOUT = "10s"  # to connect: a wrong address should be reported before the user gives up


class DaskFilePoints(DaskPoints):
    """The rows of files, read by workers, who must see the same paths; named as on one machine."""

    def __init__(self, files: FilePoints) -> None:
        tools, da = dask()
        self._files = files
        reading = tools.delayed(_read, pure=False)
        parts = [
            da.from_delayed(reading(reader), (rows, files.d), dtype=files.dtype)
            for rows, reader in files.ranges()
        ]
        super().__init__(da.concatenate(parts))

    def column(self, at: int) -> str:
        return self._files.column(at)

    def place(self, row: int) -> str:
        return self._files.place(row)

    def check_unchanged(self) -> None:
        self._files.check_unchanged()


def open_dask(path: Any, columns: Sequence[str] | None = None) -> DaskFilePoints:
    """Points in files as `samecluster.points.files.open_points` takes them, read on Dask.

    The path should be absolute: workers may have another working directory.
    """
    return DaskFilePoints(open_points(path, columns))


def _read(reader: Callable[[], Array]) -> Array:
    return reader()


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """The client of a scheduler, which Dask uses until the end of the block."""
    distributed = dask_distributed()
    try:
        client = distributed.Client(address, timeout=_TIMEOUT)
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"no Dask scheduler answers at {address} ({error}); start one with `dask scheduler` "
            "and workers with `dask worker ADDRESS`, or correct the address"
        ) from None
    with client:
        yield client
