"""samecluster's own methods, as tools of the comparison."""

from __future__ import annotations

from typing import Any

from benchmarks.peers.counting import CountingOracle, Trace
from benchmarks.peers.instances import Case
from samecluster import recover

BUDGETS = (100, 300, 1000)


def nothing_declared(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """``recover(X, oracle)``."""
    _with_budgets(case, oracle, trace, {"random_state": seed})


def certify(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """``recover(X, oracle, n_clusters=k, margin=γ)``."""
    declared = {"n_clusters": case.n_clusters, "margin": case.margin, "random_state": seed}
    _with_budgets(case, oracle, trace, declared)


def recur(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """The settings with a guarantee: margin and k are given, nothing else is set."""
    _to_its_end(case, oracle, trace, "recur", seed)


def scq_k_means(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """10·k points drawn for each cluster, as published; columns as they come."""
    _to_its_end(case, oracle, trace, "scq-k-means", seed)


def _with_budgets(
    case: Case, oracle: CountingOracle, trace: Trace, declared: dict[str, Any]
) -> None:
    """Runs with growing budgets, since a run that knows its budget has labels for all points."""
    for budget in (*BUDGETS, oracle.limit):
        counted = CountingOracle(case.labels, oracle.limit)
        trace.restart(counted)
        found = recover(
            case.X,
            counted.same,
            max_questions=budget,
            on_progress=lambda known: trace.note(known.labels),
            **declared,
        )
        trace.note(found.labels)
        trace.at(budget, found.labels)
        if found.n_questions < budget:
            return


def _to_its_end(case: Case, oracle: CountingOracle, trace: Trace, method: str, seed: int) -> None:
    found = recover(
        case.X,
        oracle.same,
        n_clusters=case.n_clusters,
        margin=case.margin,
        method=method,
        random_state=seed,
        on_progress=lambda known: trace.note(known.labels),
    )
    trace.note(found.labels)
