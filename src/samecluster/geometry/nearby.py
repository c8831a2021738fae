"""The columns that matter for points in one direction, for deciding very many points.

A cluster has hundreds of columns, and a program looks through them a block at a time for one that
helps. Points in about the same direction need about the same few. So some points are solved
beforehand, and the columns that they use most are kept for each direction. Fewer columns can only
show less, and what they show is shown: a point that they do not reach is tried with all.
"""

from __future__ import annotations

import itertools

import numpy as np

from samecluster._typing import Array, IntArray
from samecluster.geometry import programs
from samecluster.geometry.kernel import Kernel
from samecluster.geometry.reach import Members, unit_directions

__all__ = ["Nearby"]

_DIRECTIONS = 16
_COLUMNS = 128
_DEPTH = 0.5  # how far points are solved: between a gauge of 1 and the bound


class Nearby:
    """For each of some directions and their opposites, the columns most used there.

    Parameters
    ----------
    points : (m, D) lifted, single precision: some likely members
    """

    def __init__(self, cluster: Members, points: Array, kernel: Kernel, bound: float) -> None:
        self._directions = unit_directions(_DIRECTIONS, cluster.D - 1)
        self._mean = cluster.mean32
        start = kernel.nearest_direction(points, cluster.mean32, cluster.start_dirs)
        solved = kernel.solve(
            points,
            start,
            cluster.starts,
            cluster.inverses,
            cluster.columns32,
            bound,
            stop=1 + _DEPTH * (bound - 1),
        )
        group = kernel.nearest_direction(points, self._mean, self._directions)
        used = np.zeros((2 * _DIRECTIONS, len(cluster.columns32)), np.int64)
        np.add.at(used, (group[:, None], solved.basis), 1)
        numbers = np.argsort(-used, axis=1, kind="stable")[:, :_COLUMNS].astype(np.int32)
        self._columns = cluster.columns32[numbers]
        # Bases name these columns first, and behind them all columns.
        everything = np.arange(len(cluster.columns32), dtype=np.int32)
        self._names = [np.concatenate([own, everything]) for own in numbers]

    def solve(
        self, kernel: Kernel, cluster: Members, targets: Array, bound: float
    ) -> tuple[IntArray, programs.Solved]:
        """Decide targets (p, D) as far as these columns go: their new order, and what became of
        each in that order. Only ACCEPTED means anything."""
        group = kernel.nearest_direction(targets, self._mean, self._directions)
        order = np.argsort(group, kind="stable")
        targets, group = targets[order], group[order]
        start = kernel.nearest_direction(targets, self._mean, cluster.start_dirs)
        bases = cluster.starts + np.int32(self._columns.shape[1])
        parts = _parts(group)
        solved = kernel.solve_parts(
            targets,
            start,
            bases,
            cluster.inverses,
            [(part, self._columns[at]) for at, part in parts],
            bound,
        )
        for at, part in parts:
            solved.basis[part] = self._names[at][solved.basis[part]]
        return order, solved


def _parts(group: IntArray) -> list[tuple[int, slice]]:
    """The groups that have members, and where these are."""
    ends = np.searchsorted(group, np.arange(2 * _DIRECTIONS + 1)).tolist()
    pairs = enumerate(itertools.pairwise(ends))
    return [(at, slice(begin, end)) for at, (begin, end) in pairs if end > begin]
