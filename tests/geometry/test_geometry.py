"""Ellipsoids, hulls and cells, judged by independent solvers and by the definitions."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import linprog

from samecluster._typing import FloatArray
from samecluster.geometry.ellipsoid import Ellipsoid
from samecluster.geometry.hull import expand_hull, gauge_at_most, sound_expansion
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.geometry.tessellation import Tessellation, group_cells, slack
from samecluster.points.array import unit_scaled

seeds = st.integers(0, 10**6)


def cloud(seed: int, n: int, d: int, rank: int | None = None, stretch: float = 2.0) -> FloatArray:
    """Random points of a given rank, stretched and moved."""
    rng = np.random.default_rng(seed)
    rank = d if rank is None else rank
    points = rng.normal(size=(n, rank)) * np.exp(stretch * rng.normal(size=rank))
    return np.asarray(points @ rng.normal(size=(rank, d)) + 3 * rng.normal(size=d))


def hull_gauge(columns: FloatArray, target: FloatArray) -> float:
    """min Σλ with Σ λ a = t, λ ≥ 0, by HiGHS; infinite where there is none."""
    solved = linprog(
        np.ones(len(columns)), A_eq=columns.T, b_eq=target, bounds=(0, None), method="highs"
    )
    return float(solved.fun) if solved.status == 0 else math.inf


@given(seeds, st.integers(1, 6), st.integers(1, 60), st.integers(1, 6))
def test_enclosing_ellipsoid_contains_the_points_and_its_rounding_holds(seed, d, n, rank) -> None:
    rank = min(rank, d)
    points = cloud(seed, n, d, rank)
    found = enclosing_ellipsoid(points)
    ellipsoid = found.ellipsoid
    assert ellipsoid.rank == min(rank, n - 1)
    assert found.rounding <= max(1.0, (1 + 1e-3) * ellipsoid.rank) * (1 + 1e-8)
    size = np.abs(points).max()
    assert ellipsoid.contains(points, off_span=1e-11 * size, slack=1e-9).all()
    # conv(S) contains E/ρ: along every direction a member reaches at least that far.
    if ellipsoid.rank:
        rng = np.random.default_rng(seed)
        whitened = ellipsoid.whiten(points)
        directions = rng.normal(size=(ellipsoid.rank, 200))
        directions /= np.linalg.norm(directions, axis=0)
        assert (whitened @ directions).max(axis=0).min() >= 1 / found.rounding - 1e-7
        # and by an independent solver, on the surface of E/ρ
        for target in directions.T[:5] / found.rounding:
            assert hull_gauge(whitened, target) <= 1 + 1e-6
        weighted = found.weights @ points[found.support]
        assert np.allclose(weighted, ellipsoid.centre, atol=1e-9 * size)


@given(seeds, st.integers(2, 4), st.integers(8, 30))
def test_enclosing_ellipsoid_has_the_smallest_volume(seed, d, n) -> None:
    """No log det program can do better than the tolerance allows (weak duality, by clarabel)."""
    points = cloud(seed, n, d, stretch=0.5)
    found = enclosing_ellipsoid(points, epsilon=1e-5)
    theirs = smallest_log_volume(found.ellipsoid.whiten(points))
    assert abs(theirs) <= 1e-4 * d


def smallest_log_volume(points: FloatArray) -> float:
    """log volume (unit ball 0) of the ellipsoid |Ax + b| ≤ 1 around the points, by clarabel."""
    from benchmarks.mvee import conic_log_det

    return -conic_log_det(points)


@given(seeds, st.integers(1, 5), st.integers(6, 40))
def test_enclosing_ellipsoid_moves_with_the_points(seed, d, n) -> None:
    points = cloud(seed, n, d, stretch=0.3)
    rng = np.random.default_rng(seed + 1)
    map_, shift = rng.normal(size=(d, d)), rng.normal(size=d)
    assume(np.linalg.cond(map_) < 100)
    inside = cloud(seed + 2, 50, d, stretch=0.3) * 0.3
    first = enclosing_ellipsoid(points, 1e-6).ellipsoid.norms(inside)
    second = enclosing_ellipsoid(points @ map_ + shift, 1e-6).ellipsoid.norms(inside @ map_ + shift)
    assert np.allclose(first, second, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("copies", [1, 2, 5])
def test_a_single_point_is_enclosed_by_itself(copies) -> None:
    point = np.array([[0.1, -3.0, 1e5]])
    found = enclosing_ellipsoid(np.repeat(point, copies, axis=0))
    assert found.ellipsoid.rank == 0
    assert found.ellipsoid.contains(point).all()
    assert not found.ellipsoid.contains(point + 1e-3).any()


def test_ellipsoid_matrix_and_scaling() -> None:
    rng = np.random.default_rng(0)
    root = rng.normal(size=(3, 3))
    matrix, centre = root @ root.T, rng.normal(size=3)
    eigenvalues, axes = np.linalg.eigh(matrix)
    ellipsoid = Ellipsoid(centre, axes, 1.0 / np.sqrt(eigenvalues))
    assert np.allclose(ellipsoid.matrix, matrix)
    X = rng.normal(size=(20, 3))
    by_hand = np.sqrt(np.einsum("ij,jk,ik->i", X - centre, matrix, X - centre))
    assert np.allclose(ellipsoid.norms(X), by_hand)
    assert np.allclose(ellipsoid.scaled(2).norms(X), by_hand / 2)
    assert np.allclose(np.linalg.norm(ellipsoid.whiten(X), axis=1), by_hand)


@given(seeds, st.integers(1, 6), st.integers(1, 40), st.floats(1.0, 3.0))
def test_gauge_agrees_with_a_linear_program(seed, d, extra, bound) -> None:
    points = cloud(seed, d + extra, d)
    enclosing = enclosing_ellipsoid(points)
    assume(enclosing.ellipsoid.rank == d)
    columns = enclosing.ellipsoid.whiten(points)
    targets = np.random.default_rng(seed).normal(size=(30, d))
    said = gauge_at_most(columns, (1 - 1e-9) / enclosing.rounding, targets, bound)
    for target, inside in zip(targets, said, strict=True):
        gauge = hull_gauge(columns, target)
        if inside:
            assert gauge <= bound * (1 + 1e-7)
        else:
            assert gauge >= bound * (1 - 1e-6)


@given(seeds, st.integers(1, 4), st.floats(0.05, 3.0), st.integers(3, 20))
def test_sound_expansion_never_leaves_the_slab_of_a_margin(seed, d, margin, n) -> None:
    """Whatever slab |f| ≤ 1 holds the members, no point with |f| > √(1+γ) is taken in."""
    rng = np.random.default_rng(seed)
    points = unit_scaled(cloud(seed, n + 200, d, stretch=0.3))
    members, others = np.arange(n), np.arange(n, n + 200)
    found = expand_hull(points, members, others, sound_expansion(margin), 1e-13)
    for _ in range(20):
        along = points @ rng.normal(size=d)
        low, high = along[members].min(), along[members].max()
        # The slab that is tight on members and on what was found must have no gap between.
        value = np.abs((along - (low + high) / 2) / max((high - low) / 2, 1e-300))
        order = np.sort(value[found])
        steps = np.concatenate([[1.0], order[order > 1.0]])
        assert (steps[1:] <= steps[:-1] * math.sqrt(1 + margin) * (1 + 1e-9)).all()


def test_cell_formulas_are_those_of_the_paper() -> None:
    for d in (1, 3, 8):
        for margin in (0.1, 0.5):
            for stretch in (1.0, 2.5):
                cells = Tessellation(d, margin, stretch)
                c = math.sqrt(5)
                assert cells.beta == pytest.approx(margin / (c * math.sqrt(2 * d)) / (stretch * d))
                assert cells.alpha == pytest.approx(margin / (c * math.sqrt(2) * stretch * d))
                log = math.log(c * stretch * d * math.sqrt(2 * d) / margin, 1 + cells.alpha)
                assert cells.n_intervals == max(0, math.ceil(log)) + 1
    assert Tessellation(2, 10.0) == Tessellation(2, 10.0, capped=True)
    assert Tessellation(2, 10.0).beta == Tessellation(2, 0.5).beta
    assert Tessellation(2, 10.0, capped=False).n_intervals == 1


@given(seeds, st.integers(1, 4), st.floats(0.05, 0.5), st.floats(1.0, 3.0))
def test_cells_cover_the_ball_and_are_as_small_as_the_proof_needs(seed, d, margin, stretch) -> None:
    cells = Tessellation(d, margin, stretch)
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(400, d))
    points *= rng.random((400, 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    keys = cells.keys(points)
    assert (np.abs(keys) >= 1).all()
    assert (np.abs(keys) <= cells.n_intervals).all()
    for axis in range(d):
        for key in np.unique(keys[:, axis]):
            mates = points[keys[:, axis] == key, axis]
            assert (mates >= 0).all() or (mates < 0).all(), "a cell crosses zero"
            size = np.abs(mates)
            if abs(key) == 1:
                assert size.max() <= cells.beta * (1 + 1e-9)
            else:
                assert size.max() <= size.min() * (1 + cells.alpha) * (1 + 1e-9)


@given(seeds, st.integers(1, 4), st.floats(0.02, 2.0), st.integers(2, 60))
def test_cells_are_monochromatic_among_foreign_points_just_outside_the_margin(
    seed, d, margin, n
) -> None:
    """The theorem itself: members in the unit ball, others beyond √(1+γ), as dense as can be."""
    rng = np.random.default_rng(seed)
    map_ = rng.normal(size=(d, d)) * np.exp(rng.normal(size=d))
    members = rng.normal(size=(n, d))
    members *= rng.random((n, 1)) ** (1 / d) / np.linalg.norm(members, axis=1, keepdims=True)
    found = enclosing_ellipsoid(members @ map_)
    ellipsoid, rank = found.ellipsoid, found.ellipsoid.rank
    inside = rng.normal(size=(20_000, rank))
    inside *= rng.random((20_000, 1)) ** (1 / rank) / np.linalg.norm(inside, axis=1, keepdims=True)
    back = ellipsoid.centre + (inside * ellipsoid.lengths) @ ellipsoid.axes.T
    distance = np.linalg.norm(back @ np.linalg.inv(map_), axis=1)
    cells = group_cells(Tessellation(rank, margin, found.rounding / rank).keys(inside))
    size = np.bincount(cells)
    mixed = (np.bincount(cells, distance <= 1) > 0) & (
        np.bincount(cells, distance > math.sqrt(1 + margin)) > 0
    )
    assert not mixed.any()
    assert d > 2 or (size > 1).any()


@given(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=30))
def test_grouping_numbers_equal_keys_alike(keys) -> None:
    groups = group_cells(np.array(keys))
    for i, one in enumerate(keys):
        for j, other in enumerate(keys):
            assert (groups[i] == groups[j]) == (one == other)


@given(st.floats(1e-6, 100.0))
def test_the_proof_has_slack_for_every_margin(margin) -> None:
    assert slack(margin) > 0


@given(seeds, st.integers(1, 5), st.integers(-150, 150))
def test_scaling_keeps_numbers_of_any_size_harmless(seed, d, exponent) -> None:
    X = cloud(seed, 20, d) * 10.0**exponent
    scaled = unit_scaled(X)
    assert np.abs(scaled).max() <= 0.5 + 1e-9
    assert np.ptp(scaled, axis=0).min() >= 0.25
    # Ratios of differences are kept: the map is affine, column by column.
    ratio = np.ptp(scaled, axis=0) / np.ptp(X / 10.0**exponent, axis=0)
    expected = (X - X[0]) / 10.0**exponent * ratio
    assert np.allclose(scaled - scaled[0], expected, rtol=1e-9, atol=1e-12)


def test_scaling_leaves_constant_columns_at_zero() -> None:
    scaled = unit_scaled(np.array([[5.0, 1.0], [5.0, 2.0]]))
    assert (scaled[:, 0] == 0).all()
