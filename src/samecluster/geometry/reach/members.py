"""The reach of a cluster's known members: gauge, support and witness of points against them.

A point y is in the reach of members S if y = Σ w x + Σ v_j τ_j e_j with Σ w = 1 and
Σ|w| + Σ|v| ≤ √(1+γ); then every cluster of margin γ (at resolution τ) that holds S holds y. The
least such sum is the *gauge* of y, the columns that attain it its *support*, and the dual of that
linear program a *witness* that y is out of reach. See docs/theory.md.
"""

from __future__ import annotations

import copy

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach.checks import whitening_noise
from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.linear_programs import ProgramSolutions

# Directions along which the farthest members become columns, by the number of columns of the data:
# more take longer per point, fewer leave points out of reach. Half and twice as many give the same
# questions on 16 golden runs of 2 to 4 columns; in 8 columns 256 and 1024 give 3 % more than 512.
_N_DIRECTIONS = {1: 16, 2: 64, 3: 96, 4: 128, 5: 192, 6: 256, 7: 384}
_MOST_DIRECTIONS = 512
# Not tuned: for these, a quarter and four times as much (or as said) give the same questions on 16
# golden runs, in the same time up to a tenth.
_N_STARTS = 128  # directions that have a basis to start from
_N_SLABS = 64  # directions along which `slabs` bounds the gauge
_ROWS = 512  # points per product in `extremes`: 1 MB for 512 directions
_DEEP_STOP = 0.5  # how far deep starts are solved, from 0 (gauge 1) to 1 (the bound); 0.1 to 0.9
_FAR_OUT = 8.0  # an asked point this many times as far as usual changes the coordinates; 3 to 30
_LEAST_WIDTH = np.float32(1e-30)  # of a slab: dividing by it may overflow, which is no harm
_LEAST_VARIANCE = 1e-60  # of a column measured by its largest entry: far below what occurs
_HUGE, _TINY = 1e100, 1e-300  # sizes whose squares are no longer those of numbers
_UNEVEN = 1e8  # ratio of rows from which an inverse is taken of rows brought to one size
_FIRST_BUMP = 1e-15  # on the diagonal of a correlation matrix: about its rounding


class MemberColumns:
    """Members of one cluster as columns of a gauge program, in whitened coordinates.

    ``ids`` are the columns: -1-j for the tau-columns, then members, append-only. ``starts`` holds
    one basis for each direction: that of the last point accepted near it.

    Where τ_j is 0 its column is the zero vector in ``columns``, so that no check confirms a basis
    with it. Programs are solved with the ``thickness`` in its place (``solving``, ``columns32``):
    a basis always exists, and what it proposes is checked.

    No point of the data is farther from the first one than ``box`` (d,). Where some are far beyond
    all others, these are within ``near``: their coordinates are known better.
    """

    def __init__(
        self,
        X: Array,
        tau: Array,
        first: int,
        box: Array,
        thickness: Array | None = None,
        near: Array | None = None,
    ) -> None:
        self.X, self.tau, self.box, self.near = X, tau, box, near
        self.thickness = tau if thickness is None else np.where(tau > 0.0, tau, thickness)
        self._all_thick = bool((tau > 0.0).all())
        d = X.shape[1]
        self.D = d + 1
        self.centre = X[first].copy()
        self.ids = np.concatenate([-1 - np.arange(d), [first]]).astype(np.int32)
        self.asked = [first]
        self.start_dirs = unit_directions(_N_STARTS, d)
        self.pruned = self.added = 0
        self._look_along(1)
        self.rejected = np.zeros(0, np.int64)
        self.pi = np.zeros((0, self.D), np.float32)
        self.value = np.zeros(0, np.float32)
        self.whiten()

    def _look_along(self, factor: int) -> None:
        """Directions along which extreme members become columns, ``factor`` times the usual."""
        d = self.D - 1
        count = factor * _N_DIRECTIONS.get(d, _MOST_DIRECTIONS)
        self.dirs = np.ascontiguousarray(unit_directions(count, d).T)
        self.buffer = np.empty((_ROWS, count), np.float32)

    def refine(self, factor: int) -> None:
        """Look along more directions; the members have to be shown again."""
        self._look_along(factor)
        self.whiten()

    @property
    def members(self) -> Array:
        return self.ids[self.D - 1 :]

    def ask(self, point: int) -> None:
        """A point known by answers joins; the coordinates follow if it sticks out of them."""
        self.asked.append(point)
        self.append(np.array([point]))
        far = np.abs(self.lift(self.X[[point]])[0, :-1]).max() > _FAR_OUT
        if far or len(self.asked) <= self.D:
            self.whiten()

    def absorb(self, other: MemberColumns) -> None:
        """Take in the members of another cluster, which turned out to be this one."""
        self.asked += other.asked
        self.append(np.setdiff1d(other.members, self.members))
        self.whiten()

    def rebase(self, X: Array) -> None:
        """The data has grown: X (n, d) begins with the rows that were there before."""
        self.X = X

    def for_worker(self) -> MemberColumns:
        """A copy that decides points elsewhere: with the columns, without the data behind them."""
        light = copy.copy(self)
        light.X, light.buffer = self.X[:0], self.buffer[:0]
        return light

    def whiten(self) -> None:
        """Choose T so that the columns have covariance 1/(d + 2) in z = (x - centre) T.

        A ball filled uniformly then has radius 1, whatever d. T is triangular. The resolution keeps
        it finite while few members are known. Witnesses are dropped.
        """
        d = self.D - 1
        offsets = self.X[self.members] - self.centre
        # By powers of two, so that no square overflows or underflows.
        unit = np.exp2(np.frexp(np.maximum(np.abs(offsets).max(axis=0), self.thickness))[1])
        offsets, tau = offsets / unit, self.thickness / unit
        spread = offsets.T @ offsets / len(offsets) + np.diag(tau**2)
        mean = offsets.mean(axis=0)
        spread -= np.outer(mean, mean)
        scale = np.sqrt(np.maximum(np.diag(spread), np.maximum(tau**2, _LEAST_VARIANCE)))
        lower = _cholesky(spread / np.outer(scale, scale) + np.diag((tau / scale) ** 2))
        self.T = np.tril(np.linalg.inv(lower)).T / (scale * unit)[:, None] / np.sqrt(d + 2)
        self.mean = (mean * unit) @ self.T
        self.mean32 = self.mean.astype(np.float32)
        self._noise_box = np.maximum(self.box if self.near is None else self.near, self.tau)
        self.noise = whitening_noise(self._noise_box, self.T)
        self.rejected = self.rejected[:0]
        self.pi, self.value = self.pi[:0], self.value[:0]
        self.columns = self.solving = np.zeros((0, self.D))
        self.columns32 = np.zeros((0, self.D), np.float32)
        self.high = np.full(self.dirs.shape[1], -np.inf, np.float32)
        self.low = np.full(self.dirs.shape[1], np.inf, np.float32)
        self.owner = np.zeros((2, self.dirs.shape[1]), np.int64)
        self.fresh: list[Array] = []
        self.radius = 0.0
        self._extend(self.ids)
        self._restart()

    def _restart(self) -> None:
        """All starts become one spread basis: pivoted elimination over the columns."""
        basis = spread_basis(self.solving)
        inverse = row_scaled_inverse(self.solving[basis].T)
        count = len(self.start_dirs) * 2
        self.starts = np.repeat(basis[None].astype(np.int32), count, axis=0)
        self.inverses = np.repeat(inverse[None].astype(np.float32), count, axis=0)

    def lift(self, points: Array) -> Array:
        """Whitened coordinates (p, D) of points (p, d), with a last column of ones."""
        return self.lift_offsets(points - self.centre, np.empty((len(points), self.D)))

    def lift_offsets(self, offsets: Array, out: Array) -> Array:
        """The same of points less the centre, written to ``out``."""
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(offsets, self.T, out=out[:, :-1])
        out[:, -1] = 1.0
        return out

    def noise_of(self, *points: Array) -> Array:
        """The noise (1, D) of all columns and points, or (p, D) of each if some points are far."""
        if self.near is None:
            return np.atleast_2d(self.noise)
        far = np.zeros(1, np.bool_)
        for x in points:
            far = far | (np.abs(x - self.centre) > self.near).any(axis=1)
        of_far = whitening_noise(np.maximum(self.box, self.tau), self.T)
        return np.where(far[:, None], of_far, self.noise)

    def append(self, points: Array) -> None:
        """Add columns. Which witnesses they break is found out by the next call of `broken`."""
        self.ids = np.concatenate([self.ids, points.astype(np.int32)])
        self.added += len(points)
        before = len(self.columns)
        self._extend(points)
        self.fresh.append(self.columns32[before:])

    def broken(self, bound: float) -> Array:
        """Points whose witness the columns added since have broken, nearest to acceptance first;
        they are forgotten. One product tells."""
        if self.fresh and len(self.rejected):
            new = np.ascontiguousarray(np.concatenate(self.fresh).T)
            # Witnesses of thin clusters may overflow single precision: NaN counts as broken.
            with np.errstate(over="ignore", invalid="ignore"):
                for begin in range(0, len(self.pi), _ROWS):
                    part = slice(begin, begin + _ROWS)
                    size = np.maximum(np.abs(self.pi[part] @ new).max(axis=1), np.float32(1.0))
                    self.value[part] /= size
                    self.pi[part] /= size[:, None]
        self.fresh = []
        held = self.value > bound
        freed = self.rejected[~held][np.argsort(self.value[~held])]
        self.rejected, self.pi, self.value = self.rejected[held], self.pi[held], self.value[held]
        return freed

    def _extend(self, ids: Array) -> None:
        """Coordinates of new columns, and which of them are extreme along each direction."""
        d, before = self.D - 1, len(self.columns)
        new = np.zeros((len(ids), self.D))
        taus = ids < 0
        axes = -1 - ids[taus]
        new[taus, :d] = self.T[axes] * self.tau[axes, None]
        new[~taus] = self.lift(self.X[ids[~taus]])
        if self.near is not None:
            sizes = np.abs(self.X[ids[~taus]] - self.centre).max(axis=0, initial=0.0)
            self._noise_box = np.maximum(self._noise_box, sizes)
            self.noise = whitening_noise(self._noise_box, self.T)
        self.columns = np.concatenate([self.columns, new])
        if self._all_thick:
            self.solving = self.columns
        else:
            new = new.copy()
            new[taus, :d] = self.T[axes] * self.thickness[axes, None]
            self.solving = np.concatenate([self.solving, new])
        self.columns32 = np.concatenate([self.columns32, new.astype(np.float32)])
        real = self.columns32[before + taus.sum() :, :-1]
        along = real @ self.dirs
        top, bottom = along.max(axis=0), along.min(axis=0)
        over, under = np.flatnonzero(top > self.high), np.flatnonzero(bottom < self.low)
        first = before + taus.sum()
        self.owner[0, over] = first + along[:, over].argmax(axis=0)
        self.owner[1, under] = first + along[:, under].argmin(axis=0)
        self.high[over], self.low[under] = top[over], bottom[under]
        away = real - self.mean32
        self.radius = max(self.radius, float(np.sqrt(np.einsum("pi,pi->p", away, away).max())))

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
            top, bottom = along.max(axis=0), along.min(axis=0)
            over, under = np.flatnonzero(top > high), np.flatnonzero(bottom < low)
            at[0, over] = part[along[:, over].argmax(axis=0)]
            at[1, under] = part[along[:, under].argmin(axis=0)]
            high[over], low[under] = top[over], bottom[under]
        return np.asarray(points[np.unique(at[at >= 0])])

    def keep(self, points: Array, pi: Array, value: Array) -> None:
        """Remember witnesses of rejected points."""
        self.rejected = np.concatenate([self.rejected, points])
        self.pi = np.concatenate([self.pi, pi])
        self.value = np.concatenate([self.value, value])

    def slabs(self) -> Array:
        """Rows (s, D) with |row . column| <= 1 for every column: slabs along some directions."""
        high, low = self.high[:_N_SLABS], self.low[:_N_SLABS]
        resolved = np.abs(self.columns32[: self.D - 1, :-1] @ self.dirs[:, :_N_SLABS]).max(axis=0)
        middle = (high + low) / 2
        half = np.maximum((high - low) / 2, np.maximum(resolved, _LEAST_WIDTH))
        # A slab may be as thin as rounding noise: infinite is a fine distance from it.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((np.vstack([self.dirs[:, :_N_SLABS], -middle]) / half).T)

    def score(self, lifted32: Array, most: int | None = None) -> Array:
        """A lower bound of the gauge: how far each target sticks out of a slab. Above the bound it
        is a witness that need not be kept. Only the first ``most`` slabs are looked at."""
        slabs = np.ascontiguousarray(self.slabs()[:most].T)
        score = np.empty(len(lifted32), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(score), 4 * _ROWS):
                along = np.abs(lifted32[begin : begin + 4 * _ROWS] @ slabs)
                along.max(axis=1, out=score[begin : begin + 4 * _ROWS])
        return score

    def prune(self) -> None:
        """Keep the columns that are extreme now, and the asked ones.

        While a hull grows, columns that were extreme end up inside it, and partial pricing would
        keep picking them. Witnesses stay valid; old bases are given up for a spread one.
        """
        d = self.D - 1
        keep = np.zeros(len(self.ids), bool)
        keep[self.owner] = True
        keep[d:] |= np.isin(self.members, self.asked)
        shuffled = np.random.default_rng(0).permutation(np.flatnonzero(keep))
        keep = np.concatenate([np.arange(d), shuffled])
        position = np.empty(len(self.ids), np.int64)
        position[keep] = np.arange(len(keep))
        self.owner = position[self.owner]
        self.ids, self.columns = self.ids[keep], self.columns[keep]
        self.solving = self.columns if self._all_thick else self.solving[keep]
        self.columns32 = self.columns32[keep]
        self.pruned = len(keep)
        self._restart()

    def deep_starts(self, kernel: Kernel, bound: float) -> None:
        """For each direction a basis that is good for points far out along it.

        Programs that stop at the bound leave bases that just do for one point; for a large sweep
        it pays to solve a few hundred programs further.
        """
        both = np.concatenate([self.start_dirs, -self.start_dirs])
        real = self.columns32[self.D - 1 :, :-1] - self.mean32
        out = (real @ both.T).max(axis=0)
        targets = np.ones((len(both), self.D), np.float32)
        targets[:, :-1] = self.mean32 + both * out[:, None]
        solved = kernel.solve(
            targets,
            np.arange(len(both)),
            self.starts,
            self.inverses,
            self.columns32,
            bound,
            stop=1 + _DEEP_STOP * (bound - 1),
        )
        self.starts, self.inverses = solved.basis.copy(), solved.inverse.copy()

    def solved(
        self,
        kernel: Kernel,
        lifted32: Array,
        bound: float,
        stop: float | None = None,
        private: Array | None = None,
    ) -> tuple[Array, ProgramSolutions]:
        """Programs of single precision targets (p, D), each begun at the start of its direction;
        which start that was, and what became of each."""
        start = kernel.nearest_direction(lifted32, self.mean32, self.start_dirs)
        programs = self.starts, self.inverses, self.columns32
        return start, kernel.solve(lifted32, start, *programs, bound, stop, private)

    def learn_starts(self, start: Array, solved: ProgramSolutions) -> None:
        """A direction's start becomes the basis of the last program near it, also of a rejected
        one: its basis is nearly optimal there."""
        last = np.full(len(self.starts), -1)
        last[start] = np.arange(len(start))
        new = np.flatnonzero(last >= 0)
        self.starts[new] = solved.basis[last[new]]
        self.inverses[new] = solved.inverse[last[new]]


def unit_directions(count: int, d: int) -> Array:
    """Fixed unit vectors (count, d)."""
    out = np.random.default_rng(count).normal(size=(count, d))
    return np.asarray((out / np.linalg.norm(out, axis=1)[:, None]).astype(np.float32))


def _cholesky(matrix: Array) -> Array:
    """Cholesky with a floor under the diagonal: a correlation that is singular in floats."""
    bump = _FIRST_BUMP
    while True:
        try:
            return np.linalg.cholesky(matrix + bump * np.eye(len(matrix)))
        except np.linalg.LinAlgError:
            bump *= 10.0


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
