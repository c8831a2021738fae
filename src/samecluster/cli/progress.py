"""How far a session is, in the lines above a question."""

from __future__ import annotations

from samecluster.recovery.result import How
from samecluster.sessions.session import Session
from samecluster.workbench.facts import left_line

__all__ = ["progress_lines"]


def progress_lines(session: Session) -> list[str]:
    """Labels by how known, questions, the bound so far; what labels rest on; what is left."""
    told = [f"{session.progress()}."]
    known = session.snapshot()
    if known.count(How.ASKED) < len(known.labels) - known.count(How.UNASSIGNED):
        told += [f"  {line}" for line in known.assumptions if not line.startswith("Audit")]
    left = left_line(session)
    return [*told, left] if left else told
