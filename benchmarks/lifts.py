"""Questions until all is proven for clusters that no ellipsoid separates, and beside them.

Every proof is checked by the checker. With nothing declared labels are inferred, and compared with
the truth. Beside it: questions to zero error of an SVM with RBF kernel that is asked at its margin,
and of ``method="predict"``. ``make bench-lifts``; pass ``quick`` for two seeds, ``large`` for times
at n=10⁶ against the same number of plain columns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from samecluster import clustering_error, recover
from samecluster.instances import (
    LiftedInstance,
    make_ellipsoids,
    make_moons_with_margin,
    make_nested,
    make_rings,
    make_spirals,
)
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check

_MOST = 400  # questions of the others before they are given up


@dataclass(frozen=True)
class Case:
    name: str
    make: Callable[[int, int], LiftedInstance]
    with_k: int
    without_k: int


CASES = [
    Case("two rings", lambda n, s: make_rings(n, random_state=s), 10, 11),
    Case("three rings", lambda n, s: make_rings(n, 3, random_state=s), 16, 18),
    Case("two moons", lambda n, s: make_moons_with_margin(n, random_state=s), 10, 11),
    Case("spirals, .75 turns", lambda n, s: make_spirals(n, random_state=s), 10, 11),
    Case("spirals, 1 turn", lambda n, s: make_spirals(n, turns=1.0, random_state=s), 10, 12),
    Case("shells, d=3", lambda n, s: make_rings(n, 2, 3, random_state=s), 18, 19),
    Case("shells, d=4", lambda n, s: make_rings(n, 2, 4, random_state=s), 28, 30),
    Case("group in a cloud", lambda n, s: make_nested(n, random_state=s), 35, 60),
]


def proven(made: LiftedInstance, k: int | None, seed: int) -> int:
    found = recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=k,
        margin=made.margin,
        lift=made.lift,
        random_state=seed,
    )
    assert found.proof is not None
    labels = check(made.X, found.proof.lines()).labels
    assert (labels >= 0).all()
    assert clustering_error(labels, made.labels) == clustering_error(found.labels, made.labels) == 0
    return found.n_questions


def guessed(made: LiftedInstance, seed: int) -> tuple[int, float]:
    found = recover(made.X, LabelOracle(made.labels), lift="auto", random_state=seed)
    return found.n_questions, clustering_error(found.labels, made.labels)


def predicted(made: LiftedInstance, seed: int) -> int | None:
    """Questions of prediction until no label is wrong; budgets are doubled until that is so."""
    for budget in (25, 50, 100, 200, 400):
        found = recover(
            made.X,
            LabelOracle(made.labels),
            n_clusters=made.n_clusters,
            method="predict",
            max_questions=budget,
            random_state=seed,
        )
        if clustering_error(found.labels, made.labels) == 0:
            return found.n_questions
        if found.n_questions < budget:
            break
    return None


def margin_sampled(made: LiftedInstance, seed: int) -> int | None:
    """Labels that an SVM needs which asks where it is least sure, from one of each cluster."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(seed)
    X = (made.X - made.X.mean(axis=0)) / made.X.std(axis=0)
    asked = [int(rng.choice(np.flatnonzero(made.labels == c))) for c in range(made.n_clusters)]
    while len(asked) < _MOST:
        model = SVC(C=1e3, gamma="scale", decision_function_shape="ovr")
        model.fit(X[asked], made.labels[asked])
        if (model.predict(X) == made.labels).all():
            return len(asked)
        scores = model.decision_function(X)
        doubt = np.abs(scores) if scores.ndim == 1 else np.diff(np.sort(scores)[:, -2:])[:, 0]
        doubt[asked] = np.inf
        asked.append(int(doubt.argmin()))
    return None


def listed(values: list[int | None]) -> str:
    return ", ".join("-" if value is None else str(value) for value in values)


def main(n: int, seeds: int) -> None:
    console = Console(width=150)
    table = Table(title=f"questions, n={n:,}, {seeds} seeds, all proofs checked")
    for heading in (
        "instance",
        "k given",
        "goal",
        "k unknown",
        "goal",
        "nothing declared",
        "wrong",
        "predict",
        "SVM",
    ):
        table.add_column(heading)
    for case in CASES:
        instances = [case.make(n, seed) for seed in range(seeds)]
        with_k = [proven(made, made.n_clusters, seed) for seed, made in enumerate(instances)]
        without = [proven(made, None, seed) for seed, made in enumerate(instances)]
        auto = [guessed(made, seed) for seed, made in enumerate(instances)]
        others = [predicted(instances[0], 0)]
        svm = [margin_sampled(instances[0], 0)]
        table.add_row(
            case.name,
            listed([*with_k]),
            f"≤ {case.with_k} {'met' if max(with_k) <= case.with_k else 'missed'}",
            listed([*without]),
            f"≤ {case.without_k} {'met' if max(without) <= case.without_k else 'missed'}",
            listed([asked for asked, _ in auto]),
            f"{max(error for _, error in auto):.2%}",
            listed([*others]),
            listed([*svm]),
        )
        # A row at a time: the whole takes minutes.
        console.print(f"{case.name}: {listed([*with_k])} | {listed([*without])}", style="dim")
    console.print(table)


def large() -> None:
    """CPU at n=10⁶ in the lift, and of ellipsoids in the same number of plain columns."""
    for n_columns, made in (
        (5, make_rings(10**6, random_state=0)),
        (9, make_rings(10**6, 2, 3, random_state=0)),
    ):
        begin = time.process_time()
        found = recover(
            made.X,
            LabelOracle(made.labels),
            n_clusters=2,
            margin=made.margin,
            lift=made.lift,
            random_state=0,
        )
        lifted = time.process_time() - begin
        plain = make_ellipsoids(10**6, n_columns, 2, random_state=0)
        begin = time.process_time()
        recover(plain.X, LabelOracle(plain.labels), n_clusters=2, margin=1.0, random_state=0)
        ratio = lifted / (time.process_time() - begin)
        print(f"n=10⁶, {n_columns} columns: {found.n_questions} questions, {ratio:.2f} × plain")


if __name__ == "__main__":
    if "large" in sys.argv:
        large()
    else:
        main(10_000, 2 if "quick" in sys.argv else 5)
