"""Events of a session in words."""

from __future__ import annotations

from collections.abc import Callable

from samecluster.sessions.events import Event

__all__ = ["event_line"]


def event_line(event: Event) -> str:
    """An event in a line."""
    who = f" {event.who}:" if event.who else ""
    return f"{event.sequence:>5}  {event.at[:19]}Z {who} {_told(event)}"


def _told(event: Event) -> str:
    body = event.body
    pair = " and ".join(body["items"]) if "items" in body else ""
    words: dict[str, Callable[[], str]] = {
        "opened": lambda: f"opened with {len(body['keys']):,} items",
        "answered": lambda: f"{pair} {body['verdict']}",
        "unsure": lambda: f"{pair} unsure",
        "flagged": lambda: (
            f"exception {body['item']}" if "item" in body else f"{pair} flagged: {body['note']}"
        ),
        "retracted": lambda: f"event {body['sequence']} taken back",
        "named": lambda: f"cluster {body['number']} named {body['text']}",
        "imported": lambda: f"{len(body['answers']):,} answers from {body['source']}",
        "updated": lambda: (
            f"now {len(body['keys']):,} items"
            if "keys" in body
            else f"answers about {len(body.get('confirmed', ())):,} changed items confirmed"
        ),
        "parameters": lambda: ", ".join(f"{k} = {v}" for k, v in body["parameters"].items()),
        "audit": lambda: "an audit began",
        "closed": lambda: "finished",
    }
    return words[event.kind]()
