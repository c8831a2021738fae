"""The resolution: what a few extreme values cannot move, and what is said about them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster._resolution import (
    column_range,
    column_spread,
    far_values,
    resolution_of,
    usual_range,
    without_far_values,
)

LARGEST = np.finfo(np.float64).max


@given(st.integers(0, 10**6), st.sampled_from([1e6, 1e12, -1e30, 1e300, -LARGEST]))
def test_extreme_values_in_a_twentieth_of_the_rows_do_not_move_it(seed, size) -> None:
    rng = np.random.default_rng(seed)
    # With 200 rows the nearest to the median may be among those that go, which moves it by chance.
    X = rng.normal(size=(2000, 2)) * [1.0, 1e-5]
    before = resolution_of(X)
    X[rng.permutation(2000)[:100], 1] = size
    after = resolution_of(X)
    assert after[0] == before[0]
    assert 0.5 * before[1] <= after[1] <= 2.0 * before[1]


def test_it_is_a_billionth_of_the_spread_or_what_floats_can_hold() -> None:
    column = np.arange(11.0)[:, None]
    assert column_spread(column) == 1.0
    assert resolution_of(column) == 2.0**-26
    assert resolution_of(column, 0.25) == 0.25
    assert resolution_of(column, 0) == 0.0
    assert resolution_of(column + 2.0**28) == 4 * np.spacing(2.0**28)
    assert resolution_of(column + 2.0**45) == 2.0**-20
    assert resolution_of(column * 2.0**-1060) == 0.0, "smaller than any float"


def test_columns_of_one_value_have_some_length() -> None:
    X = np.column_stack([np.zeros(5), np.full(5, -8.0), np.arange(5.0)])
    assert resolution_of(X)[:2].tolist() == [2.0**-26, 2.0**-23]
    assert resolution_of(X, 0).tolist() == [2.0**-26, 2.0**-23, 0.0]
    # A sample of data in which other rows have other values: finer than these can be.
    sampled = resolution_of(X, None, np.array([1.0, 1.0, 4.0]))
    assert 0.0 < sampled[0] < 1e-25
    assert 0.0 < sampled[1] <= 2.0**-10 * np.spacing(8.0) / 2


def test_values_that_few_rows_have_are_seen_in_large_data() -> None:
    X = np.zeros((200_000, 2))
    X[77_777] = 3.0
    X[:, 1] = np.arange(200_000.0)
    spread = column_spread(X)
    assert spread[0] == 3.0
    assert spread[1] == pytest.approx(10_000, rel=0.05)


def test_ranges_are_finite() -> None:
    assert column_range(np.array([-LARGEST, 1.0]), np.array([LARGEST, 3.0])).tolist() == [
        LARGEST,
        2.0,
    ]
    X = np.array([[-LARGEST], [LARGEST], [LARGEST], [-LARGEST]])
    assert column_spread(X) == LARGEST
    assert math.isfinite(resolution_of(X)[0])


def test_far_values_are_named_with_their_rows() -> None:
    X = np.column_stack([np.arange(50.0), np.arange(50.0)])
    assert far_values(X) == ()
    assert usual_range(X, X.min(axis=0), X.max(axis=0)) is None
    assert without_far_values(X) is X
    X[[3, 4, 30, 41], 1] = 1e12, -1e9, 1e300, 1e9
    (found,) = far_values(X)
    assert (found.column, found.rows.tolist(), found.example) == (1, [3, 4, 30, 41], 1e12)
    assert found.said("'b'").startswith(
        "Column 'b' is far beyond its other values in rows 3, 4, 30 and 1 more: 1e+12, where"
    )
    low, high = usual_range(X, X.min(axis=0), X.max(axis=0)) or (X, X)
    assert (low.tolist(), high.tolist()) == ([0.0, 0.0], [49.0, 49.0])
    moved = without_far_values(X)
    assert moved[[3, 4, 30, 41], 1].tolist() == [98.0, -49.0, 98.0, 98.0]
    assert (np.delete(moved, [3, 4, 30, 41], axis=0) == np.delete(X, [3, 4, 30, 41], axis=0)).all()
