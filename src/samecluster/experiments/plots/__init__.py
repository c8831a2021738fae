"""Pictures of the experiments' tables, with matplotlib (the extra ``samecluster[plots]``).

One module a picture, `style` for what they share. matplotlib is imported only to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from samecluster.experiments.experiment import ResultTable
from samecluster.plots import MISSING, can_draw, needs_matplotlib

__all__ = ["MISSING", "can_draw", "draw"]


def draw(name: str, tables: Sequence[ResultTable], folder: Path) -> list[Path]:
    """Draw the picture of an experiment as PNG and SVG; returns their paths.

    Raises InvalidInputError that says what to install if matplotlib is missing.
    """
    needs_matplotlib()
    from samecluster.experiments.plots import figure1, figure3, statements, style, theory

    pictures = {
        "figure1": figure1.picture,
        "figure3": figure3.picture,
        "statements": statements.picture,
        "theory": theory.picture,
    }
    rows = {table.name: table.rows for table in tables}
    with style.applied():
        return style.save(pictures[name](rows), folder / name)
