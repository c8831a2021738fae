"""Several people, asked one after the other until a stated confidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samecluster._parameters import check_at_least, check_positive
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError, ProtocolError
from samecluster.oracles.base import LookOracle, Oracle, checked_answer, checked_reply
from samecluster.oracles.functions import FunctionOracle
from samecluster.oracles.panel.look_votes import decided, reply_of, said_of, smaller
from samecluster.oracles.panel.report import SIGN, PanelOutcome, Person, spoken
from samecluster.proof.fingerprint import fingerprint
from samecluster.questions.look import CheckSheet, Look, LookSizes, Marks, Reply
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.reliability import Reliability, log_odds, probability

# Odds that only rounding keeps from the goal count as there: an error of 1 % settles 99 %.
_ROUNDING = 1e-9


@dataclass(eq=False)
class _Record:
    """All that a panel remembers; a panel and the panels bound from it share one."""

    reliabilities: dict[str, Reliability]
    remembered: dict[tuple[Question, str], Verdict]
    answers: list[Answer] = field(default_factory=list)
    votes: dict[Question, list[Answer]] = field(default_factory=dict)
    outcomes: dict[Question, PanelOutcome] = field(default_factory=dict)
    n_answers: Counter[str] = field(default_factory=Counter)
    n_alone: Counter[str] = field(default_factory=Counter)
    n_judged: Counter[Question] = field(default_factory=Counter)
    data: str | None = None


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
        if not 0.5 < confidence < 1:
            raise InvalidInputError(f"confidence must be above 1/2 and below 1, got {confidence}")
        check_positive("strength", strength)
        check_at_least("check_every", check_every, 1)
        self._people = {
            name: person if isinstance(person, Oracle) else FunctionOracle(person)
            for name, person in people.items()
        }
        self._confidence = confidence
        self._goal = log_odds(confidence) - _ROUNDING
        self._check_every = check_every
        errors = _errors(error, self._people)
        self._record = _Record(
            {name: Reliability(errors[name], strength) for name in self._people},
            _remembered(answers, self._people),
        )
        self._refuse_if_it_can_never_settle()

    def __repr__(self) -> str:
        return f"Panel({', '.join(self._people)}; confidence={self._confidence})"

    def bound_to(self, X: FloatArray) -> Panel:
        """This panel for the rows of X. Answers and estimates are shared with it."""
        data = fingerprint(X)
        if self._record.data not in (None, data):
            raise InvalidInputError("this panel has answered for other data; make a new one")
        bound = object.__new__(Panel)
        bound.__dict__.update(self.__dict__)
        bound._people = {name: person.bound_to(X) for name, person in self._people.items()}
        self._record.data = data
        return bound

    @property
    def models(self) -> tuple[str, ...]:
        return tuple(model for person in self._people.values() for model in person.models)

    def answer(self, question: Question) -> Verdict:
        """The verdict of as many people as it takes; a settled question costs nothing."""
        if question not in self._record.outcomes:
            self._put(question, self._goal)
        return self._record.outcomes[question].verdict

    def look_sizes(self, wanted: LookSizes) -> LookSizes:
        """What all of these people can answer."""
        for person in self._people.values():
            wanted = person.look_sizes(wanted)
        return wanted

    def ask(self, questions: Sequence[Question]) -> list[Verdict]:
        """The verdicts on several questions, one after the other."""
        return [self.answer(question) for question in questions]

    def again(self, question: Question, confidence: float | None = None) -> Verdict:
        """Put a question to people who have not answered it, and decide again on all votes.

        Stops at the higher ``confidence``, by default when everybody has answered. The verdict is
        "unsure" if the votes no longer reach the panel's own confidence.
        """
        if confidence is not None and not 0.5 < confidence < 1:
            raise InvalidInputError(f"confidence must be above 1/2 and below 1, got {confidence}")
        self._put(question, math.inf if confidence is None else log_odds(confidence) - _ROUNDING)
        return self._record.outcomes[question].verdict

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Every single answer, with who gave it, in the order in which they came."""
        return tuple(self._record.answers)

    @property
    def n_answers(self) -> int:
        """How many single answers were used."""
        return len(self._record.answers)

    @property
    def outcomes(self) -> tuple[PanelOutcome, ...]:
        """What became of each question, in the order in which they were closed."""
        return tuple(self._record.outcomes.values())

    def outcome(self, question: Question) -> PanelOutcome:
        """What became of a question; ProtocolError if it was not asked."""
        if question not in self._record.outcomes:
            raise ProtocolError(f"the panel was not asked about {question}")
        return self._record.outcomes[question]

    def weight(self, question: Question) -> float:
        """The log-odds of a question's verdict by today's estimates; 0 if it was left unsure.

        Below zero if those estimates speak for the opposite.
        """
        outcome = self.outcome(question)
        return SIGN[outcome.verdict] * self._log_odds(outcome.votes)

    def doubtful(self) -> list[Question]:
        """Settled questions that by today's estimates would not reach the confidence.

        The verdicts stand; `again` puts such a question to people who have not answered it.
        """
        return [
            outcome.question
            for outcome in self._record.outcomes.values()
            if outcome.verdict is not Verdict.UNSURE and self.weight(outcome.question) < self._goal
        ]

    def report(self) -> tuple[Person, ...]:
        """What is known about each person, in the order in which they were named."""
        record = self._record
        return tuple(
            Person.seen(name, known, record.outcomes.values())
            for name, known in record.reliabilities.items()
        )

    def _put(self, question: Question, goal: float) -> None:
        # If a person fails to answer, the other votes stay, and only that person is asked again.
        votes = self._record.votes.setdefault(question, [])
        while not self._enough(votes, goal) and (name := self._next(votes)) is not None:
            votes.append(self._vote(name, question))
        self._close(question, votes)
        self._learn(question, votes)

    def reply(self, look: Look) -> Reply:
        """Put a look to as many people as it takes; each sees what is open when it is their turn.

        A decoy is noticed unless the votes on it would have settled "same".
        """
        votes = {q: self._record.votes.setdefault(q, []) for q in look.questions}
        on_decoys: dict[int, list[Answer]] = {
            item: [] for item in getattr(look, "decoys", ()) or ()
        }
        while open_ := self._open(look, votes):
            # Who has voted on all that is open: nobody else is out of question.
            done = set.intersection(*({vote.who for vote in votes[q]} for q in open_))
            name = self._next([vote for vote in votes[open_[0]] if vote.who in done])
            if name is None:
                break
            self._vote_on_look(name, look, open_, votes, on_decoys)
        outcomes = self._record.outcomes
        for question in [q for q in votes if q not in outcomes]:
            cast = votes[question]
            if self._enough(cast, self._goal) or len(cast) == len(self._people):
                self._close(question, cast)
                self._learn(question, cast)
        verdicts = {q: outcomes[q].verdict for q in votes if q in outcomes}
        noticed = {i for i, cast in on_decoys.items() if self._log_odds(cast) < self._goal}
        return reply_of(look, verdicts, noticed)

    def _open(self, look: Look, votes: Mapping[Question, list[Answer]]) -> list[Question]:
        """The pairs of a look that more people must be asked about."""
        outcomes = self._record.outcomes
        settled = {q: outcomes[q].verdict for q in votes if q in outcomes}
        for q in votes.keys() - settled.keys():
            if self._enough(votes[q], self._goal):
                settled[q] = Verdict.of(self._log_odds(votes[q]) > 0)
        return [] if decided(look, settled) else [q for q in votes if q not in settled]

    def _vote_on_look(
        self,
        name: str,
        look: Look,
        open_: Sequence[Question],
        votes: Mapping[Question, list[Answer]],
        on_decoys: Mapping[int, list[Answer]],
    ) -> None:
        """One person's votes on the open pairs of a look, those given before included."""
        record = self._record
        mine = [q for q in open_ if all(vote.who != name for vote in votes[q])]
        said = {q: known for q in mine if (known := record.remembered.get((q, name)))}
        if left := set(mine) - said.keys():
            part = smaller(look, left)
            reply = checked_reply(self._people[name], part)
            said |= said_of(part, reply)
            if isinstance(part, CheckSheet) and isinstance(reply, Marks):
                for item in part.decoys:
                    overlooked = item not in (*reply.marked, *reply.unsure)
                    verdict = Verdict.of(overlooked)
                    on_decoys[item].append(Answer(Question(*_cell(part, item)), verdict, name))
        for question in mine:
            # What a person left out counts as unsure: another one is asked.
            verdict = said.get(question, Verdict.UNSURE)
            votes[question].append(Answer(question, verdict, name))
            record.answers.append(votes[question][-1])
            record.n_answers[name] += 1

    def _vote(self, name: str, question: Question) -> Answer:
        record = self._record
        verdict = record.remembered.get((question, name))
        if verdict is None:
            verdict = checked_answer(self._people[name], question)
        answer = Answer(question, verdict, name)
        record.answers.append(answer)
        record.n_answers[name] += 1
        return answer

    def _next(self, votes: Sequence[Answer]) -> str | None:
        """Whom to ask: whose answer counts most, then who has been asked least."""
        asked = {vote.who for vote in votes}
        reliabilities, n_answers = self._record.reliabilities, self._record.n_answers
        return min(
            (name for name in self._people if name not in asked),
            key=lambda name: (-abs(reliabilities[name].weight), n_answers[name]),
            default=None,
        )

    def _enough(self, votes: Sequence[Answer], goal: float) -> bool:
        if abs(self._log_odds(votes)) < goal:
            return False
        voices = spoken(votes)
        return len(voices) > 1 or not self._check_due(voices[0])

    def _check_due(self, vote: Answer) -> bool:
        """Whether one person would settle this alone, and it is time to ask a second one too."""
        record, name = self._record, str(vote.who)
        learns = not math.isinf(record.reliabilities[name].strength)
        return learns and record.n_alone[name] % self._check_every == 0

    def _log_odds(self, votes: Iterable[Answer]) -> float:
        """Of "same" against "different", if both were equally likely before."""
        reliabilities = self._record.reliabilities
        return sum(SIGN[vote.verdict] * reliabilities[str(vote.who)].weight for vote in votes)

    def _close(self, question: Question, votes: Sequence[Answer]) -> None:
        odds, decisive = 0.0, None
        for vote in votes:
            was_settled = abs(odds) >= self._goal
            odds += self._log_odds([vote])
            if abs(odds) < self._goal:
                decisive = None
            elif not was_settled:
                decisive = vote.who
        verdict = Verdict.UNSURE if decisive is None else Verdict.of(odds > 0)
        self._record.outcomes[question] = PanelOutcome(
            question, verdict, probability(odds), tuple(votes), decisive
        )

    def _learn(self, question: Question, votes: Sequence[Answer]) -> None:
        """Judge those who spoke by what all said; who spoke alone cannot be judged."""
        record = self._record
        voices = spoken(votes)
        n_judged = record.n_judged[question]
        if voices and not n_judged:
            first = str(voices[0].who)
            record.n_alone[first] += abs(record.reliabilities[first].weight) >= self._goal
        if len(voices) < 2:
            return
        record.n_judged[question] = len(voices)
        odds = self._log_odds(voices)
        for vote in voices[n_judged:]:
            wrong = probability(-SIGN[vote.verdict] * odds)
            name = str(vote.who)
            record.reliabilities[name] = record.reliabilities[name].after(wrong)

    def _refuse_if_it_can_never_settle(self) -> None:
        """Estimates improve as people agree; with one person, or known error rates, they cannot."""
        known = self._record.reliabilities.values()
        if len(known) > 1 and not all(math.isinf(one.strength) for one in known):
            return
        most = sum(abs(one.weight) for one in known)
        if most < self._goal:
            raise InvalidInputError(
                f"confidence {self._confidence} is out of reach: all of these people together give "
                f"{probability(most):.4f}; name more people or state a lower confidence"
            )


def _cell(sheet: CheckSheet, item: int) -> tuple[int, int]:
    return next(cell for cell in sheet.cells if cell[0] == item)


def _errors(error: float | Mapping[str, float], people: Iterable[str]) -> dict[str, float]:
    errors = {}
    for name in people:
        rate = error.get(name) if isinstance(error, Mapping) else error
        if rate is None:
            raise InvalidInputError(f"error has no entry for {name!r}")
        if not 0 < rate < 0.5:
            raise InvalidInputError(f"error must be above 0 and below 1/2, got {rate} for {name!r}")
        errors[name] = float(rate)
    return errors


def _remembered(
    answers: Iterable[Answer], people: Iterable[str]
) -> dict[tuple[Question, str], Verdict]:
    remembered: dict[tuple[Question, str], Verdict] = {}
    names = set(people)
    for answer in answers:
        if answer.who not in names:
            raise InvalidInputError(f"an answer is by {answer.who!r}, who is not on the panel")
        key = (answer.question, answer.who)
        if remembered.setdefault(key, answer.verdict) is not answer.verdict:
            raise InvalidInputError(f"{answer.who} gave two verdicts on {answer.question}")
    return remembered
