"""The command ``samecluster`` and its subcommands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import samecluster
from samecluster.errors import InvalidInputError, SameClusterError

__all__ = ["app", "main"]

app = typer.Typer(
    name="samecluster",
    help="Find the groups in a dataset by asking a few same-or-different questions.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

EXIT_CODES = {InvalidInputError: 2, SameClusterError: 1}
"""2: what was passed cannot be used; 1: something else went wrong."""


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"samecluster {samecluster.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


@app.command()
def demo(
    points: Annotated[int, typer.Option(help="Number of points.")] = 100_000,
    dimension: Annotated[int, typer.Option(help="Number of columns.")] = 4,
    clusters: Annotated[int, typer.Option(help="Number of clusters.")] = 5,
    margin: Annotated[float, typer.Option(help="Margin of every cluster.")] = 1.0,
    condition: Annotated[float, typer.Option(help="Condition number of every cluster.")] = 100.0,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same run.")] = 0,
) -> None:
    """Make the paper's instance and recover it from a simulated oracle.

    Example: samecluster demo --points 20000 --dimension 2
    """
    from samecluster.cli.demo import run_demo

    run_demo(points, dimension, clusters, margin, condition, seed)


def main() -> None:
    """Run the command; an expected error becomes one line and an exit code."""
    try:
        app()
    except SameClusterError as error:
        typer.echo(f"samecluster: {error}", err=True)
        sys.exit(next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind)))
