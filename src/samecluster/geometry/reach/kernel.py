"""One interface over the plain and the compiled linear programs and their checks."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach import checks
from samecluster.geometry.reach.linear_programs import (
    ACCEPTED,
    MAX_PIVOTS,
    ProgramSolutions,
    ReachWeights,
    solve,
)

if TYPE_CHECKING:
    from samecluster.geometry.reach.members import MemberColumns

CHUNK = 8192
"""Points per batch at most: lifted in 16 columns they take 1 MB, which stays in the cache."""

_FIRST_CHUNK, _FIRST_CHUNK_COMPILED = 512, 128  # NumPy pays per call, compiled code per program
_PER_CHECK = 1024  # records: their matrices (p, D, D) stay in the cache
_CHECK_LANES = 32  # records side by side in the compiled check: 8 take longer, 128 as long
_SINGLE_ROOM = 1e-5  # programs stop below the bound by about 100 roundings of single precision
_MAX_SWEEP_PIVOTS = 60  # a point that needs more is tried again with all columns
_POINT = 1e-18  # squared radius of a cluster with one known member, which has none


def compiled_programs() -> Any:
    """The compiled programs, or None where the extra ``fast`` is not installed."""
    try:
        from samecluster.geometry.reach.compiled import solve as compiled_solve
    except ImportError:
        return None
    return compiled_solve


def compiled_decisions() -> Any:
    """The compiled complete test (see `semidefinite.solver.decide`), or None as above."""
    try:
        from samecluster.geometry.semidefinite import compiled as compiled_test
    except ImportError:
        return None
    return compiled_test


class Kernel:
    """Solves and checks linear programs, compiled where that is possible.

    ``compiled`` are the compiled programs or None, or a function that finds out which once they are
    needed: loading numba takes as long as finding the first question.
    """

    def __init__(self, compiled: Any = None) -> None:
        self._compiled = compiled
        self._scratch: dict[str, Array] = {}

    @cached_property
    def compiled(self) -> Any:
        return self._compiled() if callable(self._compiled) else self._compiled

    @cached_property
    def _compiled_sweep(self) -> Any:
        from samecluster.geometry.reach.compiled import sweep

        return sweep

    @cached_property
    def _compiled_checks(self) -> Any:
        from samecluster.geometry.reach.compiled import checks

        return checks

    @property
    def chunk(self) -> int:
        """Points in the first batch of a pass; batches double while most points are accepted."""
        return _FIRST_CHUNK if self.compiled is None else _FIRST_CHUNK_COMPILED

    def solve(
        self,
        targets: Array,
        start: Array,
        bases: Array,
        inverses: Array,
        columns: Array,
        bound: float,
        stop: float | None = None,
        private: Array | None = None,
    ) -> ProgramSolutions:
        """Decide single precision targets; see `linear_programs.solve`. Compiled programs write to
        memory that the next ones use again."""
        stop = bound * (1 - _SINGLE_ROOM) if stop is None else stop
        if self.compiled is None:
            return solve(targets, start, bases, inverses, columns, bound, stop, private=private)
        p, D = targets.shape
        own = np.zeros((0, D), np.float32) if private is None else private
        out = ProgramSolutions(
            self.scratch("solved status", (p,), np.int8),
            self.scratch("solved total", (p,), np.float32),
            self.scratch("solved basis", (p, D), np.int32),
            self.scratch("solved inverse", (p, D, D), np.float32),
            self.scratch("solved pi", (p, D), np.float32),
        )
        out.pi[:] = 0.0
        self.compiled.solve(
            (0,) * D,
            targets,
            start,
            bases,
            inverses,
            columns.ravel(),
            bound,
            np.float32(stop),
            MAX_PIVOTS,
            own,
            out.status,
            out.total,
            out.basis,
            out.inverse,
            out.pi,
        )
        return out

    def reach(
        self,
        targets: Array,
        bases: Array,
        inverses: Array,
        columns: Array,
        numbers: Array,
        bound: float,
        out: ReachWeights,
        at: slice,
    ) -> None:
        """Decide part ``at`` of single precision targets, as far as these columns go.

        Each program begins in the basis that suits it best. ``numbers`` are what to call columns
        in the bases that come out.
        """
        targets, stop, D = targets[at], bound * (1 - _SINGLE_ROOM), targets.shape[1]
        if self.compiled is None:
            along = targets @ inverses.reshape(-1, D).T
            start = np.abs(along).reshape(len(targets), -1, D).sum(axis=2).argmin(axis=1)
            solved = solve(targets, start, bases, inverses, columns, bound, stop)
            out.reached[at] = solved.status == ACCEPTED
            out.basis[at] = numbers[solved.basis]
            out.weights[at] = np.einsum("pir,pr->pi", solved.inverse, targets)
            if len(out.inverse):
                out.inverse[at] = solved.inverse
            return
        shape, start = (0,) * D, np.empty(len(targets), np.int64)
        self._compiled_sweep.best_start(shape, targets, inverses.reshape(-1, D * D), start)
        self._compiled_sweep.reach(
            shape,
            targets,
            start,
            bases,
            inverses,
            columns.ravel(),
            numbers,
            np.float32(stop),
            _MAX_SWEEP_PIVOTS,
            out.reached[at],
            out.basis[at],
            out.weights[at],
            out.inverse[at],
        )

    def nothing_reached(self, p: int, D: int, with_inverse: bool) -> ReachWeights:
        """For `reach` to write to; good until the next one is asked for."""
        return ReachWeights(
            np.zeros(p, bool),
            self.scratch("basis", (p, D), np.int32),
            self.scratch("weights", (p, D), np.float32),
            self.scratch("inverse", (p if with_inverse else 0, D, D), np.float32),
        )

    def shown(
        self,
        targets: Array,
        found: ReachWeights,
        columns: Array,
        charges: checks.Charges,
        limit: float,
    ) -> Array:
        """Which targets that were reached certainly are; see `checks.shown`."""
        if self.compiled is None:
            which = np.flatnonzero(found.reached)
            for part in np.array_split(which, len(which) // CHUNK + 1):
                found.reached[part] = checks.shown(
                    targets[part], found.basis[part], found.weights[part], columns, charges, limit
                )
        else:
            self._compiled_checks.shown(
                (0,) * targets.shape[1],
                targets,
                found.basis,
                found.weights,
                columns,
                charges.largest,
                charges.noise,
                charges.costs,
                limit,
                found.reached,
            )
        return found.reached

    def scratch(self, name: str, shape: tuple[int, ...], dtype: Any = np.float64) -> Array:
        """An array to write to, in the same memory each time: fresh pages cost as much as a
        pivot."""
        size = math.prod(shape)
        held = self._scratch.get(name)
        if held is None or held.size < size or held.dtype != dtype:
            held = self._scratch[name] = np.empty(size, dtype)
        return held[:size].reshape(shape)

    def taken(self, name: str, rows: Array, which: Array) -> Array:
        """Some of the rows, in memory that is used again for the same name."""
        out = self.scratch(name, (len(which), rows.shape[1]), rows.dtype)
        return np.take(rows, which, axis=0, out=out, mode="clip")  # others would copy once more

    def nearest_direction(self, lifted32: Array, mean: Array, directions: Array) -> Array:
        """The direction (m, d) most nearly parallel to each target, m higher if opposite."""
        d = directions.shape[1]
        if self.compiled is not None:
            out = np.empty(len(lifted32), np.int64)
            self.compiled.nearest_direction((0,) * d, lifted32, mean, directions.ravel(), out)
            return out
        along = (lifted32[:, :d] - mean) @ directions.T
        at = np.abs(along).argmax(axis=1)
        return np.asarray(at + len(directions) * (along[np.arange(len(at)), at] < 0))

    def nearest_cluster(self, X: Array, points: Array, clusters: list[MemberColumns]) -> Array:
        """The cluster in whose coordinates each point is most central; a guess, no proof."""
        f4, near = np.float32, np.zeros(len(points), np.int32)
        if self.compiled is not None:
            T = np.array([c.whitening.T.ravel() for c in clusters], f4)
            offsets = np.array([c.whitening.shift for c in clusters], f4)
            scales = np.array([1 / max(c.radius**2, _POINT) for c in clusters], f4)
            shape = (0,) * X.shape[1]
            self.compiled.nearest_cluster(shape, X, points, T, offsets, scales, near)
            return near
        for begin in range(0, len(points), CHUNK):
            part = X[points[begin : begin + CHUNK]].astype(f4)
            best = np.full(len(part), np.inf, f4)
            for c, cluster in enumerate(clusters):
                z = part @ cluster.whitening.T.astype(f4)
                z -= cluster.whitening.shift.astype(f4)
                size = np.einsum("pi,pi->p", z, z) / f4(max(cluster.radius**2, _POINT))
                near[begin : begin + CHUNK][size < best] = c
                np.minimum(best, size, out=best)
        return near

    def confirmed(
        self,
        targets: Array,
        solved: ProgramSolutions | ReachWeights,
        which: Array,
        columns: Array,
        noise: Array,
        limit: float,
        private: Array | None = None,
    ) -> Array:
        """Which of the records ``which`` pass the float check; ``noise`` as `checks.confirmed`."""
        noise = np.atleast_2d(noise)
        if self.compiled is None:
            parts = [
                checks.confirmed(
                    targets[w],
                    solved.basis[w],
                    solved.inverse[w],
                    columns,
                    noise if len(noise) == 1 else noise[w],
                    limit,
                    None if private is None else private[w],
                )
                for w in np.array_split(which, len(which) // _PER_CHECK + 1)
            ]
            return np.concatenate(parts)
        good = np.zeros(len(targets), np.bool_)
        own = np.zeros((0, targets.shape[1])) if private is None else private
        self._compiled_checks.confirmed(
            (0,) * targets.shape[1],
            _CHECK_LANES,
            targets,
            solved.basis,
            solved.inverse,
            columns,
            own,
            noise,
            limit,
            which,
            good,
        )
        return good[which]
