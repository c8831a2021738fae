"""A cheap liar and a few people: ``make bench-liar``, or ``python -m benchmarks.liar RUNS``.

First the oracle over HTTP: time with 8 requests at a time, and answers lost or charged twice if one
request in ten fails in each way. Then people who check labels of which a share is wrong: their
looks beyond the audit, those that they need alone, and how often the sentence is false.
"""

from __future__ import annotations

import sys
import time
from itertools import combinations, islice

import numpy as np
from sklearn.datasets import load_digits

from examples.chat_server import ChatServerExample, Habits
from samecluster import Question, clustering_error, recover
from samecluster._typing import FloatArray, IntArray
from samecluster.instances import make_ellipsoids
from samecluster.oracles import ChatOracle, LabelOracle
from samecluster.recovery.auto.given_labels import GivenLabels

RUNS = 40
QUESTIONS = 64
GOAL = (0.02, 0.95)


def over_http() -> None:
    texts = [f"text {row} about {row % 4}" for row in range(40)]
    truth = {text: text[-1] for text in texts}
    pairs = list(islice((Question(i, j) for i, j in combinations(range(40), 2)), QUESTIONS))
    took = {}
    for parallel in (1, 8):
        with (
            ChatServerExample(truth, Habits(latency=0.3)) as server,
            ChatOracle(server.url, "tiny", texts, key="", parallel=parallel) as oracle,
        ):
            begin = time.perf_counter()
            assert len(list(oracle.answer_many(pairs))) == QUESTIONS
            took[parallel] = time.perf_counter() - begin
    print(
        f"{QUESTIONS} questions at 300 ms: {took[1]:.1f} s one by one, {took[8]:.1f} s 8 at a time"
    )
    failing = Habits(
        limited=0.1,
        limited_silently=0.1,
        broken=0.1,
        slow=0.1,
        cut=0.1,
        slow_for=3,
        retry_after=0.1,
    )
    with (
        ChatServerExample(truth, failing) as server,
        ChatOracle(
            server.url, "tiny", texts, key="", parallel=8, timeout=1.5, retries=30, backoff=0.05
        ) as oracle,
    ):
        n_answers = len(list(oracle.answer_many(pairs)))
    twice = sum(count - 1 for count in server.account.charges.values())
    print(
        f"10 % failures of 5 kinds: {QUESTIONS - n_answers} answers lost, {twice} charged twice, "
        f"{server.account.n_requests} requests"
    )


def checked_by_people(name: str, X: FloatArray, truth: IntArray, share: float, n_runs: int) -> None:
    people, k = LabelOracle(truth), int(truth.max()) + 1
    alone, beyond, audits, n_false, n_met = [], [], [], 0, 0
    for seed in range(n_runs):
        rng = np.random.default_rng(seed)
        other = (truth + rng.integers(1, k, len(truth))) % k
        labels = np.where(rng.random(len(truth)) < share, other, truth)
        method = GivenLabels(labels)
        found = recover(X, people, method=method, looks="auto", audit=GOAL, random_state=seed)
        assert found.audit is not None
        before = recover(X, people, method=method, looks="auto", random_state=seed)
        beyond.append(before.n_looks)
        audits.append(found.n_looks - before.n_looks)
        n_met += found.audit.met
        n_false += clustering_error(found.labels, truth) > GOAL[0]
        if seed < 5:
            alone.append(recover(X, people, looks="auto", random_state=seed).n_looks)
    print(
        f"{name}, {share:.0%} of the labels wrong: {np.mean(beyond):.0f} looks beyond the audit "
        f"({np.mean(audits):.0f}), alone {np.mean(alone):.0f}; met in {n_met}, false in {n_false} "
        f"of {n_runs}",
        flush=True,
    )


def main() -> None:
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    over_http()
    X, y = load_digits(return_X_y=True)
    made = make_ellipsoids(n=5_000, d=4, k=5, random_state=0)
    for share in (0.05, 0.1, 0.4):
        checked_by_people("digits", X.astype(float), np.asarray(y, dtype=np.int64), share, n_runs)
        checked_by_people("ellipsoids", made.X, made.labels, share, n_runs)


if __name__ == "__main__":
    main()
