"""Probabilities from scores, calibrated on points whose group is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import Array, FloatArray, IntArray

SHARPNESS = 8.0
"""The usual sharpness for scores from 0 to 1."""
CLOUD_SHARPNESS = 0.5
"""The usual sharpness for log likelihoods, whose clouds are never quite Gaussian."""

_STEPS = 24  # a grid finer than the pull below can tell apart
# Weight of the usual sharpness: about that of two answers; chosen by benchmarks/predict
_PULL = 2.0
_LAPSES = 0.1  # lapses counted before any answer: a tenth of one item


@dataclass(frozen=True)
class Calibration:
    """p = (1 − ``lapse``) softmax(``sharpness`` · scores) + ``lapse`` / (k + 1).

    The lapse is for points that are not where their group is; its last share is for groups that
    nobody has seen yet.
    """

    sharpness: float
    lapse: float

    @classmethod
    def fitted(
        cls, scores: FloatArray, truth: IntArray, usual: float, lapses: float = _LAPSES
    ) -> Calibration:
        """The sharpness that makes the true groups (m,) of scored points (m, k) most likely.

        It stays near the ``usual`` one as long as there is little evidence. Scores must come from
        a model that did not know the truth, or the probabilities are too good.
        """
        lapse = lapses / (len(truth) + 1.0)
        best, best_value = usual, -np.inf
        for sharpness in usual * np.geomspace(0.1, 8.0, _STEPS):
            chances = cls(float(sharpness), lapse).probabilities(scores)
            likely = np.log(chances[np.arange(len(truth)), truth]).sum()
            value = float(likely) - _PULL * np.log(sharpness / usual) ** 2
            if value > best_value:
                best, best_value = float(sharpness), value
        return cls(best, lapse)

    def probabilities(self, scores: Array) -> FloatArray:
        """(n, k) probability of each group."""
        # Log likelihoods of groups without points are −inf, and rows of nothing else may occur.
        finite = np.maximum(scores, -1e9)
        raised = self.sharpness * (finite - finite.max(axis=1, keepdims=True))
        shares = np.exp(raised)
        shares /= shares.sum(axis=1, keepdims=True)
        return np.asarray((1.0 - self.lapse) * shares + self.lapse / (scores.shape[1] + 1.0))
