"""The cells of an item as they are shown to people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.features.select import has_sentences
from samecluster.tables.reading.images import CONTENT, is_image_folder
from samecluster.tables.table import Table

_MOST_SHOWN = 12  # cells per item: two items still fit side by side on a screen


class ShownCell(NamedTuple):
    """A cell of an item; ``percentile`` (0 to 100) says where a number stands in its column."""

    column: str
    text: str
    percentile: float | None


def shown(table: Table, row: int, columns: Sequence[str] | None = None) -> list[ShownCell]:
    """The cells of a row, of all columns or of those that are named.

    >>> from samecluster.tables import as_table
    >>> table = as_table({"x": [1.0, 5.0, 3.0], "name": ["a", "b", "c"]})
    >>> shown(table, 2)
    [ShownCell(column='x', text='3.0', percentile=50.0), ShownCell(column='name', text='c', \
percentile=None)]
    """
    cells = []
    for name in table.names if columns is None else columns:
        column = table.column(name)
        numbers = column.numbers
        # A number among text is a code or a name; its percentile would say nothing.
        percentile = None if numbers.has_text else numbers.percentile(row)
        cells.append(ShownCell(name, column.texts[row], percentile))
    return cells


def columns_to_show(
    table: Table, options: FeatureOptions, most: int = _MOST_SHOWN
) -> tuple[str, ...]:
    """What to show by default: the id, then text, then numbers; never the truth or labels."""
    kept_back = {options.truth, options.labels, *options.ignore}
    if is_image_folder(table):
        kept_back.add(CONTENT)
    names = [name for name in table.names if name not in kept_back and name != options.id_column]
    if options.features is not None:
        also = (*options.features, *options.categories, *options.texts)
        names = [n for n in names if n in also or table.column(n).numbers.has_text]
    text_first = sorted(names, key=lambda name: not table.column(name).numbers.has_text)
    first = () if options.id_column is None else (options.id_column,)
    chosen = {*first, *text_first[: most - len(first)]}
    return tuple(name for name in table.names if name in chosen)


def telling_first(table: Table, columns: Sequence[str], features: Sequence[str]) -> tuple[str, ...]:
    """The columns in the order in which they help to tell groups apart, for where few have room.

    Sentences, then what features are made of, then the rest, and names last: all differ in them.
    """

    def rank(name: str) -> int:
        column = table.column(name)
        is_text = column.numbers.has_text
        if is_text and has_sentences(column):
            return 0
        if name in features:
            return 1
        return 3 if is_text and len(set(column.texts)) == len(column) else 2

    return tuple(sorted(columns, key=rank))
