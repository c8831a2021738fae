"""Data in blocks of rows, wherever it lives. Files are opened in `files`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np

from samecluster._typing import Array
from samecluster.errors import InvalidInputError


class Points(Protocol):
    """Points (n, d) that can be read from the first to the last, as often as needed."""

    @property
    def n(self) -> int: ...

    @property
    def d(self) -> int: ...

    def blocks(self, size: int) -> Iterator[Array]:
        """All rows in order, ``size`` at a time, the last block perhaps fewer; as they are stored.

        Where blocks are cut does not depend on the container: equal data gives equal work.
        """
        ...

    def row(self, at: int) -> Array:
        """One row (d,); it may take as long as reading a block."""
        ...

    def column(self, at: int) -> str:
        """What to call a column in messages."""
        ...

    def place(self, row: int) -> str:
        """What to call a row in messages."""
        ...

    def check_unchanged(self) -> None:
        """InvalidInputError if the data is not what it was at first."""
        ...


class ArrayPoints:
    """An array or memory map (n, d) of numbers."""

    def __init__(self, X: Any) -> None:
        self._X = check_matrix(np.asanyarray(X), "X")

    @property
    def n(self) -> int:
        return len(self._X)

    @property
    def d(self) -> int:
        return int(self._X.shape[1])

    def blocks(self, size: int) -> Iterator[Array]:
        for begin in range(0, self.n, size):
            yield np.asarray(self._X[begin : begin + size])

    def row(self, at: int) -> Array:
        return np.asarray(self._X[at])

    def column(self, at: int) -> str:
        return str(at)

    def place(self, row: int) -> str:
        return f"row {row}"

    def check_unchanged(self) -> None:
        """Does nothing: whether an array was written to cannot be seen."""


def check_matrix(array: Array, name: str) -> Array:
    """The array, if it can hold points; InvalidInputError with its name otherwise."""
    if array.ndim != 2:
        raise InvalidInputError(
            f"{name} must have two dimensions (rows are points), got shape {array.shape}"
        )
    if array.dtype.kind not in "fiub":
        raise InvalidInputError(f"{name} must hold real numbers, got {array.dtype}")
    if not array.size:
        raise InvalidInputError(f"{name} is empty: its shape is {array.shape}")
    return array


def recut(pieces: Iterable[Array], size: int) -> Iterator[Array]:
    """Pieces of any length, cut into blocks of ``size`` rows, the last perhaps fewer."""
    waiting: list[Array] = []
    count = 0
    for piece in pieces:
        while count + len(piece) >= size:
            head, piece = np.split(piece, [size - count])
            yield np.concatenate([*waiting, head]) if waiting else head
            waiting, count = [], 0
        if len(piece):
            waiting.append(piece)
            count += len(piece)
    if waiting:
        yield np.concatenate(waiting)
