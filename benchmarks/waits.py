"""`make bench-waits`: CPU until the first question and after answers, beside a graph of all rows.

Prediction with nothing known, answers by the truth, one thread. All figures of a line are of one
run, as shares of the CPU time that the graph of neighbours of all its rows takes; imports and the
making of the data are not counted. ``python -m benchmarks.waits many --n 1000000`` is about rows
that are too many to compare all pairs: seconds and memory, with the extra ``neighbours``.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Iterator
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster import clustering_error, start
from samecluster.oracles import LabelOracle
from samecluster.recovery.predict.graph import edges
from samecluster.recovery.predict.plan import Predict
from samecluster.recovery.predict.similarity import features

Points = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]

QUANTILE = 0.95
PARTS = {"pairs": 1 / 20, "looks": 1 / 10}
"""What is waited for, and the goal for 95 % of the waits."""
FIRST = 1 / 4
"""The goal for the first question."""
SIZES = (20, 15, 12, 10, 10, 8, 7, 6, 5, 4, 2, 1)
"""Shares of the groups, in per cent."""


def bent_groups(n: int, d: int, seed: int) -> tuple[Points, Labels]:
    """Twelve bent sheets of six dimensions in d columns, which touch, of unlike sizes."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(SIZES), p=np.array(SIZES) / 100, size=n)
    points = np.empty((n, d))
    for group in range(len(SIZES)):
        own = np.flatnonzero(labels == group)
        flat = rng.normal(size=(len(own), 6))
        bend, wave = rng.normal(size=(2, 6, d))
        points[own] = np.tanh(flat @ bend / 2) + 0.5 * np.sin(flat @ wave)
        points[own] += 0.7 * rng.normal(size=d) + 0.15 * rng.normal(size=(len(own), d))
    return points, labels


def spent(
    X: Points, labels: Labels, part: str, most: int, seed: int
) -> Iterator[tuple[float, Any]]:
    """CPU seconds until the first question, after each answer, and at last for the result."""
    oracle = LabelOracle(labels)
    by_looks = part == "looks"
    limit: dict[str, Any] = {"max_looks": most} if by_looks else {"max_questions": most}
    begun = process_time()
    run = start(
        X,
        method=Predict(expected_error=0.0),
        looks="auto" if by_looks else "pairs",
        random_state=seed,
        **limit,
    )
    shown: Any = run.looks if by_looks else run.pending
    while shown:
        yield process_time() - begun, run
        if by_looks:
            reply = next(reply for _, reply in oracle.reply_many([shown[0]]))
            begun = process_time()
            run.tell_look(shown[0], reply)
            shown = run.looks
        else:
            i, j = shown[0].pair
            begun = process_time()
            run.tell(shown[0], same=bool(labels[i] == labels[j]))
            shown = run.pending
    yield process_time() - begun, run


def beside_the_graph(part: str, d: int, n: int, most: int, seed: int) -> None:
    X, labels = bent_groups(n, d, seed)
    first, *waits, _ = [seconds for seconds, _ in spent(X, labels, part, most, seed)]
    begun = process_time()
    edges(features(X, np.arange(min(n, 4000))).astype(np.float32))
    graph = process_time() - begun
    shares = np.array(waits) / graph
    what = f"n={n:,} d={d} seed {seed}, {len(waits)} {part}"
    _tell(f"{what}: first question", first / graph, FIRST)
    slow = float(np.quantile(shares, QUANTILE))
    _tell(f"{what}: 95 % of waits", slow, PARTS[part])
    longest = ", ".join(f"{shares[at]:.2f} after {at + 1}" for at in np.argsort(-shares)[:3])
    print(f"    median {np.median(shares):.3f}, longest {longest}; the graph {graph:.2f} CPU s")


def many_rows(part: str, d: int, n: int, most: int, seed: int) -> None:
    X, labels = bent_groups(n, d, seed)
    seconds, runs = zip(*spent(X, labels, part, most, seed), strict=True)
    waits = np.sort(seconds[1:-1])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    what = f"n={n:,} d={d} seed {seed}, {len(waits)} {part}"
    _tell(f"{what}: GiB at most", memory, 6.0)
    _tell(f"{what}: CPU seconds of 95 % of waits", float(np.quantile(waits, QUANTILE)), 0.5)
    error = 100 * clustering_error(runs[-1].result.labels, labels)
    print(
        f"    first question {seconds[0]:.1f} s, median {np.median(waits):.3f} s, longest "
        f"{waits[-1]:.1f} and {waits[-2]:.2f} s, the result {seconds[-1]:.1f} s; "
        f"{error:.3f} % wrong"
    )


def _tell(what: str, value: float, goal: float) -> None:
    print(f"{what}: {value:.3f} / {goal:g}{'' if value <= goal else ', NOT met'}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.waits", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*PARTS, "many", []], help="pairs and looks")
    parser.add_argument("--n", type=int, help="rows; 20,000, of many 200,000")
    parser.add_argument("--d", type=int, help="columns; 8 and 50, of many 50")
    parser.add_argument("--most", type=int, default=150, help="questions or looks")
    parser.add_argument("--seeds", type=int, default=1, help="how many, from 0")
    chosen = parser.parse_args()
    for seed in range(chosen.seeds):
        for part in chosen.part or PARTS:
            if part == "many":
                many_rows("pairs", chosen.d or 50, chosen.n or 200_000, chosen.most, seed)
                continue
            for d in [chosen.d] if chosen.d else (8, 50):
                beside_the_graph(part, d, chosen.n or 20_000, chosen.most, seed)


if __name__ == "__main__":
    main()
