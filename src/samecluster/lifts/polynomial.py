"""All monomials of the columns up to a degree: rings, moons, spirals, one group inside another.

Each column is moved and scaled by stated dyadic numbers, then monomials are computed by single
rounded operations in a fixed order. So everybody gets the same bits, and the checker of proofs
computes them itself, with code of its own.

An ellipsoid of margin γ has margin at least 4γ(1+γ) in the quadratic lift: f = d_W(x, c)² is affine
in the lifted columns, with 0 ≤ f ≤ 1 on the cluster (scaled so) and f > 1+γ off it. So |2f−1| ≤ 1
on it and > 1+2γ off it, which is a slab of margin (1+2γ)² − 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from math import comb
from typing import Any, ClassVar

import numpy as np

from samecluster._typing import Array, FloatArray
from samecluster.errors import InvalidInputError

DEGREES = {"linear": 1, "quadratic": 2, "cubic": 3, "quartic": 4}
"""Words for degrees."""

_WORDS = {degree: word for word, degree in DEGREES.items()}
_ROWS = 8192  # computed at a time: a chunk of every column stays in the cache
_NAMED = 6  # columns in a sentence before it gets too long


@dataclass(frozen=True)
class Polynomial:
    """All monomials up to a degree, from 1 to 4, of the columns that vary.

    >>> Polynomial(2).width(2)  # x, y, x², xy, y²
    5
    """

    degree: int

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or self.degree not in _WORDS:
            raise InvalidInputError(f"degree must be 1, 2, 3 or 4, got {self.degree!r}")

    @property
    def name(self) -> str:
        return _WORDS[self.degree]

    def width(self, d: int) -> int:
        """How many monomials d columns have."""
        return comb(d + self.degree, self.degree) - 1

    def fitted(
        self, low: FloatArray, high: FloatArray, names: Sequence[str] = ()
    ) -> PolynomialColumns:
        """The same with its numbers, for columns (d,) that go from ``low`` to ``high``."""
        columns = np.flatnonzero(high > low)
        if not len(columns):
            raise InvalidInputError("lift: no column varies, so nothing can be lifted")
        low, high = low[columns], high[columns]
        shift = low / 2.0 + high / 2.0
        half = high / 2.0 - low / 2.0
        # Half of the smallest number there is is nothing, and huge ranges overflow unless halved.
        with np.errstate(over="ignore"):
            exponent = np.where(half > 0, np.frexp(half)[1], np.frexp(high - low)[1] - 1)
        return PolynomialColumns(
            self.degree,
            tuple(columns.tolist()),
            tuple(shift.tolist()),
            tuple(exponent.tolist()),
            tuple(str(names[j]) for j in columns.tolist()) if len(names) else (),
        )


@dataclass(frozen=True)
class PolynomialColumns:
    """Monomials of the columns u_j = (x_j − shift_j) / 2^exponent_j, for j in ``columns``.

    In the order of their degree, then of their columns: u_0, u_1, u_0², u_0 u_1, u_1², and so on;
    each is the one without its last factor, times that factor. ``names`` are what people call the
    columns, for sentences only.
    """

    kind: ClassVar[str] = "polynomial"
    degree: int
    columns: tuple[int, ...]
    shift: tuple[float, ...]
    exponent: tuple[int, ...]
    names: tuple[str, ...] = field(default=(), compare=False)

    @property
    def width(self) -> int:
        return Polynomial(self.degree).width(len(self.columns))

    def apply(self, X: Array) -> FloatArray:
        found = np.empty((len(X), self.width))
        products = self._products()
        for begin in range(0, len(X), _ROWS):
            part = X[begin : begin + _ROWS, list(self.columns)].astype(np.float64).T
            table = np.empty((self.width, part.shape[1]))
            first = table[: len(self.columns)]
            np.subtract(part, np.array(self.shift)[:, None], out=first)
            np.ldexp(first, -np.array(self.exponent)[:, None], out=first)
            for at, parents, factors in products:
                np.multiply(table[parents], first[factors], out=table[at : at + len(parents)])
            found[begin : begin + _ROWS] = table.T
        return found

    def _products(self) -> list[tuple[int, list[int], list[int]]]:
        """For each degree from 2 on: where it begins, and the two columns behind each monomial."""
        place: dict[tuple[int, ...], int] = {(j,): j for j in range(len(self.columns))}
        found = []
        for degree in range(2, self.degree + 1):
            begin = len(place)
            factors = [*combinations_with_replacement(range(len(self.columns)), degree)]
            found.append((begin, [place[f[:-1]] for f in factors], [f[-1] for f in factors]))
            place |= {f: begin + at for at, f in enumerate(factors)}
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "degree": self.degree,
            "columns": list(self.columns),
            "shift": [shift.hex() for shift in self.shift],
            "exponent": list(self.exponent),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any], names: Sequence[str] = ()) -> PolynomialColumns:
        """The one that was written by `to_json`; all columns are called ``names``."""
        return cls(
            Polynomial(stored["degree"]).degree,
            tuple(stored["columns"]),
            tuple(float.fromhex(shift) for shift in stored["shift"]),
            tuple(stored["exponent"]),
            tuple(str(names[j]) for j in stored["columns"]) if len(names) else (),
        )

    def said(self) -> str:
        names = self.names or [str(j) for j in self.columns]
        more = ", ..." if len(names) > _NAMED else ""
        s = "" if len(names) == 1 else "s"
        return f"the {_WORDS[self.degree]} lift of column{s} {', '.join(names[:_NAMED])}{more}"
