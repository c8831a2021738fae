"""Wrong answers, reproducible and persistent, over any oracle."""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

from samecluster._parameters import check_one_of, check_share
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.oracles.base import Oracle
from samecluster.questions.pair import Question, Verdict

__all__ = ["NoisyOracle"]


class NoisyOracle(Oracle):
    """An oracle that errs with probability p, always in the same way on the same thing.

    Parameters
    ----------
    oracle : the oracle whose answers are distorted
    p : probability of an error, below 1
    unit : "pair" flips each pair on its own: another comparator gives a fresh draw. "item"
        misjudges whole items: every comparison with a misjudged item is flipped (twice, that is
        not at all, between two of them), and only another person can tell.
    random_state : a whole number: the person. Two oracles of one number err alike, two of
        different numbers independently, whatever they are asked and in whatever order.

    Examples
    --------
    >>> from samecluster.oracles import LabelOracle
    >>> noisy = NoisyOracle(LabelOracle([0, 0]), p=0.3, random_state=1)
    >>> noisy.answer(Question(0, 1)) is noisy.answer(Question(1, 0))
    True
    """

    def __init__(
        self,
        oracle: Oracle,
        p: float,
        unit: Literal["pair", "item"] = "pair",
        random_state: int = 0,
    ) -> None:
        check_share("p", p)
        check_one_of("unit", unit, "pair", "item")
        if not isinstance(random_state, int | np.integer):
            # A generator would be spent in the order of the questions.
            raise InvalidInputError(f"random_state must be a whole number, got {random_state!r}")
        self._oracle = oracle
        self._p = p
        self._unit = unit
        self._seed = int(random_state)

    def __repr__(self) -> str:
        return f"NoisyOracle({self._oracle!r}, p={self._p}, unit={self._unit!r})"

    def bound_to(self, X: FloatArray) -> NoisyOracle:
        return NoisyOracle(self._oracle.bound_to(X), self._p, self._unit, self._seed)

    def answer(self, question: Question) -> Verdict:
        verdict = self._oracle.answer(question)
        if verdict is Verdict.UNSURE or not self._flips(question):
            return verdict
        return Verdict.DIFFERENT if verdict is Verdict.SAME else Verdict.SAME

    def _flips(self, question: Question) -> bool:
        if self._unit == "pair":
            return self._errs(*question.pair)
        return self._errs(question.item) != self._errs(question.comparator)

    def _errs(self, *numbers: int) -> bool:
        """A coin that falls the same way whenever it is tossed for the same numbers."""
        text = ",".join(map(str, (self._seed, *numbers))).encode()
        toss = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
        return toss < self._p * 2.0**64
