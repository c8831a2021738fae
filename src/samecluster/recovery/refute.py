"""When answers and margin cannot all be right: which answers, and what margin they allow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.geometry.kernel import Kernel
from samecluster.proof.log import ProofLog
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.closure import Closure

__all__ = ["answers_about", "first_conflict", "largest_margin"]

_SAMPLE = 2000
_STEPS = 24


def first_conflict(closure: Closure, outside: Mapping[int, IntArray]) -> tuple[int, int] | None:
    """An item and a cluster that reaches it although answers put it outside, or None."""
    for cluster in closure.alive:
        others = outside.get(cluster)
        if others is not None and len(others):
            reached = closure.reached(cluster, others)
            if len(reached):
                return int(reached[0]), cluster
    return None


def largest_margin(
    X: FloatArray, tau: FloatArray, asked: Mapping[int, int], margin: float, seed: int
) -> float:
    """The largest margin that the answers allow, by bisection below one that they refute.

    Closures are rebuilt from the asked items alone, over these and a sample of the other points.
    Closure grows with the margin, so bisection is right; a larger sample could lower the result.
    """
    places: dict[bytes, int] = {}
    if any(places.setdefault((X[i] + 0.0).tobytes(), own) != own for i, own in asked.items()):
        return 0.0  # identical points in different clusters
    rng = np.random.default_rng(seed)
    sample = rng.choice(len(X), size=min(_SAMPLE, len(X)), replace=False)
    items = np.union1d(np.fromiter(asked, dtype=np.int64), sample)
    facts = {int(np.searchsorted(items, item)): cluster for item, cluster in asked.items()}
    points = X[items]
    if not _consistent(points, tau, facts, margin * 2.0**-_STEPS):
        return 0.0
    low, high = margin * 2.0**-_STEPS, margin
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        if _consistent(points, tau, facts, middle):
            low = middle
        else:
            high = middle
    return low


def _consistent(X: FloatArray, tau: FloatArray, facts: Mapping[int, int], margin: float) -> bool:
    """Whether no closure reaches an asked item, or a proven point, of another cluster."""
    closure = Closure(X, margin, tau, ProofLog("", margin, None, tau), Kernel(), seed=0)
    for number, cluster in enumerate(sorted(set(facts.values()))):
        for item in (i for i, c in facts.items() if c == cluster):
            closure.ask(item, number)
    closure.close(len(X))
    labels = closure.labels
    others = {
        cluster: np.flatnonzero((labels >= 0) & (labels != cluster)) for cluster in closure.alive
    }
    return first_conflict(closure, others) is None


def answers_about(
    log: ProofLog, item: int, cluster: int | None, asked: Mapping[int, int]
) -> list[Answer]:
    """Answers that made the asked members of a cluster (None: all), and those about the item."""
    members = {i for i, c in asked.items() if c == cluster}
    chosen = []
    for record in log.records:
        if record[0] != "answer":
            continue
        _, i, j, verdict = record
        if cluster is None or (verdict == "same" and {i, j} <= members) or item in (i, j):
            chosen.append(Answer(Question(i, j), Verdict(verdict)))
    return chosen
