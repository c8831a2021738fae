"""Gaussian-process regression from points to groups, one answer after the other.

The target of a point is 1 for its group and 0 for the others, the prior mean is 0 and the
covariance a similarity. With L the Cholesky factor of the covariance of the asked points (noise
added) and V = L⁻¹K, a new answer adds one row to V: no matrix is ever inverted, and the posterior
covariance is K − VᵀV. The targets enter linearly, so groups can appear and merge at any time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.recovery.predict.similarity import Similarity

NOISE = 0.01
"""Variance of a target about what the similarities can explain."""


class GaussianProcess:
    """Posterior of n points for k groups.

    Attributes
    ----------
    asked : points with a known group, in the order of the answers
    targets : (m, k) what the answers say about them
    mean : (n, k) the posterior mean, high where a group is likely
    variance : (n,) the posterior variance
    ahead : (m, k) the mean at each asked point just before its answer: a fair test of the model
    """

    def __init__(self, similarity: Similarity, n: int, n_groups: int = 0) -> None:
        self.similarity = similarity
        self.asked: list[int] = []
        self.targets = np.zeros((0, n_groups))
        self.ahead = np.zeros((0, n_groups))
        self.mean = np.zeros((n, n_groups))
        self.variance = np.ones(n)
        self._rows = np.zeros((16, n))

    @classmethod
    def fitted(
        cls, similarity: Similarity, n: int, asked: Sequence[int], targets: FloatArray
    ) -> GaussianProcess:
        """All answers at once; the same as learning them one by one."""
        from scipy.linalg import solve_triangular  # slow to load, and no first question needs it

        one = cls(similarity, n, targets.shape[1])
        if not asked:
            return one
        one.asked, one.targets = list(asked), targets.copy()
        items = np.array(asked)
        factor = _factor(similarity.between(items, items))
        one._rows = solve_triangular(factor, similarity.between(items), lower=True)
        solved = solve_triangular(factor, targets, lower=True)
        one.mean = one._rows.T @ solved
        one.ahead = targets - np.diagonal(factor)[:, None] * solved
        one.variance = 1.0 - np.sum(one._rows**2, axis=0)
        return one

    def add_group(self) -> None:
        """One more group, of which no point is known yet."""
        self.targets = np.pad(self.targets, ((0, 0), (0, 1)))
        self.ahead = np.pad(self.ahead, ((0, 0), (0, 1)))
        self.mean = np.pad(self.mean, ((0, 0), (0, 1)))

    def merge(self, kept: int, gone: int) -> None:
        """Two groups are one: column ``gone`` is added to ``kept`` and removed."""
        for name in ("targets", "ahead", "mean"):
            table = getattr(self, name)
            table[:, kept] += table[:, gone]
            setattr(self, name, np.delete(table, gone, axis=1))

    def learn(self, item: int, group: int) -> None:
        """The answer that a point is in a group."""
        target = np.eye(self.targets.shape[1])[[group]]
        covariance = self.covariance(np.array([item]))[0]
        size = np.sqrt(covariance[item] + NOISE)
        row = covariance / size
        self.ahead = np.concatenate([self.ahead, self.mean[[item]]])
        self.targets = np.concatenate([self.targets, target])
        self.mean = self.mean + np.outer(row, (target[0] - self.mean[item]) / size)
        self.variance = self.variance - row**2
        if len(self.asked) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[len(self.asked)] = row
        self.asked.append(item)

    def covariance(self, items: IntArray) -> FloatArray:
        """(len(items), n) posterior covariance of some points with all."""
        rows = self._rows[: len(self.asked)]
        return np.asarray(self.similarity.between(items) - rows[:, items].T @ rows)

    def gain(self, items: IntArray, weights: FloatArray) -> FloatArray:
        """How much the answer about each of ``items`` would explain of all points, weighted."""
        covariance = self.covariance(items)
        return np.asarray(covariance**2 @ weights / (self.variance[items] + NOISE))


def left_out(similarity: Similarity, asked: Sequence[int], targets: FloatArray) -> FloatArray:
    """(m, k) the posterior mean at each asked point if its own answer were not there.

    In closed form: with P the inverse of the covariance of the asked points (noise added), it is
    targets − P targets / diag P.
    """
    from scipy.linalg import solve_triangular  # slow to load, and no first question needs it

    items = np.array(asked, dtype=np.int64)
    factor = _factor(similarity.between(items, items))
    inverse = solve_triangular(factor, np.eye(len(items)), lower=True)
    precision = inverse.T @ inverse
    return np.asarray(targets - precision @ targets / np.diagonal(precision)[:, None])


def _factor(covariance: FloatArray) -> FloatArray:
    from scipy.linalg import cholesky  # slow to load, and no first question needs it

    # Single precision makes the graph similarity unsymmetric in the last bits.
    covariance = (covariance + covariance.T) / 2.0
    return np.asarray(cholesky(covariance + NOISE * np.eye(len(covariance)), lower=True))
