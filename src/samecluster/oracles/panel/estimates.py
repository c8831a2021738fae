"""How reliable the people of a panel are by what they said, and what their votes amount to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from samecluster._parameters import check_at_least, check_positive
from samecluster.errors import InvalidInputError
from samecluster.oracles.panel.report import SIGN, PanelOutcome, spoken
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.reliability import Reliability, log_odds, probability

# Odds that only rounding keeps from the goal count as there: an error of 1 % settles 99 %.
_ROUNDING = 1e-9


class PersonEstimates:
    """The error rate of each person as it is estimated now, in the order of their names.

    ``goal`` are the log-odds from which on votes settle a question; see `Panel` for the parameters.
    """

    def __init__(
        self,
        names: Iterable[str],
        confidence: float,
        error: float | Mapping[str, float],
        strength: float,
        check_every: int,
    ) -> None:
        self.goal = goal_of(confidence)
        check_positive("strength", strength)
        check_at_least("check_every", check_every, 1)
        self._check_every = check_every
        self._n_alone: Counter[str] = Counter()  # questions that each could settle alone
        self.reliabilities = {name: Reliability(_error_of(name, error), strength) for name in names}
        self._refuse_if_they_can_never_settle(confidence)

    def weight(self, name: str) -> float:
        """What an answer of this person adds to the log-odds of what it says."""
        return self.reliabilities[name].weight

    def log_odds(self, votes: Iterable[Answer]) -> float:
        """Of "same" against "different", if both were equally likely before."""
        return sum(SIGN[vote.verdict] * self.weight(str(vote.who)) for vote in votes)

    def are_enough(self, votes: Sequence[Answer], goal: float) -> bool:
        """Whether nobody else need be asked."""
        if abs(self.log_odds(votes)) < goal:
            return False
        voices = spoken(votes)
        return len(voices) > 1 or not self._check_due(str(voices[0].who))

    def _check_due(self, name: str) -> bool:
        """Whether this person would settle it alone, and it is time to ask a second one too."""
        learns = not math.isinf(self.reliabilities[name].strength)
        return learns and self._n_alone[name] % self._check_every == 0

    def outcome(self, question: Question, votes: Sequence[Answer]) -> PanelOutcome:
        """What these votes make of a question."""
        odds, decisive = 0.0, None
        for vote in votes:
            was_settled = abs(odds) >= self.goal
            odds += self.log_odds([vote])
            if abs(odds) < self.goal:
                decisive = None
            elif not was_settled:
                decisive = vote.who
        verdict = Verdict.UNSURE if decisive is None else Verdict.of(odds > 0)
        return PanelOutcome(question, verdict, probability(odds), tuple(votes), decisive)

    def learn(self, votes: Sequence[Answer], before: Sequence[Answer]) -> None:
        """Judge those who spoke by what all said; who spoke alone cannot be judged.

        ``before`` are the first of these votes, which were learned from already.
        """
        voices, n_judged = spoken(votes), len(spoken(before))
        if voices and n_judged < 2:
            n_judged, first = 0, str(voices[0].who)
            self._n_alone[first] += abs(self.weight(first)) >= self.goal
        if len(voices) < 2:
            return
        odds = self.log_odds(voices)
        for vote in voices[n_judged:]:
            wrong, name = probability(-SIGN[vote.verdict] * odds), str(vote.who)
            self.reliabilities[name] = self.reliabilities[name].after(wrong)

    def _refuse_if_they_can_never_settle(self, confidence: float) -> None:
        """Estimates improve as people agree; with one person, or known error rates, they cannot."""
        known = self.reliabilities.values()
        if len(known) > 1 and not all(math.isinf(one.strength) for one in known):
            return
        most = sum(abs(one.weight) for one in known)
        if most < self.goal:
            raise InvalidInputError(
                f"confidence {confidence} is out of reach: all of these people together give "
                f"{probability(most):.4f}; name more people or state a lower confidence"
            )


def goal_of(confidence: float) -> float:
    """The log-odds of a confidence; InvalidInputError if it cannot be one."""
    if not 0.5 < confidence < 1:
        raise InvalidInputError(f"confidence must be above 1/2 and below 1, got {confidence}")
    return log_odds(confidence) - _ROUNDING


def _error_of(name: str, error: float | Mapping[str, float]) -> float:
    rate = error.get(name) if isinstance(error, Mapping) else error
    if rate is None:
        raise InvalidInputError(f"error has no entry for {name!r}")
    if not 0 < rate < 0.5:
        raise InvalidInputError(f"error must be above 0 and below 1/2, got {rate} for {name!r}")
    return float(rate)
