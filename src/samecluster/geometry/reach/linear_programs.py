"""Gauge programs in lock step, the float check with a bound, and the exact check behind it.

A program: minimise |w|_1 with  sum_i w_i a_i = y  over columns a_i (lifted members and the
tau-columns), y lifted. A basis B of D = d+1 columns gives w = B^-1 y; its dual is pi = s B^-1 with
s = sign(w); column j improves it iff |pi . a_j| > 1; and pi / max_j |pi . a_j| is a feasible dual,
so the gauge is at least |w|_1 / max_j |pi . a_j|.

Nothing here is trusted except `confirmed` and `shown` (rigorous bounds) and `exactly`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from samecluster._typing import Array

BLOCK = 64
GOOD_PRICE = 1.1
REJECTED, ACCEPTED, UNSURE = 0, 1, 2
_LANES = 2048
_FAR = 1e30


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
    pivots: int = 0

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

    ``inverse`` (p, D, D) has no rows where nobody asked for it; where a target is not reached its
    row means nothing, here and in the others.
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
    max_pivots: int = 200,
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
    batch = _LockStep(out, targets, start, bases, inverses, columns, bound, stop, private)
    out.pivots = batch.run(max_pivots)
    return out


class _LockStep:
    """State of a batch, the lane as the last axis so that NumPy's inner loops are long.

    Lanes that have nothing to do (decided, or no good column in this block) take part with a zero
    step. When a quarter is decided they get new programs; when there are no more, they are dropped.
    """

    def __init__(
        self,
        out: ProgramSolutions,
        targets: Array,
        start: Array,
        bases: Array,
        inverses: Array,
        columns: Array,
        bound: float,
        stop: float,
        private: Array | None,
    ) -> None:
        single = columns.dtype == np.float32
        self.out, self.targets, self.start = out, targets, start
        self.bases, self.inverses = bases, inverses
        self.columns, self.bound, self.stop = columns, bound, stop
        self.private = private
        self.band, self.tiny = (1e-4, 1e-5) if single else (1e-9, 1e-10)
        p, D = min(len(targets), _LANES), targets.shape[1]
        self.fed = 0
        self.lane, self.open = np.full(p, -1), np.zeros(p, bool)
        self.basis, self.R = np.zeros((D, p), np.int32), np.zeros((D, D, p), columns.dtype)
        self.w, self.s = np.zeros((D, p), columns.dtype), np.ones((D, p), columns.dtype)
        self.best = np.zeros(p, columns.dtype)
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

    def run(self, max_pivots: int) -> int:
        """Work until every program is decided; returns the pivots made."""
        pivots, turn = 0, 0
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
                pivots += self._pivot(pi, go)
                self.count[go] += 1
                total = np.abs(self.w).sum(axis=0)
                self._retire(self.open & (total <= self.stop), ACCEPTED, total, None)
            if 4 * np.count_nonzero(self.open) <= 3 * len(self.lane):
                self._feed()
                if 4 * np.count_nonzero(self.open) <= 3 * len(self.lane):
                    self._drop()
        return pivots

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

    def _pivot(self, pi: Array, go: Array) -> int:
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
        return len(at)


def _leaving(w: Array, s: Array, alpha: Array, slope: Array, tiny: float) -> tuple[Array, Array]:
    """The weight that stops each edge, and how far along it; passed weights flip in ``s``.

    The objective is piecewise linear along an edge: a weight that reaches zero flips its sign,
    which adds 2|alpha| to the slope; the edge ends where the slope turns positive. Counting the
    slope behind every breakpoint costs D^2 and no sorting.
    """
    gain = s * alpha
    falling = gain > tiny
    gain = np.where(falling, gain, 0)
    ratio = np.where(falling, w, _FAR) / np.where(falling, alpha, 1)
    behind = np.repeat(slope[None], len(w), axis=0)
    for k in range(len(w)):
        behind += (2 * gain[k]) * (ratio[k] <= ratio)
    stops = falling & (behind >= 0)
    step = np.where(stops, ratio, _FAR).min(axis=0)
    leave = (ratio == step).argmax(axis=0)
    s[falling & (ratio < step) & (step < _FAR)] *= -1
    return leave, step


def chosen_columns(basis: Array, columns: Array, private: Array | None) -> Array:
    """The columns (p, m, D) that bases (p, m) name."""
    if private is None:
        return np.asarray(columns[basis])
    own = basis == len(columns)
    return np.where(own[:, :, None], private[:, None, :], columns[np.where(own, 0, basis)])


def confirmed(
    targets: Array,
    basis: Array,
    inverse: Array,
    columns: Array,
    noise: Array,
    limit: float,
    private: Array | None = None,
) -> Array:
    """Which records are proven: a rigorous upper bound of |w|_1 is at most ``limit``.

    For any R with a = |RA - I|_1 < 1/2 and any w: |A^-1 b|_1 <= |w|_1 + | |R| rho |_1 / (1-a),
    rho >= |b - Aw|. All in whitened coordinates; ``noise`` (D,) bounds the error that whitening
    made in any coordinate of any column or target, g the rounding of sums of D+1 products.
    R may be a single precision inverse: it only has to be near enough to show independence.
    """
    D = targets.shape[1]
    u = 2.0**-53
    g = (D + 4) * u / (1 - (D + 4) * u)
    A = chosen_columns(basis, columns, private)  # (p, column, row)
    R = inverse.astype(np.float64)
    sums = np.abs(R).sum(axis=1)  # (p, row)
    error = np.abs(R @ A.transpose(0, 2, 1) - np.eye(D)).sum(axis=1)
    a = (error + g * (np.einsum("pr,pjr->pj", sums, np.abs(A)) + 1)).max(axis=1)
    a = (a + sums @ noise) * (1 + 4 * g)
    w = np.einsum("pir,pr->pi", R, targets)
    w += np.einsum("pir,pr->pi", R, targets - np.einsum("pi,pir->pr", w, A))
    rest = np.abs(np.einsum("pi,pir->pr", w, A) - targets)
    size = np.abs(w).sum(axis=1)
    rho = rest + g * (np.einsum("pi,pir->pr", np.abs(w), np.abs(A)) + np.abs(targets))
    rho += noise * (size[:, None] + 1) + 1e-290
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        top = (1 + g) * size + (1 + 4 * g) ** 2 * (sums * rho).sum(axis=1) / (1 - a)
        return np.asarray((a < 0.5) & (top * (1 + 4 * u) <= limit))


@dataclass(frozen=True, eq=False)
class Charges:
    """What it takes to reach a remainder r with columns (m, D): at most sum_j costs_j |r_j|.

    ``largest`` are the largest entries of the columns, ``noise`` is that of `confirmed`.
    """

    costs: Array
    largest: Array
    noise: Array

    @classmethod
    def of(cls, columns: Array, basis: Array, noise: Array) -> Charges:
        """Charged to one basis; infinite if its inverse is not known well enough.

        The weights of r are (RA)^-1 R r; with a = |RA - I|_1 < 1/2, at most | |R||r| |_1 / (1-a).
        """
        A = columns[basis].T
        D = len(A)
        g = (D + 4) * 2.0**-52
        R = np.linalg.inv(A)
        sums = np.abs(R).sum(axis=0)
        error = np.abs(R @ A - np.eye(D)) + g * (np.abs(R) @ np.abs(A) + np.eye(D))
        a = (error.sum(axis=0).max() + sums @ noise) * (1 + 4 * g)
        costs = sums * (1 + 4 * g) / (1 - a) if a < 0.5 else np.full(D, np.inf)
        return cls(costs, np.abs(columns).max(axis=0), noise)


def shown(
    targets: Array, basis: Array, weights: Array, columns: Array, charges: Charges, limit: float
) -> Array:
    """Which targets are certainly in reach: weights on some columns, and what they leave over.

    Any weights do, rounded as they are: y = Aw + r, and r is charged. It takes D^2 steps and no
    inverse, but shows no basis: for records of a proof there is `confirmed`.
    """
    D = targets.shape[1]
    u = 2.0**-53
    g = (D + 4) * u / (1 - (D + 4) * u)
    w = weights.astype(np.float64)
    size = np.abs(w).sum(axis=1)
    rho = np.abs(targets - np.einsum("pi,pir->pr", w, columns[basis]))
    rho += g * (size[:, None] * charges.largest + np.abs(targets))
    rho += charges.noise * (size[:, None] + 1) + 1e-290
    top = (1 + g) * size + (rho * charges.costs).sum(axis=1)
    return np.asarray(top * (1 + 4 * g) <= limit)


def limit_for(margin: float) -> float:
    """A float whose square is certainly at most 1 + margin."""
    limit = np.sqrt(1.0 + margin)
    while Fraction(float(limit)) ** 2 * (1 + Fraction(1, 10**15)) > 1 + Fraction(float(margin)):
        limit = np.nextafter(limit, 0.0)
    return float(limit)


def exactly(y: Array, support: Array, taus: list[tuple[int, float]], margin: float) -> bool:
    """Rational check of one record: members ``support`` (m, d), tau-columns (axis, tau)."""
    d = len(y)
    rows = [
        [Fraction(float(x[r])) for x in support]
        + [Fraction(float(t)) if j == r else Fraction(0) for j, t in taus]
        + [Fraction(float(y[r]))]
        for r in range(d)
    ]
    rows.append([Fraction(1)] * len(support) + [Fraction(0)] * len(taus) + [Fraction(1)])
    n = d + 1
    if len(support) + len(taus) != n:
        return False
    for c in range(n):
        at = next((r for r in range(c, n) if rows[r][c]), None)
        if at is None:
            return False
        rows[c], rows[at] = rows[at], rows[c]
        for r in range(n):
            if r != c and rows[r][c]:
                f = rows[r][c] / rows[c][c]
                rows[r] = [p - f * q for p, q in zip(rows[r], rows[c], strict=True)]
    total = sum((abs(rows[r][n] / rows[r][r]) for r in range(n)), Fraction(0))
    return total * total <= 1 + Fraction(float(margin))
