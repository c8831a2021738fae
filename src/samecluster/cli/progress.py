"""How far a session is, in the lines above a question."""

from __future__ import annotations

from samecluster.cli.telling import rests_on
from samecluster.recovery.remaining import remaining_questions
from samecluster.recovery.result import How
from samecluster.sessions.session import Session

__all__ = ["left_line", "progress_lines"]


def progress_lines(session: Session) -> list[str]:
    """Labels by how known, questions, the bound so far; what labels rest on; what is left."""
    told = [f"{session.progress()}."]
    known = session.snapshot()
    if known.count(How.ASKED) < len(known.labels) - known.count(How.UNASSIGNED):
        told += [f"  {line}" for line in rests_on(session) if not line.startswith("Audit")]
    left = left_line(session)
    return [*told, left] if left else told


def left_line(session: Session) -> str:
    """What is left to ask, with 80 % confidence."""
    if session.progress().ended:
        return ""
    asked, budget = session.state.n_questions, session.state.parameters.get("max_questions")
    most = None if budget is None else budget - asked
    left = remaining_questions(asked, most=most)
    return "" if left is None else f"Left: {left} questions (80 % interval)."
