"""``samecluster inspect``: how a file is read, which columns are used, what to expect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from samecluster.cli.options import Json, takes_request
from samecluster.cli.terminal.harmless import print_json
from samecluster.errors import InvalidInputError
from samecluster.workspace.request import Request

if TYPE_CHECKING:
    from samecluster.cli.terminal.screen import Screen
    from samecluster.tables.features.inspect import Inspection

_MOST_COLUMNS = 40  # lines of the table; more scroll off a screen
_NOT_LOOKED_AT = (
    "session",
    "who",
    "labels_as",
    "pairs",
    "margin",
    "lift",
    "clusters",
    "audit",
    "max_questions",
    "max_looks",
    "looks",
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
    from samecluster.cli.terminal.screen import Screen
    from samecluster.tables.features.inspect import inspect_table

    with Screen(stderr=True).waiting("reading the data"):
        loaded = request.load()
        found = inspect_table(loaded.table, request.wanted(loaded.table.names))
    if json:
        print_json({**found.to_json(), "notes": [*loaded.notes, *found.notes]})
    else:
        print_inspection(Screen(), found, loaded.notes)
    if found.problems:
        raise InvalidInputError(found.problems[0])


def print_inspection(console: Screen, found: Inspection, notes: tuple[str, ...] = ()) -> None:
    """Show an inspection in the terminal; problems are left to the error that they become."""
    from rich.table import Table as Grid

    from samecluster.cli.terminal.screen import shown

    for line in (*found.heading(), *notes):
        console.print(line)
    grid = Grid()
    for heading in ("column", "use", "why"):
        grid.add_column(heading)
    for use in found.columns[:_MOST_COLUMNS]:
        grid.add_row(shown(use.name), "used" if use.used else "ignored", shown(use.why))
    console.print(grid)
    if len(found.columns) > _MOST_COLUMNS:
        console.print(f"and {len(found.columns) - _MOST_COLUMNS:,} more columns; --json has all")
    for line in (*found.notes, *(() if found.problems else found.expectations())):
        console.print(line)
