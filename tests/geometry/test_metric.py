"""The margin of a given metric is decided exactly: by the definition, on rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from samecluster._typing import BoolArray, FloatArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.metric import LatentMetric

numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-10, 10),
    st.sampled_from([5e-324, 2.0**-1000, 2.0**1000, -(2.0**1000), 1.7e308]),
)


def by_definition(
    X: FloatArray, members: BoolArray, metric: LatentMetric, margin: Fraction
) -> bool:
    """d_W(y,c)² > (1+γ)·d_W(x,c)² with W = AᵀA, one pair of points after the other."""
    factor = [[Fraction(a) for a in row] for row in metric.factor.tolist()]
    centre = [Fraction(c) for c in metric.centre.tolist()]

    def square(point: list[float]) -> Fraction:
        offset = [Fraction(x) - c for x, c in zip(point, centre, strict=True)]
        images = [sum(a * v for a, v in zip(row, offset, strict=True)) for row in factor]
        return Fraction(sum(image * image for image in images))

    squares = [square(point) for point in X.tolist()]
    return all(
        squares[y] > (1 + margin) * squares[x]
        for x in np.flatnonzero(members)
        for y in np.flatnonzero(~members)
    )


@given(st.data(), st.integers(1, 4), st.integers(1, 3), st.integers(2, 5))
def test_it_agrees_with_the_definition(data, d, rank, n) -> None:
    X = data.draw(arrays.arrays(np.float64, (n, d), elements=numbers))
    metric = LatentMetric(
        data.draw(arrays.arrays(np.float64, (rank, d), elements=numbers)),
        data.draw(arrays.arrays(np.float64, d, elements=numbers)),
    )
    members = data.draw(arrays.arrays(np.bool_, n).filter(lambda chosen: bool(chosen.any())))
    for margin in (1.0, 3.0, 1e-12, Fraction(1, 3)):
        expected = by_definition(X, members, metric, Fraction(margin))
        assert metric.has_margin(X, members, margin) is expected


def test_one_bit_decides() -> None:
    """At distance √(1+γ) exactly there is no margin; one float farther there is."""
    metric = LatentMetric(np.eye(1), np.zeros(1))
    members = np.array([True, False])
    assert not metric.has_margin(np.array([[1.0], [2.0]]), members, 3.0)
    assert metric.has_margin(np.array([[1.0], [np.nextafter(2.0, 3.0)]]), members, 3.0)
    third = Fraction(7, 9)  # (4/3)² − 1, which no float is
    assert not metric.has_margin(np.array([[3.0], [4.0]]), members, third)
    assert metric.has_margin(np.array([[3.0], [4.0]]), members, third - Fraction(1, 10**30))


def test_a_cluster_of_everything_and_one_of_a_single_point_have_every_margin() -> None:
    X = np.array([[0.0, 0.0], [1e-300, 0.0]])
    metric = LatentMetric(np.eye(2), X[0])
    assert metric.has_margin(X, np.array([True, True]), 1e9)
    assert metric.has_margin(X, np.array([True, False]), 1e9)
    assert not LatentMetric(np.zeros((1, 2)), X[0]).has_margin(X, np.array([True, False]), 1e-9)


def test_what_cannot_be_decided_is_refused() -> None:
    metric = LatentMetric(np.eye(1), np.zeros(1))
    with pytest.raises(InvalidInputError, match="2 booleans"):
        metric.has_margin(np.zeros((2, 1)), np.array([False, False]), 1.0)
    with pytest.raises(InvalidInputError, match="finite"):
        metric.has_margin(np.array([[0.0], [np.inf]]), np.array([True, False]), 1.0)
