"""How far a session is, in the lines above a question."""

from __future__ import annotations

from samecluster.sessions.session import Session

__all__ = ["progress_lines"]


def progress_lines(session: Session) -> list[str]:
    """Labels by how known with what they rest on, questions, what is left, the bound so far."""
    progress = session.progress()
    return [str(progress)]
