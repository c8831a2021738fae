"""What an oracle is, and the checks on what it says."""

from __future__ import annotations

import contextlib
import copy
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable
from typing import Any, Self, cast

import numpy as np

from samecluster._typing import FloatArray
from samecluster.errors import AnswerError, InvalidInputError, OracleError
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Look,
    Marks,
    Picks,
    Reply,
    Sheet,
    Unions,
    unsure_of,
)
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Question, Verdict

_SILENT = 10  # answers of None from the first one on: nobody who looks is unsure so often


class Oracle(ABC):
    """A person or program that knows whether two items are in the same cluster."""

    @abstractmethod
    def answer(self, question: Question) -> Verdict:
        """The verdict on a question."""

    def answer_many(
        self, questions: Iterable[Question]
    ) -> Generator[tuple[Question, Verdict], None, None]:
        """Verdicts on questions, in the order in which they come.

        One after the other, unless overridden. A question is taken from ``questions`` only when it
        can be put: until then it may turn out to be superfluous.
        """
        for question in questions:
            yield question, checked_answer(self, question)

    def choose(self, choice: Choice) -> Any:
        """The places of the groups that the item belongs to, as one number or several.

        Nothing in it (``()``) means none of these; None means unsure. Optional, like `sort` and
        `join`: an oracle that leaves a kind of look out is asked pairs instead (`look_sizes`).
        """
        raise NotImplementedError

    def sort(self, sheet: Sheet) -> Any:
        """The items that do not belong with the reference, or `Marks`; None means unsure."""
        raise NotImplementedError

    def check(self, sheet: CheckSheet) -> Any:
        """The items that do not belong with the reference beside them, or `Marks`.

        Put by audits and by prediction to oracles that have `sort`. As it stands it answers one
        pair after the other; an oracle that sees the sheet as a whole overrides it.
        """
        said = {item: self.answer(Question(item, beside)) for item, beside in sheet.cells}
        return Marks(
            tuple(item for item in said if said[item] is Verdict.DIFFERENT),
            tuple(item for item in said if said[item] is Verdict.UNSURE),
        )

    def join(self, board: Board) -> Any:
        """The sets of items that are one cluster, or `Unions`; None means unsure."""
        raise NotImplementedError

    def reply_many(self, looks: Iterable[Look]) -> Generator[tuple[Look, Reply], None, None]:
        """Replies to looks, in the order in which they come; like `answer_many`."""
        for look in looks:
            yield look, checked_reply(self, look)

    def look_sizes(self, wanted: LookSizes) -> LookSizes:
        """What of the wanted looks it can answer; oracles that ask others override it."""
        mine = type(self)
        return wanted.limited(
            choice=mine.choose is not Oracle.choose,
            sheet=mine.sort is not Oracle.sort,
            board=mine.join is not Oracle.join,
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The language models that answer, for whose word nobody vouches."""
        return ()

    def bound_to(self, X: FloatArray) -> Oracle:
        """This oracle for the rows of X; only oracles that look at rows need to override it."""
        del X
        return self


class LookOracle(Oracle):
    """An oracle with one way to reply, whatever the kind of look; `reply` is all it needs."""

    @abstractmethod
    def reply(self, look: Look) -> Reply:
        """The reply to a look, as its kind has it."""

    def answer(self, question: Question) -> Verdict:
        return cast("Verdict", self.reply(question))

    def choose(self, choice: Choice) -> Any:
        return self.reply(choice)

    def sort(self, sheet: Sheet) -> Any:
        return self.reply(sheet)

    def check(self, sheet: CheckSheet) -> Any:
        return self.reply(sheet)

    def join(self, board: Board) -> Any:
        return self.reply(board)


class OverOracle(Oracle):
    """An oracle that puts looks to another one, and has its own way with what that says."""

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    @property
    def models(self) -> tuple[str, ...]:
        return self._oracle.models

    def look_sizes(self, wanted: LookSizes) -> LookSizes:
        return self._oracle.look_sizes(wanted)

    def bound_to(self, X: FloatArray) -> Self:
        bound = copy.copy(self)
        bound._oracle = self._oracle.bound_to(X)
        return bound


def as_oracle(oracle: Any, X: FloatArray) -> Oracle:
    """An oracle for the rows of X, from an Oracle or a function of two row numbers."""
    from samecluster.oracles.functions import FunctionOracle

    if isinstance(oracle, Oracle):
        return oracle.bound_to(X)
    if callable(oracle):
        return FunctionOracle(oracle)
    raise InvalidInputError(
        "oracle must be an Oracle or a function of two row numbers that returns True for the "
        f"same cluster, got {type(oracle).__name__}"
    )


class VerdictReader:
    """Reads what one oracle says; None is "unsure", unless it never says anything else."""

    def __init__(self) -> None:
        self._n_nothing: int | None = 0  # answers of None so far; None once there was another

    def __call__(self, said: Any, question: Question) -> Verdict:
        """True, False, None or a Verdict, as a Verdict; OracleError for anything else."""
        if said is not None:
            self._n_nothing = None
        elif self._n_nothing is not None:
            self._n_nothing += 1
            if self._n_nothing == _SILENT:
                raise OracleError(
                    f"the function returns nothing: its first {_SILENT} answers were None, which "
                    "means unsure; it must return True or False",
                    is_resumable=False,
                )
        return as_verdict(said, question)


@contextlib.contextmanager
def _failure_told(about: str = "") -> Generator[None, None, None]:
    """What goes wrong inside, as an OracleError; errors about answers stay what they are."""
    try:
        yield
    except AnswerError:
        raise
    except Exception as error:
        told = f"the oracle failed{about}: {type(error).__name__}: {error}"
        raise OracleError(told) from error


def checked_answer(
    oracle: Oracle, question: Question, read: VerdictReader | None = None
) -> Verdict:
    """The oracle's verdict; OracleError if it fails or says something else."""
    with _failure_told(f" on {question}"):
        verdict: Any = oracle.answer(question)
    return (read or as_verdict)(verdict, question)


def checked_reply(oracle: Oracle, look: Look, read: VerdictReader | None = None) -> Reply:
    """The oracle's reply to a look; OracleError if it fails or says something that does not fit."""
    with _failure_told():
        match look:
            case Question():
                return checked_answer(oracle, look, read)
            case Choice():
                return _as_reply(look, oracle.choose(look))
            case Sheet():
                return _as_reply(look, oracle.sort(look))
            case CheckSheet():
                return _as_reply(look, oracle.check(look))
            case Board():
                return _as_reply(look, oracle.join(look))


def checked_replies(
    oracle: Oracle, looks: Iterable[Look], read: VerdictReader | None = None
) -> Generator[tuple[Look, Reply], None, None]:
    """The oracle's replies as they come; OracleError if it fails."""
    if type(oracle).reply_many is Oracle.reply_many:  # which reads without a memory
        for look in looks:
            yield look, checked_reply(oracle, look, read)
        return
    with _failure_told(), contextlib.closing(oracle.reply_many(looks)) as replies:
        yield from replies


def _as_reply(look: Choice | Sheet | CheckSheet | Board, said: Any) -> Reply:
    """A reply of the look's own kind, from one or from what `Oracle` lets its methods return."""
    if said is None or said is Verdict.UNSURE:
        return unsure_of(look)
    if isinstance(said, type(unsure_of(look))):
        return said
    match look:
        case Choice():
            return Picks((int(said),) if np.ndim(said) == 0 else tuple(map(int, said)))
        case Board():
            return Unions(tuple(tuple(map(int, group)) for group in said))
    return Marks(tuple(map(int, said)))


def checked_answers(
    oracle: Oracle, questions: Iterable[Question], read: VerdictReader | None = None
) -> Generator[tuple[Question, Verdict], None, None]:
    """The oracle's verdicts as they come; OracleError if it fails or says something else."""
    if type(oracle).answer_many is Oracle.answer_many:  # which reads without a memory
        for question in questions:
            yield question, checked_answer(oracle, question, read)
        return
    with _failure_told(), contextlib.closing(oracle.answer_many(questions)) as answers:
        for question, said in answers:
            yield question, (read or as_verdict)(said, question)


def as_verdict(said: Any, question: Question) -> Verdict:
    """True, False, None (unsure) or a Verdict, as a Verdict."""
    if said is None:
        return Verdict.UNSURE
    if isinstance(said, Verdict):
        return said
    if isinstance(said, bool | np.bool_):
        return Verdict.of(bool(said))
    raise OracleError(
        f"the oracle must say True, False, None (unsure) or a Verdict, but on {question} it said "
        f"{said!r}"
    )
