"""Imperfect knowledge: nothing declared, real data, background points, answers that are wrong.

Every line has the goal in brackets. `quick` runs one seed and ten noisy runs.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.metrics import pairwise_distances

from benchmarks.predict import traced
from samecluster import Recovery, clustering_error, recover
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle, NoisyOracle, Panel

AUDIT = (0.01, 0.95)
BACKGROUND_AUDIT = (0.02, 0.95)
NOISE = (0.01, 0.05, 0.10)


def nothing_known(console: Console, seeds: range) -> None:
    console.rule("the paper's instance, n=100,000, k=5, neither k nor margin known")
    for d in (2, 4, 6, 8):
        rows = []
        for seed in track(seeds, f"d={d}", console=console, transient=True):
            made = make_ellipsoids(100_000, d, 5, random_state=seed)
            oracle = LabelOracle(made.labels)
            certify = recover(made.X, oracle, margin=1.0, random_state=seed)
            found = recover(made.X, oracle, audit=AUDIT, random_state=seed)
            assert found.audit is not None
            assert found.search is not None
            error = clustering_error(found.labels, made.labels)
            audits, search = found.audit.n_audits, found.search.n_questions
            rows.append((error, certify.n_questions, search, audits, found.n_questions))
        error, own, search, audits, total = np.mean(rows, axis=0)
        console.print(
            f"d={d}: error {error:.5f} [0]; certify with the margin declared {own:.1f}; in all "
            f"{total:.1f}, of these search {search:.1f} [60] and audits {audits:.1f} [330]"
        )


def real_data(console: Console, seeds: range) -> None:
    console.rule("real data, nothing known (penguins are not in scikit-learn: not measured)")
    digits = load_digits()
    runs = [
        traced(digits.data, digits.target, 350, seed)
        for seed in track(seeds, "digits", console=console, transient=True)
    ]
    at = {mark: 100 * np.mean([run.errors[mark - 1] for run in runs]) for mark in (200, 350)}
    waits = np.concatenate([run.waits for run in runs])
    begin = time.perf_counter()
    pairwise_distances(digits.data)
    one_pass = time.perf_counter() - begin
    exact = ", ".join(str(run.exact_from) for run in runs)
    console.print(
        f"digits: error {at[200]:.2f} % at 200 [0.30], {at[350]:.2f} % at 350 [0]; exact from "
        f"{exact}; 95 % wait {np.quantile(waits, 0.95):.3f} s [0.3], one pass of the distances "
        f"{one_pass:.3f} s"
    )
    for name, load in (("iris", load_iris), ("wine", load_wine)):
        X, truth = load(return_X_y=True)
        exact = ", ".join(str(traced(X, truth, 100, seed).exact_from) for seed in seeds)
        console.print(f"{name}: exact from {exact} [60]")
    found = recover(digits.data, LabelOracle(digits.target), audit=AUDIT, random_state=0)
    error = clustering_error(found.labels, digits.target)
    console.print(
        f"digits, audited: {found.n_questions} questions, error {error:.4f}; {found.audit}"
    )


def background(console: Console, seeds: range) -> None:
    console.rule("the paper's instance, n=10,000, with 1 % of background points")
    for d in (2, 4, 6):
        lines = []
        for seed in track(seeds, f"d={d}", console=console, transient=True):
            X, truth = with_background(10_000, d, seed)
            found = recover(X, LabelOracle(truth), audit=BACKGROUND_AUDIT, random_state=seed)
            lines.append(_background_row(found, truth))
        error, questions, audits, unassigned, wrong, clusters = np.mean(lines, axis=0)
        console.print(
            f"d={d}: error {100 * error:.3f} % [1.2]; clusters found {clusters:.1f} [5]; questions "
            f"{questions:.0f}, of these audits {audits:.0f}; unassigned {unassigned:.0f}; bound of "
            f"{100 * BACKGROUND_AUDIT[0]:g} % broken in {wrong:.0%} of the runs [5 %]"
        )


def with_background(n: int, d: int, seed: int) -> tuple[Any, Any]:
    made = make_ellipsoids(n, d, 5, random_state=seed)
    rng = np.random.default_rng(seed)
    count = n // 100
    scattered = rng.uniform(made.X.min(axis=0), made.X.max(axis=0), (count, d))
    order = rng.permutation(n + count)
    truth = np.concatenate([made.labels, 5 + np.arange(count)])
    return np.vstack([made.X, scattered])[order], truth[order]


def _background_row(found: Recovery, truth: Any) -> tuple[float, ...]:
    assert found.audit is not None
    labels, apart = found.labels.copy(), found.labels < 0
    labels[apart] = labels.max() + 1 + np.arange(np.count_nonzero(apart))
    wrong = 0
    for label in np.unique(found.labels[~apart]):
        own = found.labels == label
        asked = np.flatnonzero(own & (found.how == "asked"))
        wrong += int(np.count_nonzero(truth[own & (found.how != "asked")] != truth[asked[0]]))
    sizes = np.bincount(found.labels[~apart])
    return (
        clustering_error(labels, truth),
        found.n_questions,
        found.audit.n_audits,
        int(np.count_nonzero(apart)),
        wrong > found.audit.n_wrong_at_most,
        int(np.count_nonzero(sizes > 1000)),
    )


def noise(console: Console, n_runs: int) -> None:
    console.rule(f"wrong answers, five people, n=10,000, k=5, d=4, {n_runs} runs each")
    for unit in ("pair", "item"):
        for p in NOISE:
            outcomes: Counter[str] = Counter()
            answers, questions = [], []
            for seed in track(range(n_runs), f"{unit} {p}", console=console, transient=True):
                made = make_ellipsoids(10_000, 4, 5, random_state=seed)
                panel = Panel(people(made.labels, p, unit, seed), confidence=0.99)
                found = recover(made.X, panel, n_clusters=5, margin=1.0, random_state=seed)
                outcomes[_outcome(found, made.labels)] += 1
                answers.append(panel.n_answers)
                questions.append(found.n_questions)
            goal = f" [{0.95 * n_runs:g}]" if unit == "pair" else ""
            console.print(
                f"p={p:.0%} per {unit}: exact {outcomes['exact']}{goal}, wrong and listed "
                f"{outcomes['listed']}, wrong and not {outcomes['wrong']}; questions "
                f"{np.mean(questions):.0f}, answers {np.mean(answers):.0f} (20 without errors)"
            )
    one = Counter(
        _outcome(_by_one_person(seed), make_ellipsoids(10_000, 4, 5, random_state=seed).labels)
        for seed in track(range(n_runs), "one person", console=console, transient=True)
    )
    console.print(
        f"one person, p=5 % per pair: exact {one['exact']}, wrong and listed {one['listed']}, "
        f"wrong and not {one['wrong']}"
    )


def people(labels: Any, p: float, unit: Any, seed: int) -> dict[str, NoisyOracle]:
    truth = LabelOracle(labels)
    names = ("ann", "ben", "cem", "dot", "eve")
    return {
        name: NoisyOracle(truth, p=p, unit=unit, random_state=1000 * seed + number)
        for number, name in enumerate(names)
    }


def _by_one_person(seed: int) -> Recovery:
    made = make_ellipsoids(10_000, 4, 5, random_state=seed)
    person = NoisyOracle(LabelOracle(made.labels), p=0.05, random_state=seed)
    return recover(made.X, person, n_clusters=5, margin=1.0, error_rate=0.05, random_state=seed)


def _outcome(found: Recovery, truth: Any) -> str:
    if clustering_error(found.labels, truth) == 0:
        return "exact"
    return "listed" if found.refutations else "wrong"


def main() -> None:
    quick = "quick" in sys.argv[1:]
    console = Console(width=140)
    seeds = range(1 if quick else 5)
    nothing_known(console, seeds)
    background(console, seeds)
    real_data(console, seeds)
    noise(console, 10 if quick else 100)


if __name__ == "__main__":
    main()
