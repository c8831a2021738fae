"""One column of a table: its cells as they came, and what they are as numbers or as text.

`typed_value` is the one rule for cells of a text file that may be numbers or codes such as 007.
"""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.tables.reading.dialect import Dialect, number_pattern

_CODE = re.compile(r"\s*[-+]?0[0-9]")


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column as numbers: ``values`` (n,) has NaN where there is none.

    ``missing`` (n,) marks cells without a value; ``not_numbers`` has the rows whose cells are
    something else than a number.
    """

    values: FloatArray
    missing: BoolArray
    not_numbers: IntArray

    @cached_property
    def n_numbers(self) -> int:
        return len(self.values) - int(np.count_nonzero(self.missing)) - len(self.not_numbers)

    @property
    def has_text(self) -> bool:
        """Some cells are something else than a number; numbers among them are codes or names."""
        return len(self.not_numbers) > 0

    @cached_property
    def infinite(self) -> IntArray:
        return np.flatnonzero(np.isinf(self.values))

    @cached_property
    def in_order(self) -> FloatArray:
        """The numbers that there are, sorted."""
        return np.sort(self.values[~np.isnan(self.values)])

    def percentile(self, row: int) -> float | None:
        """Where a row's number stands among all, 0 to 100; ties share the middle."""
        value = self.values[row]
        if np.isnan(value):
            return None
        below, up_to = (np.searchsorted(self.in_order, value, side=s) for s in ("left", "right"))
        return float(50.0 * (below + up_to) / len(self.in_order))


class Column(Protocol):
    """A column of any kind of table, as the rest of this package uses it."""

    name: str

    def __len__(self) -> int: ...

    @property
    def numbers(self) -> Numbers: ...

    @property
    def texts(self) -> Sequence[str]:
        """Each cell as text; blank where there is no value."""

    @property
    def missing(self) -> BoolArray: ...


class Cells(Protocol):
    """The cells of a text table, cut out of the text when they are needed."""

    n_rows: int

    def column(self, at: int) -> Sequence[str]: ...

    def floats(self, at: int) -> FloatArray | None:
        """A column as numbers if that is known without its cells."""


class TextColumn:
    """Cells as they stand in a text file."""

    def __init__(self, name: str, cells: Cells, at: int, dialect: Dialect) -> None:
        self.name = name
        self._cells, self._at = cells, at
        self._decimal = dialect.decimal
        self._no_value = frozenset(dialect.missing) | {""}
        self._no_number = numbers_among(dialect.missing, dialect.decimal)

    def __len__(self) -> int:
        return self._cells.n_rows

    @cached_property
    def texts(self) -> Sequence[str]:
        return self._cells.column(self._at)

    @cached_property
    def numbers(self) -> Numbers:
        values = self._cells.floats(self._at)
        if values is None or np.isnan(values).any():
            values = self._quickly()
        if values is None:
            return self._cell_by_cell()
        missing = np.isin(values, self._no_number)
        values = np.where(missing, np.nan, values) if missing.any() else values
        return Numbers(values, missing, np.empty(0, dtype=np.int64))

    @cached_property
    def missing(self) -> BoolArray:
        if "numbers" in self.__dict__:
            return self.numbers.missing
        no_value = self._no_value
        return np.fromiter((c.strip() in no_value for c in self.texts), np.bool_, len(self))

    def _quickly(self) -> FloatArray | None:
        """All cells at once, or None if one of them needs a closer look."""
        cells: Sequence[str] = self.texts
        together = "".join(cells)
        if "_" in together or not together.isascii():  # Python reads 1_000 and digits of any script
            return None
        if self._decimal == ",":
            if "." in together:
                return None
            cells = [cell.replace(",", ".") for cell in cells]
        try:
            values = np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            return None
        return None if np.isnan(values).any() else values

    def _cell_by_cell(self) -> Numbers:
        matches = number_pattern(self._decimal).fullmatch
        values = np.full(len(self), np.nan)
        missing = np.zeros(len(self), dtype=np.bool_)
        not_numbers = []
        for row, cell in enumerate(self.texts):
            if cell.strip() in self._no_value:
                missing[row] = True
            elif matches(cell) and cell.strip().lower() not in ("nan", "+nan", "-nan"):
                values[row] = float(cell.replace(",", ".") if self._decimal == "," else cell)
                missing[row] = values[row] in self._no_number
            else:
                not_numbers.append(row)
        values[missing] = np.nan
        return Numbers(values, missing, np.array(not_numbers, dtype=np.int64))


class TypedColumn:
    """Values with types of their own: an array of numbers, or Python objects with None for none."""

    def __init__(self, name: str, values: Array | Sequence[Any]) -> None:
        self.name = name
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def numbers(self) -> Numbers:
        values = self.values
        floats = _all_floats(values)
        if floats is not None:
            return Numbers(floats, np.isnan(floats), np.empty(0, dtype=np.int64))
        found = np.full(len(values), np.nan)
        missing = self.missing
        not_numbers = []
        for row, value in enumerate(values):
            if missing[row]:
                continue
            if _is_number(value):
                found[row] = _as_float(value)
            else:
                not_numbers.append(row)
        return Numbers(found, missing, np.array(not_numbers, dtype=np.int64))

    @cached_property
    def missing(self) -> BoolArray:
        values = self.values
        if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
            return np.asarray(np.isnan(values))
        if set(map(type, values)) <= {str, int, bool}:
            return np.zeros(len(values), dtype=np.bool_)
        return np.fromiter((_is_none(value) for value in values), np.bool_, len(values))

    @cached_property
    def texts(self) -> Sequence[str]:
        values: Any = self.values
        if isinstance(values, np.ndarray) and values.dtype.itemsize == 8:
            values = values.tolist()  # Python's own numbers are quicker; narrow floats would widen
        return [plain_text(value) for value in values]

    def without(self, words: Sequence[str]) -> TypedColumn:
        """The same with no value where one of these words, or its number, stands."""
        values: Any = self.values
        absent = np.isin(self.numbers.values, numbers_among(words))
        if not isinstance(values, np.ndarray):
            absent |= np.array([plain_text(value).strip() in words for value in values])
        if not absent.any():
            return self
        kept = (None if gone else value for gone, value in zip(absent, values, strict=True))
        return TypedColumn(self.name, list(kept))


def numbers_among(words: Sequence[str], decimal: str = ".") -> list[float]:
    """The words that are numbers, such as -999."""
    matches = number_pattern(decimal).fullmatch
    found = [float(word.replace(decimal, ".")) for word in words if matches(word)]
    return [number for number in found if number == number]


def _all_floats(values: Array | Sequence[Any]) -> FloatArray | None:
    """Values that are all numbers, as floats."""
    if isinstance(values, np.ndarray):
        return values.astype(np.float64) if values.dtype.kind in "fiu" else None
    if not set(map(type, values)) <= {int, float}:
        return None
    try:
        return np.fromiter(values, np.float64, len(values))
    except OverflowError:
        return None


def is_whole(text: str) -> bool:
    """Digits only, but for a sign and space around."""
    return text.strip().lstrip("+-").isdecimal()


def typed_value(text: str, value: float) -> int | float | str:
    """A cell whose number is ``value``: whole, a float, or its text if it is a code such as 007.

    >>> typed_value(" 12", 12.0), typed_value("1.5", 1.5), typed_value("007", 7.0)
    (12, 1.5, '007')
    """
    if _CODE.match(text):
        return text  # as a number it would lose its zeros
    return int(text) if is_whole(text) else value


def plain_text(value: Any) -> str:
    """A value as text that reads back as the same value; blank for none."""
    if _is_none(value):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float):
        return repr(float(value))
    return str(value)


def _is_none(value: Any) -> bool:
    if value is None:
        return True
    # NaN and the missing values of data frames are not equal to themselves.
    try:
        return not isinstance(value, str | list | dict) and bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ in ("NAType", "NaTType")


def _is_number(value: Any) -> bool:
    return isinstance(
        value, int | float | decimal.Decimal | np.integer | np.floating
    ) and not isinstance(value, bool)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
