"""Whether points are in the reach of a cluster's columns, many at a time.

Single precision finds the weights; they count only if double precision with a bound on its error,
or rationals where that cannot decide, confirm them. What becomes of an accepted point is not said
here (`Closure`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach import checks, linear_programs
from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.members import MemberColumns
from samecluster.geometry.reach.programs import row_scaled_inverse, spread_basis

_STOP = 1 - 1e-12  # programs go on to this share of the bound: slack for the check's own bound
_CLOSE = 1 + 1e-9  # up to this share of it rationals decide; a double is off by less
_SINGULAR = 1e-250  # determinants below it are those of a basis that floats cannot invert

# Off the span of a thin cluster single precision overflows. NaN compares as large everywhere: such
# points are not accepted, or are decided in double precision and rationals.
QUIET = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@dataclass(frozen=True, eq=False)
class ReachResult:
    """What a test found about m points.

    Attributes
    ----------
    lifted : (m, D) single precision coordinates of the points among the cluster's columns
    start : (m,) the start that each program began with
    solved : the programs as they ended: support and witness of each point
    accepted : (a,) the places of the points that are certainly in reach, ascending
    """

    lifted: Array
    start: Array
    solved: linear_programs.ProgramSolutions
    accepted: Array


class ReachTest:
    """The test for one margin; ``bound`` is √(1+γ), ``limit`` a float not above it."""

    def __init__(self, kernel: Kernel, margin: float) -> None:
        self.kernel, self.margin = kernel, margin
        self.bound = float(np.sqrt(1.0 + margin))
        self.limit = checks.limit_for(margin)

    def run(self, cluster: MemberColumns, points: Array) -> ReachResult:
        """Test points, by their rows in the data."""
        coordinates = cluster.X[points]
        lifted, noise = cluster.whitening.lift(coordinates), cluster.whitening.noise_of(coordinates)
        single = lifted.astype(np.float32)
        start, solved = cluster.programs.solved(self.kernel, single, self.bound)
        which = np.flatnonzero(solved.status == linear_programs.ACCEPTED)
        good = self.kernel.confirmed(lifted, solved, which, cluster.columns, noise, self.limit)
        unsure = np.concatenate(
            [which[~good], np.flatnonzero(solved.status == linear_programs.UNSURE)]
        )
        which = which[good]
        if len(unsure):
            noise = noise if len(noise) == 1 else noise[unsure]
            decided = self._decide(cluster, points, lifted, noise, solved, unsure)
            which = np.sort(np.concatenate([which, decided]))
        return ReachResult(single, start, solved, which)

    def _decide(
        self,
        cluster: MemberColumns,
        points: Array,
        lifted: Array,
        noise: Array,
        solved: linear_programs.ProgramSolutions,
        unsure: Array,
    ) -> Array:
        """Double precision where single could not decide, and rationals where that cannot."""
        columns = cluster.solving
        bases = _independent(columns, solved.basis[unsure])
        inverses = row_scaled_inverse(columns[bases].transpose(0, 2, 1))
        again = linear_programs.solve(
            lifted[unsure],
            np.arange(len(unsure)),
            bases,
            inverses,
            columns,
            self.bound,
            self.bound * _STOP,
        )
        good = checks.confirmed(
            lifted[unsure], again.basis, again.inverse, cluster.columns, noise, self.limit
        )
        close = ~good & (again.total <= self.bound * _CLOSE)
        for i in np.flatnonzero(close):
            good[i] = self._exact(cluster, points[unsure[i]], again.basis[i])
        solved.basis[unsure], solved.inverse[unsure] = again.basis, again.inverse
        solved.pi[unsure], solved.total[unsure] = again.pi, again.total
        return unsure[good]

    def _exact(self, cluster: MemberColumns, point: int, basis: Array) -> bool:
        ids, X = cluster.ids[basis], cluster.X
        taus = [(-1 - int(j), float(cluster.tau[-1 - j])) for j in ids[ids < 0]]
        return checks.exactly(X[point], X[ids[ids >= 0]], taus, self.margin)


def _independent(columns: Array, bases: Array) -> Array:
    """The bases, with those that single precision left nearly singular replaced by a spread one."""
    sizes = np.abs(np.linalg.det(columns[bases]))
    out = bases.copy()
    out[~(sizes > _SINGULAR)] = spread_basis(columns)
    return out
