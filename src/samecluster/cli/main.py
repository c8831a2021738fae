"""The command ``samecluster`` and its subcommands."""

from __future__ import annotations

import contextlib
import enum
import io
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import samecluster
from samecluster.cli.commands.cluster import cluster
from samecluster.cli.commands.disagreement import doubt, merge, split
from samecluster.cli.commands.exchange import export, import_, report, update
from samecluster.cli.commands.inspect import inspect
from samecluster.cli.commands.label import label
from samecluster.cli.commands.serve import invite, serve
from samecluster.cli.commands.session import doctor, history, name, status, undo
from samecluster.cli.options import Force
from samecluster.cli.terminal.harmless import print_error, print_lines
from samecluster.errors import InvalidInputError, SameClusterError

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

_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]
"""ClickException: of click, or of the copy that newer versions of typer have of it."""


def _version(wanted: bool) -> None:
    if wanted:
        print_lines(f"samecluster {samecluster.__version__}")
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


@app.command()
def verify(
    data: Annotated[Path, typer.Argument(help="The points the proof is about: .npy or .csv.")],
    proof: Annotated[Path, typer.Argument(help="The proof log, as written by samecluster.")],
    resolution: Annotated[
        float,
        typer.Option(
            help="The largest resolution to allow, as a share of each column's spread. Clusters "
            "are then taken to have no sharper boundary."
        ),
    ] = 2.0**-10,
    max_memory: Annotated[
        float | None, typer.Option(help="GiB that the points and a line of the proof may take; 2.")
    ] = None,
) -> None:
    """Check a proof against the data, in exact arithmetic, and name the first bad record.

    Example: samecluster verify demo/data.npy demo/proof.jsonl.gz
    """
    from samecluster.cli.commands.verify import run_verify

    if not run_verify(data, proof, resolution, max_memory):
        raise typer.Exit(1)


@app.command()
def margin(
    data: Annotated[
        Path, typer.Argument(help="A file with a header line: .csv, .tsv, .parquet or .jsonl.")
    ],
    labels: Annotated[str, typer.Option(help="The column that has each row's group.")],
) -> None:
    """Look at labelled data: which margin each group has, and which rows break it.

    Example: samecluster margin flowers.csv --labels species
    """
    from samecluster.cli.commands.margin import run_margin

    run_margin(data, labels)


# In the order of the help text.
for _command in (inspect, label, serve, invite, cluster, status, history, undo, name):
    app.command()(_command)
for _command in (doubt, merge, split, export, report, doctor):
    app.command()(_command)
app.command("import")(import_)
app.command()(update)


class Reproducible(enum.StrEnum):
    """What `reproduce` can run."""

    FIGURE1 = "figure1"
    FIGURE3 = "figure3"
    STATEMENTS = "statements"
    THEORY = "theory"
    ALL = "all"


@app.command()
def reproduce(
    what: Annotated[Reproducible, typer.Argument(help="Which of the paper's experiments to run.")],
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


def main() -> None:
    """Run the command; an expected error becomes one line and an exit code."""
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except SameClusterError as error:
        print_error(str(error))
        code = next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind))
    except _CommandLineError as error:
        told = io.StringIO()
        error.show(told)  # type: ignore[attr-defined]
        print_lines(*told.getvalue().splitlines(), err=True)
        code = error.exit_code  # type: ignore[attr-defined]
    except typer.Abort:
        print_error("stopped")
        code = 1
    except MemoryError:
        print_error("there is not enough memory; for large data there is --in-blocks")
        code = 1
    except OSError as error:  # of a file it says which; standard output has no name
        print_error(str(error) if error.filename else f"standard output: {error.strerror}")
        code = 1
        with contextlib.suppress(OSError, ValueError):  # or it would be tried again at the end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)
