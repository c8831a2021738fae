"""The options of commands that begin or go on with a session, by the field of a `Request`,
and those that describe a program that answers in place of a person.

Nothing heavy is imported here, as help texts are made from it.
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samecluster.workspace.request import Request

if TYPE_CHECKING:
    from samecluster.oracles import CommandOracle
    from samecluster.oracles.command_protocol import ShownItem


Force = Annotated[
    bool,
    typer.Option("--force", help="Replace files that exist and are no results of samecluster."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

# By the field of `Request`, which has the type.
_OPTIONS: dict[str, Any] = {
    "data": typer.Argument(
        help="A .csv, .tsv, .parquet, .jsonl, .npy or .npz file, a folder of images, or - for "
        "CSV from standard input."
    ),
    "session": typer.Option("--session", help="The session file, instead of DATA.samecluster."),
    "who": typer.Option("--who", help="The name of the person who answers."),
    "separator": typer.Option("--sep", help="The separator; 'tab' for a tab."),
    "decimal": typer.Option("--decimal", help="The decimal mark: . or ,"),
    "encoding": typer.Option("--encoding", help="Such as utf-8 or cp1252."),
    "missing": typer.Option(
        "--na", help="A cell that stands for no value, beside NA, NaN, null, ..."
    ),
    "header": typer.Option("--header/--no-header", help="Whether the first line has names."),
    "max_memory": typer.Option(
        "--max-memory", help="GiB that data may take when it is read or unpacked; 2."
    ),
    "in_blocks": typer.Option(
        "--in-blocks",
        help="DATA need not fit into memory: .npy, Parquet, or a folder of either. Questions are "
        "about a sample, and `export` labels all rows.",
    ),
    "dask": typer.Option(
        "--dask", help="The same on the workers of a Dask scheduler at this address."
    ),
    "id_column": typer.Option("--id", help="The column that names the items."),
    "features": typer.Option(
        "--features", help="Columns of numbers to use: a,b,c or several times."
    ),
    "ignore": typer.Option("--ignore", help="Columns to leave out."),
    "categories": typer.Option("--categories", help="Columns of categories to use."),
    "text": typer.Option("--text", help="Columns of text to use."),
    "vectors": typer.Option("--vectors", help="A file with the features, such as embeddings."),
    "order": typer.Option("--order", help="'name': vectors are in the order of image names."),
    "image_size": typer.Option("--image-size", help="Pixels a side that images get; 32."),
    "scale": typer.Option("--scale/--no-scale", help="Whether columns are standardised; they are."),
    "reduce": typer.Option("--reduce", help="Use this many principal components."),
    "missing_cells": typer.Option(
        "--missing",
        metavar="median|drop|error",
        help="Rows with missing values: fill in medians and mark them (done unless said otherwise; "
        "in a terminal you are asked), leave them out, or stop.",
    ),
    "drop_missing": typer.Option("--drop-missing", help="The same as --missing drop."),
    "labels": typer.Option("--labels", help="The column with groups known already, else blank."),
    "labels_as": typer.Option(
        "--labels-as",
        help="'known': they are answers, unless said otherwise; 'hint': they may be wrong, and "
        "only guide the questions.",
    ),
    "pairs": typer.Option("--pairs", help="A file with known pairs: id, id, same or different."),
    "truth": typer.Option("--truth", help="The column with the true groups."),
    "margin": typer.Option("--margin", help="The margin of every cluster, or auto."),
    "lift": typer.Option(
        "--lift",
        metavar="quadratic|cubic|quartic|auto",
        help="The margin is one of columns, squares, products, ...: for rings, moons and spirals.",
    ),
    "clusters": typer.Option("--clusters", help="The number of clusters, or unknown."),
    "audit": typer.Option(
        "--audit",
        help="Check labels until at most this share is wrong: 0.01 (at 95 % confidence), 0.01,0.99 "
        "or none.",
    ),
    "max_questions": typer.Option(
        "--max-questions", help="The budget for the whole session, or none."
    ),
    "seed": typer.Option(
        "--seed", help="For other questions; the same data and seed give the same."
    ),
}


def takes_request(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose first parameter is a `Request`: its fields become options of the command.

    Fields ``without`` which the command does are left out.
    """
    shared = [
        parameter.replace(annotation=Annotated[parameter.annotation, _OPTIONS[name]])
        for name, parameter in inspect.signature(Request, eval_str=True).parameters.items()
        if name not in without
    ]

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            request = Request(**{one.name: given.pop(one.name) for one in shared})
            command(request, **given)

        together = [one.replace(kind=one.KEYWORD_ONLY) for one in (*shared, *own)]
        del run.__wrapped__
        run.__signature__ = inspect.Signature(together)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in together}
        return run

    return with_options


def command_again(command: str, request: Request) -> str:
    """The command that goes on with a session, as somebody could type it."""
    at = [] if request.session is None else ["--session", str(request.session)]
    who = [] if request.who is None else ["--who", request.who]
    blocks = ["--in-blocks"] if request.in_blocks else []
    return shlex.join(["samecluster", command, request.data, *blocks, *at, *who])


@dataclass(frozen=True)
class OracleCommandOptions:
    """A command line, copies side by side, seconds for an answer, and how often to try again.

    ``show`` are the columns of a table that it may see, as the user names them.
    """

    command: str
    parallel: int
    timeout: float
    retries: int
    show: list[str] | None = None

    def oracle(self, shown: Callable[[int], ShownItem]) -> CommandOracle:
        """What answers by this program, which gets to see of a row what ``shown`` gives."""
        from samecluster.oracles import CommandOracle

        return CommandOracle(
            self.command,
            shown,
            parallel=self.parallel,
            timeout=self.timeout,
            retries=self.retries,
        )
