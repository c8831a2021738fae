"""The columns and bases that matter for points in one direction, for deciding very many points.

A cluster has hundreds of columns, and a program looks through them a block at a time for one that
helps. Points in about the same direction need about the same few. So some points are solved
beforehand, and for each direction the columns that they use most are kept, and some of their bases
to begin with. Fewer columns can only show less, and what they show is shown: a point that they do
not reach is tried with all.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from samecluster._typing import Array, BoolArray, IntArray
from samecluster.geometry.reach.checks import Charges
from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.members import MemberColumns
from samecluster.geometry.reach.programs import spread_basis
from samecluster.geometry.reach.slabs import unit_directions

# Decision 9 has what was gained. Time per row and rows left over, in 8 columns: with 64 columns a
# quarter less and a sixth more, with 256 half as much again and 3 % fewer. All others could be four
# times as small or large for a tenth of the time; in 4 columns none matters.
_DIRECTIONS = 32
_COLUMNS = 128  # per direction
_BASES = 16  # per direction
_TRIED = 128  # points that a direction's bases are chosen from, and for
_FEW = 0.02  # share of the points that may need a pivot: more bases would not pay
_PIVOT_COST = 0.2  # of needing a pivot at all, in units of the value
_DEPTH = 0.5  # how far points are solved: between a gauge of 1 (0.0) and the bound (1.0)


@dataclass(frozen=True, eq=False)
class _Neighbourhood:
    """``numbers`` are the columns' own among all; bases name columns of this neighbourhood, or,
    behind them, all columns."""

    columns: Array
    numbers: Array
    bases: Array
    inverses: Array


class ColumnSubsets:
    """For each of some directions and their opposites, the columns and bases most useful there.

    Parameters
    ----------
    points : (m, D) lifted, single precision: some likely members
    """

    def __init__(self, cluster: MemberColumns, points: Array, kernel: Kernel, bound: float) -> None:
        self._directions = unit_directions(_DIRECTIONS, cluster.D - 1)
        whitening, programs = cluster.whitening, cluster.programs
        self._mean = whitening.mean32
        self._charges = Charges.of(cluster.columns, spread_basis(cluster.columns), whitening.noise)
        _, solved = programs.solved(kernel, points, bound, stop=1 + _DEPTH * (bound - 1))
        group = kernel.nearest_direction(points, self._mean, self._directions)
        used = np.zeros((2 * _DIRECTIONS, len(programs.columns)), np.int64)
        np.add.at(used, (group[:, None], solved.basis), 1)
        numbers = np.argsort(-used, axis=1, kind="stable")[:, :_COLUMNS].astype(np.int32)
        everything = np.arange(len(programs.columns), dtype=np.int32)
        self._neighbourhoods = []
        for at, own in enumerate(numbers):
            near = np.flatnonzero(group == at)[:_TRIED]
            if len(near):
                near = near[_most_useful(points[near], solved.inverse[near], bound)]
                bases, inverses = solved.basis[near], solved.inverse[near]
            else:
                bases, inverses = programs.bases[:1], programs.inverses[:1]
            self._neighbourhoods.append(
                _Neighbourhood(
                    programs.columns[own],
                    np.concatenate([own, everything]),
                    bases + np.int32(len(own)),
                    inverses,
                )
            )

    def show(
        self,
        kernel: Kernel,
        cluster: MemberColumns,
        lifted: Array,
        bound: float,
        limit: float,
        with_basis: bool,
    ) -> tuple[IntArray, BoolArray, IntArray]:
        """Which of the points (p, D) are in reach for certain, as far as these columns go; none
        of them may be farther out than ``cluster.whitening.near``.

        Returns an order of the points, whether each is shown in that order, and its basis; a basis
        is good for a proof only if one was asked for.
        """
        targets = kernel.scratch("unsorted", lifted.shape, np.float32)
        targets[:] = lifted
        group = kernel.nearest_direction(targets, self._mean, self._directions)
        order = np.argsort(group.astype(np.uint8), kind="stable")  # a radix sort for small types
        targets = kernel.taken("targets", targets, order)
        lifted = kernel.taken("sorted", lifted, order)
        found = kernel.nothing_reached(len(lifted), cluster.D, with_basis)
        for at, part in _parts(group[order]):
            near = self._neighbourhoods[at]
            columns = near.columns, near.numbers
            kernel.reach(targets, near.bases, near.inverses, *columns, bound, found, part)
        if not with_basis:
            shown = kernel.shown(lifted, found, cluster.columns, self._charges, limit)
            return order, shown, found.basis
        which = np.flatnonzero(found.reached)
        found.reached[which] = kernel.confirmed(
            lifted, found, which, cluster.columns, cluster.whitening.noise, limit
        )
        return order, found.reached, found.basis


def _most_useful(points: Array, inverses: Array, bound: float) -> IntArray:
    """Some of the bases of points (m, D), each the one that helps most beside those before it."""
    m, D = points.shape
    along = np.abs(points @ inverses.reshape(m * D, D).T)
    values = along.reshape(m, m, D).sum(axis=2)
    cost = np.where(values <= bound, 0.0, values - bound + _PIVOT_COST)
    left = np.full(m, cost.max() + 1.0)
    chosen: list[int] = []
    while len(chosen) < min(_BASES, m) and (left > 0).mean() > _FEW:
        chosen.append(int(np.maximum(left[:, None] - cost, 0.0).sum(axis=0).argmax()))
        left = np.minimum(left, cost[:, chosen[-1]])
    return np.array(chosen)


def _parts(group: IntArray) -> list[tuple[int, slice]]:
    """The groups that have members, and where these are."""
    ends = np.searchsorted(group, np.arange(2 * _DIRECTIONS + 1)).tolist()
    pairs = enumerate(itertools.pairwise(ends))
    return [(at, slice(begin, end)) for at, (begin, end) in pairs if end > begin]
