"""Errors of requests: which HTTP status each class has. The text is one plain sentence."""

from __future__ import annotations

from samecluster.errors import (
    AnswerError,
    GeometryError,
    InvalidInputError,
    ProtocolError,
    SameClusterError,
    StoreError,
)

STATUSES: dict[type[SameClusterError], int] = {
    InvalidInputError: 422,
    ProtocolError: 409,
    AnswerError: 409,
    GeometryError: 409,
    StoreError: 503,
}
"""The one place that says which error of the package is which HTTP status."""


class HttpError(Exception):
    """A request that is turned away before it reaches the session."""

    def __init__(self, status: int, text: str) -> None:
        self.status = status
        super().__init__(text)


def status_of(error: SameClusterError) -> int:
    return next((code for kind, code in STATUSES.items() if isinstance(error, kind)), 409)
