"""Lines of text about a session: how far it is, and each of its events."""

from __future__ import annotations

from collections.abc import Callable

from samecluster.recovery.result.how import How
from samecluster.recovery.result.sentences import count
from samecluster.sessions.session import Session
from samecluster.sessions.storage.events import Event
from samecluster.workspace.status import left_line


def progress_lines(session: Session) -> list[str]:
    """Labels by how known, questions, the bound so far; what labels rest on; what is left."""
    lines = [f"{session.progress()}."]
    known = session.snapshot()
    if known.count(How.ASKED) < len(known.labels) - known.count(How.UNASSIGNED):
        lines += [f"  {claim}" for claim in known.claims if claim.kind != "audit"]
    left = left_line(session)
    return [*lines, left] if left else lines


def event_line(event: Event) -> str:
    """An event in a line."""
    who = f" {event.who}:" if event.who else ""
    return f"{event.sequence:>5}  {event.at[:19]}Z {who} {_described(event)}"


def _described(event: Event) -> str:
    body = event.body
    pair = " and ".join(body["items"]) if "items" in body else ""
    words: dict[str, Callable[[], str]] = {
        "opened": lambda: f"opened with {count(len(body['keys']), 'item')}",
        "answered": lambda: f"{pair} {body['verdict']}",
        "unsure": lambda: f"{pair} unsure",
        "flagged": lambda: (
            f"exception {body['item']}" if "item" in body else f"{pair} flagged: {body['note']}"
        ),
        "retracted": lambda: f"event {body['sequence']} taken back",
        "named": lambda: f"cluster {body['number']} named {body['text']}",
        "imported": lambda: f"{count(len(body['answers']), 'answer')} from {body['source']}",
        "updated": lambda: (
            f"now {count(len(body['keys']), 'item')}"
            if "keys" in body
            else f"answers about {count(len(body.get('confirmed', ())), 'changed item')} confirmed"
        ),
        "parameters": lambda: ", ".join(f"{k} = {v}" for k, v in body["parameters"].items()),
        "audit": lambda: "an audit began",
        "closed": lambda: "finished",
    }
    return words[event.kind]()
