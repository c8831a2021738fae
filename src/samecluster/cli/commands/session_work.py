"""What the small commands around a session file do."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from samecluster.cli.terminal.all_rows import export_all
from samecluster.cli.terminal.lines import event_line
from samecluster.errors import InvalidInputError, ProtocolError, SessionNotFoundError, StoreError
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.sqlite import SqliteStore, rescue
from samecluster.workspace.export import (
    Snapshot,
    check_outputs,
    write_labels,
    write_proof,
    write_session_report,
)
from samecluster.workspace.known_answers import answers_of, import_new, pairs_as_answers
from samecluster.workspace.open import SUFFIX, OpenSession, data_beside, data_changes, reopen
from samecluster.workspace.request import Request
from samecluster.workspace.status import session_facts, status_lines

__all__ = [
    "examine",
    "export",
    "import_answers",
    "name_cluster",
    "opened_session",
    "print_history",
    "print_status",
    "report",
    "undo",
    "update",
]

_MOST_LISTED = 10


def print_status(session: Path, data: str | None, vectors: Path | None, json: bool) -> None:
    with opened_session(session, data, vectors, read_only=True) as opened:
        if json:
            _print_json(session_facts(opened))
        else:
            _print(*status_lines(opened))


def print_history(session: Path, last: int | None, json: bool) -> None:
    store = SqliteStore(_session_file(session), read_only=True)
    try:
        events = list(store.read())
    finally:
        store.close()
    for event in events if last is None else events[-last:] if last > 0 else []:
        if json:
            shown_body = {k: v for k, v in event.body.items() if k not in ("keys", "digests")}
            facts = {"event": event.sequence, "kind": event.kind, "at": event.at, "who": event.who}
            typer.echo(json_text.dumps({**facts, "body": shown_body}, ensure_ascii=False))
        else:
            _print(event_line(event))


def undo(
    session: Path, event: int | None, who: str | None, data: str | None, vectors: Path | None
) -> None:
    with opened_session(session, data, vectors) as opened:
        before = opened.session.progress()
        if event is not None:
            opened.session.retract(event, who=who)
            _print(f"Event {event} is taken back.")
        else:
            last = opened.session.state.last_answer(who)
            if last is None or opened.session.undo(who) is None:
                of = f" of {who}" if who else ""
                raise ProtocolError(f"there is no answer{of} to take back; see samecluster history")
            _print(f"Taken back: {last}. It is asked again first.")
        _print(f"Before: {before}.", f"Now: {opened.session.progress()}.")


def name_cluster(
    session: Path, cluster: int, text: str, who: str | None, data: str | None, vectors: Path | None
) -> None:
    if not text.strip() or not text.isprintable():
        raise InvalidInputError(f"a name must be printable text, got {text!r}")
    with opened_session(session, data, vectors) as opened:
        opened.session.name(cluster, text.strip(), who)
        _print(f"Cluster {cluster} is now {text.strip()!r}.")


def export(
    session: Path,
    out: str,
    proof: Path | None,
    prefix: str,
    raw: bool,
    data: str | None,
    vectors: Path | None,
) -> None:
    with opened_session(session, data, vectors, read_only=True) as opened:
        if opened.blocks is not None:
            progress = Console(stderr=True, highlight=False)
            _print(*export_all(progress, opened, out, proof, prefix, raw))
            return
        check_outputs(opened, out, prefix, proof)
        known = Snapshot.of(opened.session)
        write_labels(opened, known, out, prefix=prefix, raw=raw)
        told = [f"{len(opened.table):,} rows are in {out}: {opened.session.progress()}."]
        if proof is not None:
            told.append(write_proof(opened, known, proof))
        if out != "-":
            _print(*told)


def report(
    session: Path, out: Path, include_items: bool, data: str | None, vectors: Path | None
) -> None:
    with opened_session(session, data, vectors, read_only=True) as opened:
        write_session_report(opened, Snapshot.of(opened.session), out, include_items=include_items)
    _print(f"The report is in {out}. Its picture shows where points lie.")


def examine(session: Path, save: Path | None, json: bool) -> bool:
    """Whether the file is intact; prints what was found."""
    path, damage, events = _session_file(session), "", 0
    try:
        store = SqliteStore(path, read_only=True)
        try:
            for event in store.read():
                events = event.sequence
        finally:
            store.close()
    except StoreError as error:
        damage = str(error)
    facts: dict[str, Any] = {"session": str(path), "intact_events": events, "damage": damage}
    facts["beside"] = [
        name for end in ("-wal", "-shm", "-lock") if Path(name := f"{path}{end}").exists()
    ]
    if save is not None:
        facts["saved"] = rescue(path, save)
    if json:
        _print_json(facts)
        return not damage
    _print(f"{path}: {damage}" if damage else f"{path} is intact: {events:,} events.")
    if facts["beside"]:
        _print(f"Beside it, in use or left by a crash; keep them together: {facts['beside']}")
    if save is not None:
        _print(f"{facts['saved']:,} events are saved in {save}.")
    elif damage and events:
        _print(f"Save the {events:,} intact events: samecluster doctor {path} --save NEW{SUFFIX}")
    return not damage


def import_answers(
    session: Path,
    source: Path,
    who: str | None,
    data: str | None,
    vectors: Path | None,
    json: bool,
) -> None:
    with opened_session(session, data, vectors) as opened:
        keys = opened.session.state.items.keys
        n_elsewhere = 0
        if _is_session(source):
            answers, n_elsewhere = answers_of(_state_of(source), keys)
        else:
            answers = pairs_as_answers(source, keys, None)
        taken = import_new(opened.session, answers, f"import of {source.name}", who)
        event = opened.session.state.n_events if taken else None
        if json:
            _print_json({"imported": taken, "about_other_items": n_elsewhere, "event": event})
            return
        elsewhere = f"; {n_elsewhere:,} are about items that are not here" if n_elsewhere else ""
        known = len(answers) - taken
        _print(f"{taken:,} answers imported, {known:,} were there already{elsewhere}.")
        if event is not None:
            file = opened.path
            _print(f"Take them back: samecluster undo {file} --event {event}")
        _print(f"{opened.session.progress()}.")


def update(
    session: Path,
    data: str,
    confirm: bool,
    dry_run: bool,
    who: str | None,
    vectors: Path | None,
    json: bool,
) -> None:
    path = _session_file(session)
    request = Request(data=data, vectors=vectors, who=who)
    changes = data_changes(path, request)
    facts: dict[str, Any] = {
        "added": changes.added,
        "removed": changes.removed,
        "changed": changes.changed,
        "reordered": changes.reordered,
    }
    told = [f"{changes}." if changes else "The data is what the session is about."]
    words = ("added", "removed", "changed")
    told += [f"  {word}: {_listed(facts[word])}" for word in words if facts[word]]
    if not dry_run:
        with reopen(path, request, update=True) as opened:
            outdated = {
                item for said in opened.session.state.set_aside() for item in said.items
            } & opened.session.state.items.row_of.keys()
            if confirm and outdated:
                opened.session.confirm(sorted(outdated), who)
            aside = len(opened.session.state.set_aside())
            facts |= {"set_aside": aside, "questions": opened.session.state.n_questions}
            told.append(f"{opened.session.progress()}.")
            if aside:
                told.append(
                    f"{aside:,} answers are set aside, as they are about items that changed or are "
                    "gone; --confirm takes those about changed items as they are."
                )
            if changes and opened.session.state.audited:
                told.append("The bound of the audit before covers the old rows only.")
    if json:
        _print_json(facts)
    else:
        _print(*told)


def opened_session(
    session: Path, data: str | None, vectors: Path | None, *, read_only: bool = False
) -> OpenSession:
    """A session that exists, with the data that was named or is beside it."""
    path = _session_file(session)
    request = Request(data=data or data_beside(path), vectors=vectors)
    return reopen(path, request, read_only=read_only)


def _session_file(given: Path) -> Path:
    """The file itself, or the session beside the data that was named."""
    beside = given.with_name(given.name + SUFFIX)
    if given.suffix != SUFFIX and beside.exists():
        return beside
    if not given.exists():
        raise SessionNotFoundError(
            f"there is no session {given}; `samecluster label DATA` begins one"
        )
    return given


def _is_session(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(15) == b"SQLite format 3"
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}") from None


def _state_of(path: Path) -> State:
    store = SqliteStore(path, read_only=True)
    try:
        return State(store.read())
    finally:
        store.close()


def _listed(keys: tuple[str, ...]) -> str:
    more = f" and {len(keys) - _MOST_LISTED:,} more" if len(keys) > _MOST_LISTED else ""
    return ", ".join(keys[:_MOST_LISTED]) + more


def _print(*lines: str) -> None:
    console = Console(highlight=False)
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _print_json(facts: dict[str, Any]) -> None:
    typer.echo(json_text.dumps(facts, indent=2, ensure_ascii=False))
