"""``samecluster inspect``: how a file is read, which columns are used, what to expect."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

import typer

from samecluster.cli.options import Json, takes_request
from samecluster.errors import InvalidInputError
from samecluster.workspace.request import Request

if TYPE_CHECKING:
    from rich.console import Console

    from samecluster.tables.features.inspect import Inspection

__all__ = ["inspect", "print_inspection"]

_MOST_COLUMNS = 40  # lines of the table; more scroll off a screen
_NOT_LOOKED_AT = (
    "session",
    "who",
    "labels_as",
    "pairs",
    "margin",
    "clusters",
    "audit",
    "max_questions",
    "seed",
    "in_blocks",
    "dask",
)


@takes_request(*_NOT_LOOKED_AT)
def inspect(request: Request, json: Json = False) -> None:
    """Look at data before labelling it: how it is read, which columns are used, what to expect.

    Exit code 2 if the data cannot be used as it is; the reason is printed.

    Example: samecluster inspect flowers.csv --id plant
    """
    from rich.console import Console

    from samecluster.tables.features.inspect import inspect_table

    loaded = request.load()
    found = inspect_table(loaded.table, request.wanted(loaded.table.names))
    if json:
        typer.echo(
            json_text.dumps({**found.to_json(), "notes": [*loaded.notes, *found.notes]}, indent=2)
        )
    else:
        print_inspection(Console(), found, loaded.notes)
    if found.problems:
        raise InvalidInputError(found.problems[0])


def print_inspection(console: Console, found: Inspection, notes: tuple[str, ...] = ()) -> None:
    """Show an inspection in the terminal; problems are left to the error that they become."""
    from rich.table import Table as Grid
    from rich.text import Text

    for line in (*found.heading(), *notes):
        console.print(Text(line))
    grid = Grid()
    for heading in ("column", "use", "why"):
        grid.add_column(heading)
    for use in found.columns[:_MOST_COLUMNS]:
        grid.add_row(Text(use.name), "used" if use.used else "ignored", Text(use.why))
    console.print(grid)
    if len(found.columns) > _MOST_COLUMNS:
        console.print(f"and {len(found.columns) - _MOST_COLUMNS:,} more columns; --json has all")
    for line in (*found.notes, *(() if found.problems else found.expectations())):
        console.print(Text(line))
