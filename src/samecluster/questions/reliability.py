"""How often a person is wrong: a Beta distribution that learns from verdicts it cannot be sure of.

One coin per person: wrong with the same probability on "same" and on "different" (Dawid and Skene
1979, with one number per person). After an answer that is wrong with probability w the distribution
is a mixture of two Betas; the Beta with its mean and variance takes its place. That is exact for
w = 0 and w = 1; an answer to a question that no other person answered (w = the mean) teaches
nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


def log_odds(probability: float) -> float:
    return math.log(probability / (1.0 - probability))


def probability(log_odds: float) -> float:
    """The inverse of `log_odds`, for any number."""
    return 0.5 * (1.0 + math.tanh(0.5 * log_odds))


@dataclass(frozen=True, slots=True)
class Reliability:
    """The share of wrong answers: its mean, and how many known cases that mean is worth.

    A strength of infinity stands for an error rate that is known.

    >>> Reliability(0.2, 10).after(0.0)
    Reliability(error=0.18181818181818182, strength=11.0)
    """

    error: float
    strength: float

    @property
    def weight(self) -> float:
        """What one answer adds to the log-odds of what it says."""
        return -log_odds(self.error)

    def after(self, wrong: float) -> Reliability:
        """What is known after one more answer that is wrong with probability ``wrong``."""
        s = self.strength
        if math.isinf(s):
            return self
        a = self.error * s
        mean = (a + wrong) / (s + 1.0)
        square = (a + 1.0) * (a + 2.0 * wrong) / ((s + 1.0) * (s + 2.0))
        return Reliability(mean, mean * (1.0 - mean) / (square - mean * mean) - 1.0)
