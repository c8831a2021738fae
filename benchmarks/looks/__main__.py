"""`make bench-looks`: a simulated person who answers looks, k unknown, against stated goals.

All looks have 6 groups per choice and 12 items per sheet. Counts are deterministic given a seed.
Each part runs alone: ``python -m benchmarks.looks digits audit --seeds 1``. Every line ends with
value and goal.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from benchmarks.real.course import said_error
from benchmarks.real.sets import data
from benchmarks.real.tables import is_close
from samecluster import LookSizes, Verdict, clustering_error, recover, start
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.questions.look import Board, n_shown_of
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

SAID = (
    *("digits", "segment", "vowel", "vehicle", "movement_libras"),
    *("penbased:4000", "letter:4000", "docstrings:3000"),
)
SAID_AT = (25, 50, 80, 120, 200)
"""Sets and numbers of looks at which what is said of the error is compared with it."""

GROUPS = {"modules": 10.0}
"""By how many per cent the number of groups may be off at the end."""


@dataclass(frozen=True)
class Reached:
    """Where a run was after some looks; the error in per cent."""

    looks: int
    error: float
    groups: int
    questions: int
    shown: int


def tell(what: str, value: float, goal: float) -> None:
    """A line with a value and its goal."""
    print(f"{what}: {value:.3g} / {goal:g}{'' if value <= goal else ', NOT met'}", flush=True)


def course(X: Points, labels: Labels, seed: int, marks: Sequence[int]) -> list[Reached]:
    """The error after each of the numbers of looks in ``marks``, and the pairs they settled."""
    found: list[Reached] = []

    def note(now: Labelling) -> None:
        if len(found) < len(marks) and now.n_looks >= marks[len(found)]:
            known = np.where(now.labels < 0, len(X) + np.arange(len(X)), now.labels)
            error = 100.0 * clustering_error(known, labels)
            groups = len(np.unique(now.labels[now.labels >= 0]))
            shown = n_shown_of(now.answers)
            found.append(Reached(now.n_looks, error, groups, now.n_questions, shown))

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
        found.append(Reached(result.n_looks, error, groups, result.n_questions, result.n_shown))
    return found


def real(name: str, seeds: int) -> None:
    goals = GOALS[name]
    X, labels = data(name)
    runs = [course(X, labels, seed, [goal.looks for goal in goals]) for seed in range(seeds)]
    for at, goal in enumerate(goals):
        reached = [run[at] for run in runs]
        error = float(np.mean([one.error for one in reached]))
        groups = np.mean([one.groups for one in reached])
        pairs = np.mean([one.questions for one in reached])
        shown = np.mean([one.shown for one in reached])
        seeds_apart = " ".join(f"{one.error:.3g}" for one in reached)
        more = f"{groups:.3g} groups of {len(np.unique(labels))}, {pairs:.0f} pairs settled, "
        more += f"{shown:.0f} items shown, seeds {seeds_apart}"
        tell(f"{name}, % wrong at {goal.looks} looks ({more})", error, goal.error)
    if name in GROUPS:
        k = len(np.unique(labels))
        off = float(np.mean([abs(run[-1].groups - k) / k for run in runs]))
        tell(f"{name}, % by which the number of groups is off", 100.0 * off, GROUPS[name])


def said(_: str, seeds: int) -> None:
    """How often what runs said of their error was within a factor of two of it, or .3 points."""
    close = []
    for name in SAID:
        X, labels = data(name)
        for seed in range(seeds):
            for looks, told, true in _said_and_true(X, labels, seed):
                close.append(is_close(told, true))
                print(f"{name} {seed}, {looks} looks: {100 * told:.2f} said, {100 * true:.2f} true")
    missed = 100.0 * (1.0 - float(np.mean(close)))
    tell(f"% of {len(close)} checkpoints where the error was not near what was said", missed, 15.0)


def _said_and_true(X: Points, labels: Labels, seed: int) -> Iterator[tuple[int, float, float]]:
    oracle, n_looks = LabelOracle(labels), 0
    settings: dict[str, Any] = {"method": Predict(expected_error=0.0), "random_state": seed}
    run = start(X, looks="auto", max_looks=SAID_AT[-1], **settings)
    while run.looks:
        look = run.looks[0]
        run.tell_look(look, next(reply for _, reply in oracle.reply_many([look])))
        n_looks += 1
        if n_looks in SAID_AT:
            known = run.snapshot() if run.looks else run.result
            if (told := said_error(known)) is not None:
                yield n_looks, told, clustering_error(known.labels, labels)


def paper(_: str, seeds: int) -> None:
    """The paper's instance, all of it proven."""
    for d in (2, 4, 6, 8):
        for k, most in ((5, 6), (None, 7)):
            counts = [_paper(d, k, seed) for seed in range(seeds)]
            looks, ratio, shown = np.mean(counts, axis=0)
            tell(f"paper, d={d}, k={k or 'unknown'}, looks ({shown:.0f} shown)", looks, most)
            tell(f"paper, d={d}, k={k or 'unknown'}, pairs by looks per pair", ratio, 1.15)


def _paper(d: int, k: int | None, seed: int) -> tuple[int, float, int]:
    """Looks, the pairs that they settled (boards aside) per pair asked alone, and items shown."""
    made = make_ellipsoids(n=100_000, d=d, k=5, margin=1.0, random_state=seed)
    settings: dict[str, Any] = {"n_clusters": k, "margin": 1.0, "random_state": seed}
    by_looks, by_pairs = (
        recover(made.X, LabelOracle(made.labels), looks=looks, **settings)
        for looks in ("auto", "pairs")
    )
    assert set(by_looks.how) == {"asked", "proven"}
    beside_boards = sum(not isinstance(one.look, Board) for one in by_looks.answers)
    return by_looks.n_looks, beside_boards / by_pairs.n_questions, by_looks.n_shown


def waits(_: str, seeds: int) -> None:
    """CPU seconds from a reply to the next look, in tenths of those of a graph of all rows."""
    for name, method in (("certify, margin declared", "certify"), ("predict", "predict")):
        shares = np.concatenate([_waits(method, seed) for seed in range(seeds)])
        slow = float(np.percentile(shares, 95))
        tell(f"{name}, n=20,000, d=8, 95 % of waits in tenths of the graph", 10 * slow, 1.0)


def _waits(method: str, seed: int) -> Points:
    made = make_ellipsoids(n=20_000, d=8, k=5, margin=1.0, random_state=seed)
    margin: Any = 1.0 if method == "certify" else "auto"
    oracle = LabelOracle(made.labels)
    run = start(made.X, method=method, margin=margin, looks="auto", max_looks=40, random_state=seed)
    waited = []
    while run.looks:
        look = run.looks[0]
        reply = next(reply for _, reply in oracle.reply_many([look]))
        begun = process_time()
        run.tell_look(look, reply)
        waited.append(process_time() - begun)
    begun = process_time()
    NearestNeighbors(n_neighbors=15).fit(made.X).kneighbors()
    return np.array(waited) / (process_time() - begun)


def audit(_: str, seeds: int) -> None:
    """Labels without an error, shown to be at most 1 % wrong at 95 %."""
    sizes = LookSizes()
    for decoys, most in ((0, 27), (sizes.decoys, 32)):
        counts = [_audit_looks(seed, sizes.sheet, decoys) for seed in range(seeds)]
        tell(f"audit at 1 %, 95 %, {decoys} decoys per sheet, looks", float(np.mean(counts)), most)


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
    parts: dict[str, Callable[[str, int], None]]
    parts = {"audit": audit, "paper": paper, "waits": waits, "said": said}
    parts |= dict.fromkeys(GOALS, real)
    parser.add_argument("part", nargs="*", choices=[*parts, []], help="all, if none is named")
    parser.add_argument("--seeds", type=int, default=5, help="how many, from 0")
    chosen = parser.parse_args()
    for name in chosen.part or parts:
        parts[name](name, chosen.seeds)


if __name__ == "__main__":
    main()
