"""Which points lie near a point, where no cluster's own coordinates are at hand."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from samecluster._typing import FloatArray


class ScaledDistances:
    """Distances between rows of X (n, d), each column measured by its range."""

    def __init__(self, X: FloatArray) -> None:
        extent = np.ptp(X, axis=0)
        self._X, self._extent = X, np.where(extent > 0, extent, 1.0)

    def distances(self, item: int, others: Iterable[int]) -> FloatArray:
        gaps = (self._X[list(others)] - self._X[item]) / self._extent
        return np.asarray(np.sqrt(np.sum(gaps**2, axis=1)))

    def first(self, item: int, others: Iterable[int]) -> list[int]:
        """The others, the nearest first."""
        candidates = list(others)
        order = np.argsort(self.distances(item, candidates), kind="stable")
        return [candidates[at] for at in order]

    def neighbour(self, item: int) -> int:
        """The nearest other row."""
        gaps = (self._X - self._X[item]) / self._extent
        squares = np.sum(gaps**2, axis=1)
        squares[item] = np.inf
        return int(squares.argmin())
