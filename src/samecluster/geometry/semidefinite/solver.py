"""Can these points be in a cluster and those outside of it? The complete test, in floats.

Rows are lifted points (x, 1), and (τ_j e_j, 0) for the resolution (theory, section 5). A cluster
of margin γ with all ``positives`` inside and all ``negatives`` outside exists iff the optimum of

    maximise ρ  with  pᵀQp ≤ 1 on positives,  nᵀQn ≥ ρ on negatives,  Q ⪰ 0

is above 1+γ. Weights λ, μ ≥ 0 with Σλppᵀ − Σμnnᵀ ⪰ 0 and Σμ = 1 show that ρ ≤ Σλ: a certificate.

Nothing here is trusted for a proof: `decide` proposes a Q or weights, and `certificates` turns
weights into some that hold without rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

import numpy as np

from samecluster._typing import Array, FloatArray

_UNIT = 2.0**-53
_CLEAR = 1e-7  # how far from the limit, as a share of it, an optimum is distinct from rounding
_TOO_NOISY = 1e-3  # rounding in the round coordinates, as a share of 1, from which on it is UNCLEAR
_LARGEST = 1e150  # a larger factor would have an infinite Q
MAX_STEPS = 50  # 4 are usual and 7 the most seen; the others are for optima at the limit
NO_STEP = 1e-8  # a step that goes a smaller share of its way leads nowhere
TO_BOUNDARY = 0.95  # share of the way to the edge of the cone that a step may go
LEAST_CENTRE = 1e-6  # of the gap: the corrector never aims at the edge itself
RIDGE = 1e-13  # on the diagonal of the normal equations, which may be singular in floats
# Where polishing ends: the optimum is known up to these shares of its distance from the limit, or
# is this many times the limit, so that hardly a point changes sides any more.
FEASIBLE_GAP, INFEASIBLE_GAP, FAR_ABOVE = 0.05, 0.1, 20
UNDECIDABLE_GAP = 0.1  # of the distance that is clear: what is within it has no clear side


class Feasibility(Enum):
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNCLEAR = "unclear"


@dataclass(frozen=True, eq=False)
class Decision:
    """What `decide` found: ρ ≥ ``rho`` by ``factor``, ρ ≤ ``bound`` by ``lam`` and ``mu``.

    Q is kept as a factor A (D, D), Q = AᵀA: for flat clusters |Ap|² is right to many more digits
    than pᵀQp. Weights are in the order of the rows given, and Σ mu = 1. If UNCLEAR, all may be 0.
    """

    verdict: Feasibility
    factor: FloatArray
    lam: FloatArray
    mu: FloatArray
    rho: float
    bound: float


def decide(
    positives: FloatArray,
    negatives: FloatArray,
    limit: float,
    *,
    polish: int = 4,
    compiled: Any = None,
) -> Decision:
    """Tell whether the optimum ρ is above ``limit``, for rows (m, D) and (p, D).

    It stops when that is clear, up to ``polish`` steps later: these make the ellipsoid or the
    weights decide more points. Rows that do not span, or span only by rounding, are UNCLEAR.
    ``compiled`` may be the module `compiled` beside this one.
    """
    D, p = positives.shape[1], len(negatives)
    unclear = np.zeros((D, D)), np.zeros(len(positives)), np.full(p, 1 / max(p, 1)), 0.0, math.inf
    with np.errstate(all="ignore"):
        try:
            rounding = round_coordinates(positives)
            if rounding is None:
                return Decision(Feasibility.UNCLEAR, *unclear)
            T, noise = rounding
            if p == 0:
                return _judged(positives, negatives, limit, T.T, *unclear[1:3], 0.0)
            outer = negatives @ T
            least = (norms := np.sum(outer**2, axis=1)).min()
            program = _Program(positives @ T, outer / np.sqrt(norms)[:, None], least / norms)
            Q, lam, mu = program.solve(limit / least, _CLEAR + noise, polish, compiled)
            values, axes = np.linalg.eigh(Q)
            factor = np.sqrt(np.maximum(values, 0.0))[:, None] * (axes.T @ T.T)
            total = (mu := mu / norms).sum()  # of the rows as given, not of those of length 1
            lam, mu = lam / total, mu / total
            return _judged(positives, negatives, limit, factor, lam, mu, noise)
        except np.linalg.LinAlgError:
            return Decision(Feasibility.UNCLEAR, *unclear)


def _judged(
    positives: FloatArray,
    negatives: FloatArray,
    limit: float,
    factor: FloatArray,
    lam: FloatArray,
    mu: FloatArray,
    noise: float,
) -> Decision:
    """The verdict by what is shown: A is scaled and ρ taken so that they hold without rounding."""
    on, on_error = _lengths(positives, factor)
    off, off_error = _lengths(negatives, factor)
    largest = (on + on_error).max()
    least = max(float(((off - off_error) / largest).min(initial=math.inf)), 0.0)
    rho, factor = least * least * (1 - 8 * _UNIT), factor / largest
    verdict, bound = Feasibility.UNCLEAR, float(lam.sum()) if len(mu) else math.inf
    if rho > limit * (1 + _CLEAR) and np.abs(factor).max() < _LARGEST:
        verdict = Feasibility.FEASIBLE
    elif bound < limit * (1 - _CLEAR - noise):
        verdict = Feasibility.INFEASIBLE
    return Decision(verdict, factor, lam, mu, rho, bound)


def _lengths(rows: FloatArray, factor: FloatArray) -> tuple[FloatArray, FloatArray]:
    """|Ax| of each row, and what rounding may have done to it, A scaled and rounded included."""
    error = np.linalg.norm(np.abs(rows) @ np.abs(factor.T), axis=1)
    return np.linalg.norm(rows @ factor.T, axis=1), 4 * (len(factor) + 2) * _UNIT * error


def round_coordinates(positives: FloatArray) -> tuple[FloatArray, float] | None:
    """T (D, D) with TᵀPᵀPT = m·1, and the rounding in rows of PT; None if P does not span."""
    m, D = positives.shape
    unit = np.abs(positives).max(axis=0, initial=0.0)
    with np.errstate(all="ignore"):  # what is not finite is not below the noise allowed
        if m < D or not np.isfinite(scaled := positives / unit).all():
            return None
        _, spread, axes = np.linalg.svd(scaled, full_matrices=False)
        T = axes.T / spread * math.sqrt(m) / unit[:, None]
        noise = float(2 * D * _UNIT * (np.abs(positives) @ np.abs(T)).max())
    return (T, noise) if noise < _TOO_NOISY else None


@lru_cache(maxsize=32)
def _layout(D: int) -> tuple[Array, Array, FloatArray, Array, Array]:
    """Where a symmetric matrix keeps its q = D(D+1)/2 entries, and their weights.

    Weighted by √2 off the diagonal, their inner product is that of the matrices. The last are
    the places (4, q, q) that a product of two symmetric units touches.
    """
    i, j = np.triu_indices(D)
    place = np.empty((D, D), dtype=np.int64)
    place[i, j] = place[j, i] = np.arange(len(i))
    corners = np.stack([row[:, None] * D + column for row in (i, j) for column in (i, j)])
    return i, j, np.where(i == j, 1.0, math.sqrt(2.0)), place, corners


class _Program:
    """A primal-dual interior point method (HKM direction, Mehrotra's corrector).

    x = (entries of Q, ρ), slacks s = h − Gx ≥ 0, weights z ≥ 0 with Gᵀz = (entries of Z, 1), Z ⪰ 0.
    Both begin strictly feasible and stay so: every step has a valid ρ and a valid bound.
    """

    def __init__(self, inner: FloatArray, outer: FloatArray, shares: FloatArray) -> None:
        (self.m, self.D), p = inner.shape, len(outer)
        self.i, self.j, self.weight, self.place, self.corners = _layout(self.D)
        rows = np.vstack([inner, outer])
        self.G = np.zeros((self.m + p, len(self.i) + 1))
        self.h = np.repeat([1.0, 0.0], [self.m, p])
        self.G[:, :-1] = rows[:, self.i] * rows[:, self.j] * self.weight
        self.G[self.m :] *= -1.0
        self.G[self.m :, -1] = shares
        small = 0.5 / np.sum(inner**2, axis=1).max()
        self.x = np.append(np.where(self.i == self.j, small, 0.0), 0.5 * small)
        each = 1.0 / shares.sum()
        largest = each * np.linalg.eigvalsh(outer.T @ outer)[-1]
        self.z = np.append(np.full(self.m, 1.5 * largest / self.m), np.full(p, each))

    def solve(
        self, limit: float, clear: float, polish: int, compiled: Any
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Q, λ, μ when the side of the limit is clear, or when rounding leaves no way on."""
        try:
            if compiled is None:
                self._run(limit, clear, polish)
            else:
                compiled.run(self.G, self.h, self.x, self.z, self.D, limit, clear, polish)
        except np.linalg.LinAlgError:
            pass  # x and z are those of the last good step
        return self._matrix(self.x), self.z[: self.m], self.z[self.m :]

    def _run(self, limit: float, clear: float, polish: int) -> None:
        for _ in range(MAX_STEPS):
            self.s = self.h - self.G @ self.x
            rho, bound = self.x[-1], self.z[: self.m].sum()
            over, under = rho - limit * (1 + clear), limit * (1 - clear) - bound
            done = rho > FAR_ABOVE * limit or bound - rho < FEASIBLE_GAP * over
            if over > 0 and (polish <= 0 or done):
                return
            if under > 0 and (polish <= 0 or bound - rho < INFEASIBLE_GAP * under):
                return
            polish -= over > 0 or under > 0
            if bound - rho < UNDECIDABLE_GAP * clear * limit or not self._step():
                return

    def _matrix(self, entries: FloatArray) -> FloatArray:
        return np.asarray((entries[:-1] / self.weight)[self.place])

    def _step(self) -> bool:
        """One predictor and corrector step; False where it led nowhere."""
        s, z, goal = self.s, self.z, np.zeros(len(self.x))
        goal[-1] = 1.0
        pair = np.stack([self._matrix(self.x), self._matrix(z @ self.G)])
        root = np.linalg.inv(np.linalg.cholesky(pair))
        inverse = root[0].T @ root[0]
        H = self._normal_matrix(pair[1], inverse)
        _, ds, dz, move, a, b = self._direction(H, root, goal, np.zeros(len(z)))
        gap = s @ z + np.vdot(pair[0], pair[1])
        after = pair + np.array([a, b])[:, None, None] * move
        left = (s + a * ds) @ (z + b * dz) + np.vdot(after[0], after[1])
        centre = max((left / gap) ** 3, LEAST_CENTRE) * gap / (len(z) + self.D)
        # The corrector aims at the centre, and takes back the product of the two moves.
        complement = (centre - ds * dz) / s
        curve = move[1] @ move[0] @ inverse
        aim = centre * inverse - 0.5 * (curve + curve.T)
        goal -= complement @ self.G
        goal[:-1] += aim[self.i, self.j] * self.weight
        dx, _, dz, _, a, b = self._direction(H, root, goal, complement)
        self.x, self.z = self.x + a * dx, z + b * dz
        return a > NO_STEP or b > NO_STEP

    def _normal_matrix(self, Z: FloatArray, inverse: FloatArray) -> FloatArray:
        """Gᵀ(z/s)G and, on the entries of Q, E ↦ the symmetric part of Z E Q⁻¹."""
        H = self.G.T @ (self.G * (self.z / self.s)[:, None])
        products = Z.ravel()[self.corners] * inverse.ravel()[self.corners[::-1]]
        H[:-1, :-1] += 0.25 * np.outer(self.weight, self.weight) * products.sum(axis=0)
        H.flat[:: len(H) + 1] *= 1.0 + RIDGE
        return np.asarray(H)

    def _direction(
        self, H: FloatArray, root: FloatArray, goal: FloatArray, complement: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float, float]:
        """Moves of x, s, z and (Q, Z), and how far x and z may go along them, at most 1."""
        dx = np.asarray(np.linalg.solve(H, goal), dtype=np.float64)
        ds = -(self.G @ dx)
        dz = complement - self.z - self.z / self.s * ds
        move = np.stack([self._matrix(dx), self._matrix(dz @ self.G)])
        lowest = np.linalg.eigvalsh(root @ move @ root.transpose(0, 2, 1))[:, 0]
        a = TO_BOUNDARY / max(-lowest[0], -(ds / self.s).min(), TO_BOUNDARY)
        b = TO_BOUNDARY / max(-lowest[1], -(dz / self.z).min(), TO_BOUNDARY)
        return dx, ds, dz, move, float(a), float(b)
