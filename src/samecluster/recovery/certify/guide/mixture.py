"""Gaussian mixtures fitted without labels, to choose questions by.

Expectation and maximisation with full covariances, from k-means with spread seeds (Dempster, Laird
and Rubin 1977; Arthur and Vassilvitskii 2007; Schwarz 1978 for the number of components). Written
here because the first question waits for it: loading scikit-learn takes longer than the fits.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from samecluster._typing import FloatArray, IntArray

_FIT_POINTS = 4000  # the whole sample of large data; the first question waits for the fits
_COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20)  # of components; one more of many hardly matters
_POINTS_EACH = 8  # fewer points per component than this show no shape
_WORSE = 2  # counts in a row without a better value; larger ones are then not tried
_STARTS = 3  # the likeliest is kept; k-means from spread seeds rarely fails three times
_FLOOR = 1e-9  # variance added to every direction: points of unit range may lie in a plane
_MEANS_ROUNDS = 20  # of k-means, which only starts the mixture
_ROUNDS = 100  # of the mixture, if it gains that long
_TINY = 1e-200  # squared distances that add up to less are none to draw by
_GAIN = 1e-3  # mean log-likelihood that a round must add
_MOST_REMEMBERED = 4  # a session needs its own; each is as long as the sample

_remembered: dict[Hashable, IntArray] = {}


@dataclass(frozen=True)
class Mixture:
    """k Gaussians in d dimensions.

    ``maps`` (k, d, d) make each component round: (points - mean) @ map has mean 0 and spread 1.
    """

    log_weights: FloatArray
    means: FloatArray
    maps: FloatArray
    value: float = -np.inf
    """Mean log-likelihood of the points that it was fitted to."""

    @classmethod
    def of(cls, points: FloatArray, shares: FloatArray) -> Mixture:
        """The most likely one if ``shares`` (m, k) of the points (m, d) are in its components."""
        sizes = shares.sum(axis=0) + 10 * np.finfo(np.float64).eps
        means = shares.T @ points / sizes[:, None]
        d = points.shape[1]
        spreads = np.empty((len(sizes), d, d))
        for j, mean in enumerate(means):
            away = points - mean
            spreads[j] = (away.T * shares[:, j]) @ away / sizes[j]
        spreads[:, np.arange(d), np.arange(d)] += _FLOOR
        maps = np.linalg.inv(np.linalg.cholesky(spreads)).transpose(0, 2, 1)
        return cls(np.log(sizes / sizes.sum()), means, maps)

    def log_densities(self, points: FloatArray) -> FloatArray:
        """(m, k) log of weight times density."""
        (m, d), k = points.shape, len(self.means)
        flat = self.maps.transpose(1, 0, 2).reshape(d, k * d)
        offsets = np.einsum("ki,kij->kj", self.means, self.maps).ravel()
        round_ = points @ flat - offsets
        np.square(round_, out=round_)
        squares = round_.reshape(m, k, d).sum(axis=2)
        volumes = np.log(np.einsum("kii->ki", self.maps)).sum(axis=1)
        constant = self.log_weights + volumes - 0.5 * d * math.log(2.0 * math.pi)
        return np.asarray(constant - 0.5 * squares)

    def nearest(self, points: FloatArray) -> IntArray:
        """The likeliest component of each point (m, d)."""
        return np.asarray(self.log_densities(points).argmax(axis=1), dtype=np.int64)

    def bic(self, n_points: int) -> float:
        """Bayesian information criterion: small is good."""
        k, d = self.means.shape
        n_parameters: int = k * d * (d + 1) // 2 + k * d + k - 1
        return -2.0 * self.value * n_points + n_parameters * math.log(n_points)


def components(points: FloatArray, n_clusters: int | None, seed: int) -> IntArray:
    """The component of each point (m, d) in a mixture fitted to them, numbered from 0.

    Without a number of clusters, the one with the best Bayesian information criterion. The last few
    results are remembered: a session begins the same run again when an answer is taken back or
    comes unasked, and most of the time that takes would go into the same fits.
    """
    data = hashlib.blake2b(points.tobytes(), digest_size=16).digest()
    key = (data, points.shape, n_clusters, seed)
    if key not in _remembered:
        while len(_remembered) >= _MOST_REMEMBERED:
            _remembered.pop(next(iter(_remembered)), None)
        _remembered[key] = _components(points, n_clusters, seed)
    return _remembered[key]


def _components(points: FloatArray, n_clusters: int | None, seed: int) -> IntArray:
    fit_on, rng = points[:_FIT_POINTS], np.random.default_rng(seed)
    n_different = len(np.unique(fit_on, axis=0))
    if n_clusters is not None:
        if n_clusters > n_different:
            return np.zeros(len(points), dtype=np.int64)
        return _fitted(fit_on, n_clusters, rng).nearest(points)
    best: Mixture | None = None
    n_worse = 0
    for k in _COUNTS:
        if k > n_different or k * _POINTS_EACH > len(fit_on) or n_worse == _WORSE:
            break
        found = _fitted(fit_on, k, rng)
        if best is None or found.bic(len(fit_on)) < best.bic(len(fit_on)):
            best, n_worse = found, 0
        else:
            n_worse += 1
    return np.zeros(len(points), dtype=np.int64) if best is None else best.nearest(points)


def _fitted(points: FloatArray, k: int, rng: np.random.Generator) -> Mixture:
    starts = _STARTS if k > 1 else 1
    return max((_improved(points, k, rng) for _ in range(starts)), key=lambda found: found.value)


def _improved(points: FloatArray, k: int, rng: np.random.Generator) -> Mixture:
    shares = np.eye(k)[_means(points, k, rng)]
    value = -np.inf
    for _ in range(_ROUNDS):
        mixture = Mixture.of(points, shares)
        logs = mixture.log_densities(points)
        top = logs.max(axis=1)
        shares = np.exp(logs - top[:, None])
        total = shares.sum(axis=1)
        shares /= total[:, None]
        before, value = value, float(np.mean(top + np.log(total)))
        if abs(value - before) < _GAIN:
            break
    return replace(mixture, value=value)


def _means(points: FloatArray, k: int, rng: np.random.Generator) -> IntArray:
    """The group of each point (m, d) by k-means, from spread points."""
    centres = _spread(points, k, rng)
    groups = np.full(len(points), -1, dtype=np.int64)
    for _ in range(_MEANS_ROUNDS):
        now = (0.5 * np.sum(centres**2, axis=1) - points @ centres.T).argmin(axis=1)
        if np.array_equal(now, groups):
            break
        groups = now
        members = np.eye(k)[groups]
        sizes = members.sum(axis=0)
        held = sizes > 0
        centres[held] = (members.T @ points)[held] / sizes[held, None]
    return groups


def _spread(points: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    """k points, each the best of a few that were drawn by squared distance from those before."""
    chosen = [int(rng.integers(len(points)))]
    gaps = np.sum((points - points[chosen[0]]) ** 2, axis=1)
    tries = 2 + int(np.log(k))
    for _ in range(k - 1):
        total = gaps.sum()
        chances = gaps / total if total > _TINY else None
        drawn = rng.choice(len(points), size=tries, p=chances)
        left = [np.minimum(gaps, np.sum((points - points[at]) ** 2, axis=1)) for at in drawn]
        best = int(np.argmin([found.sum() for found in left]))
        chosen.append(int(drawn[best]))
        gaps = left[best]
    return points[chosen]
