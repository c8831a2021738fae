"""Exact arithmetic: integers in proportion to floats, and semidefiniteness by its definition."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from samecluster.errors import InvalidInputError
from samecluster.geometry.exact import as_integers, is_psd

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=6))
def test_integers_are_the_values_times_one_power_of_two(values) -> None:
    integers = [int(value) for value in as_integers(np.array(values))]
    factors = {Fraction(n) / Fraction(v) for n, v in zip(integers, values, strict=True) if v}
    assert len(factors) <= 1
    for factor in factors:
        larger = max(factor.numerator, factor.denominator)
        assert factor > 0
        assert min(factor.numerator, factor.denominator) == 1
        assert larger & (larger - 1) == 0
    assert all((n == 0) == (v == 0) for n, v in zip(integers, values, strict=True))


@given(arrays.arrays(np.float64, (2, 3), elements=finite))
def test_a_table_has_one_power_of_two_for_all_of_it(values) -> None:
    whole = as_integers(values)
    assert whole.shape == values.shape
    assert whole.ravel().tolist() == as_integers(values.ravel()).tolist()
    assert all(type(value) is int for value in whole.ravel())


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_refused(bad) -> None:
    with pytest.raises(InvalidInputError, match="finite"):
        as_integers(np.array([1.0, bad]))


def determinant(matrix: list[list[int]]) -> int:
    """By its definition: over all permutations."""
    total = 0
    for order in itertools.permutations(range(len(matrix))):
        swaps = sum(a > b for a, b in itertools.combinations(order, 2))
        product = (-1) ** swaps
        for row, column in enumerate(order):
            product *= matrix[row][column]
        total += product
    return total


@given(st.data(), st.integers(1, 4))
def test_semidefinite_is_that_no_principal_minor_is_negative(data, size) -> None:
    """Small entries make singular matrices often, where a pivot is zero."""
    entries = st.integers(-2, 3)
    matrix = [[0] * size for _ in range(size)]
    for i, j in itertools.combinations_with_replacement(range(size), 2):
        matrix[i][j] = matrix[j][i] = data.draw(entries)
    every = range(1, size + 1)
    chosen = [c for m in every for c in itertools.combinations(range(size), m)]
    minors = [determinant([[matrix[i][j] for j in own] for i in own]) for own in chosen]
    assert is_psd([list(row) for row in matrix]) == (min(minors) >= 0)


@given(arrays.arrays(np.int64, (3, 4), elements=st.integers(-3, 3)), st.integers(0, 3))
def test_one_unit_below_a_gram_matrix_that_is_singular_is_too_little(factor, at) -> None:
    """A Gram matrix of rank 3 in 4 dimensions is on the edge; numbers of any size."""
    large = (factor.astype(object) * 10**30).T @ (factor.astype(object) * 10**30)
    assert is_psd(large.tolist())
    if not factor[:, at].any():
        large[at, at] -= 1
        assert not is_psd(large.tolist())


def test_zero_pivots_are_told_from_negative_directions() -> None:
    assert is_psd([[0, 0, 0], [0, 4, 2], [0, 2, 1]])
    assert not is_psd([[0, 1], [1, 5]])
    assert not is_psd([[4, 2, 0], [2, 1, 1], [0, 1, 9]])
    assert not is_psd([[1, 2], [2, 3]])
