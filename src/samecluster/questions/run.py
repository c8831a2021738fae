"""Ask and tell: one plan, and the answers to it.

A plan is a generator: it yields a batch of questions that do not depend on each other, receives
their verdicts, and at last returns its result. A run stands between a plan and its oracle.
It answers from the ledger what is already known or implied, hands out the rest, and sees to it
that no pair is put twice.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Generic, TypeAlias, TypeVar

from samecluster.errors import ContradictionError, InvalidInputError, ProtocolError
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict

__all__ = ["Batch", "Plan", "Run"]

T = TypeVar("T")
Batch: TypeAlias = Sequence[Question]
Plan: TypeAlias = Generator[Batch, Sequence[Verdict], T]


class Run(Generic[T]):
    """A plan under way.

    >>> def plan():
    ...     verdicts = yield [Question(0, 1), Question(1, 2), Question(0, 2)]
    ...     return [verdict.value for verdict in verdicts]
    >>> run = Run(plan())
    >>> while run.pending:
    ...     for question in run.pending:
    ...         run.tell(question, same=True)
    >>> run.result, run.n_questions
    (['same', 'same', 'same'], 2)
    """

    def __init__(self, plan: Plan[T], ledger: Ledger | None = None) -> None:
        self.ledger = Ledger() if ledger is None else ledger
        self.n_questions = 0
        self._plan = plan
        self._batch: Batch = ()
        self._open: dict[Question, None] = {}
        self._done = False
        self._result: T
        self._failure: BaseException | None = None
        self._advance(None)

    @property
    def pending(self) -> tuple[Question, ...]:
        """The questions that now wait for an answer; empty once the run is done."""
        self._open = {q: None for q in self._open if self.ledger.known(q) is None}
        return tuple(self._open)

    def awaits(self, question: Question) -> bool:
        """Whether this question is pending, without going through all of them."""
        return question in self._open and self.ledger.known(question) is None

    @property
    def done(self) -> bool:
        return self._done

    @property
    def result(self) -> T:
        """What the plan returned; the plan's own error if it failed.

        ProtocolError while questions are pending.
        """
        if self._failure is not None:
            raise self._failure
        if not self._done:
            raise ProtocolError(
                f"the run is not finished: {len(self._open)} questions are pending; "
                "tell their answers first"
            )
        return self._result

    def tell(
        self,
        question: Question,
        verdict: Verdict | None = None,
        *,
        same: bool | None = None,
        who: str | None = None,
    ) -> None:
        """Answer a pending question, with a verdict or with ``same=True`` or ``False``.

        An answer that earlier answers already imply is accepted if it agrees, and not counted.
        """
        if (verdict is None) == (same is None):
            raise InvalidInputError("tell a question either a verdict or same=True/False")
        if same is not None:
            verdict = Verdict.of(same)
        if not isinstance(verdict, Verdict):
            raise InvalidInputError(f"verdict must be a Verdict, got {verdict!r}")
        answer = Answer(question, verdict, who)
        if not self.awaits(question):
            self._take_late(answer)
            return
        self.ledger.record(answer)
        self.n_questions += 1
        self._skip_known()
        if not self._open:
            self._advance([self._verdict(q) for q in self._batch])

    def learn(self, answer: Answer) -> None:
        """Take in an answer that the plan has not asked for.

        It hears of it when it asks about something that follows from it.
        """
        if self.ledger.record(answer):
            self.n_questions += 1
            self._skip_known()
            if not self._open and not self._done:
                self._advance([self._verdict(q) for q in self._batch])

    def _skip_known(self) -> None:
        """Drop known questions from the front, so that `_open` is empty iff nothing is open.

        Questions further back may be implied too; they are dropped when they come to the front
        or when `pending` is read. Batches can be large, and this way an answer costs O(1).
        """
        while self._open and self.ledger.known(question := next(iter(self._open))) is not None:
            del self._open[question]

    def _take_late(self, answer: Answer) -> None:
        implied = self.ledger.known(answer.question)
        if implied is None:
            raise ProtocolError(f"nobody asked about {answer.question}")
        if answer.verdict not in (implied, Verdict.UNSURE) and implied is not Verdict.UNSURE:
            raise ContradictionError((*self.ledger.reasons(answer.question), answer))

    def _advance(self, verdicts: Sequence[Verdict] | None) -> None:
        """Run the plan until it asks something that is not known yet."""
        try:
            while not self._open:
                self._batch = next(self._plan) if verdicts is None else self._plan.send(verdicts)
                self._open = dict.fromkeys(self._batch)
                self._skip_known()
                if not self._open:
                    verdicts = [self._verdict(q) for q in self._batch]
        except StopIteration as stop:
            self._done, self._result, self._batch = True, stop.value, ()
        except BaseException as error:
            self._failure, self._batch, self._open = error, (), {}
            raise

    def _verdict(self, question: Question) -> Verdict:
        verdict = self.ledger.known(question)
        assert verdict is not None
        return verdict
