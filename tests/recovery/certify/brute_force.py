"""The reach by its definition: one linear program a point, solved by HiGHS, no shortcut."""

import math
from collections.abc import Iterable

import numpy as np
from scipy.optimize import linprog

from samecluster._resolution import resolution_of
from samecluster._typing import FloatArray, IntArray
from samecluster.geometry.reach.kernel import Kernel
from samecluster.proof.checker import fingerprint
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Question, Verdict
from samecluster.recovery.certify.closure import Closure
from samecluster.recovery.certify.knowledge import Knowledge

NEAR = 1e-6
"""Gauges this close to the bound, relatively, are not decided by floats."""


def gauge(members: FloatArray, point: FloatArray) -> float:
    """The least Σ|w| with Σ w x = point and Σ w = 1 over members (m, d); infinite if none."""
    columns = np.column_stack([members, np.ones(len(members))]).T
    goal = np.append(point, 1.0)
    solved = linprog(np.ones(2 * len(members)), A_eq=np.hstack([columns, -columns]), b_eq=goal)
    return float(solved.fun) if solved.status == 0 else math.inf


def closure_of(X: FloatArray, asked: Iterable[int], margin: float) -> tuple[set[int], bool]:
    """All that follows from some members, and whether no gauge on the way was near the bound."""
    bound, inside, clear = math.sqrt(1 + margin), set(asked), True
    while True:
        members = X[sorted(inside)]
        found = {i: gauge(members, X[i]) for i in range(len(X)) if i not in inside}
        clear &= all(abs(g / bound - 1) > NEAR for g in found.values())
        new = {i for i, g in found.items() if g <= bound}
        if not new:
            return inside, clear
        inside |= new


def closure_over(X: FloatArray, margin: float, *clusters: Iterable[int]) -> Closure:
    """A closure that was told the asked members of clusters, in its log too; nothing is closed."""
    tau = 1e-9 * np.maximum(np.ptp(X, axis=0), 1e-3)
    log = ProofLog(fingerprint(X), margin, None, tau)
    closure = Closure(X, margin, tau, log, Kernel(), seed=0)
    for name, items in enumerate(clusters):
        first, *others = items
        log.add_cluster(first)
        closure.ask(first, name)
        for item in others:
            log.add_answer(first, item, "same")
            closure.ask(item, name)
    return closure


def knowing(
    X: FloatArray, margin: float, *clusters: Iterable[int], n_clusters: int | None = None
) -> Knowledge:
    """Knowledge of the asked members of clusters; nothing is closed."""
    known = Knowledge(X, margin, n_clusters, resolution_of(X), Kernel(), seed=0)
    for name, items in enumerate(clusters):
        first, *others = items
        assert known.found_cluster(first) == name
        for item in others:
            known.take_answer(Question(item, first), name, Verdict.SAME)
    return known


def line(*points: float) -> FloatArray:
    """Points of one column (n, 1)."""
    return np.array(points, dtype=float)[:, None]


def labelled(closure: Closure, cluster: int = 0) -> set[int]:
    return set(np.flatnonzero(closure.labels == cluster).tolist())


def rows(*items: int) -> IntArray:
    return np.array(items, dtype=np.int64)
