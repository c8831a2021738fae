"""Facts about a session in words and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from samecluster.cli.opening import Opened
from samecluster.recovery.result import How
from samecluster.sessions.events import Event
from samecluster.sessions.session import Session

__all__ = ["event_line", "rests_on", "status_facts", "status_lines"]


def status_facts(opened: Opened) -> dict[str, Any]:
    """Everything that `samecluster status` knows, as plain values."""
    session, known = opened.session, opened.session.snapshot()
    progress, state = session.progress(), session.state
    audit = known.audit
    return {
        "session": str(opened.path),
        "items": progress.n_items,
        "labelled": progress.n_labelled,
        "questions": progress.n_questions,
        "by_how": {how.name.lower(): progress.by_how.get(how, 0) for how in reversed(How)},
        "rests_on": rests_on(session),
        "clusters": _clusters(opened),
        "parameters": {"margin": "auto", "n_clusters": None, **state.parameters},
        "margin_in_use": known.margin,
        "audit": None
        if audit is None
        else {
            "wrong_at_most": audit.n_wrong_at_most,
            "of": audit.n_labels,
            "confidence": audit.confidence,
            "checks": audit.n_audits,
            "met": audit.met,
        },
        "trouble": [
            {"kind": one.kind, "text": one.text, "remedies": [r.text for r in one.remedies]}
            for one in session.trouble
        ],
        "exceptions": sorted(state.exceptions),
        "set_aside": len(state.set_aside()),
        "people": [who for who in state.people if who is not None],
        "ended": progress.ended,
    }


def status_lines(opened: Opened) -> Iterator[str]:
    """The same for people."""
    facts = status_facts(opened)
    yield f"{opened.session.progress()}."
    yield from (f"  {line}" for line in facts["rests_on"])
    for one in facts["clusters"]:
        named = f" {one['name']}" if one["name"] else ""
        yield f"  cluster {one['number']}{named}: {one['items']:,} items, such as {one['anchor']}"
    for one in facts["trouble"]:
        yield f"Does not fit: {one['text']}"
        yield from (f"  possible: {remedy}" for remedy in one["remedies"])
    if facts["exceptions"]:
        yield f"Exceptions: {', '.join(facts['exceptions'])}"
    if facts["set_aside"]:
        yield f"{facts['set_aside']:,} answers are set aside: they are about other rows."


def rests_on(session: Session) -> list[str]:
    """What the labels rest on. Items that are still to be asked about are not yet without group."""
    told = session.snapshot().assumptions
    ended = session.progress().ended
    return [line for line in told if ended or not line.endswith("they have no label.")]


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


def _clusters(opened: Opened) -> list[dict[str, Any]]:
    session = opened.session
    labels, names = session.snapshot().labels, session.names()
    return [
        {
            "number": number,
            "name": names.get(number),
            "anchor": anchor,
            "items": int(np.count_nonzero(labels == number)),
        }
        for number, anchor in sorted(session.anchors().items())
    ]
