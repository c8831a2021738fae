"""When answers and margin cannot all be right: which answers, and what margin they allow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import permutations

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.geometry.reach.kernel import Kernel
from samecluster.proof.log import ProofLog
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.certify.closure import Closure

_SAMPLE = 2000  # points that are not asked; their closure is rebuilt for every step
_STEPS = 16  # of bisection: to 1/65,536 of the refuted margin
_LOOKED_AT = 3000  # points of the cluster; their closure is rebuilt for every set of members tried


def first_conflict(closure: Closure, outside: Mapping[int, IntArray]) -> tuple[int, int] | None:
    """An item and a cluster that reaches it although answers put it outside, or None."""
    for cluster in closure.alive:
        others = outside.get(cluster)
        if others is not None and len(others):
            reached = closure.exclusion.reached(closure.clusters[cluster], others)
            if len(reached):
                return int(reached[0]), cluster
    return None


def largest_margin(
    X: FloatArray,
    tau: FloatArray,
    answers: Sequence[Answer],
    margin: float,
    kernel: Kernel,
    seed: int,
) -> float:
    """The largest margin that the answers allow, by bisection below one that they refute.

    What was concluded under that margin may be wrong, so only answers count: closures are rebuilt
    from them, over the asked items and a sample of the other points. Closure grows with the
    margin, so bisection is right; a larger sample could lower the result.
    """
    ledger = Ledger(answers)
    asked = np.unique([item for answer in answers for item in answer.question.pair])
    rng = np.random.default_rng(seed)
    sample = rng.choice(len(X), size=min(_SAMPLE, len(X)), replace=False)
    items = np.union1d(asked.astype(np.int64), sample)
    facts = {int(np.searchsorted(items, i)): ledger.representative(int(i)) for i in asked}
    different = {
        (a, b)
        for a, b in permutations(sorted(set(facts.values())), 2)
        if ledger.implied(Question(a, b)) is Verdict.DIFFERENT
    }
    points = X[items]

    def allowed(gamma: float) -> bool:
        return _consistent(points, tau, facts, different, gamma, kernel)

    low, high = margin * 2.0**-_STEPS, margin
    if _coincide(points, facts, different) or not allowed(low):
        return 0.0
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low


def _coincide(X: FloatArray, facts: Mapping[int, int], different: Set[tuple[int, int]]) -> bool:
    """Whether asked items of clusters that differ are identical points."""
    places: dict[bytes, set[int]] = {}
    for item, name in facts.items():
        places.setdefault((X[item] + 0.0).tobytes(), set()).add(name)
    return any(pair in different for names in places.values() for pair in permutations(names, 2))


def _consistent(
    X: FloatArray,
    tau: FloatArray,
    facts: Mapping[int, int],
    different: Set[tuple[int, int]],
    margin: float,
    kernel: Kernel,
) -> bool:
    """Whether no closure reaches an asked item, or a proven point, of a cluster that differs."""
    closure = Closure(X, margin, tau, ProofLog("", margin, None, tau), kernel, seed=0)
    names = sorted(set(facts.values()))
    for number, name in enumerate(names):
        for item in (i for i, c in facts.items() if c == name):
            closure.ask(item, number)
    closure.close(len(X))
    outside = {
        number: np.flatnonzero(
            np.isin(closure.labels, [at for at, b in enumerate(names) if (a, b) in different])
        )
        for number, a in enumerate(names)
    }
    return first_conflict(closure, outside) is None


def answers_of(log: ProofLog) -> list[Answer]:
    """The answers that a log rests on."""
    return [
        Answer(Question(record[1], record[2]), Verdict(record[3]))
        for record in log.records
        if record[0] == "answer"
    ]


def answers_about(
    answers: Sequence[Answer], item: int, cluster: int | None, asked: Mapping[int, int]
) -> tuple[Answer, ...]:
    """Answers that made the asked members of a cluster (None: all), and those about the item."""
    members = {i for i, c in asked.items() if c == cluster}
    return tuple(
        answer
        for answer in answers
        if cluster is None
        or item in answer.question.pair
        or (answer.verdict is Verdict.SAME and members.issuperset(answer.question.pair))
    )


def smallest_conflict(
    closure: Closure, answers: Sequence[Answer], item: int, cluster: int, members: Sequence[int]
) -> tuple[Answer, ...] | None:
    """Answers of which none can be left out: they put an item out of a cluster that reaches it.

    Members are left out while the closure of the others still reaches the item. None if that
    cannot be seen among the points looked at, or other answers than these play a part.
    """
    own = np.flatnonzero(closure.labels == cluster)[:_LOOKED_AT]
    items = np.unique([*own.tolist(), *members, item])
    points = closure.X[items]

    def reached_by(some: Sequence[int]) -> bool:
        log = ProofLog("", closure.margin, None, closure.tau)
        trial = Closure(points, closure.margin, closure.tau, log, closure.kernel, seed=0)
        for member in some:
            trial.ask(int(np.searchsorted(items, member)), 0)
        trial.close(len(points))
        return len(trial.exclusion.reached(trial.clusters[0], np.searchsorted(items, [item]))) > 0

    if item in members or not reached_by(members):
        return None
    kept = _shrunk(list(members), reached_by)
    ledger = Ledger(answers)
    chains = [ledger.reasons(Question(kept[0], other)) for other in kept[1:]]
    chains.append(ledger.reasons(Question(item, kept[0])))
    if not all(chains):
        return None
    return tuple(dict.fromkeys(answer for chain in chains for answer in chain))


def _shrunk(members: list[int], enough: Callable[[Sequence[int]], bool]) -> list[int]:
    """Members of which none can be left out; halves are tried before single ones."""
    size = len(members) // 2
    while size >= 1:
        at = 0
        while at < len(members):
            left = members[:at] + members[at + size :]
            if left and enough(left):
                members = left
            else:
                at += size
        size //= 2
    return members
