"""Checks of single parameters, below all rooms: what is allowed and what came, in one wording.

Ranges are written so that NaN, which compares as false, is refused.
"""

from __future__ import annotations

import numbers
from typing import Any

from samecluster.errors import InvalidInputError


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """The value as an int if it is a whole number from ``least`` on.

    >>> whole_number("sample", 2.5)
    Traceback (most recent call last):
    samecluster.errors.InvalidInputError: sample must be a whole number from 1 on, got 2.5
    """
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < least:
        raise InvalidInputError(f"{name} must be a whole number from {least} on, got {value!r}")
    return int(value)


def check_at_least(name: str, value: float, least: int) -> None:
    if not value >= least:
        raise InvalidInputError(f"{name} must be at least {least}, got {value}")


def check_one_of(name: str, value: Any, *allowed: str) -> None:
    """One of two words or more."""
    if value not in allowed:
        *others, last = (f'"{word}"' for word in allowed)
        raise InvalidInputError(f"{name} is {', '.join(others)} or {last}, got {value!r}")


def check_positive(name: str, value: float) -> None:
    if not value > 0:
        raise InvalidInputError(f"{name} must be above 0, got {value}")


def check_share(name: str, value: float) -> None:
    """A share of a whole that may be none of it but not all."""
    if not 0 <= value < 1:
        raise InvalidInputError(f"{name} must be from 0 to below 1, got {value}")


def check_probability(name: str, value: float) -> None:
    """A probability of something that is neither certain nor impossible."""
    if not 0 < value < 1:
        raise InvalidInputError(f"{name} must be between 0 and 1, got {value}")
