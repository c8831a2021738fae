"""The options of commands that begin or go on with a session, by the field of a `Request`,
and those that describe a program or a language model that answers in place of a person.

Nothing heavy is imported here, as help texts are made from it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samecluster.workspace.request import Request

if TYPE_CHECKING:
    from pathlib import Path

    from samecluster.oracles import ChatOracle, CommandOracle
    from samecluster.oracles.command_protocol import ShownItem


Force = Annotated[
    bool,
    typer.Option("--force", help="Replace files that exist and are no results of samecluster."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_PANELS: dict[str, dict[str, Any]] = {
    "Arguments": {
        "data": typer.Argument(
            metavar="DATA",
            help="A .csv, .tsv, .txt, .parquet, .jsonl, .npy or .npz file, a folder of images, or "
            "- for CSV from standard input.",
        ),
    },
    "Session": {
        "session": typer.Option(
            "--session", metavar="FILE", help="The session file, instead of DATA.samecluster."
        ),
        "who": typer.Option("--who", metavar="NAME", help="The name of the person who answers."),
        "show": typer.Option(
            "--show",
            metavar="COLUMNS",
            help="Columns to show of each item: a,b,c. They are all that a program sees, and a "
            "session that begins with them keeps them.",
        ),
    },
    "Features": {
        "id_column": typer.Option(
            "--id", metavar="COLUMN", help="The column that names the items."
        ),
        "features": typer.Option(
            "--features", metavar="COLUMNS", help="Columns of numbers to use: a,b,c."
        ),
        "ignore": typer.Option("--ignore", metavar="COLUMNS", help="Columns to leave out."),
        "categories": typer.Option(
            "--categories", metavar="COLUMNS", help="Columns of categories to use."
        ),
        "text": typer.Option("--text", metavar="COLUMNS", help="Columns of text to use."),
        "text_by": typer.Option(
            "--text-by",
            metavar="meaning|words",
            help="What text becomes numbers by: 'meaning' (a model of English, unless said "
            "otherwise if samecluster[text] is installed), or 'words' that texts share.",
        ),
        "embed": typer.Option(
            "--embed",
            metavar="MODEL",
            help="Use vectors that this model makes of the text, or of the pictures of a folder: "
            "a folder with model.onnx in it, or a name on the hub (samecluster[embed]).",
        ),
        "vectors": typer.Option(
            "--vectors", metavar="FILE", help="A file with the features, such as embeddings."
        ),
        "order": typer.Option(
            "--order", metavar="name", help="'name': vectors are in the order of image names."
        ),
        "image_size": typer.Option(
            "--image-size", metavar="PIXELS", help="Pixels a side that images get; 32."
        ),
        "image_by": typer.Option(
            "--image-by",
            metavar="shapes|pixels",
            help="What images are compared by: edges in each part of them, unless said otherwise, "
            "or pixels.",
        ),
        "scale": typer.Option(
            "--scale/--no-scale", help="Whether columns are standardised; they are."
        ),
        "reduce": typer.Option(
            "--reduce", metavar="NUMBER", help="Use this many principal components."
        ),
        "missing_cells": typer.Option(
            "--missing",
            metavar="median|drop|error",
            help="Rows with missing values: fill in medians and mark them (done unless said "
            "otherwise; in a terminal you are asked), leave them out, or stop.",
        ),
        "drop_missing": typer.Option("--drop-missing", help="The same as --missing drop."),
    },
    "Known already": {
        "labels": typer.Option(
            "--labels", metavar="COLUMN", help="The column with groups known already, else blank."
        ),
        "labels_as": typer.Option(
            "--labels-as",
            metavar="known|hint",
            help="'known': they are answers, unless said otherwise; 'hint': they may be wrong, and "
            "only guide the questions.",
        ),
        "pairs": typer.Option(
            "--pairs", metavar="FILE", help="A file with known pairs: id, id, same or different."
        ),
        "truth": typer.Option("--truth", metavar="COLUMN", help="The column with the true groups."),
    },
    "Questions": {
        "margin": typer.Option(
            "--margin", metavar="NUMBER", help="The margin of every cluster, or auto."
        ),
        "lift": typer.Option(
            "--lift",
            metavar="quadratic|cubic|quartic|auto",
            help="The margin is one of columns, their squares, products, ...: for rings, moons, "
            "spirals.",
        ),
        "clusters": typer.Option(
            "--clusters", metavar="NUMBER", help="The number of clusters, or unknown."
        ),
        "audit": typer.Option(
            "--audit",
            metavar="SHARE",
            help="Check labels until at most this share is wrong: 0.01 (at 95 % confidence), "
            "0.01,0.99 or none.",
        ),
        "stop_at": typer.Option(
            "--stop-at",
            metavar="SHARE",
            help="Stop once about this share of the labels may be wrong: 2%, 0.02, or auto (0.1%). "
            "An estimate for predicted labels; --audit shows a bound.",
        ),
        "max_questions": typer.Option(
            "--max-questions", metavar="NUMBER", help="The budget for the whole session, or none."
        ),
        "max_looks": typer.Option(
            "--max-looks", metavar="NUMBER", help="The same for screens, or none."
        ),
        "looks": typer.Option(
            "--looks",
            metavar="auto|pairs",
            help="auto: also screens that settle several pairs at once; pairs: one pair at a time.",
        ),
        "seed": typer.Option(
            "--seed",
            metavar="NUMBER",
            help="For other questions; the same data and seed give the same.",
        ),
    },
    "Reading the data": {
        "separator": typer.Option("--sep", metavar="MARK", help="The separator; 'tab' for a tab."),
        "decimal": typer.Option("--decimal", metavar="MARK", help="The decimal mark: . or ,"),
        "encoding": typer.Option("--encoding", metavar="NAME", help="Such as utf-8 or cp1252."),
        "missing": typer.Option(
            "--na",
            metavar="TEXT",
            help="A cell that stands for no value, beside NA, NaN, null, ...",
        ),
        "header": typer.Option("--header/--no-header", help="Whether the first line has names."),
        "max_memory": typer.Option(
            "--max-memory",
            metavar="GIB",
            help="GiB that data may take when it is read or unpacked; 2.",
        ),
        "in_blocks": typer.Option(
            "--in-blocks",
            help="DATA need not fit into memory: .npy, Parquet, or a folder of either. Questions "
            "are about a sample, and `export` labels all rows.",
        ),
        "dask": typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="The same on the workers of a Dask scheduler at this address.",
        ),
    },
}
"""By the heading in the help, and by the field of `Request`, which has the type."""


def in_panel(option: Any, heading: str) -> Any:
    """The option under this heading in the help."""
    option.rich_help_panel = heading
    return option


_OPTIONS = {
    name: in_panel(option, heading)
    for heading, options in _PANELS.items()
    for name, option in options.items()
}

ONLY_OF_SESSIONS = (
    *("session", "who", "labels_as", "pairs", "margin", "lift", "clusters", "audit"),
    *("stop_at", "max_questions", "max_looks", "looks", "seed", "in_blocks", "dask"),
)
"""The fields of `Request` that mean nothing to commands which only look at data."""


def takes_request(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose first parameter is a `Request`: its fields become options of the command.

    Fields ``without`` which the command does are left out. In the help the command's own options
    come first.
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

        together = [one.replace(kind=one.KEYWORD_ONLY) for one in (shared[0], *own, *shared[1:])]
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


@dataclass(frozen=True)
class ChatOptions:
    """A language model, what it is asked, what it may cost, and whether the user has agreed.

    ``show`` are the columns of a table that it may see, as the user names them.
    """

    url: str
    model: str
    criterion: str
    prices: tuple[float, float] | None
    max_cost: float | None
    parallel: int
    timeout: float
    retries: int
    both_orders: bool
    confirm: bool
    show: list[str] | None
    is_kept: bool
    is_agreed: bool

    def oracle(self, shown: Callable[[int], ShownItem], cache: Path | None) -> ChatOracle:
        """What answers by this model, and keeps what it said in a file."""
        from samecluster.oracles import ChatOracle

        return ChatOracle(
            self.url,
            self.model,
            shown,
            self.criterion,
            parallel=self.parallel,
            timeout=self.timeout,
            retries=self.retries,
            both_orders=self.both_orders,
            prices=self.prices,
            max_cost=self.max_cost,
            cache=cache if self.is_kept else None,
        )
