"""The command ``samecluster``: its subcommands in groups, each loaded when it is used.

Help for all of them is made from the summaries here, so that it needs no more than typer does.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import samecluster
from samecluster.cli.terminal.harmless import print_error, print_lines
from samecluster.errors import InvalidInputError, SameClusterError

_HELP: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
_PLAIN: dict[str, Any] = {"pretty_exceptions_enable": False, "rich_markup_mode": None}

COMMANDS = {
    "Commands": {
        "label": "Answer same-or-different questions about your data in the terminal.",
        "cluster": "Find the groups in data with a program that answers, or with the truth.",
        "serve": "Answer questions about your data in a browser, alone or with others.",
        "assign": "Label new rows by a session's answers; nothing is asked.",
        "export": "Write the data with a column each for cluster, how it is known, probability.",
    },
    "Commands for a session": {
        "inspect": "Look at data before labelling it: how it is read, which columns are used.",
        "status": "Say how far a session is: labels, what they rest on, what does not fit.",
        "report": "Write a report as one HTML page: clusters, questions, what labels rest on.",
        "name": "Name a cluster.",
        "undo": "Take back the last answer of a person, or any event by its number.",
        "history": "List what happened in a session.",
        "doubt": "Say that the label of an item is wrong.",
        "merge": "Say that two clusters are one.",
        "split": "Say that items do not belong to their cluster.",
        "import": "Take in answers from a file of pairs or from another session.",
        "update": "Go on with other rows: all answers are kept.",
        "invite": "Make a personal link to a session that is served, now or later.",
        "doctor": "Check a session file event by event, and save what is intact.",
    },
    "Commands for proofs and the paper": {
        "demo": "Make the paper's instance, recover it from a simulated oracle, check the proof.",
        "verify": "Check a proof against the data, in exact arithmetic.",
        "margin": "Look at labelled data: which margin each group has, and which rows break it.",
        "reproduce": "Run the paper's experiments again and write a report.",
    },
}
"""A line per command, in the order of the help; the docstrings of the commands say the rest."""

# The modules of `samecluster.cli.commands` whose names are not those of their command.
_HOMES = {
    **dict.fromkeys(("status", "name", "undo", "history", "doctor"), "session"),
    **dict.fromkeys(("export", "report", "import", "assign", "update"), "exchange"),
    **dict.fromkeys(("doubt", "merge", "split"), "disagreement"),
    **dict.fromkeys(("demo", "margin", "reproduce"), "paper"),
    "invite": "serve",
}

EXIT_CODES = {InvalidInputError: 2, SameClusterError: 1}
"""2: what was passed cannot be used; 1: something else went wrong."""

_CommandLineError: type[Exception] = typer.BadParameter.__mro__[2]
"""ClickException: of click, or of the copy that newer versions of typer have of it."""


class PanelledCommand(TyperCommand):
    """A command whose help has its options under headings."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        return [
            "[OPTIONS]",
            *(argument_name(one) for one in self.get_params(ctx) if _is_argument(one)),
        ]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for one in self.get_params(ctx):
            panel = getattr(one, "rich_help_panel", None)
            heading = "Arguments" if _is_argument(one) else panel or "Options"
            record = (
                (argument_name(one), _help_of(one))
                if _is_argument(one)
                else one.get_help_record(ctx)
            )
            if record is not None:
                panels.setdefault(heading, []).append(record)
        for heading, records in panels.items():
            with formatter.section(heading):
                formatter.write_dl(records)


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _help_of(parameter: Any) -> str:
    return str(parameter.help or "")


def argument_name(parameter: Any) -> str:
    """An argument as the help names it."""
    name = (parameter.metavar or parameter.name).upper()
    return f"{name}..." if parameter.nargs < 0 else str(name)


class LoadedCommands(Mapping[str, Any]):
    """The commands by name; one is loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        if not any(name in commands for commands in COMMANDS.values()):
            raise KeyError(name)
        module = importlib.import_module(f"samecluster.cli.commands.{_HOMES.get(name, name)}")
        alone = typer.Typer(add_completion=False, context_settings=_HELP, **_PLAIN)
        function = getattr(module, "import_" if name == "import" else name)
        alone.command(name, cls=PanelledCommand)(function)
        return typer.main.get_command(alone)

    def __iter__(self) -> Iterator[str]:
        return (name for commands in COMMANDS.values() for name in commands)

    def __len__(self) -> int:
        return sum(map(len, COMMANDS.values()))


class CommandsInGroups(TyperGroup):
    """All commands, with a line for each in the help, under the heading of its group."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.commands = LoadedCommands()  # type: ignore[assignment]

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        for heading, commands in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))
        formatter.write_paragraph()
        formatter.write_text("samecluster COMMAND -h says how a command is used, with an example.")


app = typer.Typer(
    name="samecluster",
    cls=CommandsInGroups,
    help="Find the groups in a dataset by asking a few same-or-different questions.",
    no_args_is_help=True,
    context_settings=_HELP,
    **_PLAIN,
)


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


def main() -> None:
    """Run the command; an expected error becomes one line and an exit code."""
    try:
        code = app(standalone_mode=False, prog_name="samecluster")
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
