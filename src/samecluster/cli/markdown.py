"""docs/commands.md, made from the commands: ``python -m samecluster.cli.markdown``."""

from __future__ import annotations

import inspect
from typing import Any

import typer

from samecluster.cli.main import app, argument_name

_HEAD = """# Commands

This page is made from the help texts of the commands (`samecluster COMMAND --help`) by
`python -m samecluster.cli.markdown > docs/commands.md`.

Exit codes: 0, it worked; 1, something went wrong (a damaged session, answers that contradict each
other, other data); 2, the data or an option cannot be used as it is; 130, interrupted with Ctrl-C.
An error is one line on standard error. `NO_COLOR` switches colours off. `python -m samecluster` is
the same as `samecluster`.

A session is a file beside the data: `DATA.samecluster`. It refers to items by their ids, never to
row numbers or places, and holds no cells; commands that need the rows take the file beside the
session, or `--data FILE`. See [data](data.md) and [sessions](sessions.md).
"""


def commands_as_markdown() -> str:
    """Every command with its arguments, options and example."""
    group: Any = typer.main.get_command(app)
    parts = [_HEAD]
    for name, command in group.commands.items():
        parts.append(f"## samecluster {name}\n\n{_described(command.help)}\n")
        lines = [line for one in command.params if (line := _parameter(one))]
        if lines:
            parts.append("\n".join(["| | |", "|---|---|", *lines]) + "\n")
    return "\n".join(parts)


def _described(text: str) -> str:
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(
        f"```\n{one.removeprefix('Example: ')}\n```" if one.startswith("Example: ") else one
        for one in paragraphs
    )


def _parameter(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        called = argument_name(parameter).removesuffix("...")
    else:
        called = ", ".join([*parameter.opts, *parameter.secondary_opts])
    text = (parameter.help or "").replace("|", "\\|")
    return "" if called == "--help" else f"| `{called}` | {text}{_default(parameter)} |"


def _default(parameter: Any) -> str:
    value = parameter.default
    plain = isinstance(value, int | float | str) and not isinstance(value, bool)
    return f" Default: {value}." if plain and value != "" else ""


if __name__ == "__main__":
    typer.echo(commands_as_markdown(), nl=False)
