"""Lines of text about a session: how far it is, and each of its events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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


def look_line(look: Mapping[str, Any], reply: Mapping[str, Any]) -> str:
    """A look and the reply to it in a line."""
    unsure = reply.get("unsure")
    if look["kind"] == "choice":
        named = [look["groups"][place][0] for place in reply.get("groups", ())]
        none = f"in none of {len(look['groups'])} groups"
        said = f"with {' and '.join(named)}" if named else none
        return f"choice: {look['item']} {'unsure' if unsure else said}"
    doubts = f"; unsure: {', '.join(unsure)}" if unsure else ""
    if look["kind"] == "board":
        joined = "; ".join(" and ".join(group) for group in reply["joined"])
        said = f"{joined} are one" if joined else "all differ"
        return f"board of {len(look['items'])} groups: {said}{doubts}"
    odd = "; the reference is the odd one" if reply.get("odd_reference") else ""
    said = f"all but {', '.join(reply['marked'])}" if reply["marked"] else "all"
    if look["kind"] == "checks":
        return f"checks of {len(look['cells'])} items: {said}{doubts}"
    return f"sheet of {len(look['items'])} items with {look['reference']}: {said}{doubts}{odd}"


def _described(event: Event) -> str:
    body = event.body
    pair = " and ".join(body["items"]) if "items" in body else ""
    words: dict[str, Callable[[], str]] = {
        "opened": lambda: f"opened with {count(len(body['keys']), 'item')}",
        "answered": lambda: f"{pair} {body['verdict']}",
        "unsure": lambda: f"{pair} unsure",
        "looked": lambda: look_line(body["look"], body["reply"]),
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
        "parameters": lambda: (
            ", ".join(f"{k} = {v}" for k, v in body["parameters"].items()) or "groups got numbers"
        ),
        "audit": lambda: "an audit began",
        "trusted": lambda: (
            f"from here on people's answers count alone; they check labels of "
            f"{', '.join(body.get('models', ()))}"
            if body["people"]
            else "from here on models' answers count, too"
        ),
        "closed": lambda: "finished",
    }
    n_second = body.get("second_looks")
    return words[event.kind]() + (f" ({count(n_second, 'second look')})" if n_second else "")
