"""Monomials by single rounded operations, the same bits everywhere."""

import json
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import Polynomial
from samecluster.errors import InvalidInputError
from samecluster.lifts.lift import lift_from_json
from samecluster.lifts.polynomial import PolynomialColumns

FLOATS = st.floats(-1e300, 1e300, allow_nan=False)


def by_hand(lift: PolynomialColumns, row: list[float]) -> list[float]:
    """One row in Python's floats, an operation at a time."""
    units = []
    for j, shift, exponent in zip(lift.columns, lift.shift, lift.exponent, strict=True):
        difference = row[j] - shift
        units.append(float(np.ldexp(difference, -exponent)))
    found = []
    for degree in range(1, lift.degree + 1):
        for factors in combinations_with_replacement(units, degree):
            product = factors[0]
            for factor in factors[1:]:
                product = product * factor
            found.append(product)
    return found


@given(
    st.integers(1, 4),
    st.integers(1, 4).flatmap(
        lambda d: st.lists(st.lists(FLOATS, min_size=d, max_size=d), min_size=2, max_size=6)
    ),
)
def test_every_bit_is_that_of_single_operations(degree, rows) -> None:
    X = np.array(rows)
    low, high = X.min(axis=0), X.max(axis=0)
    if not (high > low).any():
        with pytest.raises(InvalidInputError, match="no column varies"):
            Polynomial(degree).fitted(low, high)
        return
    lift = Polynomial(degree).fitted(low, high)
    found = lift.apply(X)
    assert found.shape[1] == lift.width == Polynomial(degree).width(len(lift.columns))
    assert found.tolist() == [by_hand(lift, row) for row in rows]
    assert np.abs(found).max() <= 1.0
    assert np.array_equal(lift.apply(X[1:]), found[1:])
    again = lift_from_json(json.loads(json.dumps(lift.to_json())))
    assert again == lift


def test_many_rows_are_lifted_in_parts_without_a_difference() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 3))
    lift = Polynomial(3).fitted(X.min(axis=0), X.max(axis=0))
    found = lift.apply(X)
    for row in (0, 8191, 8192, 19_999):
        assert found[row].tolist() == by_hand(lift, X[row].tolist())
    assert np.array_equal(lift.apply(X.astype(np.float32)), lift.apply(X.astype(np.float32) * 1.0))


def test_columns_that_do_not_vary_are_left_out_and_names_are_said() -> None:
    low, high = np.array([0.0, 5.0, -1.0]), np.array([1.0, 5.0, 1.0])
    lift = Polynomial(2).fitted(low, high, ["a", "b", "c"])
    assert lift.columns == (0, 2)
    assert lift.said() == "the quadratic lift of columns a, c"
    assert Polynomial(3).fitted(low, high).said() == "the cubic lift of columns 0, 2"
    many = Polynomial(1).fitted(np.zeros(9), np.ones(9)).said()
    assert many == "the linear lift of columns 0, 1, 2, 3, 4, 5, ..."


@pytest.mark.parametrize("degree", [0, 5, 2.5, True, "2", None])
def test_other_degrees_are_refused(degree) -> None:
    with pytest.raises(InvalidInputError, match="degree must be 1, 2, 3 or 4, got"):
        Polynomial(degree)
