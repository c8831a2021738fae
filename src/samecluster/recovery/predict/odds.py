"""Odds of an answer, learned from the answers so far: a logistic regression with a prior.

Used for everything that is said before an answer and can be compared with it afterwards: whether
two are in the same group, and whether a predicted label is right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samecluster._typing import Array, FloatArray

_NEWTON = 25  # steps; four are enough from the last optimum
_LONGEST = 1.5  # log odds that one step may change
_RIDGE = 1e-9


def log_odds(chances: Array | float, least: float = 1e-4) -> FloatArray:
    """log p/(1−p), with p kept away from 0 and 1: a few hundred answers cannot tell more."""
    p = np.clip(np.asarray(chances, dtype=np.float64), least, 1.0 - least)
    return np.asarray(np.log(p / (1.0 - p)))


def signs(chances: Array, flagged: Array) -> FloatArray:
    """(m, 3) what odds are learned from: 1, the log odds of chances (m,), and a flag (m,)."""
    return np.column_stack([np.ones(len(chances)), log_odds(chances), flagged])


class LearnedOdds:
    """P(yes) = 1/(1 + exp(−w·x)) with w ~ N(mean, spread²) before the first answer.

    Answers weigh half as much as ``half_life`` others ago; None: all weigh the same.
    """

    def __init__(
        self, mean: Sequence[float], spread: Sequence[float], half_life: float | None = None
    ) -> None:
        self._mean = np.array(mean, dtype=np.float64)
        self._precision = 1.0 / np.square(np.array(spread, dtype=np.float64))
        self._half_life = half_life
        self._w = self._mean.copy()

    def fit(self, seen: FloatArray, said_yes: FloatArray) -> None:
        """Learn from what was seen (m, p) before the answers (m,), in their order."""
        m = len(seen)
        ages = np.arange(m)[::-1]
        weights = np.ones(m) if self._half_life is None else 0.5 ** (ages / self._half_life)
        w = self._w.copy()
        for _ in range(_NEWTON if m else 0):
            p = 1.0 / (1.0 + np.exp(-np.clip(seen @ w, -30.0, 30.0)))
            slope = seen.T @ (weights * (said_yes - p)) - self._precision * (w - self._mean)
            curve = (seen * (weights * p * (1.0 - p) + _RIDGE)[:, None]).T @ seen
            step = np.linalg.solve(curve + np.diag(self._precision), slope)
            # Where p is near 0 or 1 the curve is flat, and a whole step would leap back and forth.
            step *= min(1.0, _LONGEST / max(float(np.abs(seen @ step).max()), 1e-12))
            w += step
            if np.abs(step).max() < 1e-6:
                break
        self._w = w if m else self._mean.copy()

    def chances(self, seen: FloatArray) -> FloatArray:
        """P(yes) for each row of (m, p)."""
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(seen @ self._w, -30.0, 30.0))))
