"""Margin, number of clusters, audit and budget: from the words of a command line to parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samecluster.errors import InvalidInputError

__all__ = ["declared_parameters"]

_CONFIDENCE = 0.95


def declared_parameters(
    margin: str | None = None,
    clusters: str | None = None,
    audit: str | None = None,
    max_questions: str | None = None,
) -> dict[str, Any]:
    """The parameters of a session that were given; those that were not are left out.

    >>> declared_parameters(margin="0.5", clusters="unknown", audit="0.01")
    {'margin': 0.5, 'n_clusters': None, 'audit': [0.01, 0.95]}
    """
    found: dict[str, Any] = {}
    if margin is not None:
        known = {"auto": "auto"}
        found["margin"] = _read("--margin", margin, known, float, "a number above 0, or auto")
    if clusters is not None:
        known_count = {"unknown": None, "auto": None}
        allowed = "a whole number, or unknown"
        found["n_clusters"] = _read("--clusters", clusters, known_count, int, allowed)
    if audit is not None:
        allowed = "an error and a confidence such as 0.01,0.95, or none"
        found["audit"] = _read("--audit", audit, {"none": None}, _error_and_confidence, allowed)
    if max_questions is not None:
        allowed = "a whole number, or none"
        found["max_questions"] = _read(
            "--max-questions", max_questions, {"none": None}, int, allowed
        )
    return found


def _read(
    option: str, text: str, words: dict[str, Any], read: Callable[[str], Any], allowed: str
) -> Any:
    if text.strip().lower() in words:
        return words[text.strip().lower()]
    try:
        return read(text)
    except ValueError:
        raise InvalidInputError(f"{option} must be {allowed}, got {text!r}") from None


def _error_and_confidence(text: str) -> list[float]:
    error, *confidence = (float(part) for part in text.split(","))
    if len(confidence) > 1:
        raise ValueError(text)
    return [error, *(confidence or [_CONFIDENCE])]
