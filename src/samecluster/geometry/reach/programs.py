"""The gauge programs of one cluster in single precision, and bases to begin them with."""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.linear_programs import ProgramSolutions
from samecluster.geometry.reach.slabs import unit_directions

# Not tuned: a quarter and four times as much (or as said) give the same questions on 16 golden
# runs, in the same time up to a tenth.
_N_STARTS = 128  # directions that have a basis to start from
_DEEP_STOP = 0.5  # how far deep starts are solved, from 0 (gauge 1) to 1 (the bound); 0.1 to 0.9
_HUGE, _TINY = 1e100, 1e-300  # sizes whose squares are no longer those of numbers
_UNEVEN = 1e8  # ratio of rows from which an inverse is taken of rows brought to one size


class GaugePrograms:
    """Programs over ``columns`` (m, D), tau-columns first.

    ``bases`` and ``inverses`` are starts, one for each direction and one for its opposite: the
    basis of the last point near it.
    """

    def __init__(self, d: int) -> None:
        self.directions = unit_directions(_N_STARTS, d)
        self.columns = np.zeros((0, d + 1), np.float32)

    def append(self, columns: Array) -> None:
        """Columns (p, D) join."""
        self.columns = np.concatenate([self.columns, columns])

    def restart(self, columns: Array, mean: Array) -> None:
        """Other columns (m, D), in double precision, of a cluster with the mean (d,). All starts
        become one spread basis: pivoted elimination over the columns."""
        self.columns, self._mean = columns.astype(np.float32), mean
        basis = spread_basis(columns)
        inverse = row_scaled_inverse(columns[basis].T)
        count = len(self.directions) * 2
        self.bases = np.repeat(basis[None].astype(np.int32), count, axis=0)
        self.inverses = np.repeat(inverse[None].astype(np.float32), count, axis=0)

    def solved(
        self,
        kernel: Kernel,
        targets: Array,
        bound: float,
        stop: float | None = None,
        private: Array | None = None,
    ) -> tuple[Array, ProgramSolutions]:
        """Programs of targets (p, D), each begun at the start of its direction; which start that
        was, and what became of each."""
        start = kernel.nearest_direction(targets, self._mean, self.directions)
        programs = self.bases, self.inverses, self.columns
        return start, kernel.solve(targets, start, *programs, bound, stop, private)

    def learn(self, start: Array, solved: ProgramSolutions) -> None:
        """A direction's start becomes the basis of the last program near it, also of a rejected
        one: its basis is nearly optimal there."""
        last = np.full(len(self.bases), -1)
        last[start] = np.arange(len(start))
        new = np.flatnonzero(last >= 0)
        self.bases[new] = solved.basis[last[new]]
        self.inverses[new] = solved.inverse[last[new]]

    def deepen(self, kernel: Kernel, bound: float) -> None:
        """For each direction a basis that is good for points far out along it.

        Programs that stop at the bound leave bases that just do for one point; for a large sweep
        it pays to solve a few hundred programs further.
        """
        both, d = np.concatenate([self.directions, -self.directions]), len(self._mean)
        out = ((self.columns[d:, :-1] - self._mean) @ both.T).max(axis=0)
        targets = np.ones((len(both), d + 1), np.float32)
        targets[:, :-1] = self._mean + both * out[:, None]
        programs = self.bases, self.inverses, self.columns
        stop = 1 + _DEEP_STOP * (bound - 1)
        solved = kernel.solve(targets, np.arange(len(both)), *programs, bound, stop)
        self.bases, self.inverses = solved.basis.copy(), solved.inverse.copy()


def spread_basis(columns: Array) -> Array:
    """D columns that span a large volume: pivoted Gram-Schmidt, members first."""
    largest = float(np.abs(columns).max())
    # Squares must not overflow; and what rounding leaves of a huge column is not chosen again.
    rest = columns / largest if _HUGE < largest < np.inf else columns.copy()
    chosen: list[int] = []
    for _ in range(columns.shape[1]):
        size = (rest * rest).sum(axis=1)
        size[chosen] = -1.0
        at = int(size.argmax())
        chosen.append(at)
        direction = rest[at] / np.sqrt(max(size[at], _TINY))
        rest -= np.outer(rest @ direction, direction)
    return np.array(chosen)


def row_scaled_inverse(matrices: Array) -> Array:
    """The inverse of each matrix (..., D, D); NaN where floats have none.

    Rows that differ much in size are brought to one size first: a value of 1e12 among others makes
    a matrix that is regular look singular.
    """
    sizes = np.abs(matrices).max(axis=-1)
    uneven = sizes.max(axis=-1) > _UNEVEN * sizes.min(axis=-1)
    powers = np.where(uneven[..., None], np.frexp(sizes)[1], 0)
    scaled = np.ldexp(matrices, -powers[..., None])
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        if matrices.ndim > 2:
            return np.array([row_scaled_inverse(matrix) for matrix in matrices])
        return np.full_like(matrices, np.nan)
    return np.asarray(np.ldexp(inverse, -powers[..., None, :]))
