"""What another library says about a file, short enough to be part of a line."""

from __future__ import annotations

__all__ = ["reason_of"]

_LONGEST = 150


def reason_of(error: BaseException) -> str:
    """The first line of an error's message, or its kind if it has none."""
    said = " ".join((str(error).splitlines() or [""])[0].split())
    said = said or type(error).__name__
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"
