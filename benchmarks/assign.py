"""Labels for new rows: speed, errors, and groups that nobody has met; questions asked 8 at once.

Prints each figure beside its goal. Rows per second are CPU seconds against those of another tool on
the same rows, so that a busy machine matters little. Run with ``python -m benchmarks.assign``;
``quick`` takes a tenth of the rows, and names of sets choose among those of `benchmarks.real`.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.mixture import GaussianMixture

from samecluster import How, Question, Verdict, clustering_error, recover
from samecluster._typing import FloatArray, IntArray
from samecluster.assignment.neighbours import LocalPlanes
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle, SeveralAtOnce
from samecluster.recovery.distances import nearest
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.similarity import FeatureMap

QUESTIONS = 400
AT_ONCE, SEEDS = 8, 3
ASKED = (100, 200, 400)
HALVES = ("digits", "optdigits", "penbased", "segment", "docstrings")
SEVERAL = ("digits", "segment", "penbased")
LEFT_OUT = {"digits": 0.75, "optdigits": 0.8}


def main(arguments: list[str]) -> None:
    n = 100_000 if "quick" in arguments else 1_000_000
    speed_of_proofs(n)
    speed_of_neighbours(n // 10)
    names = [one for one in arguments if one != "quick"] or list(HALVES)
    for name in names:
        X, truth = data(name)
        halves(name, X, truth)
        if name in LEFT_OUT:
            left_out(name, X, truth)
    left_out_of_proofs()
    several_at_once([name for name in names if name in SEVERAL])


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
    planes = LocalPlanes.fitted(X[:10_000], groups[:10_000], np.ones(10_000), 10)
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


def left_out(name: str, X: FloatArray, truth: IntArray) -> None:
    """By the true labels of the others: what is measured is the rule for rows beyond all groups."""
    recall, alarms = [], []
    for seed, group in itertools.product(range(SEEDS), np.unique(truth).tolist()):
        order = np.random.default_rng(seed).permutation(len(X))
        old, new = order[: len(X) // 2], order[len(X) // 2 :]
        kept = old[truth[old] != group]
        features, points = FeatureMap.of(X[kept], np.arange(len(kept)))
        groups = np.unique(truth[kept], return_inverse=True)[1]
        sure = np.ones(len(kept))
        planes = LocalPlanes.fitted(points, groups, sure, int(groups.max()) + 1)
        beyond = planes.chances(features(X[new]))[1]
        recall.append(float(beyond[truth[new] == group].mean()))
        alarms.append(float(beyond[truth[new] != group].mean()))
    what = f"{name}, a group left out: recall"
    say(what, float(np.mean(recall)), LEFT_OUT[name], higher=True)
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


def several_at_once(names: Sequence[str]) -> None:
    """Questions and rounds of 8 at once against one after the other.

    Proofs end by themselves: their questions are compared. Predictions are compared by their errors
    after 100, 200 and 400 questions one by one, and after a quarter more of them at once.
    """
    made = make_ellipsoids(20_000, 8, 5, random_state=0)
    declared: dict[str, Any] = {"margin": made.margin, "n_clusters": 5}
    for case, options in (("declared", declared), ("nothing declared", {})):
        alone, several = Waves(made.labels, 1), Waves(made.labels, AT_ONCE)
        for seed in range(SEEDS):
            for oracle in (alone, several):
                recover(made.X, oracle, random_state=seed, concurrency=oracle.at_once, **options)
        ratio = several.n_questions / alone.n_questions
        mean = alone.n_questions / SEEDS
        say(f"{AT_ONCE} at once, paper's instance, {case}: x {mean:.0f} questions", ratio, 1.25)
        say("  rounds / questions one by one", several.n_waves / alone.n_questions, 0.2)
    for name in names:
        X, truth = data(name)
        for method in ("predict", "certify"):
            several_at_once_on(f"{name}, {method}", X, truth, method)


def several_at_once_on(case: str, X: FloatArray, truth: IntArray, method: str) -> None:
    courses = np.zeros((2, len(ASKED)))
    rounds = np.zeros(len(ASKED))
    for seed in range(SEEDS):
        for way, at_once in enumerate((1, AT_ONCE)):
            asked = [count * 5 // 4 if way else count for count in ASKED]
            watch = Course(Waves(truth, at_once), truth, asked)
            recover(
                X,
                watch.oracle,
                method=method,
                random_state=seed,
                max_questions=asked[-1],
                concurrency=at_once,
                on_progress=watch,
            )
            courses[way] += watch.errors / SEEDS
            rounds += way * watch.rounds / SEEDS
    for count, before, after, waves in zip(ASKED, *(100 * courses), rounds, strict=True):
        what = f"{AT_ONCE} at once, {case}, % wrong at {count * 5 // 4} / one by one at {count}"
        say(what, after, before)
        say("  rounds / questions one by one", waves / count, 0.2)


class Course:
    """Errors, and how often answers were waited for, at some numbers of questions."""

    def __init__(self, oracle: Waves, truth: IntArray, asked: list[int]) -> None:
        self.oracle, self._truth, self._asked = oracle, truth, asked
        self.errors, self.rounds = np.ones(len(asked)), np.zeros(len(asked))

    def __call__(self, known: Labelling) -> None:
        error = clustering_error(known.labels, self._truth)
        for at, count in enumerate(self._asked):
            if not self.rounds[at] or self.oracle.n_questions <= count:
                self.errors[at], self.rounds[at] = error, self.oracle.n_waves


class Waves(SeveralAtOnce):
    """Answers by the truth, some at a time, and counts how often it was waited for."""

    def __init__(self, labels: IntArray, at_once: int) -> None:
        super().__init__(LabelOracle(labels).answer, at_once)
        self.at_once = at_once
        self.n_questions, self.n_waves = 0, 0

    def answer_many(
        self, questions: Iterable[Question]
    ) -> Generator[tuple[Question, Verdict], None, None]:
        waiting = iter(questions)
        while wave := list(itertools.islice(waiting, self.at_once)):
            self.n_waves += 1
            self.n_questions += len(wave)
            for question in wave:
                yield question, self._ask(question)


if __name__ == "__main__":
    main(sys.argv[1:])
