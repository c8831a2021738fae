"""From a table to a matrix of features: fitted once, kept as JSON, applied from then on.

Guaranteed: the same cells and the same preparation give the same bits, on any machine with IEEE
arithmetic. Fitting (means, components) may differ in the last bits between machines; that is why a
session fits once and keeps the result. Pixels come from an image decoder and are the same only if
the decoder is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.tables.features.components import Components
from samecluster.tables.features.encoders import (
    CategoryEncoder,
    Encoder,
    GivenEncoder,
    NumberEncoder,
)
from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.features.select import (
    ColumnSelection,
    missing_values_message,
    not_numbers_message,
    rows_with_missing,
    select_columns,
)
from samecluster.tables.features.text import TextEncoder
from samecluster.tables.table import Table

__all__ = ["Preparation"]

_VERSION = 1
_KINDS: tuple[Any, ...] = (NumberEncoder, CategoryEncoder, GivenEncoder, TextEncoder)


@dataclass(frozen=True, eq=False)
class Preparation:
    """How a table becomes a matrix.

    >>> from samecluster.tables import as_table
    >>> table = as_table({"x": [1.0, 2.0, 6.0], "kind": ["a", "b", "a"]})
    >>> preparation = Preparation.fit(table, FeatureOptions(categories=("kind",)))
    >>> preparation.apply(table).shape
    (3, 3)
    >>> again = Preparation.from_json(preparation.to_json())
    >>> bool((again.apply(table) == preparation.apply(table)).all())
    True
    """

    encoders: tuple[Encoder, ...]
    components: Components | None
    drop_missing: bool

    @classmethod
    def fit(cls, table: Table, options: FeatureOptions | None = None) -> Preparation:
        """Choose the columns, and learn scales, words and components from the table."""
        return cls.of_selection(select_columns(table, options or FeatureOptions()))

    @classmethod
    def of_selection(cls, selection: ColumnSelection) -> Preparation:
        """As `fit`, for columns that have been chosen."""
        if selection.problems:
            first, *others = selection.problems
            more = f" (and {len(others)} more problems)" if others else ""
            raise InvalidInputError(first + more)
        table, options = selection.table, selection.options
        rows = np.flatnonzero(~selection.missing)
        encoders: list[Encoder] = []
        if selection.numbers:
            encoders.append(NumberEncoder.fit(table, rows, selection.numbers, options.scale))
        encoders += [CategoryEncoder.fit(table, rows, name) for name in options.categories]
        encoders += [
            TextEncoder.fit(table, rows, name, options.text_dimensions) for name in options.texts
        ]
        encoders += [GivenEncoder.fit(table, rows, name, options.scale) for name in table.matrices]
        unreduced = cls(tuple(encoders), None, options.drop_missing)
        if options.reduce is None:
            return unreduced
        components = Components.fit(unreduced.apply(table), options.reduce)
        return cls(tuple(encoders), components, options.drop_missing)

    @property
    def width(self) -> int:
        """The number of features."""
        if self.components is not None:
            return self.components.width
        return sum(encoder.width for encoder in self.encoders)

    @property
    def number_columns(self) -> tuple[str, ...]:
        numbers = (one for one in self.encoders if isinstance(one, NumberEncoder))
        return tuple(name for encoder in numbers for name in encoder.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that features are made of."""
        others = (one for one in self.encoders if isinstance(one, CategoryEncoder | TextEncoder))
        return (*self.number_columns, *(encoder.column for encoder in others))

    def kept(self, table: Table) -> IntArray:
        """The rows that have features: all, or those without missing values if so prepared."""
        missing = rows_with_missing(table, self.number_columns, self.columns)
        if missing.any() and not self.drop_missing:
            raise InvalidInputError(missing_values_message(table, self.columns, missing))
        return np.flatnonzero(~missing)

    def apply(self, table: Table) -> FloatArray:
        """The matrix (kept rows, width), in the order of the table."""
        for name in self.number_columns:
            numbers = table.column(name).numbers
            bad = np.union1d(numbers.not_numbers, numbers.infinite)
            if len(bad):
                raise InvalidInputError(not_numbers_message(table, table.column(name), bad))
        rows = self.kept(table)
        parts = [encoder.apply(table, rows) for encoder in self.encoders]
        X = parts[0] if len(parts) == 1 else np.hstack(parts)
        return self.components.apply(X) if self.components else X

    def to_json(self) -> str:
        """Everything that `apply` needs. Words and categories are kept as hashes only."""
        return json.dumps(
            {
                "version": _VERSION,
                "blocks": [encoder.to_json() for encoder in self.encoders],
                "components": self.components and self.components.to_json(),
                "drop_missing": self.drop_missing,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Preparation:
        """The preparation that was written by `to_json`."""
        stored = json.loads(text)
        if stored.get("version") != _VERSION:
            raise InvalidInputError(
                f"this preparation has version {stored.get('version')}; only {_VERSION} is known"
            )
        kinds = {kind.kind: kind for kind in _KINDS}
        components = stored["components"]
        return cls(
            tuple(kinds[block["kind"]].from_json(block) for block in stored["blocks"]),
            Components.from_json(components) if components else None,
            bool(stored["drop_missing"]),
        )
