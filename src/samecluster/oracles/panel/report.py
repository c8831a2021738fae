"""What a panel reports: of each question, and of each person."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.reliability import Reliability

SIGN = {Verdict.SAME: 1.0, Verdict.DIFFERENT: -1.0, Verdict.UNSURE: 0.0}


def spoken(votes: Iterable[Answer]) -> list[Answer]:
    """The votes that say something."""
    return [vote for vote in votes if vote.verdict is not Verdict.UNSURE]


@dataclass(frozen=True, slots=True)
class PanelOutcome:
    """What a panel made of a question: the verdict, and who said what, in order.

    ``probability`` is that of "same" when the question was closed; ``decisive`` names the person
    whose answer brought the confidence, None if the panel stayed unsure.
    """

    question: Question
    verdict: Verdict
    probability: float
    votes: tuple[Answer, ...]
    decisive: str | None

    def __str__(self) -> str:
        said = ", ".join(f"{vote.who} {vote.verdict.value}" for vote in self.votes)
        return f"{self.question} {self.verdict.value} ({said})"


@dataclass(frozen=True, slots=True)
class Person:
    """What a panel knows about one of its people.

    ``error`` is the estimated share of wrong answers, between ``low`` and ``high`` with a
    probability of 95 %. ``n_outvoted`` answers went against the verdict, ``n_decisive`` brought it.
    """

    name: str
    error: float
    low: float
    high: float
    n_answers: int
    n_unsure: int
    n_outvoted: int
    n_decisive: int

    @classmethod
    def seen(cls, name: str, known: Reliability, outcomes: Collection[PanelOutcome]) -> Person:
        """What became of one person's votes."""
        own = [(vote, o) for o in outcomes for vote in o.votes if vote.who == name]
        return cls(
            name,
            known.error,
            *_interval(known),
            n_answers=len(own),
            n_unsure=sum(vote.verdict is Verdict.UNSURE for vote, _ in own),
            n_outvoted=sum(SIGN[vote.verdict] * SIGN[o.verdict] < 0 for vote, o in own),
            n_decisive=sum(o.decisive == name for o in outcomes),
        )

    def __str__(self) -> str:
        return (
            f"{self.name}: wrong {self.error:.1%} of the time ({self.low:.1%} to {self.high:.1%}); "
            f"{self.n_answers} answers, {self.n_unsure} unsure, {self.n_outvoted} outvoted, "
            f"{self.n_decisive} decisive"
        )


def _interval(known: Reliability, confidence: float = 0.95) -> tuple[float, float]:
    """Bounds of the error rate that leave out the same probability on both sides."""
    from scipy.special import betaincinv

    if math.isinf(known.strength):
        return known.error, known.error
    tail = (1.0 - confidence) / 2.0
    wrong, right = known.error * known.strength, (1.0 - known.error) * known.strength
    return float(betaincinv(wrong, right, tail)), float(betaincinv(wrong, right, 1.0 - tail))
