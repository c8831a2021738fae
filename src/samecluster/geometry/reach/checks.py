"""The reach theorem, checked in floats: what a label by reach rests on.

All of this must be right; the rest of `reach` only proposes. A point y belongs to a cluster if ỹ
= Σ w·column with Σ|w| ≤ √(1+γ) (docs/theory.md, sections 2 and 3). Three checks show that:

confirmed   by a basis A of D = d+1 columns and any approximate inverse R: for records of a proof
shown       by any weights on columns; what they leave over is charged to one good basis
exactly     by rationals, where a record is too close to the limit for floats

*The bound.* Let Aw = b, let R be any matrix with a = ‖RA − I‖₁ < 1 (largest column sum), and v any
vector. Then RA is regular, ‖(RA)⁻¹‖₁ ≤ 1/(1 − a), and w − v = (RA)⁻¹R(b − Av). So A is regular and

    ‖w‖₁ ≤ ‖v‖₁ + ‖ |R|ρ ‖₁ / (1 − a)   for every ρ with |b − Av| ≤ ρ, entry by entry.

The code asks for a < 1/2, far from where rounding could matter to 1 − a.

*Rounding.* A sum of k products is off by at most ku/(1 − ku) times the sum of their sizes, in any
order, fused or not (u = 2⁻⁵³). g is that for k = D+4: D+1 terms and room for three roundings more.
Sums of positive terms are off by relative errors only, which the factors 1 + 4g cover.

*Coordinates.* Columns and targets are floats near z = (x − c)T; `whitening_noise` bounds how near,
and what it says goes into ρ and a. Nothing is asked of T: columns that are independent in these
coordinates show that T is regular, and then the weights are those of the points as given.

`compiled.checks` has `confirmed` and `shown` compiled: the same bounds, line by line.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from samecluster._typing import Array

_UNIT = 2.0**-53
_UNDERFLOW = 1e-290  # far above what sums of D products can lose by underflow, far below all else


def whitening_noise(box: Array, T: Array) -> Array:
    """A bound (D,) on the error in each entry of a column; |x − c| and τ are at most ``box`` (d,).

    fl(x − c) is off by a factor 1 ± u and a sum of d products by du/(1 − du) of their sizes;
    2(d+3)u is more than twice both, which also covers the rounding of the box and of this product.
    A column τ_j e_j T takes one product per entry. The last entry is 1 or 0, and exact.
    """
    d = len(T)
    return np.append(2 * (d + 3) * _UNIT * (box @ np.abs(T)), 0.0)


def chosen_columns(basis: Array, columns: Array, private: Array | None) -> Array:
    """The columns (p, m, D) that bases (p, m) name; len(columns) names the target's private one."""
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
    """Which targets (p, D) are proven by their basis (p, D): ‖w‖₁ is certainly at most ``limit``.

    ``inverse`` (p, D, D) may be in single precision: it only has to be near enough to show that the
    columns are independent. The vector v of the bound is R b, corrected once. ``noise`` is that of
    all columns and targets (D,) or (1, D), or for each target that of its own and its columns.
    """
    D = targets.shape[1]
    g = _rounding_of_sums(D)
    A = chosen_columns(basis, columns, private)  # (p, column, row)
    R = inverse.astype(np.float64)
    sums = np.abs(R).sum(axis=1)  # (p, row)
    error = np.abs(R @ A.transpose(0, 2, 1) - np.eye(D)).sum(axis=1)
    a = (error + g * (np.einsum("pr,pjr->pj", sums, np.abs(A)) + 1)).max(axis=1)
    a = (a + (sums * noise).sum(axis=1)) * (1 + 4 * g)
    v = np.einsum("pir,pr->pi", R, targets)
    v += np.einsum("pir,pr->pi", R, targets - np.einsum("pi,pir->pr", v, A))
    rest = np.abs(np.einsum("pi,pir->pr", v, A) - targets)
    size = np.abs(v).sum(axis=1)
    rho = rest + g * (np.einsum("pi,pir->pr", np.abs(v), np.abs(A)) + np.abs(targets))
    rho += noise * (size[:, None] + 1) + _UNDERFLOW
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        top = (1 + g) * size + (1 + 4 * g) ** 2 * (sums * rho).sum(axis=1) / (1 - a)
        return np.asarray((a < 0.5) & (top * (1 + 4 * _UNIT) <= limit))


@dataclass(frozen=True, eq=False)
class Charges:
    """What it takes to reach a remainder r with columns (m, D): at most Σ_j costs_j |r_j|.

    ``largest`` (D,) are the largest entries of the columns, ``noise`` (D,) that of `confirmed`.
    """

    costs: Array
    largest: Array
    noise: Array

    @classmethod
    def of(cls, columns: Array, basis: Array, noise: Array) -> Charges:
        """Charged to one basis; infinite if its inverse is not known well enough.

        The bound with v = 0: r takes weights of at most ‖ |R||r| ‖₁ / (1 − a).
        """
        A = columns[basis].T
        D = len(A)
        g = (D + 4) * 2 * _UNIT
        try:
            R = np.linalg.inv(A)
        except np.linalg.LinAlgError:  # a resolution of 0, and members in a flat
            R = np.full_like(A, np.nan)
        sums = np.abs(R).sum(axis=0)
        error = np.abs(R @ A - np.eye(D)) + g * (np.abs(R) @ np.abs(A) + np.eye(D))
        a = (error.sum(axis=0).max() + sums @ noise) * (1 + 4 * g)
        costs = sums * (1 + 4 * g) / (1 - a) if a < 0.5 else np.full(D, np.inf)
        return cls(costs, np.abs(columns).max(axis=0), noise)


def shown(
    targets: Array, basis: Array, weights: Array, columns: Array, charges: Charges, limit: float
) -> Array:
    """Which targets (p, D) certainly are in reach, by weights (p, D) on some columns.

    Any weights do, rounded as they are: ỹ = Aw + r, and r is charged. That takes D² steps and no
    inverse, but shows no basis: for records of a proof there is `confirmed`.
    """
    g = _rounding_of_sums(targets.shape[1])
    w = weights.astype(np.float64)
    size = np.abs(w).sum(axis=1)
    rho = np.abs(targets - np.einsum("pi,pir->pr", w, columns[basis]))
    rho += g * (size[:, None] * charges.largest + np.abs(targets))
    rho += charges.noise * (size[:, None] + 1) + _UNDERFLOW
    top = (1 + g) * size + (rho * charges.costs).sum(axis=1)
    return np.asarray(top * (1 + 4 * g) <= limit)


def _rounding_of_sums(D: int) -> float:
    """g of the module's text."""
    return (D + 4) * _UNIT / (1 - (D + 4) * _UNIT)


def limit_for(margin: float) -> float:
    """A float whose square is certainly at most 1 + margin.

    The checks need no more than that; the 1e-15, nine roundings, is a reserve.
    """
    limit = np.sqrt(1.0 + margin)
    while Fraction(float(limit)) ** 2 * (1 + Fraction(1, 10**15)) > 1 + Fraction(float(margin)):
        limit = np.nextafter(limit, 0.0)
    return float(limit)


def exactly(y: Array, support: Array, taus: list[tuple[int, float]], margin: float) -> bool:
    """Whether members ``support`` (m, d) and columns (axis, τ) reach y (d,), in rationals.

    d+1 columns in all. Gauss and Jordan's elimination on ỹ = Σ w·column; True only if they are
    independent and (Σ|w|)² ≤ 1 + margin.
    """
    n = len(y) + 1
    if len(support) + len(taus) != n:
        return False
    rows = [
        [Fraction(float(x[r])) for x in support]
        + [Fraction(float(tau)) if axis == r else Fraction(0) for axis, tau in taus]
        + [Fraction(float(y[r]))]
        for r in range(n - 1)
    ]
    rows.append([Fraction(1)] * len(support) + [Fraction(0)] * len(taus) + [Fraction(1)])
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
