"""Items side by side, as the person who is asked sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samecluster.errors import InvalidInputError
from samecluster.tables.display import ShownCell, columns_to_show, shown, telling_first
from samecluster.workspace.open import OpenSession
from samecluster.workspace.request import listed

_FAR_APART = 25.0  # percent of the items lie between the two: a quarter of what there is


@dataclass(frozen=True)
class ComparedCells:
    """A column of both items, and whether they differ much in it."""

    left: ShownCell
    right: ShownCell
    differs: bool


def checked_columns(opened: OpenSession, chosen: Sequence[str]) -> tuple[str, ...]:
    """The columns to show: those named now, or when the session began, or a choice of all."""
    names = opened.table.names
    kept = listed(opened.data.preparation.reading.get("show"), names)
    chosen = chosen or [name for name in kept if name in names]
    if not chosen:
        return columns_to_show(opened.table, opened.options)
    kept_back = {opened.options.truth: "the truth", opened.options.labels: "the labels"}
    for name in chosen:
        opened.table.column(name)
        if name in kept_back:
            raise InvalidInputError(f"--show: column {name!r} is {kept_back[name]}, not to be seen")
    return tuple(chosen)


def compared(
    opened: OpenSession, rows: tuple[int, int], columns: Sequence[str]
) -> list[ComparedCells]:
    """Both items of a question, a column of the table each; ids always differ, and say nothing."""
    one, two = (shown(opened.table, opened.table_row(row), columns) for row in rows)
    return [
        ComparedCells(left, right, _differ(left, right) and left.column != opened.options.id_column)
        for left, right in zip(one, two, strict=True)
    ]


def differing(opened: OpenSession, rows: Sequence[int], columns: Sequence[str]) -> list[str]:
    """The columns in which some of these items differ much from the first; the telling first."""
    found = {
        cells.left.column
        for row in rows[1:]
        for cells in compared(opened, (rows[0], row), columns)
        if cells.differs
    }
    chosen = [name for name in columns if name in found]
    return list(telling_first(opened.table, chosen, opened.data.preparation.features.columns))


def _differ(left: ShownCell, right: ShownCell) -> bool:
    """Texts that are not the same; numbers that are far apart among all."""
    if left.percentile is None or right.percentile is None:
        return left.text != right.text
    return abs(left.percentile - right.percentile) >= _FAR_APART
