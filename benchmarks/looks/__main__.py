"""`make bench-looks`: a simulated person who answers looks, k unknown, against stated goals.

All looks have 6 groups per choice and 12 items per sheet. Counts are deterministic given a seed. A
first look: ``python -m benchmarks.looks --only digits,audit --seeds 1``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.looks.texts import docstrings_by_module
from benchmarks.real.sets import data
from samecluster import LookSizes, Verdict, clustering_error, recover
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.recovery.audit.audit import Audit
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.plan import Predict

Points = npt.NDArray[np.float64]
Labels = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Goal:
    """At most this error, in per cent, after so many looks."""

    looks: int
    error: float


GOALS = {
    "digits": (Goal(45, 1.0), Goal(70, 0.0)),
    "segment": (Goal(80, 0.0),),
    "vowel": (Goal(180, 1.0),),
    "optdigits": (Goal(75, 0.2), Goal(130, 0.0)),
    "penbased": (Goal(80, 0.3), Goal(110, 0.05)),
    "letter": (Goal(500, 15.0), Goal(1000, 5.0)),
    "docstrings": (Goal(500, 25.0), Goal(1000, 13.0)),
    "modules": (Goal(500, 20.0), Goal(1000, 4.0)),
}


@dataclass(frozen=True)
class Reached:
    """Where a run was after some looks; the error in per cent."""

    looks: int
    error: float
    groups: int
    questions: int


def course(X: Points, labels: Labels, seed: int, marks: Sequence[int]) -> list[Reached]:
    """The error after each of the numbers of looks in ``marks``, and the pairs they settled."""
    found: list[Reached] = []

    def note(now: Labelling) -> None:
        if len(found) < len(marks) and now.n_looks >= marks[len(found)]:
            known = np.where(now.labels < 0, len(X) + np.arange(len(X)), now.labels)
            error = 100.0 * clustering_error(known, labels)
            groups = len(np.unique(now.labels[now.labels >= 0]))
            found.append(Reached(now.n_looks, error, groups, now.n_questions))

    result = recover(
        X,
        LabelOracle(labels),
        method=Predict(expected_error=0.0),
        looks="auto",
        max_looks=marks[-1] + 1,
        random_state=seed,
        on_progress=note,
    )
    while len(found) < len(marks):  # it ended before: everything was asked
        error = 100.0 * clustering_error(result.labels, labels)
        groups = len(np.unique(result.labels[result.labels >= 0]))
        found.append(Reached(result.n_looks, error, groups, result.n_questions))
    return found


def real(name: str, seeds: int) -> None:
    goals = GOALS[name]
    X, labels = docstrings_by_module() if name == "modules" else data(name)
    runs = [course(X, labels, seed, [goal.looks for goal in goals]) for seed in range(seeds)]
    for at, goal in enumerate(goals):
        reached = [run[at] for run in runs]
        error = float(np.mean([one.error for one in reached]))
        groups = np.mean([one.groups for one in reached])
        pairs = np.mean([one.questions for one in reached])
        met = "met" if error <= goal.error else "NOT met"
        print(
            f"{name}: {error:.3g} % wrong at {goal.looks} looks, {groups:.3g} groups of "
            f"{len(np.unique(labels))}, {pairs:.0f} pairs settled (goal {goal.error:g} %): {met}",
            flush=True,
        )


def paper(_: str, seeds: int) -> None:
    """The paper's instance, all of it proven."""
    for d in (2, 4, 6, 8):
        for k, most in ((5, 6), (None, 7)):
            counts = []
            for seed in range(seeds):
                made = make_ellipsoids(n=100_000, d=d, k=5, margin=1.0, random_state=seed)
                oracle = LabelOracle(made.labels)
                by_looks = recover(
                    made.X, oracle, n_clusters=k, margin=1.0, looks="auto", random_state=seed
                )
                counts.append((by_looks.n_looks, by_looks.n_questions, by_looks.n_shown))
            looks, pairs, shown = np.mean(counts, axis=0)
            met = "met" if looks <= most else "NOT met"
            print(f"paper, d={d}, k={k}: {looks:.1f} looks, {pairs:.0f} pairs, {shown:.0f} shown "
                  f"(goal {most}): {met}", flush=True)  # fmt: skip


def audit(_: str, seeds: int) -> None:
    """Labels without an error, shown to be at most 1 % wrong at 95 %."""
    sizes = LookSizes()
    for decoys, most in ((0, 27), (sizes.decoys, 32)):
        counts = [_audit_looks(seed, sizes.sheet, decoys) for seed in range(seeds)]
        met = "met" if np.mean(counts) <= most else "NOT met"
        print(f"audit, {decoys} decoys per sheet: {np.mean(counts):.1f} looks (goal {most}): {met}")


def _audit_looks(seed: int, size: int, decoys: int) -> int:
    items, rng = np.arange(20_000), np.random.default_rng(seed)
    rate = decoys / (size - decoys) if decoys else None
    checked = Audit(items, items % 5, error=0.01, confidence=0.95, rng=rng, decoys=rate)
    n_looks = 0
    while not checked.met:
        n_looks += 1
        for check in checked.next_checks(size - decoys):
            checked.take(check, Verdict.SAME)
        checked.note_decoys(decoys * n_looks, 0)
    return n_looks


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.looks", description=__doc__)
    parser.add_argument("--only", help="names with commas: audit, paper, or sets")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0")
    chosen = parser.parse_args()
    parts: dict[str, Callable[[str, int], None]] = {"audit": audit, "paper": paper}
    parts |= dict.fromkeys(GOALS, real)
    for name in chosen.only.split(",") if chosen.only else parts:
        parts[name](name, chosen.seeds)


if __name__ == "__main__":
    main()
