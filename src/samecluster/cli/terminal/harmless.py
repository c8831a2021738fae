"""The one way to a terminal: text that is not ours can be read there, and does nothing else.

Cells, names, notes, file names and what programs write may hold characters that move the cursor,
change colours or titles, turn the direction of writing, or begin a line that looks like ours.
`samecluster.cli.terminal.screen` is the same for what has colours and columns.
"""

from __future__ import annotations

import json
import re
from typing import Any

import typer

_HARMFUL = re.compile(  # controls, line ends, marks of direction, tags, halves of characters
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def harmless(text: str) -> str:
    r"""Text on one line, with what a terminal would obey written out.

    >>> print(harmless("red: \x1b[31m\n"))
    red: \x1b[31m\n
    """
    return _HARMFUL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def print_lines(*lines: str, err: bool = False) -> None:
    """Print each text on a line of its own, without markup or line breaks."""
    for line in lines:
        typer.echo(harmless(line), err=err)


def print_json(facts: Any, indent: int | None = 2) -> None:
    """Print what a command found, for ``--json``; what `harmless` changes is escaped as in JSON."""
    text = json.dumps(facts, indent=indent, ensure_ascii=False)
    escaped = _HARMFUL.sub(lambda one: one[0] if one[0] == "\n" else json.dumps(one[0])[1:-1], text)
    typer.echo(escaped)


def print_error(text: str) -> None:
    """Print an error; only its first line begins where ours do."""
    first, *others = text.split("\n")
    print_lines(f"samecluster: {first}", *(f"  {line.lstrip()}" for line in others), err=True)
