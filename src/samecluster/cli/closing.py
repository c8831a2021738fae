"""What `samecluster cluster` says at its end: what is known, what it rests on, what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from samecluster._typing import IntArray
from samecluster.cli.choices import choices
from samecluster.cli.opening import Opened
from samecluster.recovery.error import clustering_error
from samecluster.recovery.result import How

__all__ = ["facts", "next_steps", "summary"]


def facts(opened: Opened, truth: IntArray | None) -> dict[str, Any]:
    """Everything that is said, as plain values."""
    session, known = opened.session, opened.session.snapshot()
    progress, audit = session.progress(), known.audit
    return {
        "items": progress.n_items,
        "labelled": progress.n_labelled,
        "clusters": progress.n_clusters,
        "questions": progress.n_questions,
        "by_how": {how.name.lower(): progress.by_how[how] for how in reversed(How)},
        "rests_on": list(known.assumptions),
        "margin_search": None if known.search is None else str(known.search),
        "audit": None
        if audit is None
        else {
            "sentence": str(audit),
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
        "ended": progress.ended,
        "error": None if truth is None else clustering_error(known.labels, truth),
    }


def summary(told: dict[str, Any]) -> Iterator[str]:
    """The facts for people."""
    ended = f"; {told['ended']}" if told["ended"] else ""
    yield (
        f"{told['labelled']:,} of {told['items']:,} items have a label, in {told['clusters']:,} "
        f"clusters, after {told['questions']:,} questions{ended}."
    )
    yield from told["rests_on"]
    if told["margin_search"] is not None:
        yield f"Nobody declared a margin: {told['margin_search']}."
    for one in told["trouble"]:
        yield f"Does not fit: {one['text']}."
        yield from (f"  possible: {remedy}" for remedy in one["remedies"])
    if told["error"] is not None:
        yield f"Error against the truth: {told['error']:.2%} of the labels are wrong."


def next_steps(opened: Opened, has_output: bool, is_kept: bool) -> Iterator[str]:
    """What can be done now, with its price where there is one."""
    if not has_output:
        yield "To have the labels in a file, run the same command with -o labels.csv."
    if not is_kept:
        return
    session = opened.session
    budget = session.state.parameters.get("max_questions")
    spent = budget is not None and session.state.n_questions >= budget
    if spent:
        yield "To ask more, run the same command with a larger --max-questions, or none."
    for choice in choices(session.snapshot(), budget):
        audit = (choice.parameters or {}).get("audit")
        if audit is not None:
            also = " --max-questions none" if spent else ""
            yield f"--audit {audit[0]:g}{also}: {choice.text.removeprefix('audit: ')}."
    quoted = shlex.quote(str(opened.path))
    yield f"Answers are in {quoted}; to look at them: samecluster status {quoted}"
    if session.trouble:
        yield f"To take an answer back by its number: samecluster undo {quoted} --event NUMBER"
