"""The paper's instances: points uniform in stretched, rotated ellipsoids at a chosen margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from samecluster._parameters import check_at_least, check_positive
from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.ellipsoid import Ellipsoid

_JUST_ABOVE = 1.0 + 1e-6  # far above the rounding of the scale, far below what a margin needs


@dataclass(frozen=True, eq=False)
class Instance:
    """Points with their true clustering.

    ``ellipsoids[j]`` is the (W, c) of cluster j: inside it lies the cluster, and every other
    point y has ``ellipsoids[j].norms(y)² > (1 + margin) · max norms(x)²`` over its members x.
    """

    X: FloatArray
    labels: IntArray
    margin: float
    ellipsoids: tuple[Ellipsoid, ...]

    @property
    def n_clusters(self) -> int:
        return len(self.ellipsoids)


def make_ellipsoids(
    n: int,
    d: int,
    k: int,
    margin: float = 1.0,
    condition: float = 100.0,
    rank: int | Sequence[int] | None = None,
    sizes: Sequence[float] | FloatArray | None = None,
    fill: Literal["ball", "shell", "half", "blobs"] = "ball",
    random_state: int | np.random.Generator | None = None,
) -> Instance:
    """Points uniform in k random ellipsoids, as close together as the margin allows.

    Centres are drawn at random and then moved apart, all at one scale, until the margin of the
    returned (W, c) just holds; the tightest pair has it almost exactly.

    Parameters
    ----------
    n, d, k : numbers of points, columns and clusters
    margin : γ > 0 of every cluster with respect to its own ellipsoid
    condition : condition number of each W: one axis is its square root times as long as the others
    rank : rank of the clusters, one number or one per cluster; default d
    sizes : share of each cluster, in any unit; default equal. Every cluster gets a point.
    fill : where in its ellipsoid a cluster has points: uniform in the "ball", only on the
        "shell", in one "half" that leaves the centre outside the hull, or in a few "blobs"
    random_state : seed or generator

    Examples
    --------
    >>> made = make_ellipsoids(n=100, d=3, k=2, random_state=0)
    >>> made.X.shape, np.bincount(made.labels).tolist()
    ((100, 3), [50, 50])
    """
    ranks = _ranks(rank, d, k)
    counts = _counts(n, k, sizes)
    check_positive("margin", margin)
    check_at_least("condition", condition, 1)
    if fill not in _FILLINGS:
        raise InvalidInputError(f"fill must be one of {', '.join(_FILLINGS)}, got {fill!r}")
    filling = _FILLINGS[fill]
    rng = np.random.default_rng(random_state)

    shapes = [_random_shape(d, condition, rng) for _ in range(k)]
    offsets = [
        filling(count, r, rng) @ (axes * lengths)[:, :r].T
        for (axes, lengths), count, r in zip(shapes, counts, ranks, strict=True)
    ]
    directions = rng.normal(size=(k, d))
    centres = directions * _smallest_scale(shapes, offsets, directions, margin)
    order = rng.permutation(n)
    X = np.concatenate([centre + offset for centre, offset in zip(centres, offsets, strict=True)])
    labels = np.repeat(np.arange(k), counts)
    ellipsoids = tuple(
        Ellipsoid(centre, axes, lengths)
        for centre, (axes, lengths) in zip(centres, shapes, strict=True)
    )
    return Instance(X[order], labels[order], margin, ellipsoids)


def _ranks(rank: int | Sequence[int] | None, d: int, k: int) -> list[int]:
    ranks = [d] * k if rank is None else [rank] * k if isinstance(rank, int) else list(rank)
    if len(ranks) != k or not all(1 <= r <= d for r in ranks):
        raise InvalidInputError(f"rank must be from 1 to {d}, one number or {k} of them: {rank}")
    return ranks


def _counts(n: int, k: int, sizes: Sequence[float] | FloatArray | None) -> IntArray:
    """Numbers of points per cluster (k,), at least one each, n in all."""
    if k < 1 or n < k:
        raise InvalidInputError(f"n must be at least k and k at least 1, got n={n}, k={k}")
    shares = np.ones(k) if sizes is None else np.asarray(sizes, dtype=np.float64)
    if shares.shape != (k,) or not (shares > 0).all():
        raise InvalidInputError(f"sizes must be {k} positive numbers, got {sizes}")
    exact = np.maximum(shares / shares.sum() * n, 1.0)
    counts: IntArray = np.floor(exact).astype(np.int64)
    while counts.sum() > n:
        counts[np.argmax(counts)] -= 1
    short = n - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    counts[np.argmax(counts)] += n - counts.sum()
    return counts


def _random_shape(
    d: int, condition: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Axes (d, d) and lengths (d,): as in the paper, one random direction is stretched."""
    axes, triangle = np.linalg.qr(rng.normal(size=(d, d)))
    axes = axes * np.sign(np.diagonal(triangle))
    lengths = np.ones(d)
    lengths[0] = np.sqrt(condition)
    return axes, lengths


def on_sphere(n: int, r: int, rng: np.random.Generator) -> FloatArray:
    """Random unit vectors (n, r)."""
    gaussian = rng.normal(size=(n, r))
    return np.asarray(gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True))


def _uniform_ball(n: int, r: int, rng: np.random.Generator) -> FloatArray:
    gaussian = rng.normal(size=(n, r))
    radii = rng.random((n, 1)) ** (1.0 / r)
    return np.asarray(radii * gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True))


def _kept(
    n: int, draw: Callable[[int], FloatArray], keep: Callable[[FloatArray], BoolArray]
) -> FloatArray:
    """Draw until n points were kept."""
    points = draw(0)
    while len(points) < n:
        new = draw(2 * n + 8)
        points = np.concatenate([points, new[keep(new)]])
    return points[:n]


def _half(n: int, r: int, rng: np.random.Generator) -> FloatArray:
    direction = on_sphere(1, r, rng)[0]
    return _kept(n, lambda m: _uniform_ball(m, r, rng), lambda u: u @ direction > 0.1)


def _blobs(n: int, r: int, rng: np.random.Generator) -> FloatArray:
    centres = _uniform_ball(8, r, rng)

    def draw(m: int) -> FloatArray:
        return np.asarray(centres[rng.integers(8, size=m)] + 0.08 * rng.normal(size=(m, r)))

    return _kept(n, draw, lambda u: np.linalg.norm(u, axis=1) <= 1.0)


_FILLINGS: dict[str, Callable[[int, int, np.random.Generator], FloatArray]] = {
    "ball": _uniform_ball,
    "shell": on_sphere,
    "half": _half,
    "blobs": _blobs,
}


def _smallest_scale(
    shapes: list[tuple[FloatArray, FloatArray]],
    offsets: list[FloatArray],
    directions: FloatArray,
    margin: float,
) -> float:
    """The scale s of the centres s·z from which on all margins hold.

    For y = s·z_j + p the squared distance to centre i is As² + 2Bs + C with a = z_j − z_i measured
    by W_i; the largest root of As² + 2Bs + C = (1+γ)·max_i is the scale at which y is far enough.
    """
    smallest = 0.0
    for i, (axes, lengths) in enumerate(shapes):
        whiten = axes / lengths
        limit = (1.0 + margin) * float(np.max(np.sum((offsets[i] @ whiten) ** 2, axis=1)))
        for j, offset in enumerate(offsets):
            if i == j:
                continue
            apart = (directions[j] - directions[i]) @ whiten
            own = offset @ whiten
            a = float(apart @ apart)
            b = own @ apart
            excess = np.sum(own**2, axis=1) - limit
            discriminant = b**2 - a * excess
            roots = (-b + np.sqrt(np.maximum(discriminant, 0.0))) / a
            smallest = max(smallest, float(np.max(roots[discriminant >= 0], initial=0.0)))
    return smallest * _JUST_ABOVE
