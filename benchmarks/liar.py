"""A cheap liar and a few people: ``make bench-liar``, or ``python -m benchmarks.liar RUNS``.

First the oracle over HTTP: time with 8 requests at a time, and answers lost or charged twice if one
request in ten fails in each way. Then people who check labels like those of a liar: their looks,
and how often the sentence is false. Then labels that are worth nothing. At last whole sessions: a
liar that errs on 8 % of the pairs and 5 % of the items answers, and people check.
"""

from __future__ import annotations

import os
import sys
import time
from itertools import combinations, islice
from typing import TypeAlias

import numpy as np
from sklearn.datasets import load_digits

from examples.chat_server import ChatServerExample, Habits
from samecluster import Question, clustering_error, recover
from samecluster._typing import FloatArray, IntArray
from samecluster.instances import make_ellipsoids
from samecluster.oracles import ChatOracle, LabelOracle, NoisyOracle, Oracle
from samecluster.oracles.base import checked_reply
from samecluster.recovery.auto.given_labels import GivenLabels
from samecluster.sessions.running.drivers import drive_session
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from samecluster.testing import check_claims

RUNS = 400
QUESTIONS = 64
Goal: TypeAlias = tuple[float, float]
GOAL = (0.02, 0.95)
TOKENS, PRICE = (250, 60), 0.15  # of a prompt and per item on it, about; dollars for a million


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


def liar(truth: IntArray, seed: int, pair: float = 0.08, item: float = 0.05) -> Oracle:
    """Misreads items against everything, and besides errs on single pairs."""
    by_item = NoisyOracle(LabelOracle(truth), item, "item", seed, overlook=item)
    return NoisyOracle(by_item, pair, "pair", seed + 1000)


def misread(truth: IntArray, seed: int, share: float = 0.13) -> IntArray:
    """What a liar's labels look like without its run: items misread, and in one run of two each a
    pair of clusters under one label and a cluster under two."""
    rng, n, k = np.random.default_rng(seed), len(truth), int(truth.max()) + 1
    labels = np.where(rng.random(n) < share, (truth + rng.integers(1, k, n)) % k, truth)
    if rng.random() < 0.5:
        one, other = rng.choice(k, 2, replace=False)
        labels[labels == one] = other
    if rng.random() < 0.5:
        labels[(labels == rng.choice(k)) & (rng.random(n) < 0.3)] = k
    return labels


def answer(session: Session, oracle: Oracle, who: str) -> None:
    drive_session(
        session,
        lambda looks: ((look, checked_reply(oracle, look)) for look in looks),
        who=who,
        looks=True,
    )


def in_one_session(name: str, X: FloatArray, truth: IntArray, goal: Goal, n_runs: int) -> None:
    """A liar answers, then people check in the same session: looks of both, and what is wrong."""
    people = LabelOracle(truth)
    for seed in range(n_runs):
        alone = recover(X, people, looks="auto", random_state=seed).n_looks
        keys = [f"{row:06}" for row in range(len(X))]
        parameters = {"looks": "auto", "method": "predict", "max_looks": 3 * alone}
        with Session.create(MemoryStore(), keys, X, parameters=parameters, seed=seed) as session:
            answer(session, liar(truth, seed), "model liar")
            by_liar = session.snapshot()
            tokens = by_liar.n_looks * TOKENS[0] + by_liar.n_shown * TOKENS[1]
            session.let_people_check()
            session.set_parameters(max_looks=None)
            answer(session, people, "ann")
            before = session.snapshot()
            session.set_parameters(audit=goal)
            answer(session, people, "ann")
            found = session.snapshot()
        assert found.audit is not None
        print(
            f"{name}, run {seed}: liar {by_liar.n_looks} looks (alone {alone}), about "
            f"${tokens * PRICE / 1e6:.4f}, {clustering_error(by_liar.labels, truth):.1%} wrong; "
            f"people {before.n_looks} looks beyond the audit ({before.n_looks / alone:.0%}), "
            f"{found.n_looks} in all; bound {'met' if found.audit.met else 'not met'}, "
            f"{clustering_error(found.labels, truth):.2%} wrong",
            flush=True,
        )


def coverage(name: str, X: FloatArray, truth: IntArray, goal: Goal, n_runs: int) -> None:
    """How often the sentence is false, over labels that a liar's are like."""
    people, begin = LabelOracle(truth), time.process_time()
    beyond, in_all, n_false, n_met = [], [], 0, 0
    for seed in range(n_runs):
        method = GivenLabels(misread(truth, seed), by=("model liar",))
        found = recover(X, people, method=method, looks="auto", audit=goal, random_state=seed)
        before = recover(X, people, method=method, looks="auto", random_state=seed)
        assert found.audit is not None
        beyond.append(before.n_looks)
        in_all.append(found.n_looks)
        n_met += found.audit.met
        audit = next(one for one in check_claims(found, truth) if one.claim.kind == "audit")
        n_false += audit.true is False
    print(
        f"{name}, {n_runs} runs: {np.mean(beyond):.1f} looks beyond the audit (90 % of the runs: "
        f"{np.quantile(beyond, 0.9):.0f}), {np.mean(in_all):.1f} in all, met in {n_met}, false in "
        f"{n_false} ({n_false / n_runs:.1%}); {time.process_time() - begin:.0f} s of CPU",
        flush=True,
    )


def useless(name: str, X: FloatArray, truth: IntArray, goal: Goal) -> None:
    """Labels that are worth nothing: people's looks beside those that they need alone."""
    people, rng = LabelOracle(truth), np.random.default_rng(0)
    alone = recover(X, people, looks="auto", audit=goal, random_state=0)
    other = (truth + rng.integers(1, int(truth.max()) + 1, len(truth))) % (int(truth.max()) + 1)
    kinds = {
        "right in 60 %": np.where(rng.random(len(truth)) < 0.4, other, truth),
        "everything the same": np.zeros_like(truth),
    }
    for kind, labels in kinds.items():
        method = GivenLabels(labels, by=("model liar",))
        found = recover(X, people, method=method, looks="auto", audit=goal, random_state=0)
        said = next(str(claim) for claim in found.claims if claim.kind == "given")
        print(f"{name}, {kind}: {found.n_looks} looks in all, alone {alone.n_looks}. {said}")


def main() -> None:
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    over_http()
    small = make_ellipsoids(n=1_000, d=4, k=5, random_state=0)
    coverage("paper's instance, n=1,000", small.X, small.labels, GOAL, n_runs)
    useless("paper's instance, n=1,000", small.X, small.labels, GOAL)
    X, y = load_digits(return_X_y=True)
    digits, truth = X.astype(float), np.asarray(y, dtype=np.int64)
    coverage("digits", digits, truth, GOAL, max(n_runs // 20, 1))
    useless("digits", digits, truth, GOAL)
    if (texts := docstrings()) is not None:
        coverage("docstrings", *texts, (0.1, 0.95), max(n_runs // 200, 1))
    made = make_ellipsoids(n=5_000, d=4, k=5, random_state=0)
    n_whole = max(n_runs // 200, 1)
    in_one_session("paper's instance, n=5,000", made.X, made.labels, GOAL, n_whole)
    in_one_session("digits", digits, truth, GOAL, n_whole)


def docstrings() -> tuple[FloatArray, IntArray] | None:
    """The texts of the issue, where the variable SAMECLUSTER_DOCSTRINGS says they are."""
    path = os.environ.get("SAMECLUSTER_DOCSTRINGS")
    if path is None:
        return None
    with np.load(path) as kept:
        return kept["X"].astype(float), np.unique(kept["y"], return_inverse=True)[1]


if __name__ == "__main__":
    main()
