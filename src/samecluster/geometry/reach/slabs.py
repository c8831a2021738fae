"""Slabs: between which two parallel planes a cluster's members lie, for many directions."""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array

# Directions along which the farthest members become columns, by the number of columns of the data:
# more take longer per point, fewer leave points out of reach. Half and twice as many give the same
# questions on 16 golden runs of 2 to 4 columns; in 8 columns 256 and 1024 give 3 % more than 512.
_N_DIRECTIONS = {1: 16, 2: 64, 3: 96, 4: 128, 5: 192, 6: 256, 7: 384}
_MOST_DIRECTIONS = 512
# Not tuned: a quarter and four times as much give the same questions on 16 golden runs, in the same
# time up to a tenth.
_N_BOUNDING = 64  # directions along which `rows` bounds the gauge
_ROWS = 512  # points per product in `extremes`: 1 MB for 512 directions
_ROOM = 1 + 1e-5  # slabs are in single precision, which is off by less
_LEAST_WIDTH = np.float32(1e-30)  # of a slab: dividing by it may overflow, which is no harm


class MemberSlabs:
    """The thinnest slab around a cluster's members along each of many directions.

    Parameters
    ----------
    factor : how many times the usual number of directions
    """

    def __init__(self, d: int, factor: int = 1) -> None:
        count = factor * _N_DIRECTIONS.get(d, _MOST_DIRECTIONS)
        self.dirs = np.ascontiguousarray(unit_directions(count, d).T)
        self.buffer = np.empty((_ROWS, count), np.float32)

    def begin(self, steps: Array) -> None:
        """Slabs around nothing, in coordinates in which these are the tau-columns (d, d)."""
        count = self.dirs.shape[1]
        self.high = np.full(count, -np.inf, np.float32)
        self.low = np.full(count, np.inf, np.float32)
        self.owner = np.zeros((2, count), np.int64)  # the columns that touch both planes
        self._resolved = np.abs(steps @ self.dirs[:, :_N_BOUNDING]).max(axis=0)

    def widen(self, members: Array, first: int) -> None:
        """Members (p, d) join, as the column ``first`` and those behind it."""
        numbers = np.arange(first, first + len(members))
        _widen(self.high, self.low, self.owner, members @ self.dirs, numbers)

    def extremes(self, points: Array, lifted32: Array) -> Array:
        """Those of the points that stick out of the columns along some direction, the farthest.

        In blocks of a size that stays in the cache: the products are larger than all else.
        """
        z = lifted32[:, :-1]
        reach = max(float(np.minimum(self.high, -self.low).min()), 0.0)
        out = np.flatnonzero(np.einsum("pi,pi->p", z, z) >= reach**2)
        high, low, at = self.high.copy(), self.low.copy(), np.full((2, len(self.high)), -1)
        for begin in range(0, len(out), _ROWS):
            part = out[begin : begin + _ROWS]
            along = np.matmul(z[part], self.dirs, out=self.buffer[: len(part)])
            _widen(high, low, at, along, part)
        return np.asarray(points[np.unique(at[at >= 0])])

    def rows(self) -> Array:
        """Rows (s, D) with |row . column| <= 1 for every column, along some of the directions."""
        dirs, high, low = (
            self.dirs[:, :_N_BOUNDING],
            self.high[:_N_BOUNDING],
            self.low[:_N_BOUNDING],
        )
        middle = (high + low) / 2
        half = np.maximum((high - low) / 2, np.maximum(self._resolved, _LEAST_WIDTH))
        # A slab may be as thin as rounding noise: infinite is a fine distance from it.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((np.vstack([dirs, -middle]) / half).T)

    def inside(self, lifted32: Array, bound: float, most: int | None = None) -> Array:
        """Which targets (p, D) no slab keeps out of reach, by the first ``most`` slabs."""
        return self.score(lifted32, most) <= bound * _ROOM

    def score(self, lifted32: Array, most: int | None = None) -> Array:
        """A lower bound of the gauge: how far each target sticks out of a slab. Above the bound it
        is a witness that need not be kept. Only the first ``most`` slabs are looked at."""
        slabs = np.ascontiguousarray(self.rows()[:most].T)
        score = np.empty(len(lifted32), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(score), 4 * _ROWS):
                along = np.abs(lifted32[begin : begin + 4 * _ROWS] @ slabs)
                along.max(axis=1, out=score[begin : begin + 4 * _ROWS])
        return score


def _widen(high: Array, low: Array, owner: Array, along: Array, names: Array) -> None:
    """Slabs, so that they hold points with these places (p, m) along the m directions."""
    top, bottom = along.max(axis=0), along.min(axis=0)
    over, under = np.flatnonzero(top > high), np.flatnonzero(bottom < low)
    owner[0, over] = names[along[:, over].argmax(axis=0)]
    owner[1, under] = names[along[:, under].argmin(axis=0)]
    high[over], low[under] = top[over], bottom[under]


def unit_directions(count: int, d: int) -> Array:
    """Fixed unit vectors (count, d)."""
    out = np.random.default_rng(count).normal(size=(count, d))
    return np.asarray((out / np.linalg.norm(out, axis=1)[:, None]).astype(np.float32))
