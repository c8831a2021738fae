"""Ask and tell: one plan, and the answers to it.

A plan is a generator: it yields a batch of looks (most plans: pairs) that do not depend on each
other, receives the verdicts on all their pairs in one list, and at last returns its result. A run
stands between a plan and its oracle. It answers from the ledger what is already known or implied,
hands out the rest, and sees to it that no pair is put twice.

A pair of a look that its reply did not settle comes back as "unsure": the groups of a choice that
were not chosen, say.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Generic, TypeAlias, TypeVar

from samecluster.errors import ContradictionError, InvalidInputError, ProtocolError
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import Look, Reply, answers_of
from samecluster.questions.pair import Answer, Question, Verdict

T = TypeVar("T")
Batch: TypeAlias = Sequence[Look]
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
        self._open: dict[Look, None] = {}
        # The pairs of looks that are more than a pair, each with the looks that it is part of.
        self._parts: dict[Question, list[Look]] = {}
        self._done = False
        self._result: T
        self._failure: BaseException | None = None
        self._advance(None)

    @property
    def pending(self) -> tuple[Question, ...]:
        """The pairs that now wait for an answer; empty once the run is done.

        Whoever can answer only pairs can answer every look in this way.
        """
        return tuple(
            dict.fromkeys(
                question
                for look in self.looks
                for question in look.questions
                if self.ledger.known(question) is None
            )
        )

    def first_pending(self) -> Iterator[Question]:
        """The same one by one, each worked out when it is wanted: batches can be large."""
        for look in self._open:
            rest = look.left(self.ledger.known)
            for question in () if rest is None else rest.questions:
                if self.ledger.known(question) is None:
                    yield question

    @property
    def looks(self) -> tuple[Look, ...]:
        """The looks that now wait for a reply, without what is known already."""
        left = [(look, look.left(self.ledger.known)) for look in self._open]
        self._open = {look: None for look, rest in left if rest is not None}
        return tuple(rest for _, rest in left if rest is not None)

    def awaits(self, question: Question) -> bool:
        """Whether this pair is pending, without going through all of them."""
        if self.ledger.known(question) is not None:
            return False
        parts = self._parts.get(question, ())
        return question in self._open or any(map(self._is_open, parts))

    def _is_open(self, look: Look) -> bool:
        return look in self._open and look.left(self.ledger.known) is not None

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
        self.take(Answer(question, verdict, who))

    def take(self, answer: Answer) -> None:
        """Take in the answer to a pending question, which may be one of several on a screen."""
        if not self.awaits(answer.question):
            self._take_late(answer)
            return
        self.ledger.record(answer)
        self.n_questions += 1
        self._go_on()

    def tell_look(self, look: Look, reply: Reply, who: str | None = None) -> None:
        """Reply to a pending look, all at once: if a part of it is refused, nothing is taken in."""
        answers = answers_of(look, reply, who)
        if not any(map(self.awaits, look.questions)):
            for answer in answers:
                self._take_late(answer)
            return
        for question in look.questions:
            if not self.awaits(question) and question not in self._parts:
                self._check_asked(question)
        self.n_questions += self.ledger.record_all(answers)
        self._go_on()

    def learn(self, answer: Answer) -> None:
        """Take in an answer that the plan has not asked for.

        It hears of it when it asks about something that follows from it.
        """
        if self.ledger.record(answer):
            self.n_questions += 1
            if not self._done:
                self._go_on()

    def _go_on(self) -> None:
        self._skip_known()
        if not self._open:
            self._advance(self._verdicts())

    def _skip_known(self) -> None:
        """Drop settled looks from the front, so that `_open` is empty iff nothing is open.

        Looks further back may be settled too; they are dropped when they come to the front or when
        `pending` is read. Batches can be large, and this way an answer costs O(1).
        """
        while self._open and (look := next(iter(self._open))).left(self.ledger.known) is None:
            del self._open[look]

    def _take_late(self, answer: Answer) -> None:
        implied = self._check_asked(answer.question)
        if answer.verdict not in (implied, Verdict.UNSURE) and implied is not Verdict.UNSURE:
            raise ContradictionError((*self.ledger.reasons(answer.question), answer))

    def _check_asked(self, question: Question) -> Verdict:
        """What is known about a pair; ProtocolError if that is nothing."""
        implied = self.ledger.known(question)
        if implied is None:
            raise ProtocolError(f"nobody asked about {question}")
        return implied

    def _advance(self, verdicts: Sequence[Verdict] | None) -> None:
        """Run the plan until it asks something that is not known yet."""
        try:
            while not self._open:
                self._batch = next(self._plan) if verdicts is None else self._plan.send(verdicts)
                self._open = dict.fromkeys(self._batch)
                self._parts = {}
                for look in self._open:
                    if not isinstance(look, Question):
                        for question in look.questions:
                            self._parts.setdefault(question, []).append(look)
                self._skip_known()
                if not self._open:
                    verdicts = self._verdicts()
        except StopIteration as stop:
            self._done, self._result, self._batch = True, stop.value, ()
        except BaseException as error:
            self._failure, self._batch, self._open = error, (), {}
            raise

    def _verdicts(self) -> list[Verdict]:
        """What is known about every pair of the batch; "unsure" where the replies did not say."""
        known = self.ledger.known
        return [known(q) or Verdict.UNSURE for look in self._batch for q in look.questions]
