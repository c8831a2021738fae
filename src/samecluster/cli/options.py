"""The options of commands that begin or go on with a session, by the field of a `Request`,
and those that describe a program or a language model that answers in place of a person.

Nothing heavy is imported here, as help texts are made from it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_origin

import typer

from samecluster.workspace.request import Request, option_of

if TYPE_CHECKING:
    from samecluster.oracles import ChatOracle, CommandOracle

Force = Annotated[
    bool,
    typer.Option("--force", help="Replace files that exist and are no results of samecluster."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

_PANELS: dict[str, dict[str, tuple[str | None, str]]] = {
    "Session": {
        "session": ("FILE", "The session file, instead of DATA.samecluster."),
        "who": ("NAME", "The name of the person who answers."),
        "show": (
            "COLUMNS",
            "Columns to show of each item: a,b,c. They are all that a program sees, and a session "
            "that begins with them keeps them.",
        ),
        "no_session": (None, "Keep no answers: a run that stops begins anew."),
    },
    "Features": {
        "id_column": ("COLUMN", "The column that names the items."),
        "features": ("COLUMNS", "Columns of numbers to use: a,b,c."),
        "ignore": ("COLUMNS", "Columns to leave out."),
        "categories": ("COLUMNS", "Columns of categories to use."),
        "text": ("COLUMNS", "Columns of text to use."),
        "text_by": (
            "meaning|words",
            "What text becomes numbers by: 'meaning' (a model of English, unless said otherwise if "
            "samecluster[text] is installed), or 'words' that texts share.",
        ),
        "embed": (
            "MODEL",
            "Use vectors that this model makes of the text, or of the pictures of a folder: a "
            "folder with model.onnx in it, or a name on the hub (samecluster[embed]).",
        ),
        "vectors": ("FILE", "A file with the features, such as embeddings."),
        "order": ("name", "'name': vectors are in the order of image names."),
        "image_size": ("PIXELS", "Pixels a side that images get; 32."),
        "image_by": (
            "shapes|pixels",
            "What images are compared by: edges in each part of them, unless said otherwise, or "
            "pixels.",
        ),
        "scale": (None, "Whether columns are standardised; they are."),
        "reduce": ("NUMBER", "Use this many principal components."),
        "missing_cells": (
            "median|drop|error",
            "Rows with missing values: fill in medians and mark them (done unless said otherwise; "
            "in a terminal you are asked), leave them out, or stop.",
        ),
        "drop_missing": (None, "The same as --missing drop."),
    },
    "Known already": {
        "labels": ("COLUMN", "The column with groups known already, else blank."),
        "labels_as": (
            "known|hint",
            "'known': they are answers, unless said otherwise; 'hint': they may be wrong, and only "
            "guide the questions.",
        ),
        "pairs": ("FILE", "A file with known pairs: id, id, same or different."),
        "truth": ("COLUMN", "The column with the true groups."),
    },
    "Questions": {
        "margin": ("NUMBER", "The margin of every cluster, or auto."),
        "lift": (
            "quadratic|cubic|quartic|auto",
            "The margin is one of columns, their squares, products, ...: for rings, moons, "
            "spirals.",
        ),
        "clusters": ("NUMBER", "The number of clusters, or unknown."),
        "audit": (
            "SHARE",
            "Check labels until at most this share is wrong: 0.01 (at 95 % confidence), 0.01,0.99 "
            "or none.",
        ),
        "stop_at": (
            "SHARE",
            "Stop once about this share of the labels may be wrong: 2%, 0.02, or auto (0.1%). An "
            "estimate for predicted labels; --audit shows a bound.",
        ),
        "max_questions": ("NUMBER", "The budget for the whole session, or none."),
        "max_looks": ("NUMBER", "The same for screens, or none."),
        "looks": (
            "auto|pairs",
            "auto: also screens that settle several pairs at once; pairs: one pair at a time.",
        ),
        "seed": ("NUMBER", "For other questions; the same data and seed give the same."),
    },
    "Reading the data": {
        "separator": ("MARK", "The separator; 'tab' for a tab."),
        "decimal": ("MARK", "The decimal mark: . or ,"),
        "encoding": ("NAME", "Such as utf-8 or cp1252."),
        "missing": ("TEXT", "A cell that stands for no value, beside NA, NaN, null, ..."),
        "header": (None, "Whether the first line has names."),
        "max_memory": ("GIB", "GiB that data may take when it is read or unpacked; 2."),
        "in_blocks": (
            None,
            "DATA need not fit into memory: .npy, Parquet, or a folder of either. Questions are "
            "about a sample, and `export` labels all rows.",
        ),
        "dask": ("ADDRESS", "The same on the workers of a Dask scheduler at this address."),
    },
    "Who answers": {
        "oracle_cmd": (
            "PROGRAM",
            "A program that reads a JSON question a line and writes an answer.",
        ),
        "llm": ("URL", "The address of a language model's server, such as https://example.org/v1."),
        "model": ("NAME", "The name of the model there."),
        "criterion": ("TEXT", "When two items belong together: 'same request'."),
        "prices": ("NUMBERS", "Dollars for a million tokens of prompts and of replies: 0.15,0.60"),
        "max_cost": ("DOLLARS", "Stop before more dollars than this are spent."),
        "both_orders": (None, "Ask the model twice, in both orders."),
        "confirm": (None, "Believe a 'same' of the model only if a second look confirms it."),
        "no_cache": (None, "Keep no prompts and replies of the model."),
        "yes": (None, "Send rows to the model without asking first."),
        "parallel": (
            "NUMBER",
            "Copies of the program, each with one question at a time (1), or questions that the "
            "model has at a time (4).",
        ),
        "timeout": ("SECONDS", "How long to wait for an answer."),
        "retries": (
            "NUMBER",
            "How often a question is put again after a failure; 2, and 6 with --llm.",
        ),
        "join": (None, "Let the program answer in a session with answers of others; needs --who."),
    },
    "Options": {
        "host": ("ADDRESS", "The address to listen on; 127.0.0.1 is this machine only."),
        "token": ("TEXT", "The secret in your link, 16 letters and digits or more; else random."),
        "allow_host": ("NAME", "Another name that this server goes by."),
        "tls_cert": ("FILE", "A certificate, to speak HTTPS; with --tls-key."),
        "tls_key": ("FILE", "The key of the certificate."),
        "image_column": (
            "COLUMN",
            "The column with the paths of images, inside the data's folder.",
        ),
    },
    "Results": {
        "out": ("FILE", "Where labels go: a .csv, .jsonl or .parquet file, or -"),
        "prefix": ("TEXT", "Put before the names of new columns."),
        "raw": (None, "Leave text such as =1+1 in CSV as it is."),
        "proof": ("FILE", "Where the proof goes: .jsonl.gz"),
        "report": ("FILE", "Where a report goes: .html"),
    },
}
"""By the heading in the help, and by the name of a field of `Request` or of a command's own
parameter, which has the type: what it takes, and what it does."""

_DATA = typer.Argument(
    metavar="DATA",
    help="A .csv, .tsv, .txt, .parquet, .jsonl, .npy or .npz file, a folder of images, or "
    "- for CSV from standard input.",
)
_DECLARED = {
    name: (heading, *told) for heading, options in _PANELS.items() for name, told in options.items()
}


def _declared(parameter: inspect.Parameter) -> inspect.Parameter:
    """The parameter with the option that it is declared as; as it is, if it is not."""
    if parameter.name == "data":
        return parameter.replace(annotation=Annotated[parameter.annotation, _DATA])
    if parameter.name not in _DECLARED or get_origin(parameter.annotation) is Annotated:
        return parameter
    heading, metavar, told = _DECLARED[parameter.name]
    name = option_of(parameter.name)
    names = ["-o", name] if parameter.name == "out" else [name]
    if parameter.annotation == bool | None:
        names = [f"{name}/--no-{name[2:]}"]
    option = typer.Option(*names, metavar=metavar, help=told, rich_help_panel=heading)
    return parameter.replace(annotation=Annotated[parameter.annotation, option])


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
    fields = inspect.signature(Request, eval_str=True).parameters
    shared = [_declared(fields[name]) for name in fields if name not in without]

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        _, *own = map(_declared, inspect.signature(command, eval_str=True).parameters.values())

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
class Program:
    """A program that answers in place of a person.

    ``start`` makes the oracle from a function that shows a row, ``parallel`` is how many questions
    it has at a time, and ``show`` are the columns that it may see, as the user names them.
    """

    start: Callable[..., CommandOracle | ChatOracle]
    parallel: int
    show: list[str] | None


@dataclass(frozen=True)
class LanguageModel(Program):
    """A model by its name: whether a second look confirms "same", prompts are kept, the user has
    agreed that rows are sent."""

    start: Callable[..., ChatOracle]
    name: str
    confirm: bool
    is_kept: bool
    is_agreed: bool
