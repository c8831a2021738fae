"""From a table to the matrix that is clustered: fitted once, kept as JSON, applied ever after.

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
    choose,
    missing_values,
    not_numbers,
    rows_with_missing,
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

    blocks: tuple[Encoder, ...]
    components: Components | None
    drop_missing: bool

    @classmethod
    def fit(cls, table: Table, wanted: FeatureOptions | None = None) -> Preparation:
        """Choose the columns, and learn scales, words and components from the table."""
        wanted = wanted or FeatureOptions()
        return cls.of_choice(choose(table, wanted))

    @classmethod
    def of_choice(cls, choice: ColumnSelection) -> Preparation:
        """As `fit`, for columns that have been chosen."""
        if choice.problems:
            first, *others = choice.problems
            more = f" (and {len(others)} more problems)" if others else ""
            raise InvalidInputError(first + more)
        table, wanted = choice.table, choice.wanted
        rows = np.flatnonzero(~choice.missing)
        blocks: list[Encoder] = []
        if choice.numbers:
            blocks.append(NumberEncoder.fit(table, rows, choice.numbers, wanted.scale))
        blocks += [CategoryEncoder.fit(table, rows, name) for name in wanted.categories]
        blocks += [
            TextEncoder.fit(table, rows, name, wanted.text_dimensions) for name in wanted.texts
        ]
        blocks += [GivenEncoder.fit(table, rows, name, wanted.scale) for name in table.blocks]
        unreduced = cls(tuple(blocks), None, wanted.drop_missing)
        if wanted.reduce is None:
            return unreduced
        components = Components.fit(unreduced.apply(table), wanted.reduce)
        return cls(tuple(blocks), components, wanted.drop_missing)

    @property
    def width(self) -> int:
        """The number of features."""
        return self.components.width if self.components else sum(b.width for b in self.blocks)

    @property
    def number_columns(self) -> tuple[str, ...]:
        return tuple(n for b in self.blocks if isinstance(b, NumberEncoder) for n in b.columns)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that features are made of."""
        others = (b.column for b in self.blocks if isinstance(b, CategoryEncoder | TextEncoder))
        return (*self.number_columns, *others)

    def kept(self, table: Table) -> IntArray:
        """The rows that have features: all, or those without missing values if so prepared."""
        missing = rows_with_missing(table, self.number_columns, self.columns)
        if missing.any() and not self.drop_missing:
            raise InvalidInputError(missing_values(table, self.columns, missing))
        return np.flatnonzero(~missing)

    def apply(self, table: Table) -> FloatArray:
        """The matrix (kept rows, width), in the order of the table."""
        for name in self.number_columns:
            numbers = table.column(name).numbers
            bad = np.union1d(numbers.odd, numbers.infinite)
            if len(bad):
                raise InvalidInputError(not_numbers(table, table.column(name), bad))
        rows = self.kept(table)
        parts = [block.apply(table, rows) for block in self.blocks]
        X = parts[0] if len(parts) == 1 else np.hstack(parts)
        return self.components.apply(X) if self.components else X

    def to_json(self) -> str:
        """Everything that `apply` needs. Words and categories are kept as hashes only."""
        return json.dumps(
            {
                "version": _VERSION,
                "blocks": [block.to_json() for block in self.blocks],
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
