"""An item as it is shown to the person who is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from samecluster.tables.features.options import FeatureOptions
from samecluster.tables.reading.images import is_image_folder
from samecluster.tables.table import Table

__all__ = ["ShownCell", "columns_to_show", "shown"]

_MOST_SHOWN = 12


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
        # Among text, a number is a code or a name; where it stands would say nothing.
        percentile = None if len(numbers.odd) else numbers.percentile(row)
        cells.append(ShownCell(name, column.texts[row], percentile))
    return cells


def columns_to_show(
    table: Table, wanted: FeatureOptions, most: int = _MOST_SHOWN
) -> tuple[str, ...]:
    """What to show unless told: the id, then text, then numbers; never the truth or labels."""
    kept_back = {wanted.truth, wanted.labels, *wanted.ignore}
    if is_image_folder(table):
        kept_back.add("content")  # a hash, by which the image is known again
    names = [name for name in table.names if name not in kept_back and name != wanted.id_column]
    if wanted.features is not None:
        also = (*wanted.features, *wanted.categories, *wanted.texts)
        names = [n for n in names if n in also or len(table.column(n).numbers.odd)]
    text_first = sorted(names, key=lambda name: not len(table.column(name).numbers.odd))
    first = () if wanted.id_column is None else (wanted.id_column,)
    chosen = {*first, *text_first[: most - len(first)]}
    return tuple(name for name in table.names if name in chosen)
