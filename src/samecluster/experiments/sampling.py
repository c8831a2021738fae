"""The paper's sampling lemma: a sample of b·d²·ln k members encloses enough of their cluster.

Points are drawn with replacement until some cluster C has b·d²·ln k draws. Then any ellipsoid
around its sample, here the one of minimum volume, holds at least n/4k points of C at least half of
the time, for b large enough.
"""

from __future__ import annotations

import math

import numpy as np

from samecluster._typing import IntArray
from samecluster.experiments.experiment import Row, Task
from samecluster.geometry import tolerance
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.instances import make_ellipsoids

__all__ = ["SIZES", "draw_until", "measure_samples", "sampling_task"]

SIZES = ("equal", "halving")
"""Cluster sizes: all the same, or each half of the one before."""


def sampling_task(n: int, d: int, k: int, sizes: str, b: float, trials: int, seed: int) -> Task:
    settings = {"n": n, "d": d, "k": k, "sizes": sizes, "b": b, "trials": trials, "seed": seed}
    return Task("sampling", settings, 0.05 + trials * 0.0005 * (1 + d**2 / 8))


def measure_samples(settings: Row) -> Row:
    """In how many of the trials the ellipsoid holds n/4k points of its cluster, and how many."""
    n, d, k = settings["n"], settings["d"], settings["k"]
    shares = None if settings["sizes"] == "equal" else [0.5**i for i in range(k)]
    made = make_ellipsoids(n, d, k, sizes=shares, random_state=settings["seed"])
    rng = np.random.default_rng([settings["seed"], 1])
    wanted = max(1, math.ceil(settings["b"] * d**2 * math.log(k)))
    inside = []
    for _ in range(settings["trials"]):
        cluster, sample = draw_until(made.labels, k, wanted, rng)
        around = enclosing_ellipsoid(made.X[sample]).ellipsoid
        members = made.X[made.labels == cluster]
        inside.append(int(around.contains(members, slack=tolerance.ROUNDING).sum()))
    enough = sum(count >= n / (4 * k) for count in inside)
    return {"enough": int(enough), "inside": float(np.mean(inside)) / n}


def draw_until(
    labels: IntArray, k: int, wanted: int, rng: np.random.Generator
) -> tuple[int, IntArray]:
    """Draw rows with replacement until a cluster has ``wanted`` draws: it and its distinct rows."""
    draws = rng.integers(len(labels), size=k * (wanted - 1) + 1)
    drawn = labels[draws]
    last = [
        places[wanted - 1] if len(places) >= wanted else len(draws)
        for places in (np.flatnonzero(drawn == cluster) for cluster in range(k))
    ]
    cluster = int(np.argmin(last))
    return cluster, np.unique(draws[: last[cluster] + 1][drawn[: last[cluster] + 1] == cluster])
