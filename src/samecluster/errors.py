"""Every error that samecluster raises on purpose.

SameClusterError
├── InvalidInputError (ValueError)     a parameter or the data; names what is allowed and what came
├── GeometryError
│   └── SolverError                    a numerical solver gave no usable answer
├── ProtocolError                      a call that does not fit the state of the run
├── AnswerError
│   ├── ContradictionError             answers that cannot all be right, with those answers
│   ├── RefutedError                   answers that the declared margin does not allow
│   └── OracleError                    the oracle raised, or returned no verdict
└── StoreError                         a session cannot be read or written; nothing was changed
    ├── SessionNotFoundError           there is no session in that place
    ├── DataMismatchError              the session is about other data
    └── SchemaError                    written by another version, or no session at all

FarValuesWarning (UserWarning) is a warning: some values are far beyond all others.

An error is raised before anything is changed: the object that raised it can be used on.
"""

from __future__ import annotations

from typing import Any


class FarValuesWarning(UserWarning):
    """A column has values far beyond all others; the message names column and rows."""


class SameClusterError(Exception):
    """Base of all errors of this package."""


class InvalidInputError(SameClusterError, ValueError):
    """The data or a parameter cannot be used; the message says what is allowed."""


class GeometryError(SameClusterError):
    """A geometric computation has no answer."""


class SolverError(GeometryError):
    """A numerical solver stopped without a usable answer."""


class ProtocolError(SameClusterError):
    """A call that does not fit the state of the run, such as an answer nobody asked for."""


class AnswerError(SameClusterError):
    """Something is wrong with the answers.

    Where it stops `samecluster.recover` or `samecluster.learn_cluster`, ``all_answers`` are those
    given until then, and ``recovery`` is what followed from them (None where labels are found only
    after the last answer, as in `samecluster.recover_large`).
    """

    all_answers: tuple[Any, ...] = ()
    recovery: Any = None

    def keep(self, answers: tuple[Any, ...], recovery: Any = None) -> None:
        """Take along what had been found, and say so."""
        if answers and not self.all_answers:
            self.all_answers, self.recovery = answers, recovery
            self.args = (
                f"{self}\nAll {len(answers):,} answers so far are in `all_answers` of this error: "
                "leave out or correct those that are wrong, or declare less, and the same call "
                "with answers=error.all_answers goes on",
            )


class ContradictionError(AnswerError):
    """Answers that cannot all be right.

    ``witness`` holds them: a cycle of answers, the newest last, that says of one pair both
    "same" and "different".
    """

    def __init__(self, witness: tuple[Any, ...]) -> None:
        self.witness = witness
        listed = "; ".join(str(answer) for answer in witness)
        super().__init__(f"these {len(witness)} answers cannot all be right: {listed}")


class RefutedError(AnswerError):
    """The answers, the declared margin and (where given) the number of clusters conflict.

    ``answers`` lead to ``item``, which they put outside ``cluster`` although the margin puts it
    inside; ``cluster`` is None if the item is excluded from every cluster. Below
    ``largest_margin`` the answers are consistent as far as was looked; declare a margin strictly
    below it.
    """

    def __init__(
        self,
        item: int,
        cluster: int | None,
        answers: tuple[Any, ...],
        margin: float,
        largest_margin: float,
    ) -> None:
        self.item = item
        self.cluster = cluster
        self.answers = answers
        self.margin = margin
        self.largest_margin = largest_margin
        if largest_margin == 0:
            advice = "these answers allow no margin at all"
        elif largest_margin < 0.999 * margin:
            advice = f"these answers allow margins below {largest_margin:.4g}"
        else:
            advice = "a smaller margin may resolve it"
        conflict = (
            f"item {item} would have to be in cluster {cluster}, but answers say that it is not"
            if cluster is not None
            else f"item {item} would be in none of the clusters"
        )
        super().__init__(
            f"with margin {margin:g} {conflict} ({len(answers)} answers lead there); {advice}, "
            "or an answer is wrong"
            + ("" if cluster is not None else ", or there are more clusters than declared")
        )


class OracleError(AnswerError):
    """The oracle raised an error, or returned something that is not a verdict.

    ``answers`` and ``all_answers`` are those that had been given before, and ``recovery`` is what
    followed from them. The same call with ``answers=error.answers`` goes on from there.
    """

    def __init__(self, message: str, *, is_resumable: bool = True) -> None:
        self.answers: tuple[Any, ...] = ()
        self._message, self._is_resumable = message, is_resumable
        super().__init__(message)

    def keep(self, answers: tuple[Any, ...], recovery: Any = None) -> None:
        """Take along what had been found, and say so."""
        if self._is_resumable and answers:
            self.answers = self.all_answers = answers
            self.recovery = recovery
            self.args = (
                f"{self._message}\nAll {len(answers):,} answers so far are in `answers` of this "
                "error: the same call with answers=error.answers goes on",
            )


class StoreError(SameClusterError):
    """A session cannot be read or written: locked, damaged, read-only, disk full."""


class SessionNotFoundError(StoreError):
    """There is no session in that place."""


class DataMismatchError(StoreError):
    """The session is about other data than the rows that were given."""


class SchemaError(StoreError):
    """The file was written by another version of samecluster, or is no session at all."""
