"""Files that the workers of a Dask cluster read themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from samecluster._typing import Array
from samecluster.extras import dask
from samecluster.points.dask import DaskPoints
from samecluster.points.files import FilePoints, open_points

__all__ = ["DaskFilePoints", "open_dask"]


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
