"""``samecluster label``: questions in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from samecluster.cli.options import takes_request
from samecluster.workspace.request import Request, listed
from samecluster.workspace.typed_command import typed_again

if TYPE_CHECKING:
    from samecluster.cli.terminal.screen import Screen
    from samecluster.workspace.open import OpenSession

Show = Annotated[
    list[str] | None,
    typer.Option("--show", metavar="COLUMNS", help="Columns to show of each item: a,b,c."),
]

_SEVERAL = (
    "You are asked about two items at a time. --looks auto, or `samecluster serve` in a browser, "
    "shows several at once: fewer screens, and less time."
)
INTERRUPTED = 130
"""The exit code after Ctrl-C."""


@takes_request("truth", "dask")
def label(request: Request) -> None:
    """Answer same-or-different questions about your data in the terminal.

    Every answer is safe once it is given: quit at any moment (q or Ctrl-C), and the same command
    goes on. b takes answers back, as many as you like, also those of another day.

    With --in-blocks questions are about a sample of the rows. When nothing is left to ask, all
    other rows are looked at; those that do not follow from the answers join the sample.

    Exit code 0 when you stop or nothing is left to ask, 2 if the data or an option cannot be used,
    1 if something else is wrong, 130 after Ctrl-C.

    Example: samecluster label shells.csv --id shell --show length,width
    """
    from samecluster.cli.terminal.screen import Screen

    console = Screen()
    try:
        _label(console, request)
    except KeyboardInterrupt:
        console.print()
        console.print(f"Stopped. All answers are kept; go on with: {typed_again()}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


def _label(console: Screen, request: Request) -> None:
    from functools import partial

    from samecluster.cli.terminal.all_rows import look_further
    from samecluster.cli.terminal.conversation import Conversation
    from samecluster.cli.terminal.keyboard import read_key
    from samecluster.cli.terminal.missing_cells import asks_about_missing
    from samecluster.cli.terminal.screen import reading
    from samecluster.workspace.open import export_command, open_session
    from samecluster.workspace.pair_display import checked_columns

    with console.status(reading(request)) as shown:
        opened = open_session(request, asks_about_missing(console, shown))
    with opened:
        columns = checked_columns(opened, listed(request.show, opened.table.names))
        _greet(console, opened)
        further = partial(look_further, console, request.who)
        Conversation(opened, console, columns, request.who, read_key, further).hold()
        console.print(f"{opened.session.progress()}.")
    # Only now is it sure that the file is still there.
    console.print(f"Answers are in {opened.path}.")
    console.print(f"Go on: {typed_again()}", soft_wrap=True)
    out = "labels.csv" if opened.blocks is None else "labels"
    results = export_command(opened.path, request.data, out)
    console.print(f"Results: {results}", soft_wrap=True)


def _greet(console: Screen, opened: OpenSession) -> None:
    from samecluster.cli.commands.inspect import print_inspection
    from samecluster.workspace.in_blocks.all_rows import sample_line

    if opened.is_new:
        print_inspection(console, opened.data.inspection(), opened.data.notes)
        console.print(f"Answers go to {opened.path}.")
        if opened.session.state.parameters.get("looks") is None:
            console.print(_SEVERAL)
    else:
        console.print(f"Going on with {opened.path}.")
    for line in (sample_line(opened), opened.check_line()):
        if line is not None:
            console.print(line, soft_wrap=True)
