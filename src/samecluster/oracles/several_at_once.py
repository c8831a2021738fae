"""Oracles that take their time: several questions under way at once, and tries after failures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from samecluster._parameters import check_at_least
from samecluster.errors import InvalidInputError, OracleError
from samecluster.oracles.base import Oracle, as_verdict
from samecluster.questions.look import Look, Reply
from samecluster.questions.pair import Answer, Question, Verdict

_WAKE = 0.2  # seconds between looks at signals: on Windows a lock is not woken by Ctrl-C


@dataclass(frozen=True)
class Retry:
    """Which errors of an oracle pass by, and how often it is asked again.

    Parameters
    ----------
    errors : classes of exceptions, such as ``(ConnectionError, TimeoutError)``
    tries : how often a question is put at most
    wait : seconds before the second try; each further wait is twice as long
    longest_wait : no wait is longer
    """

    errors: tuple[type[Exception], ...]
    tries: int = 5
    wait: float = 1.0
    longest_wait: float = 60.0

    def __post_init__(self) -> None:
        check_at_least("tries", self.tries, 1)
        if not all(isinstance(one, type) and issubclass(one, Exception) for one in self.errors):
            raise InvalidInputError(
                f"retry must name classes of exceptions, such as (TimeoutError,), got {self.errors}"
            )

    @classmethod
    def of(cls, wanted: Any) -> Retry:
        """What a user passes: a Retry, one class of exceptions, or several."""
        if isinstance(wanted, cls):
            return wanted
        return cls((wanted,) if isinstance(wanted, type) else tuple(wanted))

    def call(self, ask: Callable[[], Any]) -> Any:
        """What ``ask`` returns, after some tries if it fails in a way that passes by."""
        for attempt in range(self.tries):
            try:
                return ask()
            except self.errors:
                if attempt == self.tries - 1:
                    raise
                time.sleep(min(self.wait * 2**attempt, self.longest_wait))
        raise AssertionError("there is at least one try")


def in_threads(
    reply: Callable[[Look], Reply], looks: Iterable[Look], parallel: int
) -> Generator[tuple[Look, Reply], None, None]:
    """Up to ``parallel`` looks at a time; replies in the order in which they come.

    After a look that failed no other is put; the replies under way are still given, and then the
    error is raised.
    """
    waiting, arrived = iter(looks), threading.Event()
    away: list[Errand] = []
    failure: BaseException | None = None
    while True:
        while failure is None and len(away) < parallel:
            if (look := next(waiting, None)) is None:
                break
            away.append(Errand(look, reply, arrived))
        if not away:
            break
        away.remove(errand := first_done(away, arrived))
        if errand.failure is None:
            yield errand.look, errand.said
        failure = failure or errand.failure
    if failure is not None:
        raise failure


class SeveralAtOnce(Oracle):
    """Puts up to ``concurrency`` questions to ``answer`` at a time, each in a thread of its own.

    Answers that were under way when whoever asked had stopped listening are kept: they are given
    when the question comes again, and `undelivered` has them. The first Ctrl-C waits for answers
    that are under way, a second one does not.
    """

    def __init__(
        self, answer: Callable[[Question], Any], concurrency: int = 1, retry: Retry | None = None
    ) -> None:
        check_at_least("concurrency", concurrency, 1)
        self._ask, self._concurrency, self._retry = answer, concurrency, retry or Retry(())
        self._kept: dict[Question, Any] = {}
        self._stopped = False

    @property
    def undelivered(self) -> tuple[Answer, ...]:
        """Answers that nobody heard of yet."""
        found = []
        for question, said in self._kept.items():
            with suppress(OracleError):  # what is no verdict is no answer
                found.append(Answer(question, as_verdict(said, question)))
        return tuple(found)

    def stop(self) -> None:
        """Put no more questions: the next one is an interruption."""
        self._stopped = True

    def answer(self, question: Question) -> Verdict:
        ((_, verdict),) = self.answer_many([question])
        return verdict

    def answer_many(
        self, questions: Iterable[Question]
    ) -> Generator[tuple[Question, Verdict], None, None]:
        """Verdicts in the order in which they come; an error after those that are under way."""
        waiting = iter(questions)
        arrived = threading.Event()
        away: list[Errand] = []
        failure: BaseException | None = None
        try:
            while True:
                while failure is None and len(away) < self._concurrency:
                    if (question := next(waiting, None)) is None:
                        break
                    if question in self._kept:
                        yield question, self._kept[question]
                        self._kept.pop(question, None)
                    elif self._stopped:
                        failure = KeyboardInterrupt()
                    else:
                        away.append(Errand(question, self._asked, arrived))
                if not away:
                    break
                try:
                    errand = first_done(away, arrived)
                except KeyboardInterrupt as stop:
                    if failure is not None:
                        away.clear()
                        raise
                    failure = stop
                    continue
                away.remove(errand)
                if errand.failure is None:
                    # It counts as heard only when the next one is wanted, whatever happens now.
                    yield errand.look, errand.said
                    self._kept.pop(errand.look, None)
                else:
                    failure = failure or _named(errand)
        finally:
            while away:
                away.remove(first_done(away, arrived))
        if failure is not None:
            raise failure

    def _asked(self, question: Question) -> Any:
        """What is said, which is kept: whoever asked may not listen any more."""
        said = self._kept[question] = self._retry.call(lambda: self._ask(question))
        return said


class Errand:
    """A look or a question on its way, in a thread of its own, and at last what was said."""

    def __init__(self, look: Any, ask: Callable[[Any], Any], arrived: threading.Event) -> None:
        self.look, self._ask, self._arrived = look, ask, arrived
        self.said: Any = None
        self.failure: BaseException | None = None
        self.done = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            self.said = self._ask(self.look)
        except BaseException as error:  # of another thread: it is raised where somebody listens
            self.failure = error
        self.done = True
        self._arrived.set()


def first_done(away: Iterable[Errand], arrived: threading.Event) -> Errand:
    """The first that is done. Ctrl-C may come at any moment: nothing is taken from anywhere."""
    while True:
        arrived.clear()
        for errand in away:
            if errand.done:
                return errand
        arrived.wait(_WAKE)


def _named(errand: Errand) -> BaseException:
    error = errand.failure
    if isinstance(error, OracleError) or not isinstance(error, Exception):
        return error or AssertionError("a failure")
    named = OracleError(f"the oracle failed on {errand.look}: {type(error).__name__}: {error}")
    named.__cause__ = error
    return named
