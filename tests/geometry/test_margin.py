"""The true margin: sound in exact arithmetic, tight where the truth is known, and robust."""

from __future__ import annotations

import itertools
import math
import time
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError, SolverError
from samecluster.geometry import margin as module
from samecluster.geometry.margin import ClusterMargin, margin_of, true_margin
from samecluster.instances import make_ellipsoids

FEW = settings(max_examples=25, deadline=None)
MANY = settings(max_examples=100, deadline=None)


def exact_squares(X: FloatArray, factor: FloatArray, centre: FloatArray) -> list[Fraction]:
    """|A(x − c)|² of every row, in rationals."""
    rows = [[Fraction(a) for a in row] for row in factor.tolist()]
    middle = [Fraction(c) for c in centre.tolist()]
    squares = []
    for point in X.tolist():
        offset = [Fraction(x) - c for x, c in zip(point, middle, strict=True)]
        images = [sum(map(mul, row, offset), Fraction(0)) for row in rows]
        squares.append(sum(map(mul, images, images), Fraction(0)))
    return squares


def holds(
    X: FloatArray,
    members: BoolArray,
    factor: FloatArray,
    centre: FloatArray,
    margin: float,
    tau: FloatArray | None = None,
) -> bool:
    """Whether (A, c) shows the margin at resolution τ, by the definition and without rounding."""
    squares = exact_squares(X, factor, centre)
    on = max(s for s, inside in zip(squares, members, strict=True) if inside)
    if tau is not None:
        on = max(on, *exact_squares(np.diag(tau), factor, np.zeros(len(tau))))
    off = min((s for s, inside in zip(squares, members, strict=True) if not inside), default=None)
    if off is None or margin == 0.0:
        return True
    if margin == math.inf:
        return on == 0 and off > 0
    return off > (1 + Fraction(margin)) * on


def assert_sound(X: FloatArray, labels: IntArray, found: tuple[ClusterMargin, ...]) -> None:
    assert [cluster.label for cluster in found] == sorted({*labels.tolist()} - {*range(-9, 0)})
    for cluster in found:
        members = labels == cluster.label
        assert cluster.size == members.sum()
        assert cluster.margin >= 0.0
        shown = cluster.factor, cluster.centre, cluster.margin
        assert holds(X, members, *shown, cluster.resolution)


def margins(X: FloatArray, labels: IntArray) -> list[float]:
    return [cluster.margin for cluster in true_margin(X, labels)]


def gauge(S: FloatArray, y: FloatArray) -> float:
    """min Σ|w| with y = Σ w x, Σ w = 1; its square is 1 + γ for one foreign point y (theory)."""
    lifted = np.column_stack([S, np.ones(len(S))]).T
    found = linprog(np.ones(2 * len(S)), A_eq=np.hstack([lifted, -lifted]), b_eq=np.append(y, 1.0))
    assert found.success
    return float(found.fun)


CASES = [
    # n, d, k, margin, rank, sizes
    (300, 1, 4, 0.5, None, None),
    (300, 2, 2, 0.05, None, None),
    (300, 2, 3, 10.0, [1, 2, 2], None),
    (300, 3, 3, 1.0, None, [90, 9, 1]),
    (300, 4, 3, 1.0, 2, None),
    (200, 5, 4, 0.2, [5, 4, 1, 5], None),
    (200, 6, 2, 1.0, None, None),
    (24, 6, 4, 1.0, None, None),
]


@pytest.mark.parametrize(("n", "d", "k", "margin", "rank", "sizes"), CASES)
def test_generated_clusters_reach_their_margin_and_the_bound_is_exact(
    n: int, d: int, k: int, margin: float, rank: list[int] | int | None, sizes: list[float] | None
) -> None:
    # The generator's own ellipsoids prove its margin, so the largest one is no smaller.
    made = make_ellipsoids(n, d, k, margin, rank=rank, sizes=sizes, random_state=n + d)
    found = true_margin(made.X, made.labels)
    assert len(found) == k
    assert min(cluster.margin for cluster in found) >= margin * (1 - 1e-6)
    assert_sound(made.X, made.labels, found)


@FEW
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 4), st.sampled_from([0.02, 0.3, 3]))
def test_any_generated_instance_reaches_its_margin(
    seed: int, d: int, k: int, margin: float
) -> None:
    made = make_ellipsoids(80, d, k, margin, condition=1e4, random_state=seed)
    assert min(margins(made.X, made.labels)) >= margin * (1 - 1e-6)


@MANY
@given(st.data())
def test_intervals_have_the_margin_of_the_formula(data: st.DataObject) -> None:
    """In one column the best centre is the middle: γ = (1 + gap/half-width)² − 1."""
    steps = st.integers(-200, 200)
    values = data.draw(st.lists(steps, min_size=2, max_size=12))
    # Runs of equal labels give intervals, now and then with a foreign point inside.
    cuts = data.draw(st.lists(steps, max_size=2))
    labels = np.array([sum(v > cut for cut in cuts) for v in values])
    if data.draw(st.booleans()):
        labels[0] = -1
    X = np.array(values, dtype=np.float64)[:, None] / 8 + 1000
    found = true_margin(X, labels, resolution=0)
    assert_sound(X, labels, found)
    for cluster in found:
        own = [Fraction(v) for v in X[labels == cluster.label, 0].tolist()]
        other = [Fraction(v) for v in X[labels != cluster.label, 0].tolist()]
        half = (max(own) - min(own)) / 2
        gaps = [max(min(own) - y, y - max(own)) for y in other]
        if not gaps or (half == 0 and min(gaps) > 0):
            assert cluster.margin == math.inf
        elif min(gaps) <= 0:
            assert cluster.margin == 0.0
        else:
            truth = (1 + min(gaps) / half) ** 2 - 1
            assert Fraction(cluster.margin) < truth
            assert cluster.margin == pytest.approx(float(truth), rel=1e-7)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("a", [1.0, 2.125, 3.0, 100.0])
def test_cube_and_points_around_it(d: int, a: float) -> None:
    """Averaging over the symmetries of {±1}^d leaves |x|² only: 1 + γ = a²/d for ±a·e_j."""
    cube = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
    around = a * np.vstack([np.eye(d), -np.eye(d)])
    X, labels = np.vstack([cube, around]), np.repeat([0, -1], [len(cube), 2 * d])
    (cluster,) = true_margin(X, labels)
    assert_sound(X, labels, (cluster,))
    truth = max(Fraction(a) ** 2 / d - 1, Fraction(0))
    assert truth == 0 or Fraction(cluster.margin) < truth
    assert cluster.margin == pytest.approx(float(truth), rel=1e-7)


@pytest.mark.parametrize("ratio", [1.01, 1.5, 20.0])
def test_concentric_circles(ratio: float) -> None:
    """Equally spaced points on circles of radius 1 and r: 1 + γ = r² inside, no margin outside."""
    angles = np.linspace(0.0, 2 * np.pi, 25)[:-1]
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    X, labels = np.vstack([circle, ratio * circle]) + 3.0, np.repeat([0, 1], 24)
    inner, outer = true_margin(X, labels)
    assert inner.margin == pytest.approx(ratio**2 - 1, rel=1e-7)
    assert inner.margin < ratio**2 - 1 + 1e-12 * ratio**2
    assert outer.margin == 0.0
    assert_sound(X, labels, (inner, outer))


@FEW
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 30), st.floats(0.5, 20))
def test_one_foreign_point_is_decided_by_its_gauge(
    seed: int, d: int, extra: int, far: float
) -> None:
    rng = np.random.default_rng(seed)
    S = rng.normal(size=(d + extra, d)) @ rng.normal(size=(d, d))
    y = S[0] + far * rng.normal(size=d)
    truth = gauge(S, y) ** 2 - 1
    assume(truth < 1e6)  # above, the resolution limits the bound
    X, labels = np.vstack([S, y]), np.append(np.zeros(len(S), dtype=np.int64), -1)
    (cluster,) = true_margin(X, labels)
    assert cluster.margin <= truth + 1e-7 * (1 + truth)
    assert cluster.margin >= truth - 1e-6 * (1 + truth)
    assert_sound(X, labels, (cluster,))


@FEW
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 4))
def test_no_margin_exceeds_the_gauge_of_any_foreign_point(seed: int, d: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, k, size=40)
    X = rng.normal(size=(40, d)) + 2.5 * rng.normal(size=(k + 1, d))[labels]
    found = true_margin(X, labels)
    assert_sound(X, labels, found)
    for cluster in found:
        own, other = X[labels == cluster.label], X[labels != cluster.label]
        if len(own) > d:
            least = min(gauge(own, y) for y in other)
            assert cluster.margin <= least**2 - 1 + 1e-7 * least**2


@FEW
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_margin_is_affine_invariant(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    made = make_ellipsoids(120, d, 3, 0.4, random_state=rng)
    turn = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(2)]
    scale = 10.0 ** rng.uniform(-2, 2, size=d)
    moved = made.X @ (turn[0] * scale) @ turn[1] * 1e5 + 1e5 * rng.normal(size=d)
    assert margins(moved, made.labels) == pytest.approx(margins(made.X, made.labels), rel=1e-5)


@pytest.mark.parametrize("power", [-270, -30, 30, 290])
def test_very_small_and_very_large_units(power: int) -> None:
    made = make_ellipsoids(100, 2, 3, 0.5, random_state=3)
    X = made.X * np.array([10.0**power, 1.0])
    found = true_margin(X, made.labels)
    assert_sound(X, made.labels, found)
    expected = pytest.approx(margins(made.X, made.labels), rel=1e-6)
    assert [cluster.margin for cluster in found] == expected


@MANY
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(2, 40))
def test_foreign_point_in_the_hull_leaves_no_margin(seed: int, d: int, n: int) -> None:
    # Multiples of 1/2 are exact, so that the foreign point is in the hull without rounding.
    rng = np.random.default_rng(seed)
    S = rng.integers(-50, 51, size=(n, d)).astype(np.float64)
    middle = (S[0] + S[1]) / 2
    X, labels = np.vstack([S, middle, S[0] + 200.0]), np.array([0] * n + [-1, -2])
    (cluster,) = true_margin(X, labels)
    assert cluster.margin == 0.0
    assert cluster.factor.shape == (d, d)
    assert cluster.centre.shape == (d,)


def test_same_point_in_two_clusters_leaves_no_margin() -> None:
    X = np.array([[0.0, 0.0], [0.0, 0.0], [5.0, 1.0], [5.0, 3.0], [0.0, 0.0]])
    assert margins(X, np.array([0, 1, 2, 2, 1]))[:2] == [0.0, 0.0]
    assert margins(np.ones((4, 3)), np.array([0, 0, 1, 2])) == [0.0, 0.0, 0.0]


def test_single_points_and_copies_of_one_point_have_an_infinite_margin() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 3))
    X[1] = X[2] = X[0]
    X[4] = np.nextafter(X[3], np.inf)
    labels = np.array([0, 0, 0, 3, 4, 5, 6, -1, -1])
    found = true_margin(X, labels, resolution=0)
    assert [cluster.margin for cluster in found] == [math.inf] * 5
    assert_sound(X, labels, found)


def test_axis_parallel_flat_without_other_points_has_an_infinite_margin() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    X[:20, 1] = 0.1
    labels = np.repeat([0, 1], 20)
    found = true_margin(X, labels, resolution=0)
    assert found[0].margin == math.inf
    assert_sound(X, labels, found)
    thick = true_margin(X, labels)
    assert 1e10 < thick[0].margin < math.inf, "no boundary is sharper than the resolution"
    assert_sound(X, labels, thick)
    # A foreign point in the flat brings it down to what the flat itself allows.
    X[20] = [9.0, 0.1, 9.0]
    within = true_margin(np.delete(X, 1, axis=1)[:21], labels[:21])[0].margin
    assert true_margin(X, labels)[0].margin == pytest.approx(within, rel=1e-5)


def test_cluster_without_other_points_has_an_infinite_margin() -> None:
    X = np.random.default_rng(2).normal(size=(20, 3))
    (cluster,) = true_margin(X, np.full(20, 4))
    assert (cluster.margin, cluster.label, cluster.size) == (math.inf, 4, 20)
    assert true_margin(X, np.full(20, -1)) == ()


def test_tilted_flat_has_a_huge_margin() -> None:
    """Floats do not hold the plane exactly; the resolution makes its margin large but finite."""
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(30, 2)) @ rng.normal(size=(2, 5)), rng.normal(size=(30, 5))])
    labels = np.repeat([0, 1], 30)
    found = true_margin(X, labels)
    assert 1e10 < found[0].margin < math.inf
    assert_sound(X, labels, found)


def test_embedding_in_more_columns_keeps_the_margin() -> None:
    made = make_ellipsoids(200, 2, 3, 0.5, random_state=5)
    truth = margins(made.X, made.labels)
    extra = np.column_stack([made.X, np.full(200, 0.1), np.zeros(200), made.X[:, 0]])
    tilted = made.X @ np.random.default_rng(5).normal(size=(2, 6))
    for X in (extra, tilted):
        found = true_margin(X, made.labels)
        assert [cluster.margin for cluster in found] == pytest.approx(truth, rel=1e-4)
        assert_sound(X, made.labels, found)
    # Even where the solver's ellipsoids are as thin as rounding noise.
    thin = true_margin(tilted, made.labels, resolution=0.0)
    assert [cluster.margin for cluster in thin] == pytest.approx(truth, rel=0.05)


def test_no_ellipsoid_is_sharper_than_the_resolution() -> None:
    X = np.array([[1, 0], [-1, 0], [0, 1e-7], [0, 0.3], [0, -0.3], [100, 0.5], [-100, -0.5]])
    shown = X, np.arange(7) < 3, np.diag([0.0, 1e7]), np.zeros(2)
    assert margin_of(*shown) == pytest.approx(0.3**2 / 1e-14 - 1)
    tau = np.array([1.0, 0.01])
    assert margin_of(*shown, tau) == pytest.approx(0.3**2 / 0.01**2 - 1)
    assert holds(*shown, margin_of(*shown, tau), tau)
    assert margin_of(*shown, np.array([1.0, 0.0])) == margin_of(*shown)


@FEW
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 9), st.floats(0.01, 0.9))
def test_at_a_resolution_the_gauge_with_its_columns_decides(
    seed: int, d: int, n: int, share: float
) -> None:
    """Members may lie in a flat: without a resolution the margin would then be infinite."""
    rng = np.random.default_rng(seed)
    S, y = rng.normal(size=(n, d)), rng.normal(size=d)
    X, labels = np.vstack([S, y, S]), np.array([0] * n + [-1] + [0] * n)
    (cluster,) = true_margin(X, labels, resolution=share)
    tau = np.column_stack([np.diag(cluster.resolution), np.zeros(d)])
    columns = np.vstack([np.column_stack([S, np.ones(n)]), tau])
    truth = least_weights(columns, np.append(y, 1.0)) ** 2 - 1
    assume(truth < 1e5)  # above, the tolerance of the program is all that can be seen
    assert cluster.margin <= truth + 1e-5 * (1 + truth)
    assert cluster.margin >= truth - 1e-5 * (1 + truth)
    assert_sound(X, labels, (cluster,))


def least_weights(columns: FloatArray, target: FloatArray) -> float:
    """min ‖w‖₁ with Σ w·column = target."""
    both = np.hstack([columns.T, -columns.T])
    return float(linprog(np.ones(2 * len(columns)), A_eq=both, b_eq=target).fun)


def test_collinear_points() -> None:
    X = np.outer(np.arange(10.0), [1.0, 2.0, 3.0]) + np.array([0.0, 5.0, 1e3])
    labels = np.repeat([0, 1], 5)
    assert margins(X, labels) == pytest.approx([1.25, 1.25], rel=1e-6)  # (1 + 1/2)² − 1
    assert_sound(X, labels, true_margin(X, labels))


def test_duplicated_rows_and_order_change_nothing() -> None:
    made = make_ellipsoids(150, 3, 3, 0.5, random_state=6)
    order = np.random.default_rng(6).permutation(300)
    X, labels = np.repeat(made.X, 2, axis=0)[order], np.repeat(made.labels, 2)[order]
    assert margins(X, labels) == pytest.approx(margins(made.X, made.labels), rel=1e-6)


def test_unassigned_points_count_against_every_cluster() -> None:
    X = np.array([[0.0], [2.0], [3.0], [7.0], [9.0]])
    assert margins(X, np.array([0, 0, -1, 1, 1])) == pytest.approx([3.0, 24.0], rel=1e-7)


numbers = st.floats(-1e300, 1e300) | st.floats(-10, 10) | st.sampled_from([0.0, 1.0, 5e-324])


@MANY
@given(st.data(), st.integers(1, 3), st.integers(0, 3), st.integers(2, 6))
def test_margin_of_any_ellipsoid_is_sound(data: st.DataObject, d: int, rank: int, n: int) -> None:
    def draw(*shape: int) -> FloatArray:
        size = math.prod(shape)
        entries = data.draw(st.lists(numbers, min_size=size, max_size=size))
        return np.array(entries, dtype=np.float64).reshape(shape)

    X, factor, centre = draw(n, d), draw(rank, d), draw(d)
    members = np.arange(n) < data.draw(st.integers(1, n))
    assert holds(X, members, factor, centre, margin_of(X, members, factor, centre))


@MANY
@given(st.integers(0, 10**6), st.integers(1, 4))
def test_margin_of_is_sound_at_the_last_bit(seed: int, d: int) -> None:
    """Points one rounding error apart: an unrounded quotient is wrong about half of the time."""
    rng = np.random.default_rng(seed)
    factor, centre = rng.normal(size=(d, d)), rng.normal(size=d)
    x = rng.normal(size=d)
    X = np.vstack([x, centre + (x - centre) * (1 + rng.integers(-8, 60) * 2.0**-52)])
    members = np.array([True, False])
    assert holds(X, members, factor, centre, margin_of(X, members, factor, centre))


@pytest.mark.parametrize(
    ("X", "factor"),
    [
        ([[1e-200], [1.0]], [[1e-150]]),  # the member's image underflows to zero
        ([[1e-200], [1e150]], [[1.0]]),  # the quotient overflows
        ([[0.0, 0.0], [1e300, 1e300]], [[1e200, -1e200]]),  # infinity minus infinity, truly zero
        ([[0.0, 0.0], [1e300, 0.0]], [[1e200, 0.0]]),  # infinity, truly larger than all floats
    ],
)
def test_margin_of_is_sound_where_floats_end(
    X: list[list[float]], factor: list[list[float]]
) -> None:
    points, A, members = np.array(X), np.array(factor), np.array([True, False])
    centre = np.zeros(points.shape[1])
    assert holds(points, members, A, centre, margin_of(points, members, A, centre))


def test_margin_of_agrees_with_the_definition() -> None:
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, -2.0], [3.0, 0.0]])
    members = np.array([True, True, False, False])
    shape = np.diag([2.0, 1.0])
    assert margin_of(X, members, np.eye(2), np.zeros(2)) == pytest.approx(3.0, rel=1e-12)
    assert margin_of(X, members, shape, np.zeros(2)) == 0.0
    assert margin_of(X, np.ones(4, dtype=np.bool_), shape, np.zeros(2)) == math.inf


def test_matrix_is_the_square_of_the_factor() -> None:
    made = make_ellipsoids(60, 3, 2, random_state=7)
    for cluster in true_margin(made.X, made.labels):
        offsets = made.X - cluster.centre
        squares = np.einsum("ij,jk,ik->i", offsets, cluster.matrix, offsets)
        exact = exact_squares(made.X, cluster.factor, cluster.centre)
        assert squares == pytest.approx([float(s) for s in exact], rel=1e-6)


def test_bad_input_is_named() -> None:
    X, labels = np.zeros((3, 2)), np.array([0, 0, 1])
    for bad in (np.nan, np.inf, 1e305):
        broken = X.copy()
        broken[1, 1] = bad
        with pytest.raises(InvalidInputError, match="row 1, column 1"):
            true_margin(broken, labels)
    with pytest.raises(InvalidInputError, match="n, d"):
        true_margin(X[0], labels)
    with pytest.raises(InvalidInputError, match="n, d"):
        true_margin(X[:0], labels[:0])
    for wrong in (labels[:2], labels.astype(np.float64), labels > 0, labels[:, None]):
        with pytest.raises(InvalidInputError, match="3 integers"):
            true_margin(X, wrong)  # type: ignore[arg-type]
    for resolution in (-1e-9, 1.0, math.nan):
        with pytest.raises(InvalidInputError, match="resolution"):
            true_margin(X, labels, resolution=resolution)
    with pytest.raises(InvalidInputError, match="members"):
        margin_of(X, labels > 5, np.eye(2), np.zeros(2))
    with pytest.raises(InvalidInputError, match="factor"):
        margin_of(X, labels > 0, np.eye(3), np.zeros(2))


def test_solver_failure_falls_back_on_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(inner: FloatArray, *_: FloatArray) -> tuple[FloatArray, float]:
        return np.full((inner.shape[1],) * 2, np.nan), math.nan

    monkeypatch.setattr(module, "_solve", fails)
    X = np.array([[0.0], [2.0], [5.0], [6.0]])
    assert margins(X, np.array([0, 0, 1, 1])) == pytest.approx([15.0, 48.0])
    with pytest.raises(SolverError):
        true_margin(X, np.array([0, 1, 0, 1]))


def test_thousands_of_points_need_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    solve, rows = module._solve, []

    def counted(
        inner: FloatArray, outer: FloatArray, shares: FloatArray
    ) -> tuple[FloatArray, float]:
        rows.append(len(inner) + len(outer))
        return solve(inner, outer, shares)

    monkeypatch.setattr(module, "_solve", counted)
    made = make_ellipsoids(5000, 4, 5, 1.0, random_state=8)
    start = time.perf_counter()
    found = true_margin(made.X, made.labels)
    assert time.perf_counter() - start < 10  # 0.1 s when written; guards against a blow-up only
    assert max(rows) < 400
    assert min(cluster.margin for cluster in found) >= 1 - 1e-6
