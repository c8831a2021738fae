"""Parts of a feature matrix: each is fitted once, kept as JSON, and applied to a table.

Applying uses only operations that IEEE arithmetic rounds in one way, in a fixed order: the same
table gives the same bits on every machine. Arrays of floats are kept as JSON text, bit for bit.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.features.logarithms import Logarithm, fitted_logarithm, logarithm
from samecluster.tables.table import Table

_NUMBERS_AT_ONCE = 2**18  # a part of the matrix that stays in the processor's cache
_SAFE_EXPONENT = 300  # squares of numbers within 2^±300 neither overflow nor vanish


class Encoder(Protocol):
    """Some columns of the feature matrix."""

    kind: ClassVar[str]

    @property
    def width(self) -> int: ...

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        """Features (len(rows), width) of the rows of a table."""

    def to_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True, eq=False)
class KeptAsJson:
    """Kept as JSON by its fields: names as they are, numbers by their bytes.

    A field that is None unless it is said otherwise is left out where it is.
    """

    def to_json(self) -> dict[str, Any]:
        made: dict[str, Any] = {"kind": self.kind} if hasattr(self, "kind") else {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value is not None or one.default is not None:
                made[one.name] = _stored(value)
        return made

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        known = {one.name: str(one.type) for one in fields(cls) if one.name in stored}
        return cls(**{name: _read(stored[name], kind) for name, kind in known.items()})


def _stored(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: packed(np.array(numbers)) for name, numbers in value.items()}
    if isinstance(value, float | np.ndarray):
        return packed(np.atleast_1d(value))
    return list(value) if isinstance(value, tuple) else value


def _read(value: Any, kind: str) -> Any:
    """What was stored of a field that is declared so."""
    if kind.startswith("Mapping"):
        return {name: tuple(unpacked(numbers).tolist()) for name, numbers in value.items()}
    if kind.startswith("FloatArray"):
        return unpacked(value)
    if kind == "float":
        return float(unpacked(value)[0])
    return tuple(value) if kind.startswith("tuple") else value


def key_of(text: str) -> str:
    """A word or category as it is kept: a session holds no cell values, so only their hashes."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, eq=False)
class NumberEncoder(KeptAsJson):
    """Columns of numbers: (x · 2^-exponent - mean) / scale; ``fill`` where there is none.

    ``logarithms`` has those of the columns that are used as such, instead of x.
    """

    columns: tuple[str, ...]
    exponent: FloatArray
    mean: FloatArray
    scale: FloatArray
    fill: FloatArray | None = None
    logarithms: Mapping[str, Logarithm] = field(default_factory=dict)
    kind: ClassVar[str] = "numbers"

    @classmethod
    def fit(
        cls,
        table: Table,
        rows: IntArray,
        columns: tuple[str, ...],
        scale: bool,
        fills: bool = False,
        logarithms: Collection[str] = (),
    ) -> NumberEncoder:
        """Mean and deviation of each column; without ``scale`` numbers stay as they are.

        If it ``fills``, the median of a column stands for numbers that are missing.
        """
        logs: dict[str, Logarithm] = {}
        d, logarithms = len(columns), frozenset(logarithms)
        exponent, mean, deviation, fill = np.zeros(d), np.zeros(d), np.ones(d), np.zeros(d)
        for at, name in enumerate(columns):
            values = table.column(name).numbers.values[rows]
            if fills:
                values = values[~np.isnan(values)]
                middle = (len(values) - 1) // 2  # of two in the middle the lower, as it occurs
                fill[at] = np.partition(values, middle)[middle]
            if not scale:
                continue
            if name in logarithms:
                logs[name] = fitted_logarithm(values)
                values = logarithm(values, logs[name])
            size = int(np.frexp(np.abs(values).max())[1])
            if abs(size) > _SAFE_EXPONENT:
                exponent[at] = size
                values = np.ldexp(values, -size)
            mean[at], spread = values.mean(), values.std()
            deviation[at] = spread if spread > 0 else 1.0
        return cls(columns, exponent, mean, deviation, fill if fills else None, logs)

    @property
    def width(self) -> int:
        return len(self.columns)

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        X = np.empty((len(rows), self.width))
        columns = [table.column(name).numbers.values for name in self.columns]
        step = max(1, _NUMBERS_AT_ONCE // self.width)
        for begin in range(0, len(rows), step):
            these, part = rows[begin : begin + step], X[begin : begin + step]
            for at, column in enumerate(columns):
                values = column[these]
                if self.fill is not None:
                    values = np.where(np.isnan(values), self.fill[at], values)
                if self.columns[at] in self.logarithms:
                    values = logarithm(values, self.logarithms[self.columns[at]])
                if self.exponent[at]:
                    values = np.ldexp(values, -int(self.exponent[at]))
                part[:, at] = (values - self.mean[at]) / self.scale[at]
        return X


@dataclass(frozen=True, eq=False)
class CategoryEncoder(KeptAsJson):
    """A column of categories: a 0/1 column for each. A category seen later has zeros only."""

    column: str
    keys: tuple[str, ...]
    kind: ClassVar[str] = "categories"

    @classmethod
    def fit(cls, table: Table, rows: IntArray, column: str) -> CategoryEncoder:
        texts, missing = table.column(column).texts, table.column(column).missing
        found = {texts[row].strip() for row in rows[~missing[rows]].tolist()}
        return cls(column, tuple(sorted(key_of(text) for text in found)))

    @property
    def width(self) -> int:
        return len(self.keys)

    def unseen(self, table: Table) -> list[str]:
        """The categories of a table that were not there when this was fitted."""
        column, known = table.column(self.column), set(self.keys)
        texts = {text.strip() for text in column.texts}
        lacking = {column.texts[row].strip() for row in np.flatnonzero(column.missing).tolist()}
        return sorted(text for text in texts - lacking if key_of(text) not in known)

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        texts = table.column(self.column).texts
        place = {key: at for at, key in enumerate(self.keys)}
        X = np.zeros((len(rows), self.width))
        known: dict[str, int | None] = {}
        for at, row in enumerate(rows.tolist()):
            text = texts[row].strip()
            if text not in known:
                known[text] = place.get(key_of(text))
            column = known[text]
            if column is not None:
                X[at, column] = 1.0
        return X


@dataclass(frozen=True, eq=False)
class GivenEncoder(KeptAsJson):
    """A matrix that came with the table (vectors, pixels): (x - mean) / scale.

    Its columns are in one unit, so they share one scale.
    """

    name: str
    mean: FloatArray
    scale: float
    kind: ClassVar[str] = "given"

    @classmethod
    def fit(cls, table: Table, rows: IntArray, name: str, scale: bool) -> GivenEncoder:
        return cls(name, *mean_and_scale(table.matrices[name][rows], scale))

    @property
    def width(self) -> int:
        return len(self.mean)

    def apply(self, table: Table, rows: IntArray) -> FloatArray:
        if self.name not in table.matrices:
            raise InvalidInputError(f"{table.source} comes without the {self.name} that are needed")
        given = table.matrices[self.name]
        if given.shape[1] != self.width:
            raise InvalidInputError(
                f"{table.source}: the {self.name} have {given.shape[1]} columns, not {self.width}"
            )
        return np.asarray((given[rows] - self.mean) / self.scale)


def mean_and_scale(X: FloatArray, scale: bool) -> tuple[FloatArray, float]:
    """The mean of columns in one unit, and the scale that they share; 0 and 1 without ``scale``."""
    if not scale:
        return np.zeros(X.shape[1]), 1.0
    spread = float(np.sqrt(X.var(axis=0).mean()))
    return X.mean(axis=0), spread if spread > 0 else 1.0


@dataclass(frozen=True, eq=False)
class VectorEncoder(KeptAsJson):
    """Vectors that a model makes of a column: (x - mean) / scale, one scale for all of them.

    ``model`` and ``fingerprint`` say which model it was; another one is refused later.
    """

    column: str | None
    model: str
    fingerprint: str
    mean: FloatArray
    scale: float
    kind: ClassVar[str]

    @property
    def width(self) -> int:
        return len(self.mean)

    def centred(self, vectors: FloatArray) -> FloatArray:
        return np.asarray((vectors - self.mean) / self.scale)


def packed(array: FloatArray) -> dict[str, Any]:
    """An array as a shape and the bytes of its numbers, in base 64."""
    little_endian = np.ascontiguousarray(array, dtype="<f8")
    return {
        "shape": list(array.shape),
        "float64": base64.b64encode(little_endian.tobytes()).decode("ascii"),
    }


def unpacked(stored: dict[str, Any]) -> FloatArray:
    """The array that was packed."""
    flat = np.frombuffer(base64.b64decode(stored["float64"]), dtype="<f8")
    return flat.reshape(stored["shape"]).astype(np.float64)
