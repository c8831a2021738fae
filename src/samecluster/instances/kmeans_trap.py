"""The paper's instance on which SCQ-k-means merges two clusters (Lemma 10).

Cluster 0 lies at (1, 0) and (−1, 0), cluster 1 at (0, h) with h just above √(1+γ)/2; both have
margin γ by W = diag(1/4, 1) about their means. For γ < 3 all of cluster 1 is nearer to the mean of
cluster 0 than cluster 0 itself. The first point that binary search asks about, the median, is then
in the larger cluster 0, and everything nearer counts as in it too.
"""

from __future__ import annotations

import math

import numpy as np

from samecluster._parameters import check_positive
from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.metric import LatentMetric
from samecluster.instances.instance import LatentInstance


def make_kmeans_trap(
    n: int,
    p: float,
    margin: float = 0.1,
    d: int = 2,
    jitter: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> LatentInstance:
    """Two clusters with shares (1+p)/2 and (1−p)/2 that SCQ-k-means takes for one.

    Parameters
    ----------
    n : number of points, at least 4
    p : from above 0 to below 1: how much larger cluster 0 is, as a share of n
    margin : γ > 0. From γ = 3 on, κ_W − 1 for this W, the instance is no trap any more.
    d : number of columns, at least 2; those after the second have W = 1
    jitter : largest distance per column by which points are moved at random, so that all are
        different; from 0 to 0.1/√d. The height h is raised as much as the margin then needs.
    random_state : seed or generator

    Examples
    --------
    >>> made = make_kmeans_trap(n=100, p=0.5, random_state=0)
    >>> np.bincount(made.labels).tolist(), made.margin_holds()
    ([75, 25], True)
    """
    if n < 4 or d < 2:
        raise InvalidInputError(f"n must be at least 4 and d at least 2, got n={n}, d={d}")
    if not 0 < p < 1:
        raise InvalidInputError(f"p must be above 0 and below 1, got {p}")
    check_positive("margin", margin)
    # So little keeps cluster 1 within 0.2 of its mean, which leaves it margins of any size.
    if not 0 <= jitter * math.sqrt(d) <= 0.1:
        raise InvalidInputError(f"jitter must be from 0 to 0.1/√d, got {jitter}")
    rng = np.random.default_rng(random_state)
    n_first = min(max(round(n * (1 + p) / 2), 2), n - 1)
    labels = (np.arange(n) >= n_first).astype(np.int64)
    X = jitter * rng.uniform(-1.0, 1.0, size=(n, d))
    first, second = X[:n_first], X[n_first:]
    first[:, 0] += np.where(np.arange(n_first) < n_first // 2, 1.0, -1.0)
    factor = np.diag([0.5] + [1.0] * (d - 1))
    middle = first.mean(axis=0)
    second[:, 1] += _height(first - middle, second - middle, factor, margin)

    order = rng.permutation(n)
    metrics = tuple(LatentMetric(factor, own.mean(axis=0)) for own in (first, second))
    return LatentInstance(X[order], labels[order], margin, metrics)


def _height(first: FloatArray, second: FloatArray, factor: FloatArray, margin: float) -> float:
    """How far up the second cluster must go to be out of the first one's margin.

    The paper's √(1+γ)/2 has equality where the definition of the margin is strict, and roots are
    irrational: one more part in 10¹² makes the floats that are returned strictly far enough.
    """
    scale = np.diagonal(factor)
    farthest = float(np.max(np.sum((first * scale) ** 2, axis=1)))
    along, across = second[:, 1], np.delete(second * scale, 1, axis=1)
    needed = (1.0 + margin) * farthest - np.sum(across**2, axis=1)
    return float(np.max(np.sqrt(np.maximum(needed, 0.0)) - along)) * (1.0 + 1e-12)
