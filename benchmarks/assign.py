"""Labels for new rows: speed, errors, and groups that nobody has met.

Prints each figure beside its goal. Rows per second are CPU seconds against those of another tool on
the same rows, so that a busy machine matters little. Run with ``python -m benchmarks.assign``;
``quick`` takes a tenth of the rows, and names of sets choose among those of `benchmarks.real`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.mixture import GaussianMixture

from samecluster import How, clustering_error, recover
from samecluster._typing import FloatArray, IntArray
from samecluster.assignment.neighbours import FeatureMap, LocalPlanes
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.recovery.predict.graph import nearest

QUESTIONS = 400


def main(arguments: list[str]) -> None:
    n = 100_000 if "quick" in arguments else 1_000_000
    speed_of_proofs(n)
    speed_of_neighbours(n // 10)
    for name in [one for one in arguments if one != "quick"] or ["digits"]:
        X, truth = data(name)
        halves(name, X, truth)
        left_out(name, X, truth)
    left_out_of_proofs()


def data(name: str) -> tuple[FloatArray, IntArray]:
    if name == "digits":
        X, truth = load_digits(return_X_y=True)
        return np.asarray(X, np.float64), np.asarray(truth)
    from benchmarks.real import sets

    X, truth = sets.data(name)[:2]
    return np.asarray(X, np.float64), np.unique(truth, return_inverse=True)[1]


def say(what: str, value: float, goal: float, higher: bool = False) -> None:
    met = value >= goal if higher else value <= goal
    print(f"{what}: {value:.3g} / {goal:.3g}{'' if met else '  MISSED'}", flush=True)


def cpu(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def speed_of_proofs(n: int) -> None:
    made = make_ellipsoids(100_000 + n, 8, 5, random_state=0)
    old, new, truth = made.X[:100_000], made.X[100_000:], made.labels[100_000:]
    oracle = LabelOracle(made.labels[:100_000])
    found = recover(old, oracle, n_clusters=5, margin=made.margin, random_state=0)
    mixture = GaussianMixture(5, random_state=0).fit(old[:20_000])
    other, _ = cpu(lambda: mixture.predict(new))
    ready, _ = cpu(lambda: found.predict(new[:1000]))
    ours, said = cpu(lambda: found.predict(new))
    proven = said.how_codes == How.PROVEN
    say(f"{n:,} rows, d=8, x GaussianMixture.predict", ours / other, 3.0)
    print(f"  made ready once in {ready:.1f} CPU s; {proven.mean():.2%} proven")
    name_of = [np.bincount(made.labels[:100_000][found.labels == c]).argmax() for c in range(5)]
    wrong = np.array(name_of)[said.labels[proven]] != truth[proven]
    say("  wrong among proven", float(wrong.sum()), 0.0)


def speed_of_neighbours(n: int) -> None:
    """10,000 points of 10 groups at d=50; rows of the same groups."""
    rng = np.random.default_rng(0)
    middles = 3 * rng.standard_normal((10, 50))
    groups = rng.integers(10, size=10_000 + n)
    X = middles[groups] + rng.standard_normal((len(groups), 50))
    planes = LocalPlanes(X[:10_000], groups[:10_000], np.ones(10_000), 10)
    search, _ = cpu(lambda: nearest(X[10_000:], X[:10_000], 12))
    ours, _ = cpu(lambda: planes.chances(X[10_000:]))
    say(f"{n:,} rows against 10,000 points, d=50, x neighbour search", ours / search, 2.0)


def halves(name: str, X: FloatArray, truth: IntArray, seed: int = 0) -> None:
    order = np.random.default_rng(seed).permutation(len(X))
    old, new = order[: len(X) // 2], order[len(X) // 2 :]
    found = recover(
        X[old],
        LabelOracle(truth[old]),
        max_questions=QUESTIONS,
        random_state=seed,
        method="predict",
    )
    before = 100 * clustering_error(found.labels, truth[old])
    said = found.predict(X[new])
    names = [np.bincount(truth[old][found.labels == c]).argmax() for c in said.clusters]
    known = said.labels >= 0
    at = np.searchsorted(said.clusters, said.labels[known])
    wrong = np.array(names)[at] != truth[new][known]
    print(f"{name}, halves: {before:.2f} % of the old rows wrong; {np.mean(~known):.2%} no cluster")
    say("  % of new rows wrong", 100 * float(wrong.sum()) / len(new), 1.25 * before + 0.3)
    doubt = float(np.nanmean(1.0 - said.probability[known]))
    print(f"  {100 * doubt:.2f} % expected to be wrong, {100 * wrong.mean():.2f} % are")


def left_out(name: str, X: FloatArray, truth: IntArray, seed: int = 0) -> None:
    """By the true labels of the others: what is measured is the rule for rows beyond all groups."""
    order = np.random.default_rng(seed).permutation(len(X))
    old, new = order[: len(X) // 2], order[len(X) // 2 :]
    recall, alarms = [], []
    for group in np.unique(truth).tolist():
        kept = old[truth[old] != group]
        features = FeatureMap.of(X[kept])
        groups = np.unique(truth[kept], return_inverse=True)[1]
        planes = LocalPlanes(features(X[kept]), groups, np.ones(len(kept)), int(groups.max()) + 1)
        beyond = planes.chances(features(X[new]))[1]
        recall.append(float(beyond[truth[new] == group].mean()))
        alarms.append(float(beyond[truth[new] != group].mean()))
    say(f"{name}, a group left out: recall", float(np.mean(recall)), 0.75, higher=True)
    say(f"  false alarms, in % (worst group: {min(recall):.2f})", 100 * float(np.mean(alarms)), 2.0)


def left_out_of_proofs() -> None:
    made = make_ellipsoids(4_000, 4, 5, random_state=0)
    old, new = np.arange(2_000), np.arange(2_000, 4_000)
    recall, alarms = [], []
    for group in range(5):
        kept = old[made.labels[old] != group]
        oracle = LabelOracle(made.labels[kept])
        found = recover(made.X[kept], oracle, margin=made.margin, random_state=0)
        beyond = found.predict(made.X[new]).labels < 0
        recall.append(float(beyond[made.labels[new] == group].mean()))
        alarms.append(float(beyond[made.labels[new] != group].mean()))
    say("paper's instance, a group left out: recall", float(np.mean(recall)), 1.0, higher=True)
    say("  false alarms", float(np.mean(alarms)), 0.0)


if __name__ == "__main__":
    main(sys.argv[1:])
