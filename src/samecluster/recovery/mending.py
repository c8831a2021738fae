"""What to do about answers that cannot all be right, where answers may be wrong.

The answers behind a contradiction or a refutation are put again, to other people where there are
some, and about other items of the same groups. An answer that was wrong then contradicts others;
what is outvoted is retracted, and the recovery starts anew from what is kept. If all of them are
confirmed, the refutation stays open: it is listed, and its item is set apart as an exception, so
that the labels of others do not rest on it (docs/people.md).

Whoever calls carries the questions: nothing here does I/O.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from samecluster.errors import ContradictionError, RefutedError
from samecluster.questions.elsewhere import elsewhere
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.reconcile import Resolution, resolve
from samecluster.questions.suspects import Weight

__all__ = ["Mending", "Refutation"]

_ROUNDS = 4


@dataclass(frozen=True)
class Refutation:
    """Answers that the margin does not allow although they were confirmed.

    ``item`` was set apart because of them.
    """

    item: int
    answers: tuple[Answer, ...]

    def __str__(self) -> str:
        listed = "; ".join(map(str, self.answers))
        return f"item {self.item}: these answers and the margin cannot all be right: {listed}"


@dataclass
class Mending:
    """All that was answered, and what became of it.

    Parameters
    ----------
    ask : puts a question that was not put before
    again : puts a question to people who have not answered it, and gives the verdict of all; None
        if there is nobody else
    weight : log-odds of an answer; by default all weigh the same
    """

    ask: Callable[[Question], Verdict]
    again: Callable[[Question], Verdict] | None = None
    weight: Weight | None = None
    said: dict[Question, Answer] = field(default_factory=dict)
    kept: tuple[Answer, ...] = ()
    retracted: tuple[Answer, ...] = ()
    open: list[Refutation] = field(default_factory=list)
    confirmed: set[Question] = field(default_factory=set)
    exceptions: set[int] = field(default_factory=set)
    n_questions: int = 0

    def hear(self, answers: Iterable[Answer]) -> None:
        """Take in what a run was told."""
        for answer in answers:
            self.said.setdefault(answer.question, answer)
        self._settle()

    def mend(self, trouble: RefutedError | ContradictionError) -> None:
        """Find the wrong answer among those behind the trouble, or leave it open."""
        listed = trouble.witness if isinstance(trouble, ContradictionError) else trouble.answers
        for answer in listed:
            self.said.setdefault(answer.question, answer)
        before = set(self.kept)
        self._ask_others(listed)
        self._ask_elsewhere(listed)
        self.confirmed |= {answer.question for answer in listed}
        unchanged = before <= set(self.kept) and before.issuperset(listed)
        if unchanged and isinstance(trouble, RefutedError):
            self.open.append(Refutation(trouble.item, tuple(listed)))
            self.exceptions.add(trouble.item)

    def _ask_others(self, listed: Iterable[Answer]) -> None:
        for answer in listed if self.again is not None else ():
            assert self.again is not None
            self.n_questions += 1
            self.said[answer.question] = Answer(answer.question, self.again(answer.question))
        self._settle()

    def _ask_elsewhere(self, listed: Iterable[Answer]) -> None:
        """The same about other items, then whatever is contradictory by that, a few times."""
        doubted = [tuple(listed)]
        for _ in range(_ROUNDS):
            questions = [
                question
                for answers in doubted
                for options in elsewhere(answers, self.kept, asked=self.said.values()).values()
                for question in options
            ]
            for question in dict.fromkeys(questions):
                self.n_questions += 1
                self.said[question] = Answer(question, self.ask(question))
            doubted = list(self._settle().open)
            if not doubted:
                return

    def _settle(self) -> Resolution:
        found = resolve(self.said.values(), self.weight)
        self.kept, self.retracted = found.kept, (*found.retracted, *found.doubted)
        return found
