"""Adversarial data and answers through all doors, with the truth beside them, to judge claims by.

A run is made from its seed alone: `run(seed)` says what was claimed and what was true. Data is
small, so that thousands of runs take minutes. ``python -m tests.cases.claim_campaign 10000`` prints
the figures of `benchmarks/measured.md`.
"""

import json
import sys
import warnings
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from samecluster import (
    Certify,
    LargeRecovery,
    Predict,
    Question,
    Recur,
    SameCluster,
    Session,
    Verdict,
    recover,
    recover_large,
    start,
    true_margin,
)
from samecluster.cli.commands.session import opened_session
from samecluster.errors import SameClusterError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import Oracle, Panel
from samecluster.recovery.forecast import remaining_questions
from samecluster.sessions.storage.store import MemoryStore
from samecluster.testing import Held, JudgedClaim, check_claims
from tests.cases.command_line import run as command

PLAIN = Certify(kernel="numpy", effort="fast")
"""Compiling takes longer than all runs together; both kernels prove the same kind of labels."""


@dataclass(frozen=True, eq=False)
class Data:
    """Points, their true clusters, and what kind of trouble they are."""

    X: np.ndarray
    truth: np.ndarray
    family: str


def blobs(rng: np.random.Generator, n: int, d: int, k: int, gap: float) -> Data:
    """Round groups of radius 1 on a line, so far apart that there are ``gap`` radii between."""
    truth = rng.integers(k, size=n)
    truth[:k] = np.arange(k)
    directions = rng.normal(size=(n, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    X = directions * rng.random((n, 1)) ** (1 / d)
    X[:, 0] += truth * (2.0 + gap)
    return Data(X, truth, "blobs")


def ellipsoids(rng: np.random.Generator) -> Data:
    n, d, k = int(rng.integers(20, 60)), int(rng.integers(1, 4)), int(rng.integers(2, 4))
    made = make_ellipsoids(n, d, k, margin=float(rng.choice([0.2, 1.0])), random_state=rng)
    return Data(made.X, made.labels, "ellipsoids")


def many(rng: np.random.Generator) -> Data:
    """Enough points for proofs to pay under a guessed margin, which now and then does not hold."""
    d = int(rng.integers(1, 3))
    drawn, gap = rng.random(), float(rng.choice([1.0, 3.0]))
    data = blobs(rng, 360 + 50 * d + int(rng.integers(20)), d, 3 if drawn < 0.15 else 2, gap)
    X, truth = data.X, np.where(data.truth == 2, 0, data.truth)
    if 0.15 < drawn < 0.25:
        truth[rng.integers(len(X), size=2)] = 2, 3
    return Data(X, np.unique(truth, return_inverse=True)[1], "many")


def sentinels(rng: np.random.Generator) -> Data:
    """A few values far beyond all others, in a column that tells the groups apart or does not."""
    data = blobs(rng, int(rng.integers(20, 50)), int(rng.integers(1, 3)), 2, 1.0)
    X, truth = data.X.copy(), data.truth.copy()
    rows = rng.choice(len(X), size=int(rng.integers(1, 3)), replace=False)
    X[rows, int(rng.integers(X.shape[1]))] = 10.0 ** float(rng.choice([6, 9, 12, 30, 100, 300]))
    truth[rows] = 2
    return Data(X, truth, "sentinels")


def split_group(rng: np.random.Generator) -> Data:
    """A group on both sides of another."""
    data = blobs(rng, int(rng.integers(20, 50)), int(rng.integers(1, 3)), 3, 1.0)
    return Data(data.X, np.where(data.truth == 2, 0, data.truth), "split group")


def nested(rng: np.random.Generator) -> Data:
    """A group inside another, which surrounds it."""
    n = int(rng.integers(24, 50))
    angle, truth = rng.random(n) * 2 * np.pi, rng.integers(2, size=n)
    truth[:2] = 0, 1
    radius = np.where(truth == 0, rng.random(n), 3 + rng.random(n))
    return Data(np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), truth, "nested")


def duplicates(rng: np.random.Generator) -> Data:
    """Rows that occur several times, now and then in two groups."""
    data = blobs(rng, int(rng.integers(16, 40)), 2, 2, 1.0)
    X, truth = data.X.copy(), data.truth.copy()
    for row in rng.choice(len(X), size=len(X) // 3, replace=False).tolist():
        other = int(rng.integers(len(X)))
        X[row] = X[other]
        if rng.random() < 0.97:
            truth[row] = truth[other]
    return Data(X, np.unique(truth, return_inverse=True)[1], "duplicates")


def ties(rng: np.random.Generator) -> Data:
    """Whole numbers: equal distances, points exactly on boundaries."""
    n, d = int(rng.integers(12, 40)), int(rng.integers(1, 3))
    truth = rng.integers(2, size=n)
    truth[:2] = 0, 1
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    X[:, 0] += truth * int(rng.choice([5, 6, 8]))
    return Data(X, truth, "ties")


def strays(rng: np.random.Generator) -> Data:
    """Points in clusters of their own, one of them now and then amid a group."""
    data = blobs(rng, int(rng.integers(20, 45)), 2, 2, 1.5)
    X, truth = data.X.copy(), data.truth.copy()
    for number, row in enumerate(rng.choice(len(X), size=int(rng.integers(1, 4)), replace=False)):
        truth[row] = 2 + number
        if rng.random() < 0.6:
            X[row] = rng.normal(size=2) * 8
    return Data(X, np.unique(truth, return_inverse=True)[1], "strays")


def flat(rng: np.random.Generator) -> Data:
    """Groups on lines in three columns, as floats hold them."""
    data = blobs(rng, int(rng.integers(16, 40)), 1, 2, 1.0)
    direction, offset = rng.normal(size=3), rng.normal(size=(2, 3))
    return Data(data.X * direction + offset[data.truth] * 3, data.truth, "flat")


def touching(rng: np.random.Generator) -> Data:
    """Groups that overlap."""
    k = int(rng.integers(2, 4))
    data = blobs(rng, int(rng.integers(40, 90)), 2, k, float(rng.choice([-0.9, -0.4, 0.0])))
    return Data(data.X, data.truth, "touching")


def far_away(rng: np.random.Generator) -> Data:
    """Groups whose columns have a large offset."""
    data = blobs(rng, int(rng.integers(16, 40)), 2, 2, 1.0)
    return Data(data.X + 10.0 ** float(rng.choice([6, 9])), data.truth, "far away")


def tiny(rng: np.random.Generator) -> Data:
    """Two to seven points."""
    n = int(rng.integers(2, 8))
    truth = np.unique(rng.integers(3, size=n), return_inverse=True)[1]
    return Data(rng.normal(size=(n, 2)) + truth[:, None] * 4.0, truth, "tiny")


FAMILIES: tuple[Callable[[np.random.Generator], Data], ...] = (
    many, sentinels, ellipsoids, split_group, many, nested, duplicates, many, ties, ellipsoids,
    strays, flat, many, touching, many, far_away, tiny, many, ellipsoids, many,
)  # fmt: skip


class Person(Oracle):
    """Answers from the truth, unsure about some pairs and wrong about others, always the same."""

    def __init__(self, truth: np.ndarray, seed: int, unsure: float, wrong: float) -> None:
        self.truth, self.seed, self.unsure, self.wrong = truth, seed, unsure, wrong

    def answer(self, question: Question) -> Verdict:
        i, j = question.pair
        drawn = zlib.crc32(f"{self.seed} {i} {j}".encode()) / 2**32
        if drawn < self.unsure:
            return Verdict.UNSURE
        return Verdict.of(bool(self.truth[i] == self.truth[j]) != (drawn > 1.0 - self.wrong))


@dataclass
class Case:
    """What one run is about, and what came of it.

    ``judged`` are all claims at some moments and at the end; ``forecasts`` are intervals with what
    really was left; ``refusal`` is an error that says what does not fit; ``crash`` any other one.
    """

    seed: int
    data: Data
    door: str
    person: Person
    declared: dict[str, Any]
    judged: list[JudgedClaim] = field(default_factory=list)
    forecasts: list[tuple[int, int, int]] = field(default_factory=list)
    refusal: str = ""
    crash: str = ""

    @property
    def text(self) -> str:
        asked = {key: value for key, value in self.declared.items() if key != "answers"}
        return (
            f"seed {self.seed}: {self.data.family}, {self.data.X.shape}, by {self.door}, {asked}, "
            f"unsure {self.person.unsure}, wrong {self.person.wrong}"
        )

    def judge(self, result: Any) -> None:
        self.judged += check_claims(result, self.data.truth, self.data.X)


def run(seed: int) -> Case:
    """The run of a seed, judged."""
    rng = np.random.default_rng(seed)
    case = _made(seed, rng)
    try:
        DOORS[case.door](case, rng)
    except SameClusterError as error:
        case.refusal = f"{type(error).__name__}: {error}"
    except Exception as error:
        case.crash = f"{type(error).__name__}: {error}"
    return case


def _made(seed: int, rng: np.random.Generator) -> Case:
    data = FAMILIES[seed % len(FAMILIES)](rng)
    door = str(rng.choice(list(DOORS), p=[0.22, 0.42, 0.08, 0.04, 0.12, 0.08, 0.02, 0.02]))
    often = 0.1 if data.family == "many" else 0.4  # on many points that takes seconds
    unsure = float(rng.choice([0.0, 0.1, often], p=[0.8, 0.1, 0.1]))
    wrong = 0.1 if door == "recover" and rng.random() < 0.3 else 0.0
    declared: dict[str, Any] = {"random_state": seed, **_premises(data, door, rng)}
    if rng.random() < 0.4 and door != "estimator":
        declared["audit"] = ((0.05, 0.95), (0.1, 0.9), (0.2, 0.8))[int(rng.integers(3))]
    if rng.random() < 0.2 and door not in ("large", "dask", "estimator"):
        declared["max_questions"] = int(rng.choice([3, 6, 12, 30]))
    return Case(seed, data, door, Person(data.truth, seed, unsure, wrong), declared)


def _premises(data: Data, door: str, rng: np.random.Generator) -> dict[str, Any]:
    """A margin and a number of clusters: true ones mostly, and false ones by little and by much."""
    declared: dict[str, Any] = {}
    if data.family == "nested" and door != "command" and rng.random() < 0.8:
        declared["lift"] = "quadratic"
    with np.errstate(all="ignore"):
        shown = true_margin(data.X, data.truth, lift=declared.get("lift"))
        largest = min((found.margin for found in shown), default=0.0)
    drawn = rng.random()
    if drawn < (0.9 if data.family == "many" else 0.15) or largest < 0.02:
        pass
    elif drawn < 0.88:
        declared["margin"] = float(min(largest * 0.97, rng.choice([0.5, 1.0, 2.0])))
    elif drawn < 0.94:
        declared["margin"] = float(min(largest, 1e6) * rng.choice([1.02, 1.2]))
    else:
        declared["margin"] = float(min(largest, 1e6) * 4 + 0.5)
    k = len(np.unique(data.truth))
    if rng.random() < 0.5:
        k += int(rng.choice([0, -1, 1], p=[0.5, 0.15, 0.35]))
        declared["n_clusters"] = min(max(k, 2), len(data.X))
    return declared


def _extras(case: Case, rng: np.random.Generator) -> dict[str, Any]:
    """Hints that are right or not, and groups known before."""
    extras: dict[str, Any] = {}
    n, drawn = len(case.data.X), rng.random()
    if drawn < 0.1:
        extras["hint"] = rng.integers(3, size=n)
    elif drawn < 0.2:
        extras["hint"] = case.data.truth
    elif drawn < 0.3:
        some = rng.random(n) < 0.2
        extras["known"] = [
            int(c) if s else None for c, s in zip(case.data.truth, some, strict=True)
        ]
    return extras


def _method(case: Case, rng: np.random.Generator) -> Any:
    drawn, declared = rng.random(), case.declared
    if case.data.family == "many" or "lift" in declared:
        return PLAIN
    if drawn < 0.12:
        return Predict(expected_error=float(rng.choice([0.0, 0.01, 0.2])))
    if drawn < 0.2 and "margin" in declared and "n_clusters" in declared:
        return Recur()
    if drawn < 0.3:
        return Certify(kernel="numpy", effort="fast", resolution=float(rng.choice([0, 1e-6, 1e-3])))
    return PLAIN


def by_recover(case: Case, rng: np.random.Generator) -> None:
    declared = {**case.declared, **_extras(case, rng), "method": _method(case, rng)}
    oracle: Oracle = case.person
    if case.person.wrong and rng.random() < 0.5:
        truth, wrong = case.data.truth, case.person.wrong
        people = {f"p{i}": Person(truth, 1000 * case.seed + i, 0.05, wrong) for i in range(3)}
        oracle = Panel(people)
    elif case.person.wrong:
        declared["error_rate"] = case.person.wrong
    case.judge(recover(case.data.X, oracle, **declared))


def by_start(case: Case, rng: np.random.Generator) -> None:
    """Question by question; what is claimed on the way is judged now and then."""
    declared = {**case.declared, **_extras(case, rng), "method": _method(case, rng)}
    running = start(case.data.X, **declared)
    seen = []
    moments = {int(rng.integers(*part)) for part in ((1, 5), (5, 9), (9, 25))}
    while running.pending:
        question = running.pending[0]
        running.tell(question, case.person.answer(question))
        if running.n_questions in moments and running.pending:
            moments.discard(running.n_questions)
            known = running.snapshot()
            case.judge(known)
            if (left := remaining_questions(known, running.n_questions)) is not None:
                seen.append((*left, running.n_questions))
    if "max_questions" not in declared and "audit" not in declared:
        case.forecasts += [(low, high, running.n_questions - n) for low, high, n in seen]
    case.judge(running.result)


def by_resuming(case: Case, rng: np.random.Generator) -> None:
    """A run that is left, and begun again from its answers."""
    first = start(case.data.X, **case.declared, method=PLAIN)
    for _ in range(int(rng.integers(1, 20))):
        if first.pending:
            first.tell(first.pending[0], case.person.answer(first.pending[0]))
    case.judge(first.snapshot())
    again = {**case.declared, "method": PLAIN, "answers": tuple(first.ledger)}
    case.judge(recover(case.data.X, case.person, **again))


def by_estimator(case: Case, rng: np.random.Generator) -> None:
    del rng
    declared = {"margin": "auto", **case.declared, "method": PLAIN}
    case.judge(SameCluster(oracle=case.person, **declared).fit(case.data.X).recovery_)


def by_session(case: Case, rng: np.random.Generator) -> None:
    """People who answer, undo, and are shown what is known on the way."""
    declared = {name: value for name, value in case.declared.items() if name != "random_state"}
    if "audit" in declared:
        declared["audit"] = list(declared["audit"])
    declared["method"] = {"name": "certify", "kernel": "numpy", "effort": "fast"}
    keys = [f"item {row}" for row in range(len(case.data.X))]
    session = Session.create(MemoryStore(), keys, case.data.X, parameters=declared, seed=case.seed)
    moment, undone = int(rng.integers(1, 12)), int(rng.integers(1, 40))
    flagged = moment if rng.random() < 0.2 else -1
    for turn in range(3 * len(keys) + 200):
        asked = session.ask("ann")
        if not asked:
            break
        question = Question(*asked[0].rows)
        session.tell(asked[0].id, case.person.answer(question), "ann")
        if turn == undone:
            session.undo("ann")
        if turn == flagged:
            session.make_exception(asked[0].item, "ann")
        if turn == moment:
            case.judge(session.snapshot())
    case.judge(session.snapshot())


def by_blocks(case: Case, rng: np.random.Generator) -> None:
    case.judge(_large(case, case.data.X, rng))


def by_dask(case: Case, rng: np.random.Generator) -> None:
    import dask.array

    X = case.data.X
    case.judge(_large(case, dask.array.from_array(X, chunks=(len(X) // 3 + 1, X.shape[1])), rng))


def _large(case: Case, source: Any, rng: np.random.Generator) -> LargeRecovery:
    n = len(case.data.X)
    sample = int(rng.integers(int(0.8 * n) if n > 100 else 2, n + 1))
    return recover_large(
        source,
        case.person,
        sample=max(sample, 8),
        block=int(rng.choice([7, 64])),
        threads=1,
        method=PLAIN,
        **case.declared,
    )


def by_command(case: Case, rng: np.random.Generator) -> None:
    """The command line, answered by a column; what it prints for programs is what was judged."""
    del rng
    X, truth, declared = case.data.X, case.data.truth, case.declared
    options = [
        (f"--{name}", f"{value:.17g}")
        for name, value in (
            ("margin", declared.get("margin")),
            ("clusters", declared.get("n_clusters")),
            ("audit", declared.get("audit", [None])[0]),
            ("max-questions", declared.get("max_questions")),
        )
        if value is not None
    ]
    names = [f"x{column}" for column in range(X.shape[1])]
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data.csv"
        rows = [
            [*names, "group"],
            *([*map(repr, row), f"g{c}"] for row, c in zip(X.tolist(), truth, strict=True)),
        ]
        data.write_text("\n".join(map(",".join, rows)) + "\n")
        words = ["cluster", data, "--truth", "group", "--features", ",".join(names), "--no-scale"]
        done = command(*words, "--json", "--seed", case.seed, *(w for o in options for w in o))
        if done.returncode:
            raise SameClusterError(done.stderr.strip().splitlines()[-1])
        with opened_session(data, None, None, read_only=True) as opened:
            known = opened.session.snapshot()
            printed = json.loads(done.stdout)["claims"]
            assert printed == [claim.as_dict() for claim in known.claims]
            case.judged += check_claims(known, truth, opened.data.X)


DOORS: dict[str, Callable[[Case, np.random.Generator], None]] = {
    "recover": by_recover,
    "start": by_start,
    "resuming": by_resuming,
    "estimator": by_estimator,
    "session": by_session,
    "large": by_blocks,
    "dask": by_dask,
    "command": by_command,
}


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """The runs of consecutive seeds."""
    return map(run, range(first, first + count))


def figures(all_cases: Iterator[Case]) -> Iterator[str]:
    """What came of a campaign, in lines of Markdown."""
    held, false, undecided, ends = (Counter[str]() for _ in range(4))
    runs, left = defaultdict[str, set[int]](set), list[bool]()
    wrong = np.zeros(3)
    for case in all_cases:
        ends["refused" if case.refusal else "crashed" if case.crash else "judged"] += 1
        if case.crash:
            yield f"crash: {case.text}: {case.crash}"
        for one in case.judged:
            kind, number_said = one.claim.kind, one.claim.number
            undecided[kind] += one.held is Held.UNDECIDED
            if one.held is not Held.YES:
                continue
            held[kind] += 1
            runs[kind].add(case.seed)
            false[kind] += one.is_false
            if one.is_false:
                yield f"false: {case.text}: {one.claim} ({one.actual})"
            if kind == "predicted" and number_said is not None and one.actual is not None:
                wrong += np.array([number_said, one.actual, 1.0]) * one.claim.n_items
        left += [low <= actual <= high for low, high, actual in case.forecasts]
    yield f"{ends.total():,} runs: {', '.join(f'{n:,} {end}' for end, n in ends.items())}"
    yield "| claim | runs with true premises | claims | false | undecided |\n|---|---|---|---|---|"
    for kind in held:
        yield (
            f"| {kind} | {len(runs[kind]):,} | {held[kind]:,} | {false[kind]:,} | "
            f"{undecided[kind]:,} |"
        )
    expected, actual, labels = wrong
    yield f"predicted: {expected:,.0f} of {labels:,.0f} labels expected wrong, {actual:,.0f} were"
    yield f"forecast: {np.mean(left or [False]):.1%} of {len(left):,} intervals held"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for line in figures(cases(int(sys.argv[1]), int(sys.argv[2]) if sys.argv[2:] else 0)):
        print(line, flush=True)
