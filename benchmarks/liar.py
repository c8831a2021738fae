"""A cheap liar and a few people: ``make bench-liar``, or ``python -m benchmarks.liar RUNS``.

First the oracle over HTTP: time with 8 requests at a time, and answers lost or charged twice if one
request in ten fails in each way. Then whole sessions: a liar that errs on 8 % of the pairs and 5 %
of the items answers with second looks (`--confirm`), and people check. Then liars that are worth
nothing: the look of people at which it is said. Then labels whose error is near the bound, where
only the audit can tell: how often the sentence is false. At last every goal, with what was reached.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field
from itertools import combinations, count, islice
from typing import TypeAlias

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.real.docstrings import docstrings_by_package
from examples.chat_server import ChatServerExample, Habits
from samecluster import Question, clustering_error, recover
from samecluster._typing import FloatArray, IntArray
from samecluster.instances import make_ellipsoids
from samecluster.oracles import ChatOracle, ConfirmedOracle, LabelOracle, NoisyOracle, Oracle
from samecluster.oracles.base import checked_reply
from samecluster.questions.look import Look, Reply
from samecluster.recovery.auto.given_labels import GivenLabels
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.running.drivers import drive_session
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from samecluster.testing import check_claims

RUNS = 400
QUESTIONS = 64
AUDIT = 13  # looks of people that an audit takes, about: those beyond count for the goal
SEEDS = 3  # of liars that are worth nothing
Goal: TypeAlias = tuple[float, float]
GOAL = (0.02, 0.95)
NEAR = (0.05, 0.95)  # with 2 % of 600 labels hardly anything may be wrong, and all are checked
TOKENS, PRICE = (250, 60), 0.15  # of a prompt and per item on it, about; dollars for a million


@dataclass
class Goals:
    """What was reached, goal by goal."""

    lines: list[str] = field(default_factory=list)

    def note(self, said: str, reached: float, goal: float, unit: str = "") -> None:
        met = "met" if reached <= goal else "MISSED"
        self.lines.append(f"{met}: {said} {reached:.3g}{unit} (goal {goal:g}{unit})")


def over_http(goals: Goals) -> None:
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
        f"{QUESTIONS} questions at 300 ms: {took[1]:.1f} s one by one, {took[8]:.1f} s 8 at a time "
        f"({took[8] / took[1]:.2f}; goal 0.20)"
    )
    goals.note("time with 8 requests at once, of that one by one", took[8] / took[1], 0.2)
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
        f"10 % failures of 5 kinds: {QUESTIONS - n_answers} answers lost, {twice} charged twice "
        f"(goal 0, 0), {server.account.n_requests} requests",
        flush=True,
    )
    goals.note("answers lost", QUESTIONS - n_answers, 0)
    goals.note("charges doubled", twice, 0)


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


@dataclass
class Course:
    """Of people's looks, the number of those before labels were put aside, and before the audit."""

    aside: int | None = None
    audit: int | None = None

    def note(self, number: int, found: Recovery) -> None:
        if self.aside is None and found.given is not None and not found.given.is_used:
            self.aside = number
        if self.audit is None and found.audit is not None:
            self.audit = number


def answer(session: Session, oracle: Oracle, who: str) -> Course:
    """Answer all looks."""
    course, numbers = Course(), count()

    def reply(look: Look) -> Reply:
        course.note(next(numbers), session.snapshot())
        return checked_reply(oracle, look)

    second = oracle.second_looks_at if isinstance(oracle, ConfirmedOracle) else None
    drive_session(
        session,
        lambda looks: ((look, reply(look)) for look in looks),
        who=who,
        looks=True,
        second_looks=second,
    )
    return course


class LiarSession:
    """A session in which a liar has answered with second looks, so many of both at most."""

    def __init__(self, X: FloatArray, by: Oracle, seed: int, max_looks: int) -> None:
        keys = [f"{row:06}" for row in range(len(X))]
        parameters = {"looks": "auto", "method": "predict", "max_looks": max_looks}
        self.session = Session.create(MemoryStore(), keys, X, parameters=parameters, seed=seed)
        answer(self.session, ConfirmedOracle(by, max_looks), "model liar")
        self.n_looks = self.session.state.n_looks
        self.by_liar = self.session.snapshot()

    def checked(self, people: Oracle, goal: Goal) -> tuple[Course, Recovery]:
        """People check, up to a bound."""
        self.session.let_people_check()
        self.session.set_parameters(max_looks=None, audit=goal)
        course = answer(self.session, people, "ann")
        return course, self.session.snapshot()


def in_one_session(
    goals: Goals, name: str, X: FloatArray, truth: IntArray, goal: Goal, n_runs: int
) -> None:
    """A liar answers, then people check in the same session: looks of both, and what is wrong."""
    people, beyond, by_liars, n_not_met, n_false = LabelOracle(truth), [], [], 0, 0
    for seed in range(n_runs):
        begin = time.process_time()
        alone = recover(X, people, looks="auto", random_state=seed)
        audited = recover(X, people, looks="auto", audit=goal, random_state=seed)
        one = LiarSession(X, liar(truth, seed), seed, 3 * alone.n_looks)
        by_liar = one.by_liar
        shown = 2 * by_liar.n_shown  # a second look shows as many, at most
        tokens = one.n_looks * TOKENS[0] + shown * TOKENS[1]
        course, found = one.checked(people, goal)
        assert found.audit is not None
        assert course.audit is not None
        print(
            f"{name}, run {seed}: liar {one.n_looks} looks "
            f"({one.n_looks / alone.n_looks:.1f} times those without errors; goal 3), about "
            f"${tokens * PRICE / 1e6:.4f}, {clustering_error(by_liar.labels, truth):.1%} wrong; "
            f"people {course.audit} looks before the audit ({course.audit / alone.n_looks:.0%} of "
            f"{alone.n_looks} alone; goal 25 %), {found.n_looks} in all (alone "
            f"{audited.n_looks}); bound {'met' if found.audit.met else 'not met'}, "
            f"{clustering_error(found.labels, truth):.2%} wrong; "
            f"{time.process_time() - begin:.0f} s of CPU",
            flush=True,
        )
        beyond.append(max(found.n_looks - AUDIT, 0) / alone.n_looks)
        by_liars.append(one.n_looks / alone.n_looks)
        n_not_met += not found.audit.met
        n_false += any(c.claim.kind == "audit" and c.is_false for c in check_claims(found, truth))
    goals.note(
        f"{name}: people's looks beyond {AUDIT}, of those alone", float(np.mean(beyond)), 0.25
    )
    goals.note(f"{name}: looks of the liar, of those without errors", max(by_liars), 3)
    goals.note(f"{name}: of {n_runs} sentences not reached", n_not_met, 0)
    goals.note(f"{name}: of {n_runs} sentences false", n_false, 0.05 * n_runs)


def useless(
    goals: Goals, name: str, X: FloatArray, truth: IntArray, goal: Goal, max_looks: int
) -> None:
    """Liars that are worth nothing: when it is said, and people's looks beside those alone.

    How long an audit takes is chance: one wrong label more or less that it meets is worth ten looks
    or more. So means over seeds are compared.
    """
    people, alone = LabelOracle(truth), []
    took: dict[str, list[int]] = {}
    aside: list[int] = []
    for seed in range(SEEDS):
        audited = recover(X, people, looks="auto", audit=goal, random_state=seed)
        alone.append(audited.n_looks)
        liars = {
            "right in 60 % of the items": LabelOracle(misread(truth, seed, 0.4)),
            "right in 60 % of the pairs": NoisyOracle(LabelOracle(truth), 0.4, "pair", seed),
            "everything the same": LabelOracle(np.zeros_like(truth)),
        }
        for kind, oracle in liars.items():
            course, found = LiarSession(X, oracle, seed, max_looks).checked(people, goal)
            said = next((str(claim) for claim in found.claims if claim.kind == "given"), "-")
            took.setdefault(kind, []).append(found.n_looks)
            aside.append(10**6 if course.aside is None else course.aside)
            print(
                f"{name}, seed {seed}, {kind}: put aside after {course.aside} looks of people "
                f"(goal 30); {found.n_looks} in all, alone {alone[-1]}; "
                f"{clustering_error(found.labels, truth):.2%} wrong. {said}",
                flush=True,
            )
    goals.note(f"{name}: looks of people until a worthless liar is put aside", max(aside), 30)
    for kind, looks in took.items():
        more = float(np.mean(looks) - np.mean(alone))
        goals.note(f"{name}, {kind}: looks beyond those of people alone (mean)", more, 30)


def near_the_bound(goals: Goals, n_runs: int, goal: Goal) -> None:
    """Labels that no neighbour objects to, wrong on about as many items as the bound allows."""
    made = make_ellipsoids(n=600, d=2, k=3, random_state=0)
    people, begin = LabelOracle(made.labels), time.process_time()
    n_false, n_met, above, errors = 0, 0, 0, []
    for seed in range(n_runs):
        labels = cut_off(made.X, made.labels, seed, goal[0] * (0.8 + seed % 4 / 4))
        method = GivenLabels(labels, by=("model liar",))
        before = recover(made.X, people, method=method, looks="auto", random_state=seed)
        found = recover(made.X, people, method=method, looks="auto", audit=goal, random_state=seed)
        assert found.audit is not None
        errors.append(clustering_error(before.labels, made.labels))
        above += errors[-1] > goal[0]
        n_met += found.audit.met
        audit = next(one for one in check_claims(found, made.labels) if one.claim.kind == "audit")
        n_false += audit.true is False
    print(
        f"error near a bound of {goal[0]:.0%}, {n_runs} runs: {np.mean(errors):.1%} wrong before "
        f"the audit, more than the bound in {above} runs; met in {n_met}, false in {n_false} "
        f"({n_false / n_runs:.1%}; goal 5 %); {time.process_time() - begin:.0f} s of CPU",
        flush=True,
    )
    goals.note(f"error near the bound: of {n_runs} sentences false", n_false, 0.05 * n_runs)


def cut_off(X: FloatArray, truth: IntArray, seed: int, share: float) -> IntArray:
    """Labels of which a share is wrong: the far end of a cluster has the label of another."""
    rng = np.random.default_rng(seed)
    one = int(rng.integers(truth.max() + 1))
    members = np.flatnonzero(truth == one)
    far = np.argsort(X[members] @ rng.normal(size=X.shape[1]))[-round(share * len(truth)) :]
    labels = truth.copy()
    labels[members[far]] = (one + 1) % (truth.max() + 1)
    return labels


def main() -> None:
    n_runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    goals = Goals()
    over_http(goals)
    made = make_ellipsoids(n=5_000, d=4, k=5, random_state=0)
    X, y = load_digits(return_X_y=True)
    digits, truth = X.astype(float), np.asarray(y, dtype=np.int64)
    n_whole = max(n_runs // 80, 1)
    small = make_ellipsoids(n=1_000, d=4, k=5, random_state=0)
    useless(goals, "paper's instance, n=1,000", small.X, small.labels, GOAL, 60)
    useless(goals, "digits", digits, truth, GOAL, 120)
    in_one_session(goals, "paper's instance, n=5,000", made.X, made.labels, GOAL, n_whole)
    in_one_session(goals, "digits", digits, truth, GOAL, n_whole)
    in_one_session(goals, "docstrings, 500 of 33 groups", *docstrings(), (0.1, 0.95), 1)
    near_the_bound(goals, n_runs, NEAR)
    print("\n" + "\n".join(goals.lines))


def docstrings() -> tuple[FloatArray, IntArray]:
    """A part of the set of `benchmarks.real`, for the time it takes."""
    X, y = docstrings_by_package()
    some = np.sort(np.random.default_rng(0).permutation(len(y))[:500])
    return X[some], np.unique(y[some], return_inverse=True)[1]


if __name__ == "__main__":
    main()
