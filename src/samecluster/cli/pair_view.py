"""Two items side by side, as the person who is asked sees them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from samecluster.cli.opening import Opened
from samecluster.errors import InvalidInputError
from samecluster.sessions.asking import SessionQuestion
from samecluster.tables.showing import ShownCell, columns_to_show, shown

__all__ = ["checked_columns", "print_pair"]

_FAR_APART = 25.0  # percent of the items lie between the two
_LONGEST = 300


def checked_columns(opened: Opened, chosen: Sequence[str]) -> tuple[str, ...]:
    """The columns to show: those that were named, or a choice of all."""
    if not chosen:
        return columns_to_show(opened.table, opened.wanted)
    kept_back = {opened.wanted.truth: "the truth", opened.wanted.labels: "the labels"}
    for name in chosen:
        opened.table.column(name)
        if name in kept_back:
            raise InvalidInputError(f"--show: column {name!r} is {kept_back[name]}, not to be seen")
    return tuple(chosen)


def print_pair(
    console: Console, opened: Opened, question: SessionQuestion, columns: Sequence[str]
) -> None:
    """Both items, a column of the table a line; where they differ much, the line is marked."""
    one, two = (shown(opened.table, opened.table_row(row), columns) for row in question.rows)
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="dim")
    for _ in range(2):
        grid.add_column(overflow="fold", ratio=1)
    grid.add_column()
    for left, right in zip(one, two, strict=True):
        differs = _differ(left, right) and left.column != opened.wanted.id_column
        style = "bold" if differs else ""
        grid.add_row(
            Text(left.column),
            Text(_told(left), style=style),
            Text(_told(right), style=style),
            Text("differs" if differs else "", style="dim"),
        )
    console.print(grid)


def _told(cell: ShownCell) -> str:
    text = cell.text if len(cell.text) <= _LONGEST else cell.text[:_LONGEST] + " ..."
    if cell.percentile is None:
        return text or "(blank)"
    return f"{text}  (above {cell.percentile:.0f} %)"


def _differ(left: ShownCell, right: ShownCell) -> bool:
    """Texts that are not the same; numbers that are far apart among all."""
    if left.percentile is None or right.percentile is None:
        return left.text != right.text
    return abs(left.percentile - right.percentile) >= _FAR_APART
