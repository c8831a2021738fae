"""Low-stretch separators: an ellipsoid that holds members, leaves others out and stays close.

The paper's Theorem 3 and its program: with E* = (M*, μ*) the minimum-volume ellipsoid of the
members, maximise α over ellipsoids (M, μ) with M ⪰ αM* that hold all members and no other point.
In lifted form, x̃ = (x, 1), and in coordinates in which E* is the unit ball it is convex:

    maximise α  with  x̃ᵀQx̃ ≤ 1 on members,  ỹᵀQỹ ≥ 1 + gap on others,  M ⪰ α1,  Q ⪰ 0

where M is Q without its last row and column. Such a Q is (x−μ)ᵀM(x−μ) + t with t ≥ 0, and dropping
t only shrinks the ellipsoid. Few points bind, so it is solved on a growing working set.

What is promised does not rest on the solver. Its Q only proposes an ellipsoid; that is scaled to
hold the members, and α and "separates" are computed from its floats with room for rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.geometry import tolerance
from samecluster.geometry.ellipsoid import Ellipsoid
from samecluster.geometry.margin import worst
from samecluster.geometry.mvee import EnclosingEllipsoid, enclosing_ellipsoid

_UNIT = 2.0**-53
# How far out, in squared distance, the others shall be. The first costs least stretch; thin members
# need more, because rounding blurs their ellipsoid.
_GAPS = (1e-6, 1e-4, 1e-2)
_VIOLATED = 1e-8  # a point joins the working set if it is off by more: 100th of the least gap
_SOLVER_GAP = 1e-9  # below that, so that the solver's own error makes no point join
_MAX_ROUNDS = 60  # of cutting planes, as in `margin`; what is returned is judged anyway


@dataclass(frozen=True, eq=False)
class Separator:
    """An ellipsoid around members, how it compares with their MVEE, and whether it separates.

    With (M, μ) the ``ellipsoid`` and (M*, μ*) that of ``enclosing``, M ⪰ ``alpha``·M* holds, and
    all members are inside. If ``separates`` is False, no separator was found, and the ellipsoid
    is the MVEE; the other claims hold nevertheless. A flat ellipsoid holds what lies within
    ``thickness`` (per column) of its span.
    """

    ellipsoid: Ellipsoid
    separates: bool
    alpha: float
    enclosing: EnclosingEllipsoid
    thickness: float

    @property
    def stretch(self) -> float:
        """1/√α: moved onto one centre, the ellipsoid lies in this multiple of the MVEE."""
        return 1.0 / math.sqrt(self.alpha)

    @property
    def inclusion(self) -> float:
        """2/√α, the paper's Φ: the ellipsoid, where it is, lies in this multiple of the MVEE."""
        return 2.0 / math.sqrt(self.alpha)

    @property
    def rounding(self) -> float:
        """ρ: some translate of ``ellipsoid.scaled(1/ρ)`` lies in the hull of the members.

        That is what the tessellation's proof uses: it compares shapes, not centres.
        """
        return self.enclosing.rounding * self.stretch

    def contains(self, X: FloatArray) -> BoolArray:
        """Which points (n, d) lie inside: True on all members; if it separates, on no other."""
        return self.ellipsoid.contains(X, off_span=self.thickness)


def low_stretch_separator(
    members: FloatArray, others: FloatArray, epsilon: float = 1e-3, thickness: float | None = None
) -> Separator:
    """The ellipsoid of least stretch around ``members`` (m, d) that holds no row of ``others``.

    ``epsilon`` and ``thickness`` are those of `enclosing_ellipsoid`. Flat members are enclosed in
    their span; others off the span are outside already.

    Examples
    --------
    >>> members = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    >>> found = low_stretch_separator(members, np.array([[-1.0, 2.0], [9.0, 9.0]]))
    >>> found.separates, round(found.stretch, 3), found.contains(members).tolist()
    (True, 1.066, [True, True, True])
    """
    enclosing = enclosing_ellipsoid(members, epsilon, thickness)
    ellipsoid = enclosing.ellipsoid
    if thickness is None:
        thickness = tolerance.ROUNDING_NOISE * float(np.abs(members).max())
    # The span was found in other coordinates; what rounding did to it must not leave a member out.
    thickness = max(thickness, 2.0 * float(ellipsoid.off_span(members).max()))
    near = others[ellipsoid.off_span(others) <= 2.0 * thickness]
    if ellipsoid.rank == 0:
        return Separator(ellipsoid, not len(near), 1.0, enclosing, thickness)
    enclosed = _judged(ellipsoid, enclosing, members, near, thickness)
    if enclosed.separates:
        return enclosed
    for gap in _GAPS:
        proposed = _propose(enclosing, ellipsoid.whiten(members), ellipsoid.whiten(near), gap)
        if proposed is None:
            break
        found = _judged(proposed, enclosing, members, near, thickness)
        if found.separates:
            return found
    return enclosed


def _judged(
    ellipsoid: Ellipsoid,
    enclosing: EnclosingEllipsoid,
    members: FloatArray,
    others: FloatArray,
    thickness: float,
) -> Separator:
    """The ellipsoid scaled to hold the members, with what can be said of it despite rounding."""
    on, on_error = _norms(ellipsoid, members)
    off, off_error = _norms(ellipsoid, others)
    scale = float((on + on_error).max()) * (1.0 + tolerance.ROUNDING)
    outside = off - off_error > scale * (1.0 + 2.0 * tolerance.ROUNDING)
    scaled = ellipsoid.scaled(scale)
    alpha = _alpha(scaled, enclosing.ellipsoid)
    return Separator(scaled, bool(outside.all()), alpha, enclosing, thickness)


def _norms(ellipsoid: Ellipsoid, X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Norms (n,) of points and twice a bound on what rounding does to them."""
    sizes = np.abs(X - ellipsoid.centre) @ np.abs(ellipsoid.axes / ellipsoid.lengths)
    error = 8 * (ellipsoid.dimension + 4) * _UNIT * np.linalg.norm(sizes, axis=1)
    return ellipsoid.norms(X), error


def _alpha(ellipsoid: Ellipsoid, enclosing: Ellipsoid) -> float:
    """The largest α with M ⪰ αM*, rounded down: 1/α is the squared norm of L*⁻¹A*ᵀAL."""
    ratios = ellipsoid.lengths / enclosing.lengths[:, None]
    turn = enclosing.axes.T @ ellipsoid.axes
    # The axes are orthonormal, and their products right, up to a few roundings for each entry.
    error = 16 * (ellipsoid.dimension + 4) * _UNIT * ratios
    largest = np.linalg.norm(turn * ratios, 2) + np.linalg.norm(error)
    return float((1.0 - tolerance.ROUNDING) / largest**2)


def _propose(
    enclosing: EnclosingEllipsoid, members: FloatArray, others: FloatArray, gap: float
) -> Ellipsoid | None:
    """The program's ellipsoid, from whitened points; None if the solver finds none."""
    Q = _largest_alpha(
        np.column_stack([members, np.ones(len(members))]),
        np.column_stack([others, np.ones(len(others))]),
        enclosing.support,
        gap,
    )
    if Q is None:
        return None
    values, turn = np.linalg.eigh(Q[:-1, :-1])
    if not values[0] > 0.0:
        return None
    within = enclosing.ellipsoid
    shape = within.axes * within.lengths
    centre = within.centre - shape @ (turn @ (turn.T @ Q[:-1, -1] / values))
    axes, lengths, _ = np.linalg.svd(shape @ (turn / np.sqrt(values)), full_matrices=False)
    return Ellipsoid(centre, axes, lengths)


def _largest_alpha(
    inner: FloatArray, outer: FloatArray, support: IntArray, gap: float
) -> FloatArray | None:
    """Q (D, D) of the program on all lifted points (m, D) and (p, D), by cutting planes.

    Each outer row is divided by its length: far points would otherwise put large numbers beside
    small ones. The points that carry the MVEE are there from the start: they bound Q and α.
    """
    norms, batch = np.linalg.norm(outer, axis=1), 4 * outer.shape[1]
    inside, outside = support, np.argsort(norms)[:batch]
    limits = (1.0 + gap) / norms**2
    outer = outer / norms[:, None]
    for _ in range(_MAX_ROUNDS):
        Q = _solve(inner[inside], outer[outside], limits[outside])
        if Q is None:
            return None
        excess = np.sum((inner @ Q) * inner, axis=1) - 1.0
        missing = 1.0 - np.sum((outer @ Q) * outer, axis=1) / limits
        new = (worst(excess, inside, batch, _VIOLATED), worst(missing, outside, batch, _VIOLATED))
        if not len(new[0]) + len(new[1]):
            break
        inside, outside = np.append(inside, new[0]), np.append(outside, new[1])
    return Q


def _solve(inner: FloatArray, outer: FloatArray, limits: FloatArray) -> FloatArray | None:
    """Q (D, D) with the largest α, or None if there is none or the solver gives up."""
    import clarabel
    from scipy import sparse

    (m, D), p = inner.shape, len(outer)
    i, j = np.tril_indices(D)
    # The solver's coordinates of a symmetric matrix, in which the inner product is the usual one.
    weight = np.where(i == j, 1.0, math.sqrt(2.0))
    # M's entries come first among those of Q.
    size, shape = len(i), D * (D - 1) // 2
    rows = np.vstack([inner, outer])
    table = np.zeros((m + p + size + shape, size + 1))
    table[: m + p, :-1] = rows[:, i] * rows[:, j] * weight
    table[m : m + p] *= -1.0
    table[m + p : m + p + size, :-1] = -np.eye(size)
    table[m + p + size :, :shape] = -np.eye(shape)
    table[m + p + size :, -1] = (i == j)[:shape]
    bounds = np.concatenate([np.ones(m), -limits, np.zeros(size + shape)])
    cones = [
        clarabel.NonnegativeConeT(m + p),
        clarabel.PSDTriangleConeT(D),
        clarabel.PSDTriangleConeT(D - 1),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _SOLVER_GAP
    cost, none = -np.eye(size + 1)[-1], sparse.csc_matrix((size + 1, size + 1))
    program = none, cost, sparse.csc_matrix(table), bounds, cones, settings
    solution = clarabel.DefaultSolver(*program).solve()
    x = np.array(solution.x)
    infeasible = "Infeasible" in str(solution.status)
    if infeasible or not np.isfinite(x).all():
        return None
    Q = np.zeros((D, D))
    Q[i, j] = Q[j, i] = x[:-1] / weight
    return Q
