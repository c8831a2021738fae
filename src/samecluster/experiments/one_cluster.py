"""What the paper says of one cluster and a sample of it: the sampling lemma, and Theorem 2.

The lemma: points are drawn with replacement until some cluster C has b·d²·ln k draws. Then any
ellipsoid around its sample, here the one of minimum volume, holds at least n/4k points of C at
least half of the time, for b large enough.

The theorem bounds the questions it takes to learn a cluster within its sample's ellipsoid.
TessellationLearn as in the paper, without the expansion: enclose a sample of one cluster, cut the
ellipsoid into cells, ask one question for each cell that holds points but no sampled member.
"""

from __future__ import annotations

import math

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.experiments.experiment import Row, Task
from samecluster.geometry import tolerance
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.geometry.tessellation import GUARANTEED_MARGIN, Tessellation, group_cells
from samecluster.instances import make_ellipsoids
from samecluster.points.array import unit_scaled

SIZES = ("equal", "halving")
"""Cluster sizes: all the same, or each half of the one before."""
_K = 5
_SAMPLE_CONSTANT = 4.5


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


def cluster_task(n: int, d: int, rank: int, margin: float, seed: int) -> Task:
    settings = {"n": n, "d": d, "rank": rank, "margin": margin, "seed": seed}
    return Task("one-cluster", settings, 0.05 + 0.2 * n / 1e5)


def bound(rank: int, margin: float, stretch: float = 1.0) -> float:
    """The most questions that the proof of Theorem 2 allows: all cells of all orthants."""
    cells = Tessellation(rank, margin, stretch)
    return max(2.0**rank, (2.0 * cells.n_intervals) ** rank)


def measure_cluster(settings: Row) -> Row:
    """Questions asked, the bound, and whether exactly the cluster's points were learned.

    ``constant`` is the least a with questions ≤ (a·(r/γ)·ln(r/γ))^r, γ counted as at most 1/2.
    """
    rank, margin, seed = settings["rank"], settings["margin"], settings["seed"]
    made = make_ellipsoids(settings["n"], settings["d"], _K, margin, rank=rank, random_state=seed)
    rng = np.random.default_rng([seed, 1])
    points = unit_scaled(made.X)
    members = np.flatnonzero(made.labels == 0)
    size = min(math.ceil(_SAMPLE_CONSTANT * rank**2 * math.log(_K)) + 1, len(members))
    sample = rng.choice(members, size=size, replace=False)

    inside, cell_of, most = learn(points, sample, margin)
    truly = made.labels[inside] == 0
    asked = np.setdiff1d(cell_of, cell_of[np.isin(inside, sample)])
    mixed = np.intersect1d(cell_of[truly], cell_of[~truly])
    ratio = rank / min(margin, GUARANTEED_MARGIN)
    return {
        "questions": len(asked),
        "inside": len(inside),
        "bound": most,
        "constant": max(len(asked), 1) ** (1.0 / rank) / (ratio * math.log(ratio)),
        "exact": len(mixed) == 0,
    }


def learn(points: FloatArray, sample: IntArray, margin: float) -> tuple[IntArray, IntArray, float]:
    """The points inside the sample's ellipsoid, the cell of each, and the bound on questions."""
    # A flat is as thick as RECUR takes it to be at most: far below the resolution.
    thickness = tolerance.RESOLUTION * 1e-3 / points.shape[1]
    enclosing = enclosing_ellipsoid(points[sample], thickness=thickness)
    around, rank = enclosing.ellipsoid, enclosing.ellipsoid.rank
    inside = np.flatnonzero(around.contains(points, off_span=thickness, slack=tolerance.ROUNDING))
    cells = Tessellation(rank, margin, stretch=enclosing.rounding / rank)
    cell_of = group_cells(cells.keys(around.whiten(points[inside])))
    return inside, cell_of, bound(rank, margin, cells.stretch)
