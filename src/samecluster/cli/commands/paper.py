"""The commands about the paper and its margins: ``demo``, ``margin`` and ``reproduce``.

Nothing heavy is imported before a command runs, as help texts are made from this module.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from samecluster.cli.options import ONLY_OF_SESSIONS, Force, takes_request
from samecluster.workspace.request import Request


def demo(
    points: Annotated[int, typer.Option(help="Number of points.")] = 100_000,
    dimension: Annotated[int, typer.Option(help="Number of columns.")] = 4,
    clusters: Annotated[int, typer.Option(help="Number of clusters.")] = 5,
    margin: Annotated[float, typer.Option(help="Margin of every cluster.")] = 1.0,
    condition: Annotated[float, typer.Option(help="Condition number of every cluster.")] = 100.0,
    seed: Annotated[int, typer.Option(help="Seed; the same one gives the same run.")] = 0,
    save: Annotated[
        Path | None, typer.Option(help="Folder to write data.npy and proof.jsonl.gz to.")
    ] = None,
    force: Force = False,
) -> None:
    """Make the paper's instance, recover it from a simulated oracle, and check the proof.

    Example: samecluster demo --points 20000 --dimension 2 --save demo
    """
    from samecluster.cli.commands.demo import run_demo

    run_demo(points, dimension, clusters, margin, condition, seed, save, force)


@takes_request("show", "truth", "scale", *ONLY_OF_SESSIONS)
def margin(request: Request) -> None:
    """Look at labelled data: which margin each group has, and which rows break it.

    Example: samecluster margin flowers.csv --labels species
    """
    from samecluster.cli.commands.margin import run_margin

    run_margin(request)


class Reproducible(enum.StrEnum):
    """What `reproduce` can run."""

    FIGURE1 = "figure1"
    FIGURE3 = "figure3"
    STATEMENTS = "statements"
    THEORY = "theory"
    ALL = "all"


def reproduce(
    what: Annotated[
        Reproducible, typer.Argument(help="figure1, figure3, statements, theory or all.")
    ],
    runs: Annotated[
        int | None, typer.Option(help="Runs of each setting; 10 unless given, 3 with --quick.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer runs and smaller instances: a few minutes.")
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder for the report, the tables, the pictures and the results.")
    ] = Path("reproduced"),
    force: Force = False,
) -> None:
    """Run the paper's experiments again and write a report with tables and pictures.

    Uses all cores. If it is stopped, the same command goes on where it was.

    Example: samecluster reproduce all --quick --out reproduced
    """
    from samecluster.cli.commands.reproduce import run_reproduce

    if not run_reproduce(what.value, runs, quick, out, force):
        raise typer.Exit(130)
