"""The commands that look at a session or correct it, and what all commands on sessions share.

Nothing heavy is imported before a command runs, as help texts are made from this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samecluster.cli.commands.label import INTERRUPTED
from samecluster.cli.options import Json
from samecluster.cli.terminal.harmless import print_json, print_lines
from samecluster.errors import (
    InvalidInputError,
    ProtocolError,
    SameClusterError,
    SessionNotFoundError,
    StoreError,
)
from samecluster.workspace.request import Request
from samecluster.workspace.typed_command import typed

if TYPE_CHECKING:
    from samecluster.workspace.open import OpenSession

SessionFile = Annotated[
    Path, typer.Argument(metavar="SESSION", help="A session file, or the data that it is beside.")
]
DataFile = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="The data, if it is not beside the session under its own name.",
    ),
]
Vectors = Annotated[
    Path | None,
    typer.Option("--vectors", metavar="FILE", help="The vectors, if they are not beside the data."),
]
Who = Annotated[str | None, typer.Option("--who", metavar="NAME", help="The name of the person.")]


def status(
    session: SessionFile, data: DataFile = None, vectors: Vectors = None, json: Json = False
) -> None:
    """Say how far a session is: labels, what they rest on, clusters, and what does not fit.

    Works while somebody else is labelling.

    Example: samecluster status shells.csv.samecluster
    """
    from samecluster.workspace.item_names import ItemNames
    from samecluster.workspace.status import session_facts, status_lines

    with opened_session(session, data, vectors, read_only=True) as opened:
        if json:
            print_json(session_facts(opened))
        else:
            print_lines(*map(ItemNames(opened.data).in_text, status_lines(opened)))


def history(
    session: SessionFile,
    last: Annotated[int | None, typer.Option(help="Only the last so many events.")] = None,
    json: Json = False,
) -> None:
    """List what happened in a session: answers, undone ones too, imports, names, parameters.

    The number before each event is what `samecluster undo --event` takes. With --json an event a
    line.

    Example: samecluster history shells.csv.samecluster --last 20
    """
    from samecluster.cli.terminal.lines import event_line
    from samecluster.sessions.storage.sqlite import SqliteStore

    path = session_file(session)
    with closing(SqliteStore(path, read_only=True)) as store:
        events = list(store.read())
    readable = str if json else _readable(path)
    for event in events if last is None else events[-last:] if last > 0 else []:
        if json:
            shown_body = {k: v for k, v in event.body.items() if k not in ("keys", "digests")}
            facts = {"event": event.sequence, "kind": event.kind, "at": event.at, "who": event.who}
            print_json({**facts, "body": shown_body}, indent=None)
        else:
            print_lines(readable(event_line(event)))


def undo(
    session: SessionFile,
    event: Annotated[
        int | None,
        typer.Option(help="Take this event back instead: an answer, an import, an exception."),
    ] = None,
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Take back the last answer of a person, or any event by its number. Nothing is erased.

    Example: samecluster undo shells.csv.samecluster --event 17
    """
    from samecluster.workspace.item_names import ItemNames

    with opened_session(session, data, vectors) as opened:
        before = opened.session.progress()
        if event is not None:
            opened.session.retract(event, who=who)
            print_lines(f"Event {event} is taken back.")
        else:
            last = opened.session.state.book.last_answer(who)
            if last is None or opened.session.undo(who) is None:
                of = f" of {who}" if who else ""
                raise ProtocolError(f"there is no answer{of} to take back; see samecluster history")
            told = ItemNames(opened.data).in_text(str(last))
            print_lines(f"Taken back: {told}. It is asked again first.")
        print_lines(f"Before: {before}.", f"Now: {opened.session.progress()}.")


def name(
    session: SessionFile,
    cluster: Annotated[int, typer.Argument(help="The number of the cluster.")],
    text: Annotated[str, typer.Argument(help="Its name.")],
    who: Who = None,
    data: DataFile = None,
    vectors: Vectors = None,
) -> None:
    """Name a cluster. The name stays with it whatever is answered later.

    Example: samecluster name shells.csv.samecluster 0 periwinkle
    """
    if not text.strip() or not text.isprintable():
        raise InvalidInputError(f"a name must be printable text, got {text!r}")
    with opened_session(session, data, vectors) as opened:
        number = opened.session.cluster(cluster)
        opened.session.name(number, text.strip(), who)
        print_lines(f"Cluster {number} is now {text.strip()!r}.")


def doctor(
    session: SessionFile,
    save: Annotated[
        Path | None, typer.Option(help="Save the intact events in this new session file.")
    ] = None,
    json: Json = False,
) -> None:
    """Check a session file event by event, and save what is intact of a damaged one.

    A file with tables, views or triggers that are not samecluster's is not used by other commands;
    this one names them, and saves the events without them. Exit code 1 if the file is damaged or
    has such parts.

    Example: samecluster doctor shells.csv.samecluster --save rescued.samecluster
    """
    from samecluster.recovery.result.sentences import count
    from samecluster.sessions.storage.sqlite import SqliteStore, rescue
    from samecluster.workspace.open import SUFFIX

    path, damage, events, foreign = session_file(session), "", 0, list[str]()
    try:
        with closing(SqliteStore(path, read_only=True, allow_foreign=True)) as store:
            foreign = store.foreign
            for event in store.read():
                events = event.sequence
    except StoreError as error:
        damage = str(error)
    facts: dict[str, Any] = {"session": str(path), "intact_events": events, "damage": damage}
    facts["foreign"] = foreign
    facts["beside"] = [
        name for end in ("-wal", "-shm", "-lock") if Path(name := f"{path}{end}").exists()
    ]
    if save is not None:
        facts["saved"] = rescue(path, save)
    if json:
        print_json(facts)
    else:
        print_lines(
            f"{path}: {damage}" if damage else f"{path} is intact: {count(events, 'event')}."
        )
        if foreign:
            print_lines(f"Not made by samecluster, so that it is not used: {', '.join(foreign)}.")
        if facts["beside"]:
            print_lines(
                f"Beside it, in use or left by a crash; keep them together: {facts['beside']}"
            )
        if save is not None:
            print_lines(f"{save} has {count(facts['saved'], 'event')} now.")
        elif (damage or foreign) and events:
            command = typed("doctor", path, "--save", f"rescued{SUFFIX}")
            print_lines(f"Save what is intact ({count(events, 'event')}): {command}")
    if damage or foreign:
        raise typer.Exit(1)


@contextmanager
def opened_session(
    session: Path, data: str | None, vectors: Path | None, *, read_only: bool = False
) -> Iterator[OpenSession]:
    """A session that exists, with the data that was named or is beside it.

    Ctrl-C ends the command with a line that says so, and its own exit code.
    """
    from samecluster.cli.terminal.screen import Screen
    from samecluster.workspace.open import data_beside, reopen

    path = session_file(session)
    request = Request(data=data or data_beside(path), vectors=vectors)
    try:
        with Screen(stderr=True).waiting("reading the session and its data"):
            opened = reopen(path, request, read_only=read_only)
            opened.session.snapshot()  # what follows from the answers, which takes the most time
        with opened:
            yield opened
    except KeyboardInterrupt:
        print_lines("", "Stopped. All answers are kept.")
        raise typer.Exit(INTERRUPTED) from None


def _readable(path: Path) -> Callable[[str], str]:
    """What puts names of items in place of keys, if the data is beside the session."""
    from samecluster.workspace.item_names import ItemNames, without_keys
    from samecluster.workspace.open import data_beside, data_changes

    try:
        _, data = data_changes(path, Request(data=data_beside(path)))
        return ItemNames(data).in_text
    except SameClusterError:
        return without_keys


def session_file(given: Path) -> Path:
    """The file itself, or the session beside the data that was named."""
    from samecluster._files import is_database
    from samecluster.workspace.open import SUFFIX, session_beside

    beside = session_beside(given)
    if given.suffix != SUFFIX and beside.exists():
        return beside
    if not given.exists():
        raise SessionNotFoundError(
            f"there is no session {given}; `samecluster label DATA` begins one"
        )
    if given.is_dir() or (given.suffix != SUFFIX and not is_database(given)):
        raise SessionNotFoundError(
            f"there is no session about {given} yet (it would be {beside}); begin one in the "
            f"terminal with: {typed('label', given)} (or in a browser: {typed('serve', given)})"
        )
    return given
