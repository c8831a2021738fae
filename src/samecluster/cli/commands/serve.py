"""``samecluster serve`` and ``samecluster invite``: the labelling page and who may use it.

Nothing heavy is imported here, as help texts are made from it.
"""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samecluster.cli.commands.label import INTERRUPTED
from samecluster.cli.commands.session import SessionFile
from samecluster.cli.options import takes_request
from samecluster.cli.terminal.harmless import print_lines
from samecluster.workspace.request import Request, listed
from samecluster.workspace.typed_command import typed_again

if TYPE_CHECKING:
    from samecluster.cli.terminal.screen import Screen
    from samecluster.web.server import Address, ServeOptions

_READING_SECONDS = 60.0
"""How long a file with the owner's link stays for the browser to read it."""


class Role(enum.StrEnum):
    """What somebody may do: owners also decide, download and see who takes part."""

    OWNER = "owner"
    ANNOTATOR = "annotator"


@takes_request("truth", "dask")
def serve(
    request: Request,
    host: str = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            min=0,
            max=65535,
            help="The port; 8321, or that of last time, or a free one.",
        ),
    ] = None,
    token: str | None = None,
    allow_host: list[str] | None = None,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    image_column: str | None = None,
    lease_seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="How long a question is kept for somebody who went silent.",
        ),
    ] = 120.0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open the page.")
    ] = True,
) -> None:
    """Answer same-or-different questions about your data in a browser, alone or with others.

    Every answer is safe once it is given: stop at any moment (Ctrl-C), and the same command goes
    on. `samecluster invite` makes personal links for others. With --in-blocks the page is about a
    sample of the rows. When nothing is left to ask, the same command looks at all other rows, and
    those that do not follow from the answers join the sample. DATA may be the word digits: 1,797
    pictures of handwritten digits to try it with.

    Exit code 130 after Ctrl-C, 2 if the data or an option cannot be used.

    Example: samecluster serve shells.csv --id shell --image-column photo
    """
    from samecluster._extras import needs_server
    from samecluster.cli.terminal.screen import Screen

    needs_server()
    from samecluster.web.server import Address, ServeOptions
    from samecluster.workspace.open import session_path

    request, image_column = _with_example(request, image_column)
    if request.looks is None and not session_path(request).exists():
        request = replace(request, looks="auto")
    address = Address(host, port, tuple(allow_host or ()), tls_cert, tls_key)
    options = ServeOptions(
        listed(request.show, ()), image_column, token, request.who, lease_seconds
    )
    _serve(Screen(soft_wrap=True), request, address, options, browser)


def invite(
    session: SessionFile,
    name: Annotated[str, typer.Argument(help="The name of the person, as answers will have it.")],
    role: Annotated[
        Role, typer.Option(help="Owners also decide, download and see who takes part.")
    ] = Role.ANNOTATOR,
    revoke: Annotated[
        bool, typer.Option("--revoke", help="End all links of this person instead.")
    ] = False,
) -> None:
    """Make a personal link to a session that is served, now or later; or end those of a person.

    The link is shown once; only a hash of it is kept, in your own folder and not in the session.
    It works again whenever the session is served on the same address.

    Example: samecluster invite shells.csv.samecluster Ann
    """
    from samecluster.errors import SessionNotFoundError
    from samecluster.web.links import Participant, Participants, links_file
    from samecluster.workspace.open import SUFFIX, session_beside

    file = session if session.suffix == SUFFIX else session_beside(session)
    if not file.exists():
        raise SessionNotFoundError(
            f"there is no session {file}; `samecluster serve DATA` begins one"
        )
    people = Participants(links_file(file))
    if revoke:
        n_ended = people.revoke(name)
        ended = "1 link has" if n_ended == 1 else f"{n_ended:,} links have"
        print_lines(f"{ended} ended: those of {name}.")
        return
    secret = people.invite(Participant(name, role.value))
    if people.address is None:
        print_lines("The session was never served, so put its address before this:", err=True)
    print_lines(f"{people.address or ''}/join?token={secret}")


def _serve(
    console: Screen, request: Request, address: Address, options: ServeOptions, browser: bool
) -> None:
    from samecluster.workspace.open import export_command, session_path

    # The signal is raised again once the server has stopped.
    with contextlib.suppress(KeyboardInterrupt):
        _serve_until_stopped(console, request, address, options, browser)
    console.print()
    console.print("Stopped. All answers are kept.")
    console.print(f"Go on: {typed_again()}")
    out = "labels" if request.in_blocks else "labels.csv"
    results = export_command(session_path(request), request.data, out)
    console.print(f"Results: {results}")
    raise typer.Exit(INTERRUPTED)


def _serve_until_stopped(
    console: Screen, request: Request, address: Address, options: ServeOptions, browser: bool
) -> None:
    from samecluster.cli.terminal.all_rows import take_in_what_needs_questions
    from samecluster.cli.terminal.screen import reading
    from samecluster.web.server import Server
    from samecluster.workspace.in_blocks.all_rows import sample_line
    from samecluster.workspace.open import open_session

    with console.status(reading(request)):
        opened = open_session(request)
    with opened:
        opened = take_in_what_needs_questions(console, request.who, opened)
        serving = Server(opened, request.data, address, options)
        begun = "Answers go to" if opened.is_new else "Going on with"
        console.print(f"{begun} {opened.path}.")
        told = opened.data.told() if opened.is_new else ()
        for line in (*told, sample_line(opened), opened.check_line(), address.warning()):
            if line is not None:
                console.print(line)
        console.print(f"Open {serving.link}")
        console.print("Stop with Ctrl-C; nothing is lost.")
        if browser and console.is_terminal:
            with _opened_page(serving.link, opened.path):
                serving.run()
        else:
            serving.run()


def _with_example(request: Request, image_column: str | None) -> tuple[Request, str | None]:
    """The request itself, or one for the bundled example if that is what its data names."""
    from samecluster.web.example_data import NAME, write_digits

    if request.data != NAME or Path(request.data).is_file():
        return request, image_column
    data = str(write_digits(Path(NAME)))
    request = replace(request, data=data, id_column="id", ignore=["image"], scale=False)
    return request, "image"


@contextlib.contextmanager
def _opened_page(link: str, session: Path) -> Iterator[None]:
    """Open the page by way of a file: others on this machine see command lines, not files.

    The file has the owner's secret, so it goes once a browser has had the time to read it.
    """
    import html
    import threading
    import webbrowser

    from samecluster.web.links import links_file

    page = links_file(session).with_suffix(".html")
    page.unlink(missing_ok=True)
    page.touch(mode=0o600)
    page.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0;url={html.escape(link)}">',
        encoding="utf-8",
    )
    removal = threading.Timer(_READING_SECONDS, page.unlink, kwargs={"missing_ok": True})
    removal.daemon = True
    removal.start()
    try:
        webbrowser.open(page.as_uri())
        yield
    finally:
        removal.cancel()
        page.unlink(missing_ok=True)
