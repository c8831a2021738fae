"""Witnesses: why points are out of a cluster's reach, until a new column breaks them."""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array

_ROWS = 512  # witnesses per product with new columns, so that it stays in the cache


class Witnesses:
    """Points that were ``rejected``, each with a row ``pi`` (D,) and its ``value`` on the point.

    A row is within ±1 on every column, so that the gauge of its point is at least its value.
    """

    def __init__(self, D: int) -> None:
        self.rejected = np.zeros(0, np.int64)
        self.pi = np.zeros((0, D), np.float32)
        self.value = np.zeros(0, np.float32)
        self._untried: list[Array] = []

    def keep(self, points: Array, pi: Array, value: Array) -> None:
        """Remember witnesses of rejected points."""
        self.rejected = np.concatenate([self.rejected, points])
        self.pi = np.concatenate([self.pi, pi])
        self.value = np.concatenate([self.value, value])

    def await_columns(self, new: Array) -> None:
        """Columns (p, D) that came since. What they break is found out by the next `broken`."""
        self._untried.append(new)

    def broken(self, bound: float) -> Array:
        """Points whose witness the columns added since have broken, nearest to acceptance first;
        they are forgotten. One product tells."""
        if self._untried and len(self.rejected):
            new = np.ascontiguousarray(np.concatenate(self._untried).T)
            # Witnesses of thin clusters may overflow single precision: NaN counts as broken.
            with np.errstate(over="ignore", invalid="ignore"):
                for begin in range(0, len(self.pi), _ROWS):
                    part = slice(begin, begin + _ROWS)
                    size = np.maximum(np.abs(self.pi[part] @ new).max(axis=1), np.float32(1.0))
                    self.value[part] /= size
                    self.pi[part] /= size[:, None]
        self._untried = []
        held = self.value > bound
        freed = self.rejected[~held][np.argsort(self.value[~held])]
        self.rejected, self.pi, self.value = self.rejected[held], self.pi[held], self.value[held]
        return freed
