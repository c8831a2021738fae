"""Columns of numbers that name rows instead of measuring them: ids, counters, codes.

A measured column stays, whole numbers or not. What gives an identifier away is its name, zeros
before its digits, or that its values repeat less often than chance would have it.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from samecluster._typing import FloatArray
from samecluster.tables.column import Column, TextColumn, is_whole

_EXACT_WHOLE = 2.0**53  # below it, different whole numbers are different floats
_MOST_REPEATS = 5  # rows per value: an identifier comes a few times, a category many times
# An independent draw is taken for an identifier with a chance below exp(-4) = 2 %, and of 2,000
# drawn columns of each kind and size that were tried (uniform, Poisson, normal, geometric) 2 were.
_SURPRISE = 4.0
_ROWS_IN_ORDER = 10  # fewer may well be sorted by chance
_CODE, _SHORTEST_CODE = re.compile(r"\s*0[0-9]{3,}\s*"), 1_000  # 07 may be a month or an hour

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NAMES = {"id", "ids", "uid", "uuid", "guid", "idx", "rowid", "identifier"}
# These name other things as well; they count where values repeat a few times only. "NO" is a gas.
_VAGUE = {"key", "Key", "KEY", "nr", "Nr", "no", "No", "code", "Code", "zip", "zipcode", "postcode"}
_WHOLE_NAMES = {"index", "column 1", "Unnamed: 0"}  # as R and pandas write the names of rows


def why_identifier(column: Column) -> str | None:
    """Why a column of numbers looks like an identifier; None if it may be a measurement."""
    numbers = column.numbers
    values = numbers.values[~numbers.missing]
    if len(values) < 2 or not np.isfinite(values).all() or not (values == np.trunc(values)).all():
        return None
    is_long = bool(np.abs(values).max() >= _EXACT_WHOLE)
    if is_long and not all(is_whole(cell) for cell in column.texts if cell.strip()):
        return None  # floats of this size are whole, whatever they measure
    counts = _counts(column, values, is_long)
    few = len(values) <= _MOST_REPEATS * len(counts)
    if _is_named(column.name, few) and len(counts) > min(2, len(values) - 1):
        return "whole numbers, named like an identifier"
    if _has_codes(column, values):
        return "codes: zeros before the digits"
    if few and (is_long or _surprise(values, counts) >= _SURPRISE):
        if len(counts) == len(values):
            return "whole numbers, all different: an identifier?"
        return "whole numbers that repeat less than by chance: an identifier?"
    if _counts_up(values):
        return "whole numbers that count up row by row: an identifier?"
    return None


def _is_named(name: str, few: bool) -> bool:
    words = _WORD.findall(name) or [""]
    if words[0].lower() in _NAMES or words[-1].lower() in _NAMES:
        return True
    return few and (name in _WHOLE_NAMES or words[-1] in _VAGUE)


def _counts(column: Column, values: FloatArray, is_long: bool) -> FloatArray:
    """How often each value occurs; neighbours among long ones are told apart by their digits."""
    if is_long:
        found = Counter(cell for cell in column.texts if cell.strip())
        return np.array(list(found.values()), dtype=np.float64)
    return np.unique(values, return_counts=True)[1].astype(np.float64)


def _surprise(values: FloatArray, counts: FloatArray) -> float:
    """-log of a bound on the chance that independent draws have so few pairs of equal values.

    Of all distributions on a range of whole numbers the uniform one has the fewest such pairs,
    n(n-1)/2 divided by the size of the range; their number is about Poisson (Chernoff's bound).
    """
    n = len(values)
    expected = n * (n - 1) / 2 / (values.max() - values.min() + 1)
    pairs = float((counts * (counts - 1)).sum()) / 2
    if pairs >= expected:
        return 0.0
    return float(expected - pairs + (pairs * np.log(pairs / expected) if pairs else 0.0))


def _counts_up(values: FloatArray) -> bool:
    """Each row has more than the one before, in steps at least as even as random arrivals have.

    A table may be sorted by what was measured; its steps are larger at the ends.
    """
    if len(values) < _ROWS_IN_ORDER:
        return False
    steps = np.diff(values)
    return bool((steps > 0).all() and steps.std() <= steps.mean())


def _has_codes(column: Column, values: FloatArray) -> bool:
    if not isinstance(column, TextColumn) or values.min() < 0:
        return False
    largest = values.max()
    if largest < _SHORTEST_CODE or values.min() >= 10.0 ** np.floor(np.log10(largest)):
        return False  # all have as many digits as the largest
    return any(_CODE.fullmatch(cell) for cell in column.texts)
