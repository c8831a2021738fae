"""What a user asks for when a command begins or goes on with a session: options, not yet checked.

Nothing heavy is imported here, as help texts are made from it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from samecluster.cli import options

__all__ = ["Request", "takes_request"]

SessionFile = Annotated[
    Path | None,
    typer.Option("--session", help="The session file, instead of DATA.samecluster."),
]
Who = Annotated[str | None, typer.Option("--who", help="The name of the person who answers.")]
Pairs = Annotated[
    Path | None,
    typer.Option("--pairs", help="A file with known pairs: id, id, same or different."),
]
Margin = Annotated[
    str | None, typer.Option("--margin", help="The margin of every cluster, or auto.")
]
Clusters = Annotated[
    str | None, typer.Option("--clusters", help="The number of clusters, or unknown.")
]
Audit = Annotated[
    str | None,
    typer.Option(
        "--audit",
        help="Check labels until at most this share is wrong: 0.01 (at 95 % confidence), "
        "0.01,0.99 or none.",
    ),
]
MaxQuestions = Annotated[
    str | None, typer.Option("--max-questions", help="The budget for the whole session, or none.")
]
Scale = Annotated[
    bool | None,
    typer.Option("--scale/--no-scale", help="Whether columns are standardised; they are."),
]
ImageSize = Annotated[
    int | None, typer.Option("--image-size", help="Pixels a side that images get; 32.")
]


@dataclass(frozen=True)
class Request:
    """The data, how to read it, what of it to use, what is known, and what is declared.

    None, or nothing, where the user has not said: a session that exists then keeps what it has.
    """

    data: options.Data
    session: SessionFile = None
    who: Who = None
    id_column: options.IdColumn = None
    features: options.Features = None
    ignore: options.Ignore = None
    categories: options.Categories = None
    text: options.Text = None
    vectors: options.Vectors = None
    order: options.Order = None
    image_size: ImageSize = None
    scale: Scale = None
    reduce: options.Reduce = None
    drop_missing: options.DropMissing = False
    labels: options.Labels = None
    pairs: Pairs = None
    truth: options.Truth = None
    margin: Margin = None
    clusters: Clusters = None
    audit: Audit = None
    max_questions: MaxQuestions = None
    separator: options.Separator = None
    decimal: options.Decimal = None
    encoding: options.Encoding = None
    missing: options.Missing = None
    header: options.Header = None


def takes_request(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose first parameter is a `Request`: its fields become options of the command.

    Fields ``without`` which the command does are left out.
    """
    shared = [
        parameter
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
