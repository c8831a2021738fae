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
from samecluster.questions.conflicts.correlation_clustering import Resolution, resolve
from samecluster.questions.conflicts.follow_up import same_question_elsewhere
from samecluster.questions.conflicts.weights import Weight
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.result.result import Refutation

_ROUNDS = 4  # bounds what one refutation may cost; what is open then is listed
_COMPARED = 2  # further members: with two, one more wrong answer does not decide alone


@dataclass
class AnswerRepair:
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
        if isinstance(trouble, RefutedError):
            self._ask_about_item(trouble.item, listed)
            if before <= set(self.kept):
                self._ask_about_members(listed)
        self._ask_elsewhere()
        self.confirmed |= {answer.question for answer in listed}
        nothing_went = before <= set(self.kept) and set(listed) <= set(self.kept)
        if isinstance(trouble, RefutedError) and nothing_went:
            self.open.append(Refutation(trouble.item, tuple(listed)))
            self.exceptions.add(trouble.item)

    def settled(self) -> tuple[object, ...]:
        """What a run from here on would begin with."""
        return set(self.kept), set(self.confirmed), set(self.exceptions), len(self.open)

    def _put(self, questions: Iterable[Question]) -> None:
        for question in dict.fromkeys(questions):
            if question not in self.said:
                self.n_questions += 1
                self.said[question] = Answer(question, self.ask(question))

    def _ask_others(self, listed: Iterable[Answer]) -> None:
        """The same questions, to people who have not answered them."""
        for answer in listed if self.again is not None else ():
            assert self.again is not None
            self.n_questions += 1
            self.said[answer.question] = Answer(answer.question, self.again(answer.question))
        self._settle()

    def _ask_about_item(self, item: int, listed: Iterable[Answer]) -> None:
        """Compare the item with further members of the cluster that it is said to be out of."""
        members = dict.fromkeys(i for answer in listed for i in answer.question.pair if i != item)
        fresh = [Question(item, member) for member in members]
        self._put([question for question in fresh if question not in self.said][:_COMPARED])
        self._settle()

    def _ask_about_members(self, listed: Iterable[Answer]) -> None:
        """Compare each member that answers put into the cluster with another one, once."""
        joined = [answer.question.pair for answer in listed if answer.verdict is Verdict.SAME]
        members = list(dict.fromkeys(item for pair in joined for item in pair))
        for i, j in joined:
            others = (Question(a, b) for a in (i, j) for b in members if b not in (i, j))
            self._put([q for q in others if q not in self.said][:1])
        self._settle()

    def _ask_elsewhere(self) -> None:
        """Ask the same about other items where answers contradict each other, a few times."""
        for _ in range(_ROUNDS):
            doubted = self._settle().open
            if not doubted:
                return
            for answers in doubted:
                options = same_question_elsewhere(answers, self.kept, asked=self.said.values())
                self._put(question for some in options.values() for question in some)

    def _settle(self) -> Resolution:
        found = resolve(self.said.values(), self.weight)
        self.kept, self.retracted = found.kept, (*found.retracted, *found.doubted)
        return found
