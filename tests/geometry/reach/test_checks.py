"""The checks that labels rest on accept nothing that rational arithmetic does not."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samecluster._typing import Array, FloatArray
from samecluster.geometry.reach import linear_programs
from samecluster.geometry.reach.checks import (
    Charges,
    chosen_columns,
    confirmed,
    exactly,
    limit_for,
    whitening_noise,
)
from samecluster.geometry.reach.kernel import Kernel
from tests.cases.reach_cases import both_kernels, gauge, lifted

seeds = st.integers(0, 10**6)


def weights_of(columns: FloatArray, target: FloatArray) -> list[Fraction] | None:
    """The w with Σ w·column = target, in rationals; None if the columns are dependent."""
    n = len(target)
    rows = [
        [Fraction(float(c[r])) for c in columns] + [Fraction(float(target[r]))] for r in range(n)
    ]
    for c in range(n):
        at = next((r for r in range(c, n) if rows[r][c]), None)
        if at is None:
            return None
        rows[c], rows[at] = rows[at], rows[c]
        rows[c] = [value / rows[c][c] for value in rows[c]]
        for r in range(n):
            if r != c:
                factor = rows[r][c]
                rows[r] = [p - factor * q for p, q in zip(rows[r], rows[c], strict=True)]
    return [row[-1] for row in rows]


def size_of(columns: FloatArray, target: FloatArray) -> Fraction | None:
    weights = weights_of(columns, target)
    return None if weights is None else sum(map(abs, weights), Fraction(0))


def is_confirmed(
    compiled: Any, target: Array, inverse: Array, columns: Array, noise: Array, limit: float
) -> bool:
    """One record, by either kernel; the basis are the first D columns."""
    D = len(target)
    solved = linear_programs.ReachWeights(
        np.ones(1, bool), np.arange(D, dtype=np.int32)[None], np.zeros((1, D)), inverse[None]
    )
    args = target[None], solved, np.arange(1), columns, noise, limit
    return bool(Kernel(compiled).confirmed(*args)[0])


# -- by a basis ----------------------------------------------------------------------------------


def spoiled(inverse: Array, how: str, rng: np.random.Generator) -> Array:
    """An inverse as a solver might get it wrong."""
    if how == "single":
        return inverse.astype(np.float32)
    if how == "rough":
        error = 10.0 ** rng.uniform(-8, 0) * rng.normal(size=inverse.shape)
        return np.asarray(inverse * (1 + error))
    if how == "too small":
        return np.asarray(inverse * rng.uniform(0, 1))
    if how == "row lost":
        return inverse * (rng.permutation(len(inverse)) > 0)[:, None]
    if how == "rows swapped":
        return inverse[rng.permutation(len(inverse))]
    if how == "not finite":
        wrong = inverse.copy()
        wrong[rng.integers(len(wrong)), rng.integers(len(wrong))] = rng.choice([np.nan, np.inf])
        return wrong
    return inverse


@both_kernels
@given(
    seed=seeds,
    d=st.integers(1, 3),
    how=st.sampled_from(
        ["right", "single", "rough", "too small", "row lost", "rows swapped", "not finite"]
    ),
    room=st.sampled_from([-1e-3, -1e-12, -(2.0**-53), 0.0, 1e-15, 1e-12, 1e-9]),
)
def test_no_inverse_however_wrong_confirms_more_than_rationals_do(
    compiled, seed, d, how, room
) -> None:
    """Rows of any scale, limits next to the exact value, columns that are nearly dependent."""
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(d + 1, d)) * 10.0 ** rng.uniform(-8, 8, size=d))
    if seed % 3 == 0:
        columns[0] = columns[1] * (1 + 10.0 ** rng.uniform(-16, -6)) if seed % 2 else columns[1]
    target = (rng.normal(size=d + 1) + 1 / (d + 1)) @ columns
    exact = size_of(columns, target)
    try:
        inverse = np.linalg.inv(columns.T)
    except np.linalg.LinAlgError:
        inverse = np.linalg.pinv(columns.T)
    limit = float(exact) * (1 + room) if exact is not None else math.inf
    with np.errstate(all="ignore"):
        wrong = spoiled(inverse, how, rng)
        passes = is_confirmed(compiled, target, wrong, columns, np.zeros(d + 1), limit)
    if passes:
        assert exact is not None
        assert exact <= Fraction(limit)


@both_kernels
@given(seed=seeds, d=st.integers(1, 3), size=st.sampled_from([1e-14, 1e-9, 1e-4, 1e-2]))
def test_what_is_confirmed_holds_wherever_the_noise_may_have_moved_it(
    compiled, seed, d, size
) -> None:
    rng = np.random.default_rng(seed)
    columns, noise = lifted(rng.normal(size=(d + 1, d))), np.append(np.full(d, size), 0.0)
    target = rng.dirichlet(np.ones(d + 1)) @ columns
    exact = size_of(columns, target)
    assume(exact is not None and np.linalg.cond(columns) < 1e3)
    assert exact is not None
    inverse, limit = np.linalg.inv(columns.T), float(exact) * (1 + 100 * size)
    if not is_confirmed(compiled, target, inverse, columns, noise, limit):
        return
    for _ in range(3):
        # Corners of what the noise allows.
        moved = columns + noise * rng.choice([-1, 1], size=columns.shape)
        goal = target + noise * rng.choice([-1, 1], size=d + 1)
        found = size_of(moved, goal)
        assert found is not None
        assert found <= Fraction(limit)


@both_kernels
def test_a_good_record_with_room_is_confirmed(compiled) -> None:
    """The check would be sound and useless if it refused everything."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        columns = lifted(rng.normal(size=(3, 2)))
        target = rng.dirichlet(np.ones(3)) @ columns
        inverse = np.linalg.inv(columns.T).astype(np.float32)
        if np.linalg.cond(columns) < 1e3:
            limit = 1 + 1e-9
            assert is_confirmed(compiled, target, inverse, columns, np.zeros(3), limit)


@given(seeds, st.integers(1, 5))
def test_the_float_check_never_accepts_below_the_exact_value(seed, d) -> None:
    """A limit one unit in the last place below the exact Σ|w| never passes; one above does."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-6, 0, size=d)
    members = rng.normal(size=(d + 1, d)) * scale + 100.0 * rng.integers(2) * scale
    weights = 0.3 * rng.normal(size=d + 1) + 1 / (d + 1)
    y = weights / weights.sum() @ members
    total = size_of(lifted(members), np.append(y, 1.0))
    assume(total is not None)
    assert total is not None
    centre = members[0]
    map_ = (np.triu(0.2 * rng.normal(size=(d, d))) + np.eye(d)) / scale[:, None]
    columns, target = lifted((members - centre) @ map_), lifted((y[None] - centre) @ map_)
    assume(np.linalg.cond(columns) < 1e10)
    noise = whitening_noise(np.abs(np.vstack([members, y]) - centre).max(axis=0), map_)
    inverse = np.linalg.inv(columns.T)[None]
    basis = np.arange(d + 1)[None]
    below = math.nextafter(float(total) * (1 - 2e-16), 0)
    assert not confirmed(target, basis, inverse, columns, noise, below)[0]
    if np.linalg.cond(columns) < 1e4:
        above = float(total) * (1 + 1e-7)
        assert confirmed(target, basis, inverse, columns, noise, above)[0]


@given(seeds, st.integers(1, 4))
def test_the_noise_covers_what_whitening_rounds(seed, d) -> None:
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-9, 9, size=d)
    points = (rng.normal(size=(4, d)) + rng.choice([0.0, 1e6], size=d)) * scale
    centre, T = points[0], np.triu(rng.normal(size=(d, d))) / scale[:, None]
    box = np.abs(points - centre).max(axis=0)
    noise, floats = whitening_noise(box, T), (points - centre) @ T
    assert noise.shape == (d + 1,)
    assert noise[-1] == 0
    for x, z in zip(points.tolist(), floats.tolist(), strict=True):
        offset = [Fraction(a) - Fraction(b) for a, b in zip(x, centre.tolist(), strict=True)]
        for r in range(d):
            true = sum((o * Fraction(t) for o, t in zip(offset, T[:, r].tolist(), strict=True)))
            assert abs(Fraction(z[r]) - true) <= Fraction(noise[r])


def test_a_private_column_is_named_after_all_others() -> None:
    columns, private = np.array([[1.0, 1], [2, 1]]), np.array([[7.0, 1], [8, 1]])
    chosen = chosen_columns(np.array([[0, 2], [2, 1]]), columns, private)
    assert chosen.tolist() == [[[1, 1], [7, 1]], [[8, 1], [2, 1]]]


# -- by weights ----------------------------------------------------------------------------------


def is_shown(
    compiled: Any, target: Array, weights: Array, columns: Array, charges: Charges, limit: float
) -> bool:
    found = linear_programs.ReachWeights(
        np.ones(1, bool),
        np.arange(len(target), dtype=np.int32)[None],
        weights[None].astype(np.float32),
        np.zeros((0, len(target), len(target)), np.float32),
    )
    return bool(Kernel(compiled).shown(target[None], found, columns, charges, limit)[0])


@both_kernels
@given(
    seed=seeds,
    d=st.integers(1, 3),
    wrong_by=st.sampled_from([0.0, 1e-6, 1e-3, 1.0]),
    room=st.sampled_from([-1e-6, -1e-13, 0.0, 1e-13, 1e-6]),
)
def test_weights_show_no_more_than_what_they_leave_over_costs(
    compiled, seed, d, wrong_by, room
) -> None:
    """In rationals: |w| and the size of the remainder in the basis that is charged."""
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(d + 3, d)) * 10.0 ** rng.uniform(-4, 4, size=d))
    basis = np.arange(2, d + 3)
    target = rng.dirichlet(np.ones(d + 1)) @ columns[: d + 1]
    right = weights_of(columns[: d + 1], target)
    assume(right is not None and weights_of(columns[basis], target) is not None)
    assert right is not None
    floats = np.array([float(w) for w in right])
    weights = (floats * (1 - wrong_by * rng.uniform(size=d + 1))).astype(np.float32)
    exact = [Fraction(float(weight)) for weight in weights]
    rest = [
        Fraction(float(target[r]))
        - sum((w * Fraction(float(c[r])) for w, c in zip(exact, columns[: d + 1], strict=True)))
        for r in range(d + 1)
    ]
    left = _solved_exactly(columns[basis], rest)
    cost = sum(map(abs, exact), Fraction(0)) + sum(map(abs, left), Fraction(0))
    limit = float(cost) * (1 + room)
    with np.errstate(all="ignore"):
        charges = Charges.of(columns, basis, np.zeros(d + 1))
        if is_shown(compiled, target, weights, columns, charges, limit):
            assert cost <= Fraction(limit)


def _solved_exactly(columns: FloatArray, goal: list[Fraction]) -> list[Fraction]:
    """As `weights_of`, for a goal that no float is: by the solutions of unit vectors."""
    units = [weights_of(columns, unit) for unit in np.eye(len(goal))]
    return [
        sum((value * unit[i] for value, unit in zip(goal, units, strict=True) if unit), Fraction(0))
        for i in range(len(goal))
    ]


@both_kernels
@given(seed=seeds, d=st.integers(1, 5), wrong_by=st.sampled_from([0.0, 1e-7, 1e-3, 0.3]))
def test_weights_that_leave_something_over_never_show_more_than_the_gauge(
    compiled, seed, d, wrong_by
) -> None:
    """Whatever the weights, also such as weigh too little, what they leave over is charged."""
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(2 * d + 4, d)))
    assume(np.linalg.cond(columns[: d + 1]) < 1e3)
    targets = lifted(1.5 * rng.normal(size=(6, d)))
    first, none = np.arange(d + 1), np.zeros(6, dtype=np.int64)
    inverse = np.linalg.inv(columns[first].T)
    solved = linear_programs.solve(targets, none, first[None], inverse[None], columns, 1e9, 0.0)
    exact = np.einsum("pir,pr->pi", solved.inverse, targets)
    weights = exact * (1 - wrong_by * rng.uniform(size=exact.shape))
    charges = Charges.of(columns, first, np.zeros(d + 1))

    def shown(limit: float, weights: FloatArray, at: int) -> bool:
        found = linear_programs.ReachWeights(
            np.ones(1, bool), solved.basis[[at]], weights[[at]], inverse[:0]
        )
        return bool(Kernel(compiled).shown(targets[[at]], found, columns, charges, limit)[0])

    for at, target in enumerate(targets):
        true = gauge(columns, target)
        assert not shown(true * (1 - 1e-7), weights.astype(np.float32), at)
        assert shown(true * (1 + 1e-2), exact.astype(np.float32), at)


@both_kernels
def test_a_basis_that_is_nearly_dependent_shows_nothing(compiled) -> None:
    """Its inverse is mostly rounding: what is left over costs infinitely much."""
    columns = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.5, 0.5 + 2.0**-50, 1.0]])
    charges = Charges.of(columns, np.arange(3), np.zeros(3))
    assert np.isinf(charges.costs).all()
    weights = np.array([0.5, 0.5, 0.0])
    assert not is_shown(compiled, weights @ columns, weights, columns, charges, 1e300)


# -- by rationals, and the limit -----------------------------------------------------------------


@given(st.data(), st.integers(1, 3), st.integers(0, 2))
def test_the_exact_check_is_the_definition(data, d, n_taus) -> None:
    """On whole numbers, where columns are often dependent and sums often on the limit."""
    n_taus = min(n_taus, d)
    whole = st.integers(-2, 2).map(float)
    support = np.array(
        data.draw(
            st.lists(
                st.lists(whole, min_size=d, max_size=d),
                min_size=d + 1 - n_taus,
                max_size=d + 1 - n_taus,
            )
        )
    )
    y = np.array(data.draw(st.lists(whole, min_size=d, max_size=d)))
    taus = [(axis, data.draw(st.sampled_from([0.5, 1.0, 2.0]))) for axis in range(n_taus)]
    margin = data.draw(st.sampled_from([1.25, 3.0, 8.0, 1e-9]))
    axes = np.eye(d, d + 1)[:n_taus] * np.array([tau for _, tau in taus]).reshape(-1, 1)
    total = size_of(np.vstack([lifted(support), axes]), np.append(y, 1.0))
    expected = total is not None and total**2 <= 1 + Fraction(margin)
    assert exactly(y, support, taus, margin) == expected


def test_the_exact_check_is_decided_by_the_last_bit() -> None:
    """y = 1.25 takes weights 1.25 and -0.25 on 1 and 0: (3/2)² = 1 + 5/4, and equality is in."""
    y, support = np.array([1.25]), np.array([[1.0], [0.0]])
    assert exactly(y, support, [], 1.25)
    assert not exactly(y, support, [], math.nextafter(1.25, 0))
    assert not exactly(np.array([math.nextafter(1.25, 2)]), support, [], 1.25)
    assert exactly(np.array([1.25]), np.array([[1.0]]), [(0, 0.5)], 1.25)
    assert not exactly(np.array([1.25]), np.array([[1.0]]), [(0, 0.25)], 1.25)


@pytest.mark.parametrize(
    ("support", "taus"),
    [([[1.0], [1.0]], []), ([[1.0]], []), ([[1.0], [2.0], [3.0]], []), ([], [(0, 1.0), (0, 2.0)])],
    ids=["dependent", "too few", "too many", "no member"],
)
def test_the_exact_check_needs_independent_columns(support, taus) -> None:
    assert not exactly(np.array([1.0]), np.array(support), taus, 1e9)


@given(st.floats(1e-6, 1e6))
def test_the_limit_is_below_the_root_but_not_by_much(margin) -> None:
    limit = limit_for(margin)
    assert Fraction(limit) ** 2 <= 1 + Fraction(margin)
    assert limit >= math.sqrt(1 + margin) * (1 - 1e-14)
