"""Gaussian-process regression from points to groups, one answer after the other.

The target of a point is 1 for its group and 0 for the others, the prior mean is 0 and the
covariance a similarity. With L the Cholesky factor of the covariance of the asked points (noise
added) and V = L⁻¹K, a new answer adds one row to V: no matrix is ever inverted, and the posterior
covariance is K − VᵀV. The targets enter linearly, so groups can appear and merge at any time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.recovery.predict.similarity import Similarity

NOISE = 0.01
"""Variance of a target about what the similarities can explain."""


class GaussianProcess:
    """Posterior of n points for k groups, in single precision: memory grows with n (m + k).

    Attributes
    ----------
    asked : points with a known group, in the order of the answers
    targets : (m, k) what the answers say about them
    mean : (n, k) the posterior mean, high where a group is likely
    variance : (n,) the posterior variance
    ahead : (m, k) the mean at each asked point just before its answer: a fair test of the model
    alike : (m, m) similarities of the asked points
    """

    def __init__(self, similarity: Similarity, n: int, n_groups: int = 0) -> None:
        self.similarity = similarity
        self.asked: list[int] = []
        self.targets = np.zeros((0, n_groups))
        self.ahead = np.zeros((0, n_groups))
        self.mean = np.zeros((n, n_groups), dtype=np.float32)
        self.variance = np.ones(n, dtype=np.float32)
        self.alike = np.zeros((0, 0))
        self._rows = np.zeros((16, n), dtype=np.float32)
        self._precision: FloatArray | None = None

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
        prior = similarity.rows(items)
        one.alike = prior[:, items].astype(np.float64)
        factor = _factor(one.alike)
        one._rows = solve_triangular(factor.astype(np.float32), prior, lower=True)
        solved = solve_triangular(factor, targets, lower=True)
        one.mean = one._rows.T @ solved.astype(np.float32)
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
        prior = self.similarity.rows(np.array([item]))[0]
        row = self._posterior(np.array([item]), prior[None])[0]
        # The diagonal of a sparse graph is estimated, and the variance may come out below 0.
        size = np.sqrt(max(float(row[item]), 0.0) + NOISE)
        row /= np.float32(size)
        self.ahead = np.concatenate([self.ahead, self.mean[[item]]])
        self.targets = np.concatenate([self.targets, target])
        self.mean += np.outer(row, ((target[0] - self.mean[item]) / size).astype(np.float32))
        self.variance = self.variance - row**2
        if len(self.asked) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[len(self.asked)] = row
        self.asked.append(item)
        known = prior[self.asked].astype(np.float64)
        self.alike = np.pad(self.alike, ((0, 1), (0, 1)))
        self.alike[-1], self.alike[:, -1] = known, known
        self._precision = None

    def covariance(self, items: IntArray) -> Array:
        """(len(items), n) posterior covariance of some points with all."""
        return self._posterior(items, self.similarity.rows(items))

    def _posterior(self, items: IntArray, prior: Array) -> Array:
        rows = self._rows[: len(self.asked)]
        return np.asarray(prior - rows[:, items].T @ rows)

    def gain(self, items: IntArray, weights: Array) -> Array:
        """How much the answer about each of ``items`` would explain of all points, weighted."""
        covariance = self._posterior(items, self.similarity.rows(items, roughly=True))
        own = np.maximum(covariance[np.arange(len(items)), items], 0.0)
        return np.asarray(covariance**2 @ weights / (own + NOISE))

    def without_own_group(self) -> FloatArray:
        """(k, k) the mean score of each group's asked points if their own answers were not there.

        Row g is what the rest says about group g as a whole, in the closed form of `left_out` for
        several points at once.
        """
        if self._precision is None:
            self._precision = precision_of(self.alike)
        precision = self._precision
        explained = precision @ self.targets
        groups, k = self.targets.argmax(axis=1), self.targets.shape[1]
        found = np.zeros((k, k))
        for group in range(k):
            own = np.flatnonzero(groups == group)
            if len(own):
                block = precision[np.ix_(own, own)]
                left = self.targets[own] - np.linalg.solve(block, explained[own])
                found[group] = left.mean(axis=0)
        return found


def left_out(alike: FloatArray, targets: FloatArray) -> FloatArray:
    """(m, k) the posterior mean at each asked point if its own answer were not there.

    In closed form: with P the inverse of the similarities (m, m) of the asked points (noise
    added), it is targets − P targets / diag P.
    """
    precision = precision_of(alike)
    return np.asarray(targets - precision @ targets / np.diagonal(precision)[:, None])


def precision_of(alike: FloatArray) -> FloatArray:
    from scipy.linalg import solve_triangular  # slow to load, and no first question needs it

    inverse = solve_triangular(_factor(alike), np.eye(len(alike)), lower=True)
    return np.asarray(inverse.T @ inverse)


def _factor(covariance: FloatArray) -> FloatArray:
    """The Cholesky factor of a covariance with noise added."""
    from scipy.linalg import cholesky, eigvalsh  # slow to load, and no first question needs them

    # Single precision makes the graph similarity unsymmetric in the last bits.
    covariance = (covariance + covariance.T) / 2.0
    noisy = covariance + NOISE * np.eye(len(covariance))
    try:
        return np.asarray(cholesky(noisy, lower=True))
    except np.linalg.LinAlgError:
        # Rows of a large graph are solved for only roughly.
        short = NOISE - float(eigvalsh(covariance, subset_by_index=[0, 0])[0])
        return np.asarray(cholesky(covariance + short * np.eye(len(covariance)), lower=True))
