"""The options of commands that begin or go on with a session, by the field of a `Request`,
and those that describe a program that answers in place of a person.

Nothing heavy is imported here, as help texts are made from it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samecluster.workspace.request import Request

if TYPE_CHECKING:
    from samecluster.oracles import CommandOracle
    from samecluster.oracles.command_protocol import ShownItem

__all__ = ["Json", "OracleCommandOptions", "takes_request"]


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_SESSION: dict[str, Any] = {
    "session": Annotated[
        Path | None,
        typer.Option("--session", help="The session file, instead of DATA.samecluster."),
    ],
    "who": Annotated[str | None, typer.Option("--who", help="The name of the person who answers.")],
}
_READING: dict[str, Any] = {
    "data": Annotated[
        str,
        typer.Argument(
            help="A .csv, .tsv, .parquet, .jsonl, .npy or .npz file, a folder of images, or - for "
            "CSV from standard input."
        ),
    ],
    "separator": Annotated[
        str | None, typer.Option("--sep", help="The separator; 'tab' for a tab.")
    ],
    "decimal": Annotated[str | None, typer.Option("--decimal", help="The decimal mark: . or ,")],
    "encoding": Annotated[str | None, typer.Option("--encoding", help="Such as utf-8 or cp1252.")],
    "missing": Annotated[
        list[str] | None,
        typer.Option("--na", help="A cell that stands for no value, beside NA, NaN, null, ..."),
    ],
    "header": Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line has names.")
    ],
}
_FEATURES: dict[str, Any] = {
    "in_blocks": Annotated[
        bool,
        typer.Option(
            "--in-blocks",
            help="DATA need not fit into memory: .npy, Parquet, or a folder of either. Questions "
            "are about a sample, and `export` labels all rows.",
        ),
    ],
    "dask": Annotated[
        str | None,
        typer.Option("--dask", help="The same on the workers of a Dask scheduler at this address."),
    ],
    "id_column": Annotated[
        str | None, typer.Option("--id", help="The column that names the items.")
    ],
    "features": Annotated[
        list[str] | None,
        typer.Option("--features", help="Columns of numbers to use: a,b,c or several times."),
    ],
    "ignore": Annotated[list[str] | None, typer.Option("--ignore", help="Columns to leave out.")],
    "categories": Annotated[
        list[str] | None, typer.Option("--categories", help="Columns of categories to use.")
    ],
    "text": Annotated[list[str] | None, typer.Option("--text", help="Columns of text to use.")],
    "vectors": Annotated[
        Path | None, typer.Option("--vectors", help="A file with the features, such as embeddings.")
    ],
    "order": Annotated[
        str | None, typer.Option("--order", help="'name': vectors are in the order of image names.")
    ],
    "image_size": Annotated[
        int | None, typer.Option("--image-size", help="Pixels a side that images get; 32.")
    ],
    "scale": Annotated[
        bool | None,
        typer.Option("--scale/--no-scale", help="Whether columns are standardised; they are."),
    ],
    "reduce": Annotated[
        int | None, typer.Option("--reduce", help="Use this many principal components.")
    ],
    "missing_cells": Annotated[
        str | None,
        typer.Option(
            "--missing",
            metavar="median|drop|error",
            help="Rows with missing values: fill in medians and mark them (done unless said "
            "otherwise; in a terminal you are asked), leave them out, or stop.",
        ),
    ],
    "drop_missing": Annotated[
        bool, typer.Option("--drop-missing", help="The same as --missing drop.")
    ],
}
_KNOWN: dict[str, Any] = {
    "labels": Annotated[
        str | None,
        typer.Option("--labels", help="The column with groups known already, else blank."),
    ],
    "labels_as": Annotated[
        str | None,
        typer.Option(
            "--labels-as",
            help="'known': they are answers, unless said otherwise; 'hint': they may be wrong, and "
            "only guide the questions.",
        ),
    ],
    "pairs": Annotated[
        Path | None,
        typer.Option("--pairs", help="A file with known pairs: id, id, same or different."),
    ],
    "truth": Annotated[
        str | None, typer.Option("--truth", help="The column with the true groups.")
    ],
}
_DECLARED: dict[str, Any] = {
    "margin": Annotated[
        str | None, typer.Option("--margin", help="The margin of every cluster, or auto.")
    ],
    "clusters": Annotated[
        str | None, typer.Option("--clusters", help="The number of clusters, or unknown.")
    ],
    "audit": Annotated[
        str | None,
        typer.Option(
            "--audit",
            help="Check labels until at most this share is wrong: 0.01 (at 95 % confidence), "
            "0.01,0.99 or none.",
        ),
    ],
    "max_questions": Annotated[
        str | None,
        typer.Option("--max-questions", help="The budget for the whole session, or none."),
    ],
    "seed": Annotated[
        int | None,
        typer.Option("--seed", help="For other questions; the same data and seed give the same."),
    ],
}
_OPTIONS = {**_SESSION, **_READING, **_FEATURES, **_KNOWN, **_DECLARED}


def takes_request(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose first parameter is a `Request`: its fields become options of the command.

    Fields ``without`` which the command does are left out.
    """
    shared = [
        parameter.replace(annotation=_OPTIONS[name])
        for name, parameter in inspect.signature(Request).parameters.items()
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
