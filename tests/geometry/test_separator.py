"""Low-stretch separators: consistent without rounding, as good as the proof's own, and found."""

from __future__ import annotations

import math
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from samecluster._typing import BoolArray, FloatArray
from samecluster.geometry.ellipsoid import Ellipsoid
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.geometry.separator import low_stretch_separator
from samecluster.geometry.tessellation import Tessellation, group_cells
from samecluster.instances import make_ellipsoids

seeds = st.integers(0, 10**6)
FEW = settings(max_examples=25, deadline=None)


def sphere(rng: np.random.Generator, n: int, d: int) -> FloatArray:
    points = rng.normal(size=(n, d))
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True))


def cap(
    seed: int, d: int, margin: float, n: int = 60, n_foreign: int = 60
) -> tuple[FloatArray, FloatArray]:
    """Members in a cap of the unit ball, others beyond √(1+γ), half of them in the MVEE if any are.

    The paper's Figure 3 of the supplement: the MVEE of a cap leaves the ball at the cap's rim.
    """
    rng = np.random.default_rng(seed)
    members = sphere(rng, 20_000, d) * rng.random((20_000, 1)) ** (1 / d)
    members = members[members[:, 0] > rng.choice([0.3, 0.6, 0.8])]
    members = members[: int(rng.integers(2, n))]
    others = sphere(rng, 20_000, d) * math.sqrt(1 + margin) * (1 + 1e-6)
    others *= 1 + 0.1 * rng.random((20_000, 1)) ** 3
    near = np.argsort(enclosing_ellipsoid(members).ellipsoid.norms(others))[:n_foreign]
    return members, np.concatenate([others[near], others[:n_foreign]])


def exact_squares(ellipsoid: Ellipsoid, X: FloatArray) -> list[Fraction]:
    """d_M(x, μ)² of every row in rationals, M by the axes and lengths as stored."""
    rows = exact_factor(ellipsoid)
    middle = [Fraction(c) for c in ellipsoid.centre.tolist()]
    squares = []
    for point in X.tolist():
        offset = [Fraction(x) - c for x, c in zip(point, middle, strict=True)]
        images = [sum(map(mul, row, offset), Fraction(0)) for row in rows]
        squares.append(sum(map(mul, images, images), Fraction(0)))
    return squares


def exact_factor(ellipsoid: Ellipsoid) -> list[list[Fraction]]:
    """F (r, d) in rationals with M = FᵀF."""
    axes, lengths = ellipsoid.axes.T.tolist(), ellipsoid.lengths.tolist()
    return [
        [Fraction(a) / Fraction(length) for a in axis]
        for axis, length in zip(axes, lengths, strict=True)
    ]


def exact_matrix(ellipsoid: Ellipsoid) -> list[list[Fraction]]:
    columns = list(zip(*exact_factor(ellipsoid), strict=True))
    return [[sum(map(mul, a, b), Fraction(0)) for b in columns] for a in columns]


def positive_definite(matrix: list[list[Fraction]]) -> bool:
    """By elimination: every pivot is above zero."""
    while matrix:
        pivot = matrix[0][0]
        if pivot <= 0:
            return False
        matrix = [
            [b - row[0] * a / pivot for a, b in zip(matrix[0][1:], row[1:], strict=True)]
            for row in matrix[1:]
        ]
    return True


@given(seeds, st.integers(1, 4), st.sampled_from([1e-3, 0.02, 0.2, 1.0]))
def test_what_is_returned_holds_in_exact_arithmetic(seed, d, margin) -> None:
    """S_C inside, the rest outside and M ⪰ αM*, also when stretched and far from the origin."""
    members, others = cap(seed, d, margin, n=30, n_foreign=20)
    rng = np.random.default_rng(seed + 1)
    map_ = rng.normal(size=(d, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    shift = rng.normal(size=d) * 10.0 ** rng.integers(-2, 3)
    members, others = members @ map_ + shift, others @ map_ + shift
    found = low_stretch_separator(members, others)
    assert found.contains(members).all()
    assert found.separates
    assert not found.contains(others).any()
    if found.ellipsoid.rank < d:
        return
    assert max(exact_squares(found.ellipsoid, members)) <= 1
    assert min(exact_squares(found.ellipsoid, others)) > 1
    ours, theirs = exact_matrix(found.ellipsoid), exact_matrix(found.enclosing.ellipsoid)
    alpha = Fraction(found.alpha)
    assert positive_definite(
        [
            [a - alpha * b for a, b in zip(*rows, strict=True)]
            for rows in zip(ours, theirs, strict=True)
        ]
    )


@given(seeds, st.integers(2, 4), st.floats(0.55, 0.7))
def test_the_stretch_is_the_least_where_it_is_known(seed, d, s) -> None:
    """Members ±e_i and others ±s(e_1 + e_2): by symmetry M = 1 + b(e_1e_2ᵀ + e_2e_1ᵀ).

    The others are out if 2s²(1 + b) > 1, so the best α is 1 − b = 2 − 1/(2s²). Any affine image of
    the points has the same.
    """
    members = np.vstack([np.eye(d), -np.eye(d)])
    others = s * np.outer([1.0, -1.0], np.eye(d)[0] + np.eye(d)[1])
    rng = np.random.default_rng(seed)
    map_ = rng.normal(size=(d, d)) * np.exp(2 * rng.normal(size=d))
    shift = rng.normal(size=d)
    found = low_stretch_separator(members @ map_ + shift, others @ map_ + shift, epsilon=1e-6)
    assert found.separates
    assert found.alpha == pytest.approx(2 - 1 / (2 * s**2), abs=1e-4)
    assert found.inclusion == 2 * found.stretch == pytest.approx(2 / math.sqrt(found.alpha))


def proofs_separator(
    members: FloatArray, gamma: float, *, as_printed: bool = False
) -> tuple[Ellipsoid, float]:
    """The proof's (M, μ) and its α, for members in the unit ball about 0 and γ ≤ 1/5.

    Large axes are those of the ball's slice through the members' MVEE, small ones those of the
    MVEE, both made longer.

    The printed factor 1 − √(5γ/4) of the large axes is not right: step (3) of the proof takes
    d(x, B₀)² < γ for |x|² < 1 + γ, but it only gives |x| < 1 + √γ. With 1/(1 + 3γ/4) all holds:
    a member has |p|² ≤ ℓ² + 2|q| with |q| ≤ ε and 2ε/ℓ² ≤ 5γ/16, so it is inside; a point of E has
    |x|² ≤ 1 + 3γ/4 + 2√ε + ε < 1 + γ; and α ≥ ε²/2 as before, so the theorem's bound stands.
    """
    d = members.shape[1]
    star = enclosing_ellipsoid(members, epsilon=1e-5).ellipsoid
    curvature = star.lengths**-2.0
    if curvature.min() >= 5 / gamma**2:
        return star, 1.0
    epsilon = gamma**3 / (32 * d**2)
    large = curvature < epsilon**-2
    across = star.axes[:, ~large]
    centre = across @ (across.T @ star.centre)
    radius = math.sqrt(1 - float(centre @ centre))
    factor = 1 - math.sqrt(5 * gamma / 4) if as_printed else 1 / (1 + 3 * gamma / 4)
    own = np.where(large, factor / radius**2, epsilon * curvature)
    return Ellipsoid(centre, star.axes, own**-0.5), float((own / curvature).min())


def theorems_bound(d: int, margin: float) -> float:
    return 64 * math.sqrt(2) * d**2 * max(125.0, margin**-3)


@given(seeds, st.integers(1, 5), st.sampled_from([0.01, 0.05, 0.2, 0.7]), st.booleans())
def test_the_program_is_at_least_as_good_as_the_proof(seed, d, margin, thin) -> None:
    members, others = cap(seed, d, margin)
    gamma = min(margin, 1 / 5)
    if thin and d > 1:
        # One axis below the proof's threshold: it copies that one from the MVEE.
        squash = np.where(np.arange(d) == 1, 0.3 * gamma**3 / (32 * d**2), 1.0)
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
        lengths = np.linalg.norm(others, axis=1, keepdims=True)
        others = others * squash
        others *= lengths / np.linalg.norm(others, axis=1, keepdims=True)
        members, others = members * squash @ turn, others @ turn
    reference, alpha = proofs_separator(members, gamma)
    assume(reference.rank == d)
    assert reference.contains(members, slack=1e-6).all()
    assert not reference.contains(others).any()
    assert 2 / math.sqrt(alpha) <= theorems_bound(d, margin)
    found = low_stretch_separator(members, others)
    assert found.separates
    assert found.alpha >= alpha * (1 - 1e-3)


def test_the_proof_as_printed_takes_in_foreign_points() -> None:
    """On the line: members ±1, margin 1/10, a foreign point at 1.05 > √1.1."""
    members, foreign = np.array([[-1.0], [1.0]]), np.array([[1.05]])
    assert proofs_separator(members, 0.1, as_printed=True)[0].contains(foreign).all()
    assert not proofs_separator(members, 0.1)[0].contains(foreign).any()


def in_the_cluster(seed: int) -> tuple[FloatArray, BoolArray, float, int]:
    """A sample of a random instance, which of it is in the first cluster, its margin and d."""
    rng = np.random.default_rng(seed)
    d, k = int(rng.integers(1, 6)), int(rng.integers(2, 6))
    margin = float(rng.choice([0.02, 0.1, 0.5, 1.0, 3.0]))
    made = make_ellipsoids(
        40 * k,
        d,
        k,
        margin=margin,
        condition=float(rng.choice([1.0, 100.0, 1e6])),
        rank=int(rng.integers(1, d + 1)) if rng.random() < 0.3 else None,
        fill=rng.choice(["ball", "shell", "half", "blobs"]),
        random_state=rng,
    )
    drawn = rng.choice(len(made.X), size=int(rng.integers(k, 40 * k)), replace=False)
    return made.X[drawn], made.labels[drawn] == made.labels[drawn[0]], margin, d


@given(seeds)
def test_a_separator_below_the_theorems_bound_is_found(seed) -> None:
    """Any shape, rank and margin; any subset of the cluster. It is consistent with the sample."""
    X, inside, margin, d = in_the_cluster(seed)
    found = low_stretch_separator(X[inside], X[~inside])
    assert found.separates
    assert (found.contains(X) == inside).all()
    assert found.inclusion <= theorems_bound(d, margin)


@given(seeds, st.integers(2, 5), st.sampled_from([0.005, 0.05, 0.2]))
def test_hard_samples_are_separated_too_and_the_ellipsoid_stays_close(seed, d, margin) -> None:
    members, others = cap(seed, d, margin)
    found = low_stretch_separator(members, others)
    assert found.separates
    assert found.contains(members).all()
    assert not found.contains(others).any()
    assert found.inclusion <= theorems_bound(d, margin)
    # The definition itself: E ⊆ Φ·MVEE, on points of E's surface.
    ellipsoid, star = found.ellipsoid, found.enclosing.ellipsoid
    surface = sphere(np.random.default_rng(seed), 500, ellipsoid.rank)
    surface = ellipsoid.centre + (surface * ellipsoid.lengths) @ ellipsoid.axes.T
    assert star.norms(surface).max() <= found.inclusion
    # And what the tessellation needs: as wide as E/ρ is along any direction, the members are.
    directions = sphere(np.random.default_rng(seed + 1), 500, d)
    width = np.ptp(members @ directions.T, axis=0)
    reach = np.linalg.norm((directions @ ellipsoid.axes) * ellipsoid.lengths, axis=1)
    assert (width * (1 + 1e-7) >= 2 * reach / found.rounding).all()


def test_the_mvee_alone_often_does_not_separate() -> None:
    """The reason for separators, and that the tests above are about more than the MVEE."""
    needed = 0
    for seed in range(40):
        members, others = cap(seed, 2 + seed % 3, 0.05)
        found = low_stretch_separator(members, others)
        star = found.enclosing.ellipsoid
        assert star.contains(others).any() == (found.alpha < 0.999)
        needed += int(found.alpha < 0.999)
    assert needed > 20


@FEW
@given(seeds, st.integers(1, 3), st.sampled_from([0.05, 0.1, 0.2]))
def test_cells_of_a_separator_are_monochromatic(seed, d, margin) -> None:
    """The tessellation's theorem for an ellipsoid with a centre of its own."""
    members, others = cap(seed, d, margin)
    found = low_stretch_separator(members, others)
    ellipsoid, rank = found.ellipsoid, found.ellipsoid.rank
    rng = np.random.default_rng(seed)
    inside = sphere(rng, 40_000, rank) * rng.random((40_000, 1)) ** (1 / rank)
    distance = np.linalg.norm(
        ellipsoid.centre + (inside * ellipsoid.lengths) @ ellipsoid.axes.T, axis=1
    )
    cells = group_cells(Tessellation(rank, margin, found.rounding / rank).keys(inside))
    mixed = (np.bincount(cells, distance <= 1) > 0) & (
        np.bincount(cells, distance > math.sqrt(1 + margin)) > 0
    )
    assert not mixed.any()
    assert d > 2 or (np.bincount(cells) > 1).any()


@pytest.mark.parametrize("d", [1, 2, 4])
def test_a_point_in_the_hull_cannot_be_separated(d) -> None:
    members = sphere(np.random.default_rng(0), 40, d)
    for other in (members.mean(axis=0), members[3], 0.5 * members[3] + 0.5 * members[4]):
        found = low_stretch_separator(members, other[None])
        assert not found.separates
        assert found.contains(members).all()
        assert found.alpha == pytest.approx(1.0, abs=1e-6)


def test_flat_members_are_separated_in_their_span() -> None:
    rng = np.random.default_rng(1)
    plane = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    members, others = cap(3, 2, 0.05)
    near = members @ plane.T + 1.0
    off = near + 1e-6 * rng.normal(size=near.shape)
    in_plane = others @ plane.T + 1.0
    found = low_stretch_separator(near, np.concatenate([off, in_plane]))
    assert found.ellipsoid.rank == 2
    assert found.separates
    assert found.contains(near).all()
    assert not found.contains(off).any()
    assert not found.contains(in_plane).any()
    alone = low_stretch_separator(members, others)
    assert found.alpha == pytest.approx(alone.alpha, rel=1e-2)
    assert found.alpha < 0.99


def test_a_single_member_is_separated_from_all_but_its_copies() -> None:
    point = np.array([[0.1, -3.0, 7.0]])
    found = low_stretch_separator(np.repeat(point, 3, axis=0), point + 1e-6)
    assert found.separates
    assert found.stretch == 1.0
    assert found.contains(point).all()
    assert not low_stretch_separator(point, point).separates
    assert low_stretch_separator(point, np.zeros((0, 3))).separates


def test_a_cloud_without_others_keeps_its_enclosing_ellipsoid() -> None:
    members = np.random.default_rng(2).normal(size=(30, 3))
    found = low_stretch_separator(members, np.zeros((0, 3)))
    assert found.separates
    assert found.contains(members).all()
    assert found.ellipsoid.lengths == pytest.approx(found.enclosing.ellipsoid.lengths, rel=1e-8)
    assert found.stretch == pytest.approx(1.0, abs=1e-8)
