"""Several people, asked one after the other until a stated confidence."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError, ProtocolError
from samecluster.oracles.base import LookOracle, Oracle, checked_reply
from samecluster.oracles.functions import FunctionOracle
from samecluster.oracles.panel.estimates import PersonEstimates, goal_of
from samecluster.oracles.panel.look_votes import (
    decided,
    decoys_of,
    reply_of,
    said_of,
    said_of_decoys,
    smaller,
)
from samecluster.oracles.panel.panel_votes import PanelVotes
from samecluster.oracles.panel.report import SIGN, PanelOutcome, Person
from samecluster.proof.fingerprint import fingerprint
from samecluster.questions.look import Look, Reply
from samecluster.questions.look_sizes import LookSizes
from samecluster.questions.pair import Answer, Question, Verdict


class Panel(LookOracle):
    """Asks as many people as it takes to be sure enough of each verdict.

    Each answer adds ± ln((1−e)/e) to the log-odds of "same", e being the error rate estimated for
    the person who gave it. The most reliable person is asked first, the next one only while the
    probability of neither verdict has reached ``confidence``. If all have been asked and it has
    not, the verdict is "unsure", and nothing is concluded. Nobody is asked about a pair twice: the
    same person would say the same.

    Error rates are learned from the answers, each judged by what the others said. Where the
    estimates are right and people err independently, at most 1 − ``confidence`` of the verdicts
    that are not "unsure" are wrong. A panel cannot repair what its people share: an item that most
    of them misjudge stays misjudged, with whatever it is compared. Nor does it look at other
    pairs; `samecluster.questions.conflicts.contradictions` does.

    Parameters
    ----------
    people : name -> oracle, or function of two row numbers
    confidence : probability that a verdict must have, above 1/2 and below 1
    error : the error rate to expect of a person before anything is known, one number or one per
        name, above 0 and below 1/2. Rather too high than too low: the first verdicts rest on it.
    strength : how many known cases that expectation counts for; ``math.inf`` says that the error
        rates are known and need not be learned
    check_every : of the questions that one person could settle alone, one in ``check_every`` is put
        to a second person too, so that estimates go on learning
    answers : answers given before, such as another panel's ``answers``: a person who gave one is
        not asked for it again

    Examples
    --------
    >>> from samecluster.oracles import LabelOracle, NoisyOracle
    >>> truth = LabelOracle([0, 0, 1, 1])
    >>> people = {
    ...     name: NoisyOracle(truth, p=0.1, random_state=seed)
    ...     for seed, name in enumerate(["ann", "ben", "cem", "dot", "eve"])
    ... }
    >>> panel = Panel(people, confidence=0.99)
    >>> panel.answer(Question(0, 1))
    <Verdict.SAME: 'same'>
    >>> print(panel.outcome(Question(0, 1)))
    0 and 1 same (ann same, ben same, cem same)
    """

    def __init__(
        self,
        people: Mapping[str, Oracle | Callable[[int, int], Any]],
        confidence: float = 0.99,
        error: float | Mapping[str, float] = 0.15,
        strength: float = 20.0,
        check_every: int = 10,
        answers: Iterable[Answer] = (),
    ) -> None:
        if not people:
            raise InvalidInputError("people must name at least one oracle")
        self._people = {
            name: person if isinstance(person, Oracle) else FunctionOracle(person)
            for name, person in people.items()
        }
        self._confidence = confidence
        self._estimates = PersonEstimates(people, confidence, error, strength, check_every)
        self._votes = PanelVotes(answers, people.keys())
        self._outcomes: dict[Question, PanelOutcome] = {}
        self._data: str | None = None

    def __repr__(self) -> str:
        return f"Panel({', '.join(self._people)}; confidence={self._confidence})"

    def bound_to(self, X: FloatArray) -> Panel:
        """This panel for the rows of X. Answers and estimates are shared with it."""
        data = fingerprint(X)
        if self._data not in (None, data):
            raise InvalidInputError("this panel has answered for other data; make a new one")
        people = {name: person.bound_to(X) for name, person in self._people.items()}
        self._data = data
        bound = copy.copy(self)
        bound._people = people
        return bound

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(model for person in self._people.values() for model in person.models)

    def answer(self, question: Question) -> Verdict:
        """The verdict of as many people as it takes; a settled question costs nothing."""
        return super().answer(question)

    def look_sizes(self, wanted: LookSizes) -> LookSizes:
        """What all of these people can answer."""
        for person in self._people.values():
            wanted = person.look_sizes(wanted)
        return wanted

    def ask(self, questions: Sequence[Question]) -> list[Verdict]:
        """The verdicts on several questions, one after the other."""
        return [self.answer(question) for question in questions]

    def reply(self, look: Look) -> Reply:
        """Put a look to as many people as it takes; each sees what is open when it is their turn.

        A decoy is noticed unless the votes on it would have settled "same".
        """
        on_decoys: dict[Question, list[Answer]] = {pair: [] for pair in decoys_of(look)}
        while open_ := self._open(look):
            # Who has voted on all that is open: nobody else is out of question.
            done = set.intersection(*(self._voters(q) for q in open_))
            if (name := self._next(done)) is None:
                break
            for vote in self._put(name, look, open_):
                on_decoys[vote.question].append(vote)
        for question in look.questions:
            if question not in self._outcomes and (
                self._is_settled(question) or len(self._voters(question)) == len(self._people)
            ):
                self._close(question)
        known = {q: self._outcomes[q].verdict for q in look.questions if q in self._outcomes}
        goal, log_odds = self._estimates.goal, self._estimates.log_odds
        return reply_of(look, known, {q.item for q, on in on_decoys.items() if log_odds(on) < goal})

    def again(self, question: Question, confidence: float | None = None) -> Verdict:
        """Put a question to people who have not answered it, and decide again on all votes.

        Stops at the higher ``confidence``, by default when everybody has answered. The verdict is
        "unsure" if the votes no longer reach the panel's own confidence.
        """
        goal = math.inf if confidence is None else goal_of(confidence)
        while not self._is_settled(question, goal):
            if (name := self._next(self._voters(question))) is None:
                break
            self._put(name, question, [question])
        self._close(question)
        return self._outcomes[question].verdict

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Every single answer, with who gave it, in the order in which they came."""
        return tuple(self._votes.in_order)

    @property
    def n_answers(self) -> int:
        """How many single answers were used."""
        return len(self._votes.in_order)

    @property
    def outcomes(self) -> tuple[PanelOutcome, ...]:
        """What became of each question, in the order in which they were closed."""
        return tuple(self._outcomes.values())

    def outcome(self, question: Question) -> PanelOutcome:
        """What became of a question; ProtocolError if it was not asked."""
        if question not in self._outcomes:
            raise ProtocolError(f"the panel was not asked about {question}")
        return self._outcomes[question]

    def weight(self, question: Question) -> float:
        """The log-odds of a question's verdict by today's estimates; 0 if it was left unsure.

        Below zero if those estimates speak for the opposite.
        """
        outcome = self.outcome(question)
        return SIGN[outcome.verdict] * self._estimates.log_odds(outcome.votes)

    def doubtful(self) -> list[Question]:
        """Settled questions that by today's estimates would not reach the confidence.

        The verdicts stand; `again` puts such a question to people who have not answered it.
        """
        return [
            outcome.question
            for outcome in self._outcomes.values()
            if outcome.verdict is not Verdict.UNSURE
            and self.weight(outcome.question) < self._estimates.goal
        ]

    def report(self) -> tuple[Person, ...]:
        """What is known about each person, in the order in which they were named."""
        return tuple(
            Person.seen(name, known, self._outcomes.values())
            for name, known in self._estimates.reliabilities.items()
        )

    def _open(self, look: Look) -> list[Question]:
        """The pairs of a look that more people must be asked about."""
        settled = {}
        for question in look.questions:
            if question in self._outcomes:
                settled[question] = self._outcomes[question].verdict
            elif self._is_settled(question):
                odds = self._estimates.log_odds(self._votes.on[question])
                settled[question] = Verdict.of(odds > 0)
        return [] if decided(look, settled) else [q for q in look.questions if q not in settled]

    def _is_settled(self, question: Question, goal: float | None = None) -> bool:
        """Whether the votes on a question are enough."""
        goal = self._estimates.goal if goal is None else goal
        return self._estimates.are_enough(self._votes.on[question], goal)

    def _voters(self, question: Question) -> set[str | None]:
        return {vote.who for vote in self._votes.on[question]}

    def _next(self, asked: Collection[str | None]) -> str | None:
        """Whom to ask: whose answer counts most, then who has been asked least."""
        return min(
            (name for name in self._people if name not in asked),
            key=lambda name: (-abs(self._estimates.weight(name)), self._votes.n_by[name]),
            default=None,
        )

    def _put(self, name: str, look: Look, open_: Sequence[Question]) -> list[Answer]:
        """One person votes on the open pairs of a look; returns what is said of decoys.

        If a person fails to answer, the other votes stay, and only that person is asked again.
        """
        mine = [question for question in open_ if name not in self._voters(question)]
        said, on_decoys = self._votes.given(mine, name), {}
        if left := set(mine) - said.keys():
            part = smaller(look, left)
            reply = checked_reply(self._people[name], part)
            said |= said_of(part, reply)
            on_decoys = said_of_decoys(part, reply)
        for question in mine:
            # What a person left out counts as unsure: another one is asked.
            self._votes.cast(question, said.get(question, Verdict.UNSURE), name)
        return [Answer(pair, verdict, name) for pair, verdict in on_decoys.items()]

    def _close(self, question: Question) -> None:
        """What the votes on a question make of it, and what they say about people."""
        votes, before = self._votes.on[question], self._outcomes.get(question)
        self._outcomes[question] = self._estimates.outcome(question, votes)
        self._estimates.learn(votes, () if before is None else before.votes)
