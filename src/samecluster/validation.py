"""What users pass to the doors of the package, checked once; below them it is trusted."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Literal

import numpy as np

from samecluster._parameters import whole_number
from samecluster._resolution import far_values
from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import FarValuesWarning, InvalidInputError
from samecluster.lifts.lift import ColumnMap, fitted_lift
from samecluster.questions.given_groups import groups_as_pairs
from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Answer, Question


def warn_of_far_values(points: FloatArray, names: Sequence[str] = ()) -> None:
    """Name columns and rows with values far beyond all others, such as codes for "unknown".

    Labels are no less right for them, but the mixture that guides questions sees less.
    """
    for found in far_values(points):
        column = repr(names[found.column]) if names else str(found.column)
        warnings.warn(found.said(column), FarValuesWarning, stacklevel=3)


def checked_given(answers: Iterable[Any], n: int) -> Iterator[Answer]:
    for answer in answers:
        if not isinstance(answer, Answer):
            raise InvalidInputError(f"answers must be Answer objects, got {answer!r}")
        if max(answer.question.pair) >= n:
            raise InvalidInputError(f"{answer.question} is about a row that does not exist")
        yield answer


def checked_known(known: Any, n: int) -> list[Answer]:
    """Groups of rows that are known, as answers."""
    if known is None:
        return []
    groups = _checked_groups(known, n, "known")
    return [
        Answer(Question(row, other), verdict)
        for row, other, verdict in groups_as_pairs(groups, "known")
    ]


def checked_hint(hint: Any, n: int) -> IntArray | None:
    """Groups that somebody believes in as numbers (n,), -1 where there is none."""
    if hint is None:
        return None
    number_of: dict[Hashable, int] = {}
    hints = np.full(n, -1, dtype=np.int64)
    for row, group in _checked_groups(hint, n, "hint"):
        hints[row] = number_of.setdefault(group, len(number_of))
    return hints


def checked_first(first: Any, n: int) -> BoolArray | None:
    """Rows to ask about before others, as marks (n,)."""
    if first is None:
        return None
    rows = np.asarray(first)
    if rows.ndim != 1 or not (rows.dtype.kind in "iu" or not len(rows)):
        raise InvalidInputError("first must be numbers of rows")
    rows = rows.astype(np.int64)
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        raise InvalidInputError(f"first must be numbers of rows from 0 to {n - 1}")
    marks = np.zeros(n, dtype=np.bool_)
    marks[rows] = True
    return marks


def _checked_groups(given: Any, n: int, parameter: str) -> list[tuple[int, Hashable]]:
    """The rows that have a group, with it."""
    # Among objects, as an array of text would turn NaN and numbers into text.
    values = np.asarray(given, dtype=object)
    if values.shape != (n,):
        raise InvalidInputError(
            f"{parameter} must have a group for each of the {n} rows, or None where it is not "
            f"known; got shape {values.shape}"
        )
    groups: list[tuple[int, Hashable]] = []
    for row, value in enumerate(values.tolist()):
        group = value.strip() if isinstance(value, str) else value
        if not isinstance(group, Hashable):
            raise InvalidInputError(
                f"{parameter} must have a number or a text in each row, got {value!r} in row {row}"
            )
        if not _is_unknown(group):
            groups.append((row, group))
    return groups


def _is_unknown(group: Hashable) -> bool:
    """None, NaN and its kin (which do not equal themselves), a blank text, or -1."""
    if group is None or (isinstance(group, str) and not group):
        return True
    try:
        return bool(group != group or group == -1)
    except TypeError:  # pandas.NA says neither yes nor no
        return True


def checked_n_clusters(n_clusters: Any, n: int) -> int | None:
    if n_clusters is None:
        return None
    if not isinstance(n_clusters, numbers.Integral) or isinstance(n_clusters, bool):
        raise InvalidInputError(f"n_clusters must be a whole number, got {n_clusters!r}")
    k = int(n_clusters)
    if not 2 <= k <= n:
        raise InvalidInputError(f"n_clusters must be from 2 to the number of points ({n}), got {k}")
    return k


def checked_margin(margin: Any) -> float | None:
    if isinstance(margin, str) and margin == "auto":
        return None
    if not isinstance(margin, numbers.Real) or isinstance(margin, bool):
        raise InvalidInputError(f'margin must be a number or "auto", got {margin!r}')
    gamma = float(margin)
    if not (gamma > 0 and math.isfinite(gamma)):
        raise InvalidInputError(f"margin must be above 0 and finite, got {margin}")
    return gamma


def checked_audit(audit: Any) -> tuple[float, float] | None:
    if audit is None:
        return None
    try:
        error, confidence = (float(value) for value in audit)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"audit must be two numbers, (error, confidence) such as (0.01, 0.95), got {audit!r}"
        ) from None
    if not (0 <= error < 1 and 0 < confidence < 1):
        raise InvalidInputError(
            "audit must be an error from 0 to below 1 and a confidence between 0 and 1, "
            f"got {audit!r}"
        )
    return error, confidence


def checked_error_rate(error_rate: Any) -> float:
    rate = float(error_rate) if isinstance(error_rate, numbers.Real) else math.nan
    if not 0 <= rate < 0.5:
        raise InvalidInputError(f"error_rate must be from 0 to below 1/2, got {error_rate!r}")
    return rate


def checked_expected_error(expected_error: Any) -> float:
    share = float(expected_error) if isinstance(expected_error, numbers.Real) else math.nan
    if not 0 <= share < 1:
        raise InvalidInputError(
            f"expected_error must be a share from 0 to below 1, got {expected_error!r}"
        )
    return share


def checked_limit(name: str, limit: Any) -> int | None:
    return None if limit is None else whole_number(name, limit)


def checked_looks(looks: Any) -> LookSizes:
    if isinstance(looks, LookSizes):
        return looks
    if looks == "pairs":
        return PAIRS
    if looks == "auto":
        return LookSizes()
    raise InvalidInputError(f'looks must be "pairs", "auto" or LookSizes, got {looks!r}')


def checked_lift(
    lift: Any, names: Sequence[str], points: FloatArray
) -> ColumnMap | Literal["auto"] | None:
    """The lift for the columns of ``points`` (n, d), which may have names; None for none."""
    if lift is None:
        return None
    if isinstance(lift, str) and lift == "auto":
        return "auto"
    low, high = points.min(axis=0), points.max(axis=0)
    return fitted_lift(lift, low, high, points, list(names))


def generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"random_state must be None, a whole number or a generator, got {random_state!r}"
        ) from None
