"""The true margin of a labelled clustering: how well ellipsoids can tell each cluster apart.

A cluster C has margin γ if a PSD matrix W and a centre c have d_W(y,c)² > (1+γ)·d_W(x,c)² for all
x in C and y outside C. With lifted points x̃ = (x, 1) the largest margin is a semidefinite program
(theory, section 5): maximise ρ with x̃ᵀQx̃ ≤ 1 on C, ỹᵀQỹ ≥ ρ off C, W_jj ≤ 1/τ_j² and Q ⪰ 0; then
γ = ρ − 1. Few points bind, so it is solved on a growing working set.

What is promised does not rest on the solver. Its Q only proposes (W, c), with W = AᵀA; the margin
that is returned is computed from the floats in A and c with a bound on every rounding error, so
that it holds in exact arithmetic: at the resolution, if W_jj τ_j² counts among the squared lengths
of members. It is a lower bound: the largest margin is a supremum that is
not attained, and one that was not rounded down would prove wrong labels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from samecluster._parameters import check_share
from samecluster._resolution import column_range, resolution_of
from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError, SolverError
from samecluster.geometry import tolerance
from samecluster.lifts.lift import Lift, fitted_lift
from samecluster.lifts.polynomial import Polynomial

_UNIT = 2.0**-53
_SMALLEST = 2.0**-1000  # far above what a sum of products can lose by underflow
_LARGEST = 1e308  # a ratio beyond it counts as this: still a lower bound
_GAP = 1e-9  # relative accuracy of the solver, which gives margins right to 8 digits
_MAX_ROUNDS = 60  # of cutting planes; 7 are the most seen, and what is returned is judged anyway
_BLURS = (0.0, 1e-6, 1e-3)  # thicknesses, as shares of the members' spread, that are tried


@dataclass(frozen=True, eq=False)
class ClusterMargin:
    """A lower bound on the largest margin of one cluster, and the ellipsoid that shows it.

    A positive ``margin`` γ says that with A = ``factor`` (d, d) and c = ``centre`` (d,)
    ``|A(y − c)|² > (1 + γ)·|A(x − c)|²`` for every member x and every other point y, and also
    ``|A(y − c)|² > (1 + γ)·τ_j²·|A e_j|²`` for the ``resolution`` τ (d,) of each column j, in exact
    arithmetic on the floats as stored. An infinite one says that there is no other point, or at a
    resolution of 0 that ``|A(x − c)|`` is 0 for the members only. A margin of 0.0 says nothing.
    """

    margin: float
    factor: FloatArray
    centre: FloatArray
    size: int
    label: int
    resolution: FloatArray

    @property
    def matrix(self) -> FloatArray:
        """W = AᵀA (d, d), rounded: an exact check must use the factor."""
        return np.asarray(self.factor.T @ self.factor)


def true_margin(
    X: FloatArray,
    labels: IntArray,
    *,
    resolution: float | None = None,
    lift: str | Polynomial | Lift | None = None,
) -> tuple[ClusterMargin, ...]:
    """For each cluster a lower bound on its largest margin, in the order of the labels.

    The bound is close (about 1e-8 of 1 + γ) unless γ is so large that only rounding or resolution
    limits it. A cluster without a positive margin, such as one with a foreign point in its hull,
    gets 0.0 and the ellipsoid of its spread.

    Parameters
    ----------
    X : (n, d) array
    labels : (n,) integers; a point with a label below 0 is outside of every cluster
    resolution : share of each column's spread below which differences carry no meaning, as in
        `Certify`, with the same default. The margins are those at this resolution: what is found
        here may be declared there. With 0 they are the paper's own; then members exactly in an
        axis-parallel flat that holds no other point have an infinite margin.
    lift : as in `samecluster.recover`: margins, factors and centres are then of lifted columns

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0], [5.0]])
    >>> found = true_margin(X, np.array([0, 0, 0, 7, 7]))
    >>> [(cluster.label, cluster.size, round(cluster.margin, 6)) for cluster in found]
    [(0, 3, 8.0), (7, 2, 24.0)]
    """
    points, numbers = _checked(X), np.asarray(labels)
    if numbers.shape != points.shape[:1] or numbers.dtype.kind not in "iu":
        came = f"{numbers.dtype} of shape {numbers.shape}"
        raise InvalidInputError(
            f"labels must be {len(points)} integers, one a row; got {came} (of names, "
            "np.unique(names, return_inverse=True)[1] makes integers)"
        )
    if resolution is not None:
        check_share("resolution", resolution)
    if lift is not None:
        low, high = points.min(axis=0), points.max(axis=0)
        points = _checked(fitted_lift(lift, low, high, points).apply(points))
    tau = resolution_of(points, resolution)
    names = [int(label) for label in np.unique(numbers) if label >= 0]
    return tuple(_cluster_margin(points, numbers == name, name, tau) for name in names)


def margin_of(
    X: FloatArray,
    members: BoolArray,
    factor: FloatArray,
    centre: FloatArray,
    tau: FloatArray | None = None,
) -> float:
    """A margin that a given ellipsoid shows for the members, rounded down; 0.0 if it shows none.

    Parameters
    ----------
    X, members : (n, d) array and (n,) booleans, at least one of them True
    factor, centre : (r, d) array A and (d,) array c; the ellipsoid's matrix is W = AᵀA
    tau : (d,) the resolution of each column; None is 0

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [4.0], [5.0]])
    >>> round(margin_of(X, X[:, 0] < 3, np.eye(1), np.array([1.0])), 6)
    8.0
    """
    points = _checked(X)
    if members.shape != points.shape[:1] or members.dtype.kind != "b" or not members.any():
        raise InvalidInputError(f"members must be {len(points)} booleans, one or more of them True")
    if factor.shape[1:] != points.shape[1:] or centre.shape != points.shape[1:]:
        came = f"{factor.shape} and {centre.shape}"
        raise InvalidInputError(f"factor must be (r, d) and centre (d,) as X is (n, d); got {came}")
    if members.all():
        return math.inf
    low, high = _squared_distances(points, factor, centre)
    limit, floor = float(high[members].max()), float(low[~members].min())
    limit = max(limit, 0.0 if tau is None else _sharpest(factor, tau))
    if not floor > 0.0 or not limit < _LARGEST:
        return 0.0
    if limit == 0.0:
        return math.inf
    # Dividing, shrinking and subtracting each round by at most one unit of the ratio.
    ratio = floor / limit if floor < limit * _LARGEST else _LARGEST
    return max(0.0, ratio * (1.0 - 8.0 * _UNIT) - 1.0)


def _checked(X: FloatArray) -> FloatArray:
    points = np.asarray(X, dtype=np.float64)
    if points.ndim != 2 or 0 in points.shape:
        raise InvalidInputError(f"X must be (n, d) with n, d at least 1, got {points.shape}")
    for i, j in np.argwhere(~(np.abs(points) <= 1e300)):  # larger differences would overflow
        came = f"row {i}, column {j} is {points[i, j]}"
        raise InvalidInputError(f"X must be finite and at most 1e300 in size; {came}")
    return points


def _squared_distances(
    points: FloatArray, factor: FloatArray, centre: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Bounds (n,) below and above |A(x−c)|² in exact arithmetic.

    With u = 2⁻⁵³, fl(x−c) is off by a factor within 1 ± u, and a sum of d products in any order by
    at most du/(1−du) times the sum of their sizes. Twice (d+4)u covers both, and the rounding of
    that sum of sizes and of the bound itself; likewise for the sum of squares.
    """
    rank, d = factor.shape
    with np.errstate(all="ignore"):
        offsets = points - centre
        images = np.abs(offsets @ factor.T)
        error = 2 * (d + 4) * _UNIT * (np.abs(offsets) @ np.abs(factor.T)) + _SMALLEST
        slack = 2 * (rank + 4) * _UNIT
        low = np.sum(np.maximum(images - error, 0.0) ** 2, axis=1) * (1.0 - slack) - _SMALLEST
        high = np.sum((images + error) ** 2, axis=1) * (1.0 + slack) + _SMALLEST
    # Zero is exact where no column that counts differs from the centre.
    used = (factor != 0.0).any(axis=0)
    high[(points[:, used] == centre[used]).all(axis=1)] = 0.0
    low = np.where(np.isnan(low), 0.0, np.clip(low, 0.0, _LARGEST))
    return low, np.where(np.isnan(high), np.inf, high)


def _sharpest(factor: FloatArray, tau: FloatArray) -> float:
    """A bound above W_jj τ_j² for every column j in exact arithmetic; 0 where no boundary is."""
    rank = len(factor)
    with np.errstate(all="ignore"):
        lengths = np.sum((factor * tau) ** 2, axis=0) * (1.0 + 2 * (rank + 4) * _UNIT) + _SMALLEST
    lengths[(factor == 0.0).all(axis=0) | (tau == 0.0)] = 0.0
    return float(np.where(np.isnan(lengths), np.inf, lengths).max())


def _cluster_margin(
    points: FloatArray, members: BoolArray, label: int, tau: FloatArray
) -> ClusterMargin:
    shown: list[ClusterMargin] = []
    try:
        for factor, centre in _proposals(points, members, tau):
            margin = margin_of(points, members, factor, centre, tau)
            shown.append(ClusterMargin(margin, factor, centre, int(members.sum()), label, tau))
            if margin == math.inf:
                break
    except SolverError:
        if not any(cluster.margin for cluster in shown):
            raise
    return max(shown, key=lambda cluster: cluster.margin)


def _proposals(
    points: FloatArray, members: BoolArray, tau: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Factors (d, d) and centres (d,): of the spread, of an exact flat, then of the solver's Q.

    The program is posed in coordinates in which the members, thickened by τ, have mean 0 and
    spread 1; columns are first scaled by powers of two, which rounds nothing.
    """
    own, extent = points[members], column_range(points.min(axis=0), points.max(axis=0))
    # A constant column separates nothing: any length will do that keeps it from being singular.
    least = np.where(extent > 1e-280, tolerance.ROUNDING_NOISE * extent, 1.0)
    thickness = np.maximum(tau, least)
    unit = np.exp2(np.ceil(np.log2(np.maximum(extent, thickness))))
    origin = own.mean(axis=0)
    thickened = np.vstack([(own - origin) / math.sqrt(len(own)), np.diag(thickness)]) / unit
    _, spread, axes = np.linalg.svd(thickened, full_matrices=False)
    whiten = axes / spread[:, None] / unit
    yield whiten, origin
    flat = (own == own[0]).all(axis=0)
    yield np.diag(flat / thickness), own[0]
    lifted = np.column_stack([(points - origin) @ whiten.T, np.ones(len(points))])
    sharpest = np.column_stack([(whiten * thickness).T, np.zeros(len(thickness))])
    Q = _separate(np.vstack([lifted[members], sharpest]), lifted[~members])
    # What Q says along thin directions may drown in the rounding of A(x − c), so it is also tried
    # with these taken to be thicker.
    for thinnest in _BLURS:
        damping = spread / np.maximum(spread, thinnest)
        values, turn = np.linalg.eigh(Q[:-1, :-1] * np.outer(damping, damping))
        pull = turn.T @ (damping * Q[:-1, -1])
        centre = turn @ np.divide(-pull, values, out=np.zeros_like(pull), where=values > 0.0)
        factor = (turn * np.sqrt(np.maximum(values, 0.0))).T @ whiten
        yield factor, origin + unit * ((spread * centre) @ axes)


def _separate(inner: FloatArray, outer: FloatArray) -> FloatArray:
    """Q (D, D) with x̃ᵀQx̃ ≤ 1 on ``inner`` (m, D) and as large as possible on ``outer`` (p, D).

    ρ is posed as a share of the least |ỹ|², and each outer row is divided by its |ỹ|²: points far
    off a thin cluster would otherwise put numbers from 1 to 1e18 into one program.
    """
    norms, batch = np.sum(outer**2, axis=1), 4 * outer.shape[1]
    outer, shares = outer / np.sqrt(norms)[:, None], norms.min() / norms
    inside = np.unique([inner.argmax(axis=0), inner.argmin(axis=0)])
    outside = np.argsort(norms)[:batch]
    found: list[tuple[float, FloatArray]] = []
    for _ in range(_MAX_ROUNDS):
        Q, rho = _solve(inner[inside], outer[outside], shares[outside])
        if not math.isfinite(rho):
            break
        on = np.sum((inner @ Q) * inner, axis=1)
        off = np.sum((outer @ Q) * outer, axis=1) / shares
        found.append((float(off.min() / on.max()), Q))
        new = worst(on - 1.0, inside, batch, _GAP), worst(1.0 - off / rho, outside, batch, _GAP)
        # A ρ of 1 on some points shows that the cluster has no margin.
        if rho * norms.min() <= 1.0 + _GAP or not len(new[0]) + len(new[1]):
            break
        inside, outside = np.append(inside, new[0]), np.append(outside, new[1])
    if not found:
        raise SolverError("the semidefinite solver gave no finite answer")
    return max(found, key=lambda pair: pair[0])[1]


def worst(excess: FloatArray, known: IntArray, batch: int, least: float) -> IntArray:
    """At most ``batch`` points with the largest excess above ``least`` that are not known."""
    excess[known] = 0.0
    largest = np.argsort(-excess)[:batch]
    return largest[excess[largest] > least]


def _solve(inner: FloatArray, outer: FloatArray, shares: FloatArray) -> tuple[FloatArray, float]:
    """Q and the largest ρ with x̃ᵀQx̃ ≤ 1 on ``inner``, ỹᵀQỹ ≥ ρ·share on ``outer``; or NaN.

    tr Q ≤ D follows from the constraints of all members, which have spread 1; it bounds Q where
    the working set does not.
    """
    import clarabel
    from scipy import sparse

    (m, D), p = inner.shape, len(outer)
    i, j = np.tril_indices(D)
    # The solver's coordinates of a symmetric matrix, in which the inner product is the usual one.
    weight = np.where(i == j, 1.0, math.sqrt(2.0))
    rows = np.vstack([inner, outer])
    table = np.zeros((1 + m + p + len(i), len(i) + 1))
    table[:, :-1] = np.vstack([i == j, rows[:, i] * rows[:, j] * weight, -np.eye(len(i))])
    table[1 + m : 1 + m + p, :-1] *= -1.0
    table[1 + m : 1 + m + p, -1] = shares
    bounds = np.concatenate([[D], np.ones(m), np.zeros(p + len(i))])
    cones = [clarabel.NonnegativeConeT(1 + m + p), clarabel.PSDTriangleConeT(D)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # The rows are scaled already; scaling them again took more steps to less accuracy.
    settings.equilibrate_enable = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _GAP
    cost, none = -np.eye(len(i) + 1)[-1], sparse.csc_matrix((len(i) + 1, len(i) + 1))
    program = none, cost, sparse.csc_matrix(table), bounds, cones, settings
    x = np.array(clarabel.DefaultSolver(*program).solve().x)
    Q = np.zeros((D, D))
    Q[i, j] = Q[j, i] = x[:-1] / weight
    return Q, float(x[-1]) if np.isfinite(x).all() else math.nan
