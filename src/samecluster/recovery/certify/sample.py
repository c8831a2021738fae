"""The points that questions are chosen among, and where they are in the data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._resolution import without_far_values
from samecluster._typing import Array, FloatArray, IntArray
from samecluster.points.array import unit_scaled

_SIZE = 4_096  # as the first level (`levels`): a cluster of 1 % has 40 points in it
_SMALL = 16_384  # data up to this size is looked at as a whole: it may hold rare clusters


@dataclass(eq=False)
class Sample:
    """The beginning of a random order of all points.

    Attributes
    ----------
    rows : (m,) the points, by their rows in the data
    points : (m, d) their coordinates, every column scaled to range 1; values far from all others
        are moved nearer, as they would leave no range to these
    place : (n,) the place of each row in the sample, -1 if it is not there
    """

    rows: IntArray
    points: FloatArray
    place: IntArray

    @classmethod
    def first(cls, X: FloatArray, order: Array, n: int) -> Sample:
        """The first rows of X (m, d) in their ``order``, enough of them for data of n points."""
        rows = order[: min(_SIZE if n > _SMALL else n, len(X))].astype(np.int64)
        place = np.full(len(X), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        return cls(rows, unit_scaled(without_far_values(X[rows])), place)

    def extend(self, count: int) -> None:
        """The data has more rows, which are not in the sample."""
        self.place = np.concatenate([self.place, np.full(count, -1, dtype=np.int64)])
