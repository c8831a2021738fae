"""The driver: it carries a run's questions to an oracle, and the answers back."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, TypeVar

from samecluster.errors import OracleError
from samecluster.questions.look import Look, Reply
from samecluster.questions.pair import Question
from samecluster.questions.run import Run

T = TypeVar("T")


def drive_looks(
    run: Run[T],
    reply_many: Callable[[Iterable[Any]], Generator[tuple[Any, Any], None, None]],
    after_batch: Callable[[], None] | None = None,
    snapshot: Callable[[], Any] | None = None,
) -> T:
    """Put all looks of a batch at once, and tell the replies as they come; return the result.

    ``reply_many`` takes a look, or a pair, when it can put it: replies to others of its batch may
    have settled it, or a part of it. What comes too late for that is left out, and of a pair must
    agree. What a reply leaves out is put again; if it leaves out all that is open, as a pair. An
    OracleError takes all answers along, and the ``snapshot`` of what followed from them.
    """
    with _answers_kept(run, snapshot):
        while looks := run.looks:
            left = (look.left(run.ledger.known) for look in looks)
            if silent := _tell_replies(run, reply_many(look for look in left if look)):
                first_pairs = (next(filter(run.awaits, look.questions), None) for look in silent)
                _tell_replies(run, reply_many(pair for pair in first_pairs if pair))
            if run.looks == looks:
                are_pairs = all(isinstance(look, Question) for look in looks)
                what = "questions" if are_pairs else "looks"
                raise OracleError(f"none of {len(looks)} {what} was answered")
            if after_batch is not None:
                after_batch()
    return run.result


def _tell_replies(run: Run[Any], replies: Generator[tuple[Look, Reply], None, None]) -> list[Look]:
    """Tell the replies as they come; returns the looks of which nothing was said."""
    silent = []
    with contextlib.closing(replies):
        for look, reply in replies:
            is_open, before = look.left(run.ledger.known) is not None, len(run.ledger)
            if is_open or isinstance(look, Question):
                run.tell_look(look, reply)
            if is_open and len(run.ledger) == before:
                silent.append(look)
    return silent


@contextlib.contextmanager
def _answers_kept(run: Run[T], snapshot: Callable[[], Any] | None) -> Iterator[None]:
    try:
        yield
    except OracleError as error:
        error.keep(tuple(run.ledger), None if snapshot is None else snapshot())
        raise
