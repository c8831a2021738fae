"""Rows that are not in memory, decided block by block by clusters as they are known now.

A sweep changes nothing: each row stands by itself, so neither where blocks are cut nor how many
threads work makes a difference. What it accepts has passed the same rigorous check as everything
else, with the same columns to show for it; what it does not accept comes back to the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import numpy as np

from samecluster._typing import Array
from samecluster.errors import InvalidInputError
from samecluster.geometry.reach import linear_programs
from samecluster.geometry.reach.column_subsets import ColumnSubsets
from samecluster.geometry.reach.kernel import Kernel, compiled_programs
from samecluster.lifts.lift import ColumnMap, in_lift
from samecluster.recovery.certify.closure import Closure
from samecluster.recovery.certify.reachability import QUIET

PIECE = 262_144
"""Rows decided at once: enough of them in every direction of every cluster, and at d=8 in doubles
16 MB, a few of which are in memory at a time."""

# From this many rows on it pays to find out which columns matter where (decision 9, "columns near a
# direction first"); `benchmarks/scale.py` has sizes on both sides of it.
MANY_ROWS = 300_000
# Members of a cluster that this is learnt from: 256 per direction of `ColumnSubsets`, which has 32.
_LEARNT_FROM = 8_192

_FEW_SLABS = 8  # that are looked at before all others

_MOST_NAMES = int(np.iinfo(np.int16).max)  # two bytes per row of the data


@dataclass(frozen=True, eq=False)
class RowDecisions:
    """What became of rows: the name of each one's cluster, -1 if undecided; and why.

    ``columns`` (p, d+1) are the columns that prove it: rows of the sample, or -1-j for τ_j. They
    are None unless a proof is wanted.
    """

    names: Array
    columns: Array | None


class Sweep:
    """The clusters of a closure, made ready to decide about ``n_rows`` rows.

    With a ``lift`` the closure is about lifted columns, and blocks are lifted as they come.
    """

    @QUIET
    def __init__(self, closure: Closure, n_rows: int, lift: ColumnMap | None = None) -> None:
        self._names, self._lift = list(closure.alive), lift
        if max(self._names, default=0) > _MOST_NAMES:
            raise InvalidInputError(
                f"more than {_MOST_NAMES:,} groups were found, too many for rows outside of "
                "memory; recover a sample of the rows, or use fewer features"
            )
        self._clusters = [closure.clusters[c] for c in self._names]
        self._bound, self._limit = closure.bound, closure.limit
        self._compiled = closure.kernel.compiled
        self._kernels: SimpleQueue[Kernel] = SimpleQueue()
        # Powers of two: the product is exact, as it is for the sample.
        self._scale = np.ldexp(1.0, -closure.exponent)
        for cluster in self._clusters:
            cluster.prune()
            cluster.whiten()
            cluster.programs.deepen(closure.kernel, closure.bound)
        self._nearby = [
            self._nearby_columns(closure, name) if n_rows >= MANY_ROWS else None
            for name in self._names
        ]

    def _nearby_columns(self, closure: Closure, name: int) -> ColumnSubsets:
        """Learnt from members in the sample, which is in random order."""
        members = np.flatnonzero(closure.labels == name)[:_LEARNT_FROM]
        cluster = closure.clusters[name]
        points = cluster.whitening.lift32(closure.X[members])
        return ColumnSubsets(cluster, points, closure.kernel, self._bound)

    def __getstate__(self) -> dict[str, Any]:
        """What a worker elsewhere needs: the columns, not the sample that they were taken from."""
        state = self.__dict__.copy()
        state["_kernels"] = None
        state["_compiled"] = self._compiled is not None
        state["_clusters"] = [cluster.for_worker() for cluster in self._clusters]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernels = SimpleQueue()
        self._compiled = compiled_programs() if self._compiled else None

    def decide(self, block: Array, which: Array, with_columns: bool = False) -> RowDecisions:
        """Decide rows ``which`` of points (p, d) as stored; threads may call it at once."""
        kernel = Kernel(self._compiled) if self._kernels.empty() else self._kernels.get()
        try:
            rows = kernel.taken("rows", block, which)
            rows = in_lift(rows, self._lift)
            points = np.multiply(rows, self._scale, out=kernel.scratch("points", rows.shape))
            return self._decide(kernel, points, with_columns)
        finally:
            self._kernels.put(kernel)

    @QUIET
    def _decide(self, kernel: Kernel, points: Array, with_columns: bool) -> RowDecisions:
        """Each point against the cluster in which it is most central, then against the others."""
        p, d = points.shape
        columns = np.zeros((p, d + 1), np.int32) if with_columns else None
        found = RowDecisions(np.full(p, -1, np.int16), columns)
        everything = np.arange(len(points))
        near = kernel.nearest_cluster(points, everything, self._clusters)
        for at in range(len(self._clusters)):
            self._accept(kernel, at, points, np.flatnonzero(near == at), found)
        left = np.flatnonzero(found.names < 0)
        for at in range(len(self._clusters)):
            left = left[found.names[left] < 0]
            others = left[near[left] != at]
            if len(others):
                self._accept(kernel, at, points, self._not_outside(at, points, others), found)
        return found

    @QUIET
    def second_reach(self, rows: Array, names: Array) -> Array:
        """The name of another cluster that reaches each of rows (p, d) with a name; -1 if none."""
        kernel, found = Kernel(self._compiled), RowDecisions(np.full(len(rows), -1, np.int16), None)
        points = in_lift(rows, self._lift) * self._scale
        for at, name in enumerate(self._names):
            others = np.flatnonzero((names >= 0) & (names != name) & (found.names < 0))
            self._accept(kernel, at, points, self._not_outside(at, points, others), found)
        return found.names

    def _not_outside(self, at: int, points: Array, which: Array) -> Array:
        """Those of the points ``which`` that no slab keeps out of a cluster; a few tell most."""
        slabs, lifted = self._clusters[at].slabs, self._clusters[at].whitening.lift32(points[which])
        inside = np.flatnonzero(slabs.inside(lifted, self._bound, _FEW_SLABS))
        return which[inside[slabs.inside(lifted[inside], self._bound)]]

    def _accept(
        self, kernel: Kernel, at: int, points: Array, which: Array, found: RowDecisions
    ) -> None:
        if not len(which):
            return
        cluster, nearby = self._clusters[at], self._nearby[at]
        whitening = cluster.whitening
        offsets = kernel.taken("offsets", points, which)
        offsets -= whitening.centre
        out = kernel.scratch("lifted", (len(which), cluster.D))
        lifted = whitening.lift_offsets(offsets, out)
        if nearby is not None and whitening.near is None:
            order, shown, basis = nearby.show(
                kernel, cluster, lifted, self._bound, self._limit, found.columns is not None
            )
            which = which[order]
            self._note(at, which[shown], basis[shown], found)
            which, lifted = which[~shown], lifted[order[~shown]]
        if len(which):
            _, solved = cluster.programs.solved(kernel, lifted.astype(np.float32), self._bound)
            accepted = np.flatnonzero(solved.status == linear_programs.ACCEPTED)
            noise = whitening.noise_of(points[which])
            good = kernel.confirmed(lifted, solved, accepted, cluster.columns, noise, self._limit)
            accepted = accepted[good]
            self._note(at, which[accepted], solved.basis[accepted], found)

    def _note(self, at: int, which: Array, basis: Array, found: RowDecisions) -> None:
        """Note points that were shown to be in a cluster, with their bases if they are wanted."""
        found.names[which] = self._names[at]
        if found.columns is not None:
            found.columns[which] = self._clusters[at].ids[basis]


@dataclass(frozen=True, eq=False)
class SweepWork:
    """The work of a sweep on one block, whose share are the bits of `open_bits`: what became of the
    open rows, in their order, and the points (q, d) that are undecided."""

    sweep: Sweep
    with_columns: bool

    def __call__(self, block: Array, bits: Array) -> tuple[RowDecisions, Array]:
        which = np.flatnonzero(np.unpackbits(bits, count=len(block)))
        found = self.sweep.decide(block, which, self.with_columns)
        return found, block[which[found.names < 0]]


def open_bits(is_open: Array) -> Array | None:
    """Which rows of a block are open, packed; None if none is."""
    return np.packbits(is_open) if is_open.any() else None
