"""Checks of single parameters: what passes, what does not, and how it is said."""

import math

import numpy as np
import pytest

from samecluster._parameters import (
    check_at_least,
    check_one_of,
    check_positive,
    check_probability,
    check_share,
    whole_number,
)
from samecluster.errors import InvalidInputError


def test_whole_numbers_of_any_make_become_ints() -> None:
    found = whole_number("sample", np.int32(7))
    assert (found, type(found)) == (7, int)
    assert whole_number("retries", 0, least=0) == 0


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "3", None, math.nan])
def test_anything_else_is_no_whole_number(value) -> None:
    with pytest.raises(InvalidInputError) as refused:
        whole_number("sample", value)
    assert str(refused.value) == f"sample must be a whole number from 1 on, got {value!r}"


@pytest.mark.parametrize(
    ("check", "allowed", "refused", "rule"),
    [
        (lambda name, value: check_at_least(name, value, 2), (2, 9), (1.9,), "at least 2"),
        (check_positive, (1e-300, 7), (0, -1), "above 0"),
        (check_share, (0, 0.999), (1, -1e-9), "from 0 to below 1"),
        (check_probability, (1e-9, 0.5), (0, 1), "between 0 and 1"),
    ],
)
def test_ranges_refuse_what_is_outside_and_nan(check, allowed, refused, rule) -> None:
    for value in allowed:
        check("x", value)
    for value in (*refused, math.nan):
        with pytest.raises(InvalidInputError) as error:
            check("x", value)
        assert str(error.value) == f"x must be {rule}, got {value}"


def test_words_are_listed() -> None:
    check_one_of("unit", "item", "pair", "item")
    with pytest.raises(InvalidInputError, match=r'^unit is "pair" or "item", got None$'):
        check_one_of("unit", None, "pair", "item")
    with pytest.raises(InvalidInputError, match=r'^x is "a", "b" or "c", got 3$'):
        check_one_of("x", 3, "a", "b", "c")
