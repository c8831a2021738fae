"""Drivers: they carry a run's questions to an oracle, and the answers back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

from samecluster.errors import OracleError
from samecluster.questions.look import Look, Reply
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Run

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


def drive_looks(
    run: Run[T],
    reply_many: Callable[[Iterable[Look]], Generator[tuple[Look, Reply], None, None]],
    after_batch: Callable[[], None] | None = None,
    snapshot: Callable[[], Any] | None = None,
) -> T:
    """Put a run's looks until it is done, and return its result.

    ``reply_many`` takes a look when it can put it: replies to others of its batch may have settled
    it, or a part of it. What comes too late for that is left out. What a reply leaves out is put
    again; if it leaves out all that is open, as a pair. An OracleError takes all answers along, as
    in `drive_batches`.
    """
    with _answers_kept(run, snapshot):
        while looks := run.looks:
            left = (look.left(run.ledger.known) for look in looks)
            silent = _tell_replies(run, reply_many(look for look in left if look))
            first_pairs = (next(filter(run.awaits, look.questions), None) for look in silent)
            _tell_replies(run, reply_many(pair for pair in first_pairs if pair))
            if run.looks == looks:
                raise OracleError(f"none of {len(looks)} looks was answered")
            if after_batch is not None:
                after_batch()
    return run.result


def _tell_replies(run: Run[Any], replies: Generator[tuple[Look, Reply], None, None]) -> list[Look]:
    """Tell the replies as they come; returns the looks of which nothing was said."""
    silent = []
    with contextlib.closing(replies):
        for look, reply in replies:
            if look.left(run.ledger.known) is not None:
                before = len(run.ledger)
                run.tell_look(look, reply)
                if len(run.ledger) == before:
                    silent.append(look)
    return silent


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
    with _answers_kept(run, snapshot):
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


@contextlib.contextmanager
def _answers_kept(run: Run[T], snapshot: Callable[[], Any] | None) -> Iterator[None]:
    try:
        yield
    except OracleError as error:
        error.keep(tuple(run.ledger), None if snapshot is None else snapshot())
        raise
