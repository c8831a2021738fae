"""Questions until all is proven for clusters that no ellipsoid separates, and beside them.

Every proof is checked by the checker. With nothing declared labels are inferred, and compared with
the truth. Beside it: questions to zero error, for the first time, of an SVM with RBF kernel that is
asked at its margin and of ``method="predict"``, both with k given; neither can tell that it is
there. ``make bench-lifts`` prints the table of measured.md, about five minutes; pass ``quick``
for two seeds, ``large`` for times at n=10⁶ against the same number of plain columns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

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
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.plan import Predict

MOST = 500  # questions of the others before they are given up
BEYOND = 20  # questions with nothing declared, beyond those with k unknown
HEADINGS = (
    "instance",
    "lifted columns",
    "margin",
    "k given",
    "k unknown",
    "nothing declared",
    '`method="predict"`',
    "SVM",
)


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


def guessed(made: LiftedInstance, seed: int) -> int:
    found = recover(made.X, LabelOracle(made.labels), lift="auto", random_state=seed)
    assert clustering_error(found.labels, made.labels) == 0
    return found.n_questions


class _Exact(Exception):
    """No label is wrong."""


def predicted(made: LiftedInstance, seed: int) -> int | None:
    """Questions of prediction until no label is wrong for the first time."""
    asked = 0

    def compare(now: Labelling) -> None:
        nonlocal asked
        asked = now.n_questions
        if (now.labels >= 0).all() and clustering_error(now.labels, made.labels) == 0:
            raise _Exact

    try:
        recover(
            made.X,
            LabelOracle(made.labels),
            n_clusters=made.n_clusters,
            method=Predict(expected_error=0.0),
            max_questions=MOST,
            random_state=seed,
            on_progress=compare,
        )
    except _Exact:
        return asked
    return None


def margin_sampled(made: LiftedInstance, seed: int) -> int | None:
    """Labels that an SVM needs which asks where it is least sure, from one of each cluster."""
    rng = np.random.default_rng(seed)
    X = (made.X - made.X.mean(axis=0)) / made.X.std(axis=0)
    asked = [int(rng.choice(np.flatnonzero(made.labels == c))) for c in range(made.n_clusters)]
    while len(asked) <= MOST:
        model = SVC(C=1e3, gamma="scale", decision_function_shape="ovr")
        model.fit(X[asked], made.labels[asked])
        if (model.predict(X) == made.labels).all():
            return len(asked)
        scores = model.decision_function(X)
        doubt = np.abs(scores) if scores.ndim == 1 else np.diff(np.sort(scores)[:, -2:])[:, 0]
        doubt[asked] = np.inf
        asked.append(int(doubt.argmin()))
    return None


def cell(values: Sequence[int | None], goal: int | None = None) -> str:
    """The values of all seeds, and the goal if there is one; one value if all are the same."""
    said = [f"> {MOST}" if value is None else str(value) for value in values]
    text = said[0] if len({*said}) == 1 else ", ".join(said)
    if goal is None:
        return text
    missed = any(value is None or value > goal for value in values)
    return f"{text} (≤ {goal}{' missed' if missed else ''})"


def row(case: Case, n: int, seeds: int, others: bool = True) -> list[str]:
    """One line of the table; AssertionError if a label is wrong or a proof does not pass."""
    instances = [case.make(n, seed) for seed in range(seeds)]
    numbered, margins = [*enumerate(instances)], [made.margin for made in instances]
    cells = [
        case.name,
        str(instances[0].columns.width),
        "–".join(dict.fromkeys(f"{margin:.2g}" for margin in (min(margins), max(margins)))),
        cell([proven(made, made.n_clusters, seed) for seed, made in numbered], case.with_k),
        cell([proven(made, None, seed) for seed, made in numbered], case.without_k),
        cell([guessed(made, seed) for seed, made in numbered], case.without_k + BEYOND),
    ]
    if others:
        cells.append(cell([predicted(made, seed) for seed, made in numbered]))
        cells.append(cell([margin_sampled(made, seed) for seed, made in numbered]))
    return cells


def main(n: int, seeds: int) -> None:
    print(f"Questions, n={n:,}, seeds 0 to {seeds - 1}, goals in brackets; all exact and checked\n")
    print("| " + " | ".join(HEADINGS) + " |")
    print("|---" * len(HEADINGS) + "|")
    for case in CASES:
        print("| " + " | ".join(row(case, n, seeds)) + " |", flush=True)


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
