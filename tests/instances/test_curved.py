"""Curved instances have the margin that they promise, exactly, and none without a lift."""

from fractions import Fraction

import numpy as np
import pytest

from samecluster import true_margin
from samecluster.errors import InvalidInputError
from samecluster.instances import (
    LiftedInstance,
    make_moons_with_margin,
    make_nested,
    make_rings,
    make_spirals,
)

MADE = {
    "two rings": lambda n, seed: make_rings(n, random_state=seed),
    "three rings": lambda n, seed: make_rings(n, 3, random_state=seed),
    "shells": lambda n, seed: make_rings(n, 2, 3, random_state=seed),
    "moons": lambda n, seed: make_moons_with_margin(n, random_state=seed),
    "spirals": lambda n, seed: make_spirals(n, random_state=seed),
    "a whole turn": lambda n, seed: make_spirals(n, turns=1.0, random_state=seed),
    "nested": lambda n, seed: make_nested(n, random_state=seed),
}
WIDE = {
    "shells, 54 columns": lambda n, seed: make_rings(n, 2, 9, random_state=seed),
    "shells, 34 columns": lambda n, seed: make_rings(n, 2, 3, degree=4, random_state=seed),
    "nested, 27 columns": lambda n, seed: make_nested(n, 6, random_state=seed),
}


def holds_in_fractions(made: LiftedInstance) -> bool:
    """Every squared distance by the witnesses, as a fraction of the floats."""
    lifted = made.columns.apply(made.X)
    for one in made.witnesses:
        factor = [[Fraction(x) for x in row] for row in one.factor.tolist()]
        centre = [Fraction(x) for x in one.centre.tolist()]
        squared = []
        for row in lifted.tolist():
            offset = [Fraction(x) - c for x, c in zip(row, centre, strict=True)]
            images = [sum(a * x for a, x in zip(line, offset, strict=True)) for line in factor]
            squared.append(sum(image * image for image in images))
        inside = max(x for x, own in zip(squared, made.labels, strict=True) if own == one.label)
        outside = min(x for x, own in zip(squared, made.labels, strict=True) if own != one.label)
        if not outside > (1 + Fraction(made.margin)) * inside:
            return False
    return True


@pytest.mark.parametrize("name", MADE | WIDE)
def test_the_margin_holds_in_fractions(name) -> None:
    made = (MADE | WIDE)[name](60, 1)
    assert made.margin_holds()
    assert holds_in_fractions(made)


@pytest.mark.parametrize("name", MADE)
def test_there_is_a_margin_in_the_lift_and_none_in_the_columns(name) -> None:
    made = MADE[name](4_000, 2)
    assert made.margin_holds()
    fitted = made.lift.fitted(made.X.min(axis=0), made.X.max(axis=0))
    assert min(one.margin for one in true_margin(fitted.apply(made.X), made.labels)) > made.margin
    assert min(one.margin for one in true_margin(made.X, made.labels)) == 0.0


@pytest.mark.parametrize("name", MADE)
def test_the_same_seed_gives_the_same_points(name) -> None:
    assert np.array_equal(MADE[name](50, 3).X, MADE[name](50, 3).X)
    assert np.bincount(MADE[name](50, 3).labels).min() >= 16


def test_what_cannot_be_promised_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="these clusters have margin 0 in the quadratic"):
        make_spirals(500, turns=2.0)
    with pytest.raises(InvalidInputError, match="which is less than 50"):
        make_moons_with_margin(500, margin=50.0)
    with pytest.raises(InvalidInputError, match="d must be at least 2"):
        make_rings(500, 2, 1)
    with pytest.raises(InvalidInputError, match="k at least 2"):
        make_rings(500, 1)


def test_more_turns_have_a_margin_in_a_higher_lift() -> None:
    assert make_spirals(500, turns=1.25, degree=3, random_state=0).margin_holds()
