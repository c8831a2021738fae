"""How many questions certify asks, beside its goals, the floor and the published counts.

Every run is checked: no error, and the proof passes the exact checker. Counts are deterministic
given the seeds. ``make bench-questions``; pass ``quick`` for three seeds everywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import lifts
from samecluster import Certify, clustering_error, recover
from samecluster.instances import Instance, LiftedInstance, make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check


@dataclass(frozen=True)
class Case:
    name: str
    goal: float
    make: Callable[[int], Instance | LiftedInstance]
    seeds: int
    floor: int | None = None
    published: int | None = None


def main_cases(seeds: int) -> list[Case]:
    published = {2: 1168, 4: 2608, 6: 5957, 8: 14202}
    goals = {100_000: {2: 22, 4: 31, 6: 41, 8: 53}, 10_000: {2: 22, 4: 31, 6: 38, 8: 84}}
    return [
        Case(
            f"γ=1, n={n:,}, d={d}",
            goal,
            lambda seed, n=n, d=d: make_ellipsoids(n, d, 5, random_state=seed),  # type: ignore[misc]
            seeds,
            5 * d + 10,
            published[d] if n == 100_000 else None,
        )
        for n, by_d in goals.items()
        for d, goal in by_d.items()
    ]


def family(d: int, k: int = 5, **options: object) -> Callable[[int], Instance]:
    return lambda seed: make_ellipsoids(10_000, d, k, random_state=seed, **options)  # type: ignore[arg-type]


def hard_cases() -> list[Case]:
    sizes = [60, 35, 4.9, 0.1]
    return [
        Case("γ=0.2, d=2", 24, family(2, margin=0.2), 3),
        Case("γ=0.2, d=4", 35, family(4, margin=0.2), 3),
        Case("hollow, d=4", 28, family(4, fill="shell"), 3),
        Case("hollow, d=6", 48, family(6, fill="shell"), 3),
        Case("half-deleted, d=6", 38, family(6, fill="half"), 3),
        Case("sizes 60, 35, 4.9, 0.1 %, k=4, d=4", 26, family(4, 4, sizes=sizes), 3),
        Case("rank 2 in d=8", 25, family(8, rank=2), 3),
        Case("k=20, d=4", 190, family(4, 20), 3),
        Case("γ=0.2, d=6", 400, family(6, margin=0.2), 1),
        Case("γ=0.05, d=4", 250, family(4, margin=0.05), 1),
    ]


def lifted_cases() -> list[Case]:
    """Clusters that no ellipsoid separates; `benchmarks.lifts` has more about them."""
    return [
        Case(case.name, case.with_k, lambda seed, case=case: case.make(10_000, seed), 3)  # type: ignore[misc]
        for case in lifts.CASES
    ]


def questions(instance: Instance | LiftedInstance, k: int | None, seed: int) -> int:
    found = recover(
        instance.X,
        LabelOracle(instance.labels),
        n_clusters=k,
        margin=instance.margin,
        method=Certify(),
        lift=instance.lift if isinstance(instance, LiftedInstance) else None,
        random_state=seed,
    )
    assert clustering_error(found.labels, instance.labels) == 0
    assert found.proof is not None
    verified = check(instance.X, found.proof.lines())
    assert verified.all_different
    assert clustering_error(verified.labels, found.labels) == 0
    return found.n_questions


def questions_with_nothing_declared(instance: Instance | LiftedInstance, seed: int) -> int:
    """Neither margin nor k; labels are inferred, and must still be exact."""
    oracle = LabelOracle(instance.labels)
    lift = "auto" if isinstance(instance, LiftedInstance) else None
    found = recover(instance.X, oracle, method=Certify(), lift=lift, random_state=seed)
    assert clustering_error(found.labels, instance.labels) == 0
    return found.n_questions


def main() -> None:
    console = Console(width=130)
    quick = "quick" in sys.argv[1:]
    table = Table(title="questions until every label is asked or proven (mean, all exact, checked)")
    for heading in (
        "instance",
        "goal",
        "measured",
        "k unknown",
        "nothing declared",
        "floor",
        "published",
        "seeds",
    ):
        table.add_column(heading, justify="left" if heading == "instance" else "right")
    means: list[float] = []
    lifted = {case.name for case in lifted_cases()}
    for case in main_cases(3 if quick else 10) + hard_cases() + lifted_cases():
        counts, unknown, nothing = [], [], []
        for seed in track(range(case.seeds), case.name, console=console, transient=True):
            instance = case.make(seed)
            counts.append(questions(instance, instance.n_clusters, seed))
            if seed == 0 and case.seeds > 1:
                unknown.append(questions(instance, None, seed))
            if case.seeds > 1:  # the others have margins too small to be guessed
                nothing.append(questions_with_nothing_declared(instance, seed))
        mean = float(np.mean(counts))
        mark = "" if mean <= case.goal else "  over"
        table.add_row(
            case.name,
            f"{case.goal:g}",
            f"{mean:.1f}{mark}",
            f"{np.mean(unknown):.0f}" if unknown else "",
            f"{np.mean(nothing):.1f}" if nothing else "",
            "" if case.floor is None else str(case.floor),
            "" if case.published is None else f"{case.published:,}",
            f"0-{case.seeds - 1}",
        )
        console.print(
            f"{case.name}: {counts}, k unknown {unknown}, nothing {nothing}", highlight=False
        )
        if nothing and case.name not in lifted:
            means.append(float(np.mean(nothing)))
    console.print(table)
    console.print(f"nothing declared, mean of all ellipsoids: {np.mean(means):.1f}")


if __name__ == "__main__":
    main()
