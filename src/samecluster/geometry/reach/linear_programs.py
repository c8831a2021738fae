"""The linear programs behind the gauge, many at a time. Not trusted: see `checks`.

One linear program: minimise |w|_1 with  sum_i w_i a_i = y  over columns a_i (lifted members and the
tau-columns), y lifted. A basis B of D = d+1 columns gives w = B^-1 y; its dual is pi = s B^-1 with
s = sign(w); column j improves it iff |pi . a_j| > 1; and pi / max_j |pi . a_j| is a feasible dual,
so the gauge is at least |w|_1 / max_j |pi . a_j|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach.checks import chosen_columns

REJECTED, ACCEPTED, UNSURE = 0, 1, 2
MAX_PIVOTS = 200  # ends what rounding sends in circles; up to 16 columns 57 was the most needed
BLOCK = 64  # columns looked through at a time (decision 14: other sizes were no faster)
GOOD_PRICE = 1.1  # a column that is better enters before the others are looked at (likewise)
_LANES = 2048  # not tuned: with 256 and 16384, 16 golden runs ask the same and take as long
_SORTED_ABOVE = 24  # weights: above it sorting is quicker than comparing all pairs of them
_FAR = 1e30  # "never": larger than any ratio, and its product with 0 is 0 in single precision
# A value within this share of the bound is UNSURE; a price above 1 by less than the second number
# does not improve. Rounding, 6e-8 and 1e-16, grows with the condition of a basis: 1e3 and 1e7 are
# covered. Where that is not enough, the checks refuse what is wrong.
_SINGLE, _DOUBLE = (1e-4, 1e-5), (1e-9, 1e-10)


@dataclass
class ProgramSolutions:
    """What became of each target (p of them), in the order given.

    ``pi`` is a feasible dual (|pi . a_j| <= 1 up to rounding) where rejected; ``inverse`` belongs
    to ``basis`` (column numbers); ``total`` is |w|_1 of that basis.
    """

    status: Array
    total: Array
    basis: Array
    inverse: Array
    pi: Array

    @classmethod
    def empty(cls, p: int, D: int, dtype: type) -> ProgramSolutions:
        return cls(
            np.zeros(p, np.int8),
            np.zeros(p, dtype),
            np.empty((p, D), np.int32),
            np.empty((p, D, D), dtype),
            np.zeros((p, D), dtype),
        )


@dataclass
class ReachWeights:
    """Which targets are reached, by weights (p, D) on bases (p, D) of columns.

    ``inverse`` (p, D, D) has no rows unless it was asked for. Rows of targets that are not reached
    mean nothing.
    """

    reached: Array
    basis: Array
    weights: Array
    inverse: Array


def solve(
    targets: Array,
    start: Array,
    bases: Array,
    inverses: Array,
    columns: Array,
    bound: float,
    stop: float,
    max_pivots: int = MAX_PIVOTS,
    private: Array | None = None,
) -> ProgramSolutions:
    """Decide each lifted target (p, D), beginning at basis ``bases[start[i]]``.

    ``private`` (p, D) is one more column for each target alone; bases name it len(columns).

    The dtype of ``columns`` is that of the work: float32 to propose, float64 for a good gauge.
    A program ends as soon as its value is at most ``stop`` (<= bound), or it is optimal, or its
    scaled dual shows a gauge above ``bound``; what is within rounding of the bound is UNSURE.
    """
    p, D = targets.shape
    out = ProgramSolutions.empty(p, D, columns.dtype.type)
    _LockStep(out, targets, start, bases, inverses, columns, bound, stop, private).run(max_pivots)
    return out


@dataclass(eq=False)
class _LockStep:
    """State of a batch, the lane as the last axis so that NumPy's inner loops are long.

    Lanes that have nothing to do (decided, or no good column in this block) take part with a zero
    step. When a quarter is decided they get new programs; when there are no more, they are dropped.
    """

    out: ProgramSolutions
    targets: Array
    start: Array
    bases: Array
    inverses: Array
    columns: Array
    bound: float
    stop: float
    private: Array | None

    def __post_init__(self) -> None:
        dtype, p, D = self.columns.dtype, min(len(self.targets), _LANES), self.targets.shape[1]
        self.band, self.tiny = _SINGLE if dtype == np.float32 else _DOUBLE
        self.fed = 0
        self.lane, self.open = np.full(p, -1), np.zeros(p, bool)
        self.basis, self.R = np.zeros((D, p), np.int32), np.zeros((D, D, p), dtype)
        self.w, self.s = np.zeros((D, p), dtype), np.ones((D, p), dtype)
        self.best = np.zeros(p, dtype)
        self.where, self.seen = np.zeros(p, np.int64), np.zeros(p, np.int64)
        self.count = np.zeros(p, np.int64)

    def _feed(self) -> None:
        """New programs into the idle lanes; those that their start decides never enter one."""
        while self.fed < len(self.targets):
            slots = np.flatnonzero(~self.open)
            new = np.arange(self.fed, min(self.fed + len(slots), len(self.targets)))
            if not len(new):
                return
            self.fed += len(new)
            R = self.inverses[self.start[new]]
            w = np.matmul(R, self.targets[new][:, :, None])[:, :, 0]
            total = np.abs(w).sum(axis=1)
            at = np.flatnonzero(total <= self.stop)
            self.out.status[new[at]], self.out.total[new[at]] = ACCEPTED, total[at]
            self.out.basis[new[at]], self.out.inverse[new[at]] = (
                self.bases[self.start[new[at]]],
                R[at],
            )
            at = np.flatnonzero(~(total <= self.stop))
            slots, new = slots[: len(at)], new[at]
            self.lane[slots], self.open[slots] = new, True
            self.basis[:, slots] = self.bases[self.start[new]].T
            self.R[:, :, slots] = R[at].transpose(1, 2, 0)
            self.w[:, slots] = w[at].T
            self.s[:, slots] = np.where(w[at].T >= 0, 1, -1)
            self.best[slots], self.seen[slots], self.count[slots] = 0.0, 0, 0

    def run(self, max_pivots: int) -> None:
        """Work until every program is decided."""
        turn = 0
        blocks = -(-len(self.columns) // BLOCK)
        self._feed()
        while self.open.any():
            pi = np.einsum("il,irl->rl", self.s, self.R)
            self._price(pi, turn)
            turn = turn + 1 if turn + 1 < blocks else 0
            total = np.abs(self.w).sum(axis=0)
            full = self.open & (self.seen >= blocks)
            if full.any():
                self._judge(pi, full, total)
            self._retire(self.open & (self.count >= max_pivots), UNSURE, total, None)
            go = self.open & ((self.best > GOOD_PRICE) | (self.seen >= blocks))
            if go.any():
                self._pivot(pi, go)
                self.count[go] += 1
                total = np.abs(self.w).sum(axis=0)
                self._retire(self.open & (total <= self.stop), ACCEPTED, total, None)
            if 4 * np.count_nonzero(self.open) <= 3 * len(self.lane):
                self._feed()
                if 4 * np.count_nonzero(self.open) <= 3 * len(self.lane):
                    self._drop()

    def _price(self, pi: Array, turn: int) -> None:
        """Running best |pi . a_j| and its column, over one block of columns."""
        prices = pi.T @ self.columns[turn * BLOCK : turn * BLOCK + BLOCK].T
        np.abs(prices, out=prices)
        at = prices.argmax(axis=1)
        top = prices[np.arange(len(at)), at]
        better = top > self.best
        self.best = np.where(better, top, self.best)
        self.where = np.where(better, at + turn * BLOCK, self.where)
        if self.private is not None and turn == 0:
            own = np.abs(np.einsum("rl,lr->l", pi, self.private[self.lane]))
            better = own > self.best
            self.best = np.where(better, own, self.best)
            self.where = np.where(better, len(self.columns), self.where)
        self.seen += 1

    def _judge(self, pi: Array, full: Array, total: Array) -> None:
        """Retire fully priced lanes that are optimal or shown to be above the bound."""
        size = np.maximum(self.best, 1.0)
        high = total > self.bound * (1 + self.band) * size
        done = full & (high | (self.best <= 1.0 + self.tiny))
        status = np.where(
            high, REJECTED, np.where(total <= self.bound * (1 - self.band), ACCEPTED, UNSURE)
        )
        self._retire(done, status, total, pi / size)

    def _retire(self, done: Array, status: Array | int, total: Array, pi: Array | None) -> None:
        """Write decided lanes out."""
        which = np.flatnonzero(done)
        if not len(which):
            return
        at, out = self.lane[which], self.out
        out.status[at] = status[which] if not isinstance(status, int) else status
        out.total[at] = total[which]
        out.basis[at] = self.basis[:, which].T
        out.inverse[at] = self.R[:, :, which].transpose(2, 0, 1)
        if pi is not None:
            out.pi[at] = pi[:, which].T
        self.open[which] = False

    def _drop(self) -> None:
        """Keep the undecided lanes only."""
        keep = np.flatnonzero(self.open)
        for name in ("lane", "open", "best", "where", "seen", "count", "basis", "w", "s", "R"):
            setattr(self, name, np.take(getattr(self, name), keep, axis=-1))

    def _entering(self) -> Array:
        if self.private is None:
            return np.asarray(self.columns[self.where])
        return chosen_columns(self.where[:, None], self.columns, self.private[self.lane])[:, 0]

    def _pivot(self, pi: Array, go: Array) -> None:
        """Exchange one column in each lane of ``go``; the others keep their state."""
        a = np.ascontiguousarray(self._entering().T)
        price = (a * pi).sum(axis=0)
        sign = np.where(price >= 0, 1, -1).astype(a.dtype)
        alpha = np.einsum("irl,rl->il", self.R, a)
        alpha *= sign * go
        leave, step = _leaving(self.w, self.s, alpha, 1.0 - np.abs(price), self.tiny)
        at = np.flatnonzero(go & (step < _FAR))
        row = np.zeros_like(a)
        row[:, at] = (self.R[leave[at], :, at] / alpha[leave[at], at][:, None]).T
        step = np.where(go & (step < _FAR), step, 0).astype(a.dtype)
        self.w -= step * alpha
        for i in range(len(a)):
            self.R[i] -= alpha[i] * row
        self.R[leave[at], :, at] = (row[:, at] * sign[at]).T
        self.w[leave[at], at] = (sign * step)[at]
        self.s[leave[at], at] = sign[at]
        self.basis[leave[at], at] = self.where[at]
        self.best[go] = 0.0
        self.seen[go] = 0


def _leaving(w: Array, s: Array, alpha: Array, slope: Array, tiny: float) -> tuple[Array, Array]:
    """The weight that stops each edge, and how far along it; passed weights flip in ``s``.

    The objective is piecewise linear along an edge: a weight that reaches zero flips its sign,
    which adds 2|alpha| to the slope; the edge ends where the slope turns positive. Counting the
    slope behind every breakpoint costs D^2 and no sorting, which pays while D is small.
    """
    gain = s * alpha
    falling = gain > tiny
    gain = np.where(falling, gain, 0)
    ratio = np.where(falling, w, _FAR) / np.where(falling, alpha, 1)
    if len(w) <= _SORTED_ABOVE:
        behind = np.repeat(slope[None], len(w), axis=0)
        for k in range(len(w)):
            behind += (2 * gain[k]) * (ratio[k] <= ratio)
        step = np.where(falling & (behind >= 0), ratio, _FAR).min(axis=0)
    else:
        order = np.argsort(ratio, axis=0)
        behind = slope + 2 * np.cumsum(np.take_along_axis(gain, order, axis=0), axis=0)
        # Beyond the last breakpoint, where nothing falls, ratios are _FAR.
        ratios = np.take_along_axis(ratio, order, axis=0)
        step = np.where(behind >= 0, ratios, _FAR).min(axis=0)
    leave = (ratio == step).argmax(axis=0)
    s[falling & (ratio < step) & (step < _FAR)] *= -1
    return leave, step
