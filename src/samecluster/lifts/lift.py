"""What a lift is: columns in, lifted columns out, a name, and a form that proofs can state.

A cluster has margin γ *in a lift* φ if it has margin γ among the points φ(x). Nothing that is
proven about points uses that their columns are the original ones (docs/lifts.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.lifts.polynomial import DEGREES, Polynomial, PolynomialColumns

MOST_COLUMNS = 400
"""Lifted columns: a proof of one label has as many numbers, and a person answers about as many
questions per cluster."""

_TRIED = 1_000  # rows on which a user's lift is computed twice
_ALIKE = 1e-6  # relative: sums of products may be added up in another order, no more


class Lift(Protocol):
    """A lift of your own: any function of rows to rows of numbers; each row stands by itself.

    ``__name__`` or ``name`` is what proofs call it. A proof is then about the numbers that it
    returns, and says so: what they have to do with the original columns is not checked.
    """

    def __call__(self, X: FloatArray, /) -> Any:
        """Lifted columns (n, D) of points (n, d)."""
        ...


class ColumnMap(Protocol):
    """A lift of certain columns, with all numbers that it needs."""

    kind: ClassVar[str]

    def apply(self, X: Array) -> FloatArray:
        """Lifted columns (n, D) of points (n, d); the same bits whatever other rows there are."""
        ...

    def to_json(self) -> dict[str, Any]:
        """As the header of a proof states it."""
        ...

    def said(self) -> str:
        """What comes after "in"."""
        ...


class OwnColumns:
    """What a user's function returns. Read back from a proof, there is no function."""

    kind: ClassVar[str] = "own"

    def __init__(self, name: str, function: Callable[[FloatArray], Any] | None = None) -> None:
        self.name, self._function = name, function

    def apply(self, X: Array) -> FloatArray:
        if self._function is None:
            raise InvalidInputError(
                f"the lift {self.name!r} is a function that is not stored; apply it yourself"
            )
        lifted = np.asarray(self._function(np.asarray(X, dtype=np.float64)))
        if lifted.ndim != 2 or len(lifted) != len(X):
            raise InvalidInputError(
                f"lift: {self.name} must return a row for each of {len(X)} rows, got shape "
                f"{lifted.shape}"
            )
        if lifted.dtype.kind not in "fiub":
            raise InvalidInputError(f"lift: {self.name} must return numbers, got {lifted.dtype}")
        lifted = np.ascontiguousarray(lifted, dtype=np.float64)
        if not np.isfinite(lifted).all():
            row, column = np.argwhere(~np.isfinite(lifted))[0]
            raise InvalidInputError(
                f"lift: {self.name} returned {lifted[row, column]} in lifted column {column} for "
                f"row {row}; only finite numbers are allowed"
            )
        return lifted

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name}

    def said(self) -> str:
        return f"what the lift {self.name!r} returned"


def fitted_lift(
    lift: str | Polynomial | Lift,
    low: FloatArray,
    high: FloatArray,
    sample: FloatArray,
    names: Sequence[str] = (),
) -> ColumnMap:
    """The lift that a user named, for columns (d,) from ``low`` to ``high``, called ``names``.

    A function is tried on the ``sample`` (m, d). InvalidInputError says what is wrong with it.
    """
    chosen = named_lift(lift)
    if isinstance(chosen, Polynomial):
        width = chosen.width(int(np.count_nonzero(high > low)))
        if width > MOST_COLUMNS:
            raise InvalidInputError(
                f"lift: degree {chosen.degree} makes {width:,} columns of "
                f"{np.count_nonzero(high > low)}, and at most {MOST_COLUMNS} are allowed; use a "
                "lower degree or fewer columns"
            )
        return chosen.fitted(low, high, names)
    own = OwnColumns(_name_of(chosen), chosen)
    _try(own, sample[:_TRIED])
    return own


def named_lift(lift: str | Polynomial | Lift) -> Polynomial | Lift:
    """What "quadratic" and other words stand for; anything else if it can be a lift."""
    if isinstance(lift, str):
        if lift in DEGREES:
            return Polynomial(DEGREES[lift])
    elif isinstance(lift, Polynomial) or (callable(lift) and not isinstance(lift, type)):
        return lift
    words = ", ".join(f'"{word}"' for word in DEGREES)
    raise InvalidInputError(f"lift must be {words}, Polynomial(degree) or a function, got {lift!r}")


def lift_from_json(stored: Mapping[str, Any] | None, names: Sequence[str] = ()) -> ColumnMap | None:
    """The lift that a header states, of columns called ``names``; ValueError if there is none."""
    if stored is None:
        return None
    if stored.get("kind") == PolynomialColumns.kind:
        return PolynomialColumns.from_json(stored, names)
    if stored.get("kind") == OwnColumns.kind:
        return OwnColumns(str(stored["name"]))
    raise ValueError(f"there is no lift of the kind {stored.get('kind')!r}")


def in_lift(points: Array, lift: ColumnMap | None) -> FloatArray:
    """Points (n, d) in the columns that a margin is about: as they are, if there is no lift."""
    return points if lift is None else lift.apply(points)


def proof_data(points: FloatArray, lifted: FloatArray, lift: ColumnMap | None) -> FloatArray:
    """What a proof's fingerprint is of: the data, or what a function of the user returned."""
    return lifted if isinstance(lift, OwnColumns) else points


def _name_of(function: Any) -> str:
    name = getattr(function, "name", None) or getattr(function, "__name__", "")
    return name if isinstance(name, str) and name else type(function).__name__


def _try(own: OwnColumns, sample: FloatArray) -> None:
    """Refuse a function that returns too much, nothing that varies, or not the same twice."""
    first, second = own.apply(sample.copy()), own.apply(sample.copy())
    if first.shape[1] > MOST_COLUMNS:
        raise InvalidInputError(
            f"lift: {own.name} returns {first.shape[1]} columns; at most {MOST_COLUMNS} are allowed"
        )
    if not first.shape[1] or (first == first[0]).all():
        raise InvalidInputError(f"lift: {own.name} returns the same for every row")
    half: IntArray = np.arange(0, len(sample), 2)
    if not np.array_equal(first, second):
        raise InvalidInputError(
            f"lift: {own.name} does not return the same twice; fix its random state"
        )
    alone = own.apply(sample[half])
    if alone.shape[1:] != first.shape[1:] or not np.allclose(alone, first[half], _ALIKE, _ALIKE):
        raise InvalidInputError(
            f"lift: {own.name} returns something else for a row if other rows are left out; a lift "
            "must take each row by itself"
        )
