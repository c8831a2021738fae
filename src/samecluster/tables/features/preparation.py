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
from samecluster.tables.features.bad_cells import bad_cells_message
from samecluster.tables.features.components import Components
from samecluster.tables.features.encoders import (
    CategoryEncoder,
    Encoder,
    GivenEncoder,
    NumberEncoder,
    VectorEncoder,
)
from samecluster.tables.features.missing import GapEncoder, MissingCells
from samecluster.tables.features.model_embedding import ModelEmbeddingEncoder
from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.features.select import ColumnSelection, select_columns
from samecluster.tables.features.static_embedding import StaticEmbeddingEncoder
from samecluster.tables.features.text import TextEncoder
from samecluster.tables.table import Table

_VERSIONS = (1, 2)  # the first knew no filled cells and no logarithms; the last is written
_KINDS: tuple[Any, ...] = (
    NumberEncoder,
    GapEncoder,
    CategoryEncoder,
    GivenEncoder,
    TextEncoder,
    StaticEmbeddingEncoder,
    ModelEmbeddingEncoder,
)


def _text_encoder(table: Table, rows: IntArray, name: str, options: FeatureOptions) -> Encoder:
    if options.embed is not None:
        return ModelEmbeddingEncoder.fit(table, rows, name, options.embed, options.scale)
    if options.text_method == "words":
        return TextEncoder.fit(table, rows, name, options.text_dimensions)
    return StaticEmbeddingEncoder.fit(table, rows, name, options.scale)


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
    missing: str

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
        missing = selection.missing
        fills = options.missing == "median"
        rows = np.arange(len(table)) if fills else np.flatnonzero(~missing.rows)
        encoders: list[Encoder] = []
        if selection.numbers:
            numbers, logs = selection.numbers, selection.logarithms
            encoders.append(NumberEncoder.fit(table, rows, numbers, options.scale, fills, logs))
        if fills and missing.numbers:
            encoders.append(GapEncoder.fit(table, missing.numbers))
        encoders += [CategoryEncoder.fit(table, rows, name) for name in options.categories]
        encoders += [_text_encoder(table, rows, name, options) for name in options.texts]
        encoders += [GivenEncoder.fit(table, rows, name, options.scale) for name in table.matrices]
        if options.embed is not None and options.embeds_pictures_of(table):
            one = ModelEmbeddingEncoder.fit(table, rows, None, options.embed, options.scale)
            encoders.append(one)
        unreduced = cls(tuple(encoders), None, options.missing)
        if options.reduce is None:
            return unreduced
        components = Components.fit(unreduced.apply(table), options.reduce)
        return cls(tuple(encoders), components, options.missing)

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
    def logarithms(self) -> tuple[str, ...]:
        """The columns of numbers that are used as logarithms."""
        numbers = (one for one in self.encoders if isinstance(one, NumberEncoder))
        return tuple(name for encoder in numbers for name in encoder.logarithms)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that features are made of."""
        kinds = CategoryEncoder | TextEncoder | VectorEncoder
        others = (one.column for one in self.encoders if isinstance(one, kinds))
        return (*self.number_columns, *(column for column in others if column is not None))

    def missing_in(self, table: Table) -> MissingCells:
        """The cells of a table that lack a value, in columns that features are made of."""
        return MissingCells.of(table, self.number_columns, self.columns)

    def unseen_categories(self, table: Table) -> dict[str, list[str]]:
        """By column, the categories of a table that were not there when this was fitted."""
        encoders = (one for one in self.encoders if isinstance(one, CategoryEncoder))
        found = {encoder.column: encoder.unseen(table) for encoder in encoders}
        return {column: texts for column, texts in found.items() if texts}

    def kept(self, table: Table) -> IntArray:
        """The rows that have features: all, or those without missing values if so prepared."""
        missing = self.missing_in(table)
        if missing.stops(self.missing):
            raise InvalidInputError(missing.problem())
        return np.flatnonzero(~missing.rows) if self.missing == "drop" else np.arange(len(table))

    def apply(self, table: Table) -> FloatArray:
        """The matrix (kept rows, width), in the order of the table."""
        bad = bad_cells_message(table, [table.column(name) for name in self.number_columns])
        if bad is not None:
            raise InvalidInputError(bad)
        rows = self.kept(table)
        parts = [encoder.apply(table, rows) for encoder in self.encoders]
        X = parts[0] if len(parts) == 1 else np.hstack(parts)
        return self.components.apply(X) if self.components else X

    def to_json(self) -> str:
        """Everything that `apply` needs. Words and categories are kept as hashes only."""
        return json.dumps(
            {
                "version": _VERSIONS[-1],
                "blocks": [encoder.to_json() for encoder in self.encoders],
                "components": self.components and self.components.to_json(),
                "missing": self.missing,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> Preparation:
        """The preparation that was written by `to_json`."""
        stored = json.loads(text)
        if stored.get("version") not in _VERSIONS:
            raise InvalidInputError(
                f"this preparation has version {stored.get('version')}; only versions up to "
                f"{_VERSIONS[-1]} are known"
            )
        kinds = {kind.kind: kind for kind in _KINDS}
        components = stored["components"]
        return cls(
            tuple(kinds[block["kind"]].from_json(block) for block in stored["blocks"]),
            Components.from_json(components) if components else None,
            stored.get("missing", "drop" if stored.get("drop_missing") else "error"),
        )
