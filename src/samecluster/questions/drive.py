"""Drivers: they carry a run's questions to an oracle, and the answers back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from samecluster.errors import OracleError
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Run

__all__ = ["drive", "drive_batches"]

T = TypeVar("T")


def drive(
    run: Run[T],
    answer: Callable[[Question], Verdict],
    after_batch: Callable[[], None] | None = None,
) -> T:
    """Answer a run's questions one by one until it is done, and return its result.

    A question that an answer of the same batch made superfluous is not put. ``after_batch`` is
    called after each batch, to show progress.
    """
    while pending := run.pending:
        for question in pending:
            if run.awaits(question):
                run.tell(question, answer(question))
        if after_batch is not None:
            after_batch()
    return run.result


def drive_batches(
    run: Run[T],
    answer_many: Callable[[Iterable[Question]], Generator[tuple[Question, Verdict], None, None]],
    after_batch: Callable[[], None] | None = None,
    snapshot: Callable[[], Any] | None = None,
) -> T:
    """Put all questions of a batch at once and tell the answers as they come; return the result.

    ``answer_many`` takes a question from what it is given when it can put it, so that one which
    earlier answers made superfluous is not put. Answers that come too late for that are taken if
    they agree, and not counted. An OracleError takes all answers along, and the ``snapshot`` of
    what followed from them.
    """
    try:
        return _driven(run, answer_many, after_batch)
    except OracleError as error:
        error.keep(tuple(run.ledger), None if snapshot is None else snapshot())
        raise


def _driven(
    run: Run[T],
    answer_many: Callable[[Iterable[Question]], Generator[tuple[Question, Verdict], None, None]],
    after_batch: Callable[[], None] | None,
) -> T:
    while pending := run.pending:
        open_ones = (question for question in pending if run.awaits(question))
        with contextlib.closing(answer_many(open_ones)) as answers:
            for question, verdict in answers:
                run.tell(question, verdict)
        if run.pending == pending:
            raise OracleError(f"none of {len(pending)} questions was answered")
        if after_batch is not None:
            after_batch()
    return run.result
