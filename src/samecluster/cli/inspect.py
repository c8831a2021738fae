"""``samecluster inspect``: how a file is read, which columns are used, what to expect."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

import typer

from samecluster.cli import options
from samecluster.errors import InvalidInputError

if TYPE_CHECKING:
    from rich.console import Console

    from samecluster.tables.inspection import Inspection

__all__ = ["inspect", "print_inspection"]

_MOST_COLUMNS = 40


def inspect(
    data: options.Data,
    id_column: options.IdColumn = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    categories: options.Categories = None,
    text: options.Text = None,
    truth: options.Truth = None,
    labels: options.Labels = None,
    vectors: options.Vectors = None,
    order: options.Order = None,
    image_size: options.ImageSize = 32,
    scale: options.Scale = True,
    reduce: options.Reduce = None,
    drop_missing: options.DropMissing = False,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    missing: options.Missing = None,
    header: options.Header = None,
    json: options.Json = False,
) -> None:
    """Look at data before labelling it: how it is read, which columns are used, what to expect.

    Exit code 2 if the data cannot be used as it is; the reason is printed.

    Example: samecluster inspect flowers.csv --id plant
    """
    from rich.console import Console

    from samecluster.tables.inspection import inspect_table
    from samecluster.tables.loading import load_data

    asked = options.asked_of(separator, decimal, encoding, missing, header)
    loaded = load_data(
        data, asked, id_column=id_column, vectors=vectors, order=order, image_size=image_size
    )
    wanted = options.wanted_of(
        loaded.table.names,
        features=features,
        ignore=ignore,
        categories=categories,
        text=text,
        id_column=id_column,
        truth=truth,
        labels=labels,
        scale=scale,
        reduce=reduce,
        drop_missing=drop_missing,
    )
    found = inspect_table(loaded.table, wanted)
    if json:
        typer.echo(json_text.dumps({**found.to_json(), "notes": loaded.notes}, indent=2))
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
    for line in () if found.problems else found.expectations():
        console.print(Text(line))
