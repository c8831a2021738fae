"""What is known of a session, as plain values and in lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.auto.error_model import ErrorRecord
from samecluster.recovery.forecast import Remaining, remaining_questions
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import How
from samecluster.recovery.result.sentences import count
from samecluster.sessions.session import Session
from samecluster.workspace.in_blocks.all_rows import AllRowsSweep, row_claims, sample_line
from samecluster.workspace.open import OpenSession

# Before 30 questions an interval whose upper end is 20 times the lower one says nothing: the
# forecast is a regression on questions so far, which a few do not determine.
_EARLY, _VAGUE = 30, 20
_TOO_FEW = 5  # questions; of a table that took 40, one answer promised 1 to 10 more
_TIMED = 5  # looks: fewer say little about a person's pace


def session_facts(opened: OpenSession) -> dict[str, Any]:
    """Everything that there is to say, as plain values."""
    session, known = opened.session, opened.session.snapshot()
    progress, state = session.progress(), session.state
    return {
        "session": str(opened.path),
        "items": progress.n_items,
        "sample_of": None if opened.blocks is None else opened.blocks.survey.n,
        "labelled": progress.n_labelled,
        "questions": progress.n_questions,
        "looks": progress.n_looks,
        "by_how": how_counts(progress.by_how),
        "rests_on": list(known.assumptions),
        "claims": [claim.as_dict() for claim in known.claims],
        "clusters": _clusters(session),
        "parameters": {"margin": "auto", "n_clusters": None, **state.parameters},
        "margin_in_use": known.margin,
        "margin_search": None if known.search is None else str(known.search),
        "audit": None if known.audit is None else _audit(known.audit),
        "trouble": [
            {"kind": one.kind, "text": one.text, "remedies": [r.text for r in one.remedies]}
            for one in session.trouble
        ],
        "exceptions": sorted(state.book.exceptions),
        "set_aside": len(state.set_aside()),
        "people": [who for who in state.book.people if who is not None],
        "models": [_record(who, wrong) for who, wrong in session.judged_answers().items()],
        "ended": progress.ended,
    }


def _record(who: str, wrong: Mapping[Answer, float]) -> dict[str, Any]:
    """How often a model erred, by people's answers: of what it called the same, and different."""
    by_verdict = {
        verdict.value: [is_wrong for answer, is_wrong in wrong.items() if answer.verdict is verdict]
        for verdict in (Verdict.SAME, Verdict.DIFFERENT)
    }
    counts = {
        word: {"compared": len(one), "wrong": int(sum(one))} for word, one in by_verdict.items()
    }
    return {"name": who, **counts, "misread": len(ErrorRecord().after(wrong).misread)}


def _record_line(record: Mapping[str, Any]) -> str:
    same, different = record["same"], record["different"]
    n, n_wrong = (same[word] + different[word] for word in ("compared", "wrong"))
    if not n:
        return f"People have seen nothing yet that {record['name']} answered about."
    said = f"Of {count(n, 'answer')} of {record['name']} that people's answers decide, {n_wrong:,} "
    said += "was wrong" if n_wrong == 1 else "were wrong"
    if n_wrong:
        said += (
            f": {same['wrong']:,} of {same['compared']:,} called the same what is not, "
            f"{different['wrong']:,} of {different['compared']:,} called different what is the same"
        )
    if record["misread"]:
        said += f"; {count(record['misread'], 'item')} it misread more than once"
    return f"{said}."


def row_facts(
    opened: OpenSession, found: AllRowsSweep, audit: AuditReport | None, out: str | None
) -> dict[str, Any]:
    """What is known of all rows of data in blocks, beside the facts of the session."""
    counts = how_counts(found.by_how)
    told = row_claims(opened, found, audit)
    return {
        "points": found.n,
        "labels": {how: count for how, count in counts.items() if count},
        "sweeps": found.n_sweeps,
        "out": out,
        "rests_on": [str(claim) for claim in told],
        "claims": [claim.as_dict() for claim in told],
        **({} if audit is None else {"audit": _audit(audit)}),
    }


def status_lines(opened: OpenSession) -> Iterator[str]:
    """The same for people."""
    facts = session_facts(opened)
    yield f"{opened.session.progress()}."
    if line := sample_line(opened):
        yield line
    yield from (f"  {line}" for line in facts["rests_on"])
    yield from map(_record_line, facts["models"])
    for one in facts["clusters"]:
        named = f" {one['name']}" if one["name"] else ""
        size, aliases = count(one["items"], "item"), ", ".join(map(str, one["aliases"]))
        also = f" (also {aliases})" if aliases else ""
        yield f"  cluster {one['number']}{named}{also}: {size}, such as {one['anchor']}"
    for one in facts["trouble"]:
        yield f"Does not fit: {one['text']}"
        yield from (f"  possible: {remedy}" for remedy in one["remedies"])
    if facts["exceptions"]:
        yield f"Exceptions: {', '.join(facts['exceptions'])}"
    if facts["set_aside"]:
        yield f"Set aside, as about other rows: {count(facts['set_aside'], 'answer')}."


def how_counts(counted: Mapping[How, int]) -> dict[str, int]:
    """Labels by how they are known, the surest first."""
    return {how.name.lower(): int(counted.get(how, 0)) for how in reversed(How)}


def questions_left(session: Session) -> Remaining | None:
    """What is left to ask, an interval at 80 %; None if nothing is, or nothing can be said."""
    if session.progress().ended:
        return None
    asked, declared = session.state.n_questions, session.state.parameters
    budget, audit = declared.get("max_questions"), declared.get("audit")
    return remaining_questions(
        session.snapshot(),
        asked,
        most=None if budget is None else budget - asked,
        audit=None if audit is None else tuple(audit),
        expected_error=declared.get("expected_error"),
    )


def minutes_left(session: Session, left: Remaining | None) -> tuple[float, float] | None:
    """The same in minutes, by the seconds that answers took so far; None if few were timed.

    Checks of an audit take less than finding groups, so that they have a pace of their own.
    """
    timed, checks = list(session.state.seconds.values()), session.state.seconds.get("checks")
    if checks is not None and session.snapshot().audit is not None:
        timed = [checks] if checks.n_looks >= _TIMED else timed
    if left is None or sum(one.n_looks for one in timed) < _TIMED:
        return None
    pace = sum(one.seconds for one in timed) / sum(one.n_answers for one in timed) / 60
    return round(pace * left.low, 1), round(pace * left.high, 1)


def left_line(session: Session) -> str:
    """The same for people."""
    left = questions_left(session)
    if left is None:
        return ""
    n_asked = session.state.n_questions
    if n_asked < _TOO_FEW or (n_asked < _EARLY and left.high > _VAGUE * max(left.low, 1)):
        return "It is too early to say how many questions are left."
    minutes = minutes_left(session, left)
    if minutes is None:
        return str(left.claim)
    return f"{left.claim} That is about {count(max(1, round(minutes[1])), 'minute')} at most."


def _audit(audit: AuditReport) -> dict[str, Any]:
    return {
        "sentence": str(audit),
        "wrong_at_most": audit.n_wrong_at_most,
        "of": audit.n_labels,
        "confidence": audit.confidence,
        "checks": audit.n_audits,
        "met": audit.met,
    }


def _clusters(session: Session) -> list[dict[str, Any]]:
    labels, names, aliases = session.snapshot().labels, session.names(), session.aliases()
    return [
        {
            "number": number,
            "name": names.get(number),
            "anchor": anchor,
            "items": int(np.count_nonzero(labels == number)),
            "aliases": sorted(alias for alias, now in aliases.items() if now == number),
        }
        for number, anchor in sorted(session.anchors().items())
    ]
