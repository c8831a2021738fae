"""One recovery of one instance by one algorithm, as a task: what it cost and how wrong it was."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from samecluster import Certify, Recovery, Recur, ScqKMeans, clustering_error, recover
from samecluster._typing import IntArray
from samecluster.experiments.aligned import make_aligned
from samecluster.experiments.experiment import Row, Task
from samecluster.instances import Instance, make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.recovery.problem import Method

MARGIN = 1.0
"""The margin of every instance of the paper's experiments."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with its settings, the margin it is told, and about its seconds at d=2."""

    label: str
    method: Callable[[], Method] | None
    margin: float = MARGIN
    seconds: float = 0.5


ALGORITHMS = {
    "certify": Algorithm("certify", lambda: Certify(kernel="numpy"), seconds=0.45),
    "recur-published": Algorithm("RECUR, published settings, γ=10", Recur.as_published, 10.0, 0.4),
    "recur-told-1": Algorithm("RECUR, published settings, γ=1", Recur.as_published),
    "recur": Algorithm("RECUR, guaranteed", Recur),
    "recur-batches": Algorithm(
        "RECUR, guaranteed, 10·k draws a round", lambda: Recur(sampling="batches")
    ),
    "recur-plain": Algorithm(
        "RECUR, guaranteed, no expansion", lambda: Recur(expansion=None), seconds=0.7
    ),
    "recur-unsound": Algorithm(
        "RECUR, expansion 1+γ/d, γ=1", lambda: Recur(sampling="batches", expansion="paper")
    ),
    "scq": Algorithm("SCQ-k-means", ScqKMeans, seconds=0.06),
    "scq-whitened": Algorithm("SCQ-k-means, whitened", lambda: ScqKMeans(whiten=True), seconds=0.1),
    "random": Algorithm("labels drawn at random", None, seconds=0.02),
}
"""Certify uses the NumPy kernel everywhere: the compiled one may ask slightly other questions."""


def ellipsoids_task(algorithm: str, n: int, d: int, k: int, seed: int) -> Task:
    """Recover the paper's instance: k stretched ellipsoids of margin 1 in d dimensions."""
    settings = {"family": "ellipsoids", "algorithm": algorithm, "n": n, "d": d, "k": k}
    return Task("recovery", settings | {"seed": seed}, _weight(algorithm, n, d, k))


def aligned_task(
    algorithm: str, n: int, layout: str, stretch: float, shown: int, seed: int
) -> Task:
    """Recover three aligned clusters, and keep the labels of the first ``shown`` points."""
    settings = {"family": "aligned", "algorithm": algorithm, "n": n, "layout": layout}
    settings |= {"stretch": stretch, "shown": shown, "seed": seed}
    return Task("recovery", settings, _weight(algorithm, n, 2, 3))


def _weight(algorithm: str, n: int, d: int, k: int) -> float:
    """About how many seconds a run takes; only shares matter, for the time that is left."""
    return 0.05 + ALGORITHMS[algorithm].seconds * n / 1e5 * 1.65 ** (d - 2) * k / 5


def measure(settings: Row) -> Row:
    """Run the recovery. ``counted`` leaves out questions against the first cluster.

    (The published counts do.) The curve holds questions, counted questions, clustering error and
    the share of points without a label, after each round and at the end.
    """
    instance, seed = _instance(settings), int(settings["seed"])
    algorithm = ALGORITHMS[settings["algorithm"]]
    if algorithm.method is None:
        return _random_labels(instance, settings)
    found = recover(
        instance.X,
        LabelOracle(instance.labels),
        n_clusters=instance.n_clusters,
        margin=algorithm.margin,
        method=algorithm.method(),
        random_state=seed,
    )
    curve = _curve(found, instance.labels)
    row: Row = {"questions": found.n_questions, "counted": curve[-1][1], "error": curve[-1][2]}
    row["curve"] = curve
    return row | _shown(found.labels, instance, settings) | _asked(found, settings)


def _instance(settings: Row) -> Instance:
    n, seed = settings["n"], settings["seed"]
    if settings["family"] == "aligned":
        return make_aligned(n, settings["layout"], settings["stretch"], MARGIN, seed)
    return make_ellipsoids(n, settings["d"], settings["k"], MARGIN, random_state=seed)


def _curve(found: Recovery, truth: IntArray) -> list[list[float]]:
    n = len(truth)
    not_first = [found.labels[answer.question.comparator] != 0 for answer in found.answers]
    counted = np.concatenate([[0], np.cumsum(not_first, dtype=np.int64)])
    curve = [
        [questions, int(counted[questions]), error, 1.0 - finished.n_labelled / n]
        for (questions, error), finished in zip(found.error_curve(truth), found.rounds, strict=True)
    ]
    # Certify proves most labels after its last round.
    without = float(np.count_nonzero(found.labels < 0)) / n
    end = [found.n_questions, int(counted[-1]), clustering_error(found.labels, truth), without]
    return curve if curve and curve[-1] == end else [*curve, end]


def _random_labels(instance: Instance, settings: Row) -> Row:
    rng = np.random.default_rng([int(settings["seed"]), 1])
    labels = rng.integers(instance.n_clusters, size=len(instance.X))
    error = clustering_error(labels, instance.labels)
    row: Row = {"questions": 0, "counted": 0, "error": error, "curve": [[0, 0, error, 0.0]]}
    return row | _shown(labels, instance, settings)


def _shown(labels: IntArray, instance: Instance, settings: Row) -> Row:
    """Labels of the points that a picture shows, numbered as the true clusters they match."""
    if not settings.get("shown"):
        return {}
    table = np.zeros((instance.n_clusters, instance.n_clusters), dtype=np.int64)
    known = labels >= 0
    np.add.at(table, (labels[known], instance.labels[known]), 1)
    renamed = np.append(linear_sum_assignment(table, maximize=True)[1], -1)
    return {"labels": renamed[labels[: settings["shown"]]].tolist()}


def _asked(found: Recovery, settings: Row) -> Row:
    """The points that questions were about."""
    if not settings.get("shown"):
        return {}
    return {"asked": sorted({item for answer in found.answers for item in answer.question.pair})}
