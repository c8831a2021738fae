"""Whether two are in the same group, before anybody is asked: P(same), fitted on past answers.

Two kinds of questions: a point and a group, and two groups. What each is worth is P(same) times the
number of labels that change if it is so; `PredictRun` compares that with what placing another point
is worth. Other kinds of questions can be valued by the same two chances.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.recovery.predict.odds import LearnedOdds, log_odds

__all__ = ["Sameness"]

_LEAST = 0.01  # share of a group that is all but excluded
_SOME = 1e-3  # similarity below which two are out of sight of each other


class Sameness:
    """Learns from verdicts how far the model's similarities can be trusted.

    Attributes
    ----------
    placing : odds by (1, log odds of the group among those left, log of how many were ruled out)
    joining : odds by (1, log similarity of the closest members, log odds of the group among all
        others, log of the number of asked members of the smaller one)
    """

    def __init__(self) -> None:
        # Before any answer: the model is believed, and each "different" halves the odds or so.
        # Two groups were told apart from others before, so being one is rather unlikely.
        self.placing = LearnedOdds((-0.7, 0.8, -0.7), (1.0, 0.4, 0.7), 100.0)
        # A group of many asked members was met often, and would have been joined by then.
        self.joining = LearnedOdds((0.0, 0.3, 0.3, -1.0), (1.0, 0.3, 0.3, 0.5))
        self._placed: list[tuple[FloatArray, bool]] = []
        self._joined: list[tuple[FloatArray, bool]] = []

    def signs_of_placing(self, shares: FloatArray, n_out: int) -> FloatArray:
        """(g, 3) for a point whose groups that are left have shares (g,) of its chances."""
        own = log_odds(shares)
        return np.column_stack([np.ones(len(own)), own, np.full(len(own), np.log1p(n_out))])

    def signs_of_joining(self, affinity: Array, sizes: IntArray, open_: BoolArray) -> FloatArray:
        """(k, k, 4) for groups of so many asked members, the closest of which are so similar."""
        seen = np.maximum(affinity, _SOME).astype(np.float64)
        others = seen.sum(axis=1, keepdims=True) - np.diagonal(seen)[:, None]
        share = seen / np.maximum(others, _SOME)
        one_of_two = np.where(open_, np.maximum(share, share.T), 0.0)
        near = np.log(seen)
        fewer = np.log(np.minimum.outer(sizes, sizes))
        return np.stack([np.ones_like(near), near, log_odds(one_of_two, _LEAST), fewer], axis=2)

    def placed(self, signs: FloatArray, same: bool) -> None:
        self._placed.append((signs, same))
        self._fit(self.placing, self._placed)

    def joined(self, signs: FloatArray, same: bool) -> None:
        self._joined.append((signs, same))
        self._fit(self.joining, self._joined)

    @staticmethod
    def _fit(odds: LearnedOdds, seen: list[tuple[FloatArray, bool]]) -> None:
        same = np.array([same for _, same in seen], dtype=np.float64)
        odds.fit(np.array([signs for signs, _ in seen]), same)
