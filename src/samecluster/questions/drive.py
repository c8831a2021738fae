"""Drivers: they carry a run's questions to whoever answers, and the answers back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Run

__all__ = ["drive"]

T = TypeVar("T")


def drive(
    run: Run[T],
    answer: Callable[[Question], Verdict],
    after_batch: Callable[[], None] | None = None,
) -> T:
    """Answer a run's questions one by one until it is done, and return its result.

    A question that an answer of the same batch made superfluous is not put. ``after_batch`` is
    called after each batch, for whoever shows progress.
    """
    while pending := run.pending:
        for question in pending:
            if run.awaits(question):
                run.tell(question, answer(question))
        if after_batch is not None:
            after_batch()
    return run.result
