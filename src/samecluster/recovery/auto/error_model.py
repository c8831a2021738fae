"""How often somebody errs, learned: two opinions on where items belong, and how much each is worth.

One is what was said of an item, by somebody who errs on a share of them (`error`), towards any
other group alike. The other is what items say that it is like: chances of the groups, which are
worth less than they look where likeness is a bad guide (`dullness`). Both numbers are those that
explain best how the two agree. That alone cannot tell who of the two errs; what is usual decides
where they are even, and what people have said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.questions.reliability import Reliability

USUAL = Reliability(0.05, 20.0)
"""What is believed of an answerer of whom nothing is known: most that are of use err so often."""

_ERRORS, _DULLNESS = np.geomspace(0.005, 0.45, 12), np.geomspace(0.3, 10.0, 12)
_FITTED = 2_000  # items that the two numbers are learned from: far more than two numbers need
_IMPOSSIBLE = 1e-6  # no answer of people is less likely than this


@dataclass(frozen=True)
class ErrorModel:
    """How often what was said of items is wrong, and how much their likeness is worth."""

    error: float
    dullness: float

    @classmethod
    def fitted(
        cls,
        chances: FloatArray,
        said: IntArray,
        known: Reliability = USUAL,
        allowed: BoolArray | None = None,
    ) -> ErrorModel:
        """From chances (m, k) by likeness, the groups (m,) that were said, and what is known.

        ``allowed`` (m, k) are the groups that people leave open for each item: all, where nobody
        was asked. Which items they saw may depend on both opinions, as no opinion is judged by
        these but what follows from both.
        """
        if len(said) > _FITTED:
            asked = np.zeros(0, dtype=np.int64)
            if allowed is not None:
                asked = np.flatnonzero(~allowed.all(axis=1))
            some = np.random.default_rng(0).permutation(len(said))[:_FITTED]
            some = np.union1d(some, asked)
            chances, said = chances[some], said[some]
            allowed = None if allowed is None else allowed[some]
        n_wrong = known.error * known.strength
        best, found = -np.inf, cls(known.error, 1.0)
        for error in _ERRORS.tolist():
            prior = n_wrong * np.log(error) + (known.strength - n_wrong) * np.log(1.0 - error)
            for dullness in _DULLNESS.tolist():
                model = cls(error, dullness)
                fit = prior + model._explained(chances, said, allowed)
                if fit > best:
                    best, found = fit, model
        return found

    def _explained(self, chances: FloatArray, said: IntArray, allowed: BoolArray | None) -> float:
        """The log-likelihood of what was said where nobody was asked, and of what people said."""
        joint = self._joint(chances, said)
        total = joint.sum(axis=1)
        if allowed is None:
            return float(np.log(total).sum())
        open_ = allowed.all(axis=1)
        told = (joint * allowed).sum(axis=1) / total
        return float(np.log(np.where(open_, total, np.maximum(told, _IMPOSSIBLE))).sum())

    def _joint(self, chances: FloatArray, said: IntArray) -> FloatArray:
        """(m, k) P(what was said, group) by both opinions."""
        raised = chances ** (1.0 / self.dullness)
        raised /= raised.sum(axis=1, keepdims=True)
        weights = np.full(raised.shape, self.error / max(chances.shape[1] - 1, 1))
        weights[np.arange(len(said)), said] = 1.0 - self.error
        weights[said < 0] = 1.0
        return np.asarray(raised * weights)

    def posterior(self, chances: FloatArray, said: IntArray) -> FloatArray:
        """(m, k) P(group) by both opinions; by likeness alone where nothing (-1) was said."""
        joint = self._joint(chances, said)
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class ErrorRecord:
    """How often an answerer errs: on what was called the same, on what was called different.

    ``misread`` are the items that more than one answer is likely wrong about.
    """

    same: Reliability = USUAL
    different: Reliability = USUAL
    misread: tuple[int, ...] = ()

    def after(self, wrong: Mapping[Answer, float]) -> ErrorRecord:
        """What is known after answers that are wrong with these probabilities."""
        records = {Verdict.SAME: self.same, Verdict.DIFFERENT: self.different}
        times = Counter[int]()
        for answer, is_wrong in wrong.items():
            records[answer.verdict] = records[answer.verdict].after(is_wrong)
            times.update(answer.question.pair if is_wrong > 0.5 else ())
        misread = {item for item, number in times.items() if number > 1}.union(self.misread)
        same, different = records[Verdict.SAME], records[Verdict.DIFFERENT]
        return ErrorRecord(same, different, tuple(sorted(misread)))


def compared(
    answers: Iterable[Answer], known: Callable[[Question], Verdict | None]
) -> dict[Answer, float]:
    """The answers that others, who are right, speak about: 1 where these contradict, else 0."""
    said = ((one, known(one.question)) for one in answers if one.verdict is not Verdict.UNSURE)
    return {
        one: float(one.verdict is not by)
        for one, by in said
        if by is not None and by is not Verdict.UNSURE
    }
