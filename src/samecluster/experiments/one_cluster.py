"""The paper's Theorem 2: the questions it takes to learn a cluster within its sample's ellipsoid.

TessellationLearn as in the paper, without the expansion: enclose a sample of one cluster, cut the
ellipsoid into cells, ask one question for each cell that holds points but no sampled member.
"""

from __future__ import annotations

import math

import numpy as np

from samecluster.experiments.experiment import Row, Task
from samecluster.geometry import tolerance
from samecluster.geometry.enclosing import enclosing_ellipsoid
from samecluster.geometry.tessellation import GUARANTEED_MARGIN, Tessellation, group_cells
from samecluster.instances import make_ellipsoids
from samecluster.points.array import unit_scaled

__all__ = ["bound", "cluster_task", "measure_cluster"]

_K = 5
_SAMPLE_CONSTANT = 4.5


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

    # A flat is as thick as RECUR takes it to be with any margin: far below the resolution.
    thickness = tolerance.RESOLUTION * 1e-3 / settings["d"]
    enclosing = enclosing_ellipsoid(points[sample], thickness=thickness)
    around, r = enclosing.ellipsoid, enclosing.ellipsoid.rank
    inside = np.flatnonzero(around.contains(points, off_span=thickness, slack=tolerance.ROUNDING))
    cells = Tessellation(r, margin, stretch=enclosing.rounding / r)
    cell_of = group_cells(cells.keys(around.whiten(points[inside])))

    truly = made.labels[inside] == 0
    known = np.unique(cell_of[np.isin(inside, sample)])
    asked = np.setdiff1d(cell_of, known)
    mixed = np.intersect1d(cell_of[truly], cell_of[~truly])
    ratio = rank / min(margin, GUARANTEED_MARGIN)
    return {
        "questions": len(asked),
        "inside": len(inside),
        "bound": bound(r, margin, enclosing.rounding / r),
        "constant": max(len(asked), 1) ** (1.0 / rank) / (ratio * math.log(ratio)),
        "exact": len(mixed) == 0,
    }
