"""Two items side by side in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table as Grid

from samecluster.cli.terminal.screen import Screen, shown
from samecluster.sessions.question import SessionQuestion
from samecluster.tables.display import ShownCell
from samecluster.workspace.open import OpenSession
from samecluster.workspace.pair_display import compared

_LONGEST = 300  # characters of a cell; two long texts still fit on a screen


def print_pair(
    console: Screen, opened: OpenSession, question: SessionQuestion, columns: Sequence[str]
) -> None:
    """Both items, one line per column of the table; where they differ much, the line is marked."""
    grid = Grid(box=None, pad_edge=False, show_header=False)
    grid.add_column(style="dim")
    for _ in range(2):
        grid.add_column(overflow="fold", ratio=1)
    grid.add_column()
    for cells in compared(opened, question.rows, columns):
        style = "bold" if cells.differs else ""
        grid.add_row(
            shown(cells.left.column),
            shown(_described(cells.left), style=style),
            shown(_described(cells.right), style=style),
            shown("differs" if cells.differs else "", style="dim"),
        )
    console.print(grid)


def _described(cell: ShownCell) -> str:
    text = cell.text if len(cell.text) <= _LONGEST else cell.text[:_LONGEST] + " ..."
    if cell.percentile is None:
        return text or "(blank)"
    return f"{text}  (above {cell.percentile:.0f} %)"
