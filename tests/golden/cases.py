"""The golden runs by name: data of every family, every method, and every door to them.

A run is quick if it is one of those that the tests always do: there is one for each door at least,
and they were found to end alike with BLAS for different processors. Not all of the others do.
Points are rounded: what is left does not depend on the last digits of whoever made them.
"""

import contextlib
import csv
import io
import json
import runpy
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from samecluster import (
    Certify,
    Predict,
    Recur,
    SameCluster,
    ScqKMeans,
    Session,
    SqliteStore,
    Verdict,
    learn_cluster,
    recover,
    recover_large,
    start,
    start_large,
)
from samecluster.errors import ContradictionError, RefutedError
from samecluster.instances import make_ellipsoids, make_hypercube, make_kmeans_trap, make_packing
from samecluster.oracles import LabelOracle, NoisyOracle, Oracle, Panel, RowOracle
from tests.golden.outcomes import (
    Outcome,
    of_arrays,
    of_file,
    of_labels,
    of_large,
    of_learned,
    of_lines,
    of_recovery,
    of_session,
    of_trouble,
)


@dataclass(frozen=True)
class Run:
    """Something whose outcome is in the golden file."""

    outcome: Callable[[], Outcome]
    quick: bool


RUNS: dict[str, Run] = {}
ARITHMETIC = "arithmetic"


def declare(name: str, outcome: Callable[[], Outcome], quick: bool = False) -> None:
    assert name not in RUNS, name
    RUNS[name] = Run(outcome, quick)


def run(name: str, quick: bool = False) -> Callable[[Callable[[], Outcome]], Callable[[], Outcome]]:
    def declared(outcome: Callable[[], Outcome]) -> Callable[[], Outcome]:
        declare(name, outcome, quick)
        return outcome

    return declared


# -- data ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Data:
    """Points with their true groups, and the margin to declare."""

    X: Any
    labels: Any
    margin: float

    @property
    def oracle(self) -> LabelOracle:
        return LabelOracle(self.labels)

    @property
    def declared(self) -> dict[str, Any]:
        return {"margin": self.margin, "n_clusters": len(np.unique(self.labels))}

    def verdict(self, i: int, j: int) -> Verdict:
        return Verdict.of(bool(self.labels[i] == self.labels[j]))


def rounded(made: Any) -> Data:
    return Data(np.round(made.X, 7), made.labels, made.margin)


def ellipsoids(n: int, d: int, k: int, seed: int = 0, **options: Any) -> Data:
    return rounded(make_ellipsoids(n, d, k, random_state=seed, **options))


def flat() -> Data:
    """Clusters of lower rank, which rounded points would not have."""
    made = make_ellipsoids(600, 3, 3, rank=[1, 2, 3], random_state=4)
    return Data(made.X, made.labels, made.margin)


def duplicates() -> Data:
    """Each point two times or more, and a column that is constant."""
    made = ellipsoids(120, 2, 3, 7)
    times = np.arange(120) % 4 + 2
    X = np.column_stack([made.X, np.full(120, 3.0)])
    return Data(np.repeat(X, times, axis=0), np.repeat(made.labels, times), made.margin)


def sklearn_data(name: str) -> Data:
    """Real data, whose groups have hardly a margin."""
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")()
    X, labels = np.asarray(bunch.data, dtype=np.float64), np.asarray(bunch.target)
    if name == "wine":
        X = np.round((X - X.mean(axis=0)) / X.std(axis=0), 7)
    if name == "digits":
        X, labels = X[labels < 4][:300], labels[labels < 4][:300]
    return Data(X, labels, 1e-6)


FAMILIES: dict[str, Callable[[], Data]] = {
    "d1 k2": partial(ellipsoids, 300, 1, 2),
    "d2 k3": partial(ellipsoids, 1_000, 2, 3),
    "d2 k3 seed 1": partial(ellipsoids, 1_000, 2, 3, 1),
    "d2 k3 seed 2": partial(ellipsoids, 1_000, 2, 3, 2),
    "d2 k8": partial(ellipsoids, 800, 2, 8, 3),
    "d3 k4 margin 0.3": partial(ellipsoids, 900, 3, 4, margin=0.3),
    "d3 k3 half": partial(ellipsoids, 900, 3, 3, 5, fill="half"),
    "d3 k3 blobs": partial(ellipsoids, 900, 3, 3, 5, fill="blobs"),
    "d2 k3 shell margin 0.1": partial(ellipsoids, 400, 2, 3, 6, margin=0.1, fill="shell"),
    "d4 k5": partial(ellipsoids, 2_000, 4, 5),
    "n 20,000 d2 k4": partial(ellipsoids, 20_000, 2, 4, 9),
    "d8 k3": partial(ellipsoids, 1_500, 8, 3),
    "d16 k2 margin 10": partial(ellipsoids, 250, 16, 2, margin=10.0),
    "d3 k3 flat": flat,
    "d3 k3 sizes": partial(ellipsoids, 1_500, 3, 3, 8, sizes=[100, 10, 1]),
    "duplicates": duplicates,
    "packing": lambda: rounded(make_packing(3, 0.01, random_state=0)),
    "hypercube": lambda: rounded(make_hypercube(24, 200, 1.0, random_state=0)),
    "trap": lambda: rounded(make_kmeans_trap(400, 0.5, jitter=0.02, random_state=0)),
    "iris": partial(sklearn_data, "iris"),
    "wine": partial(sklearn_data, "wine"),
    "digits": partial(sklearn_data, "digits"),
}


@cache
def data(family: str) -> Data:
    return FAMILIES[family]()


@run(ARITHMETIC, quick=True)
def arithmetic() -> Outcome:
    """The last digits of linear algebra, which choices between equals may rest on."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(200, 200)), rng.normal(size=(900, 200))
    parts = [A @ A.T, B @ A, *np.linalg.qr(A), *np.linalg.eigh(A @ A.T), np.linalg.solve(A, A.T)]
    return {"digits": of_arrays([*parts, np.exp(A), np.log(np.abs(A)), A.sum(axis=0)])}


# -- in memory -------------------------------------------------------------------------------------


def recovered(family: str, oracle: Oracle | None = None, **options: Any) -> Outcome:
    """By `recover`: margin and number of clusters are declared unless the options say otherwise."""
    made = data(family)
    settings = {**made.declared, "random_state": 0, **options}
    try:
        return of_recovery(recover(made.X, oracle or made.oracle, **settings))
    except (ContradictionError, RefutedError) as error:
        return of_trouble(error)


AUTO: dict[str, Any] = {"margin": "auto", "n_clusters": None}
SYNTHETIC = [family for family in FAMILIES if family not in ("iris", "wine", "digits")]

for _family in SYNTHETIC:
    declare(f"certify, {_family}", partial(recovered, _family), _family == "d2 k3")
    _unknown = partial(recovered, _family, n_clusters=None)
    declare(f"certify, {_family}, k unknown", _unknown, _family == "d2 k3")
for _seed in (1, 2, 3):
    declare(
        f"certify, n 20,000 d2 k4, run {_seed}",
        partial(recovered, "n 20,000 d2 k4", random_state=_seed),
    )
    declare(f"auto, wine, run {_seed}", partial(recovered, "wine", **AUTO, random_state=_seed))
for _family in (
    "d2 k3",
    "d3 k4 margin 0.3",
    "d3 k3 half",
    "d4 k5",
    "packing",
    "iris",
    "wine",
    "digits",
):
    declare(f"auto, {_family}", partial(recovered, _family, **AUTO), quick=_family == "wine")
for _family in ("d2 k3", "d3 k4 margin 0.3", "trap"):
    for _name, _method in {
        "recur": Recur(),
        "recur separator": Recur(ellipsoid="separator"),
        "recur batches": Recur(sampling="batches", expansion=None),
        "recur as published": Recur.as_published(),
        "scq-k-means": ScqKMeans(),
        "scq-k-means whiten": ScqKMeans(whiten=True),
    }.items():
        _quick = _family == "d2 k3" and _name in ("recur", "recur separator", "scq-k-means")
        declare(f"{_name}, {_family}", partial(recovered, _family, method=_method), _quick)
for _family in ("d2 k8", "iris"):
    _unknown = partial(recovered, _family, method="everything", n_clusters=None)
    declare(f"everything, {_family}", _unknown, _family == "iris")
for _family in ("d2 k3", "d3 k3 half", "iris", "wine", "digits"):
    declare(
        f"predict, {_family}",
        partial(recovered, _family, method="predict", **AUTO),
        quick=_family == "wine",
    )

OPTIONS: dict[str, dict[str, Any]] = {
    "certify effort fast, d4 k5": {"method": Certify(effort="fast")},
    "certify effort thorough, d2 k3 shell margin 0.1": {"method": Certify(effort="thorough")},
    "certify batch 8, d3 k4 margin 0.3": {"method": Certify(batch=8)},
    "certify resolution, d3 k3 flat": {"method": Certify(resolution=1e-4)},
    "certify numpy kernel, d2 k3": {"method": Certify(kernel="numpy")},
    "certify numpy kernel, d3 k4 margin 0.3": {"method": Certify(kernel="numpy")},
    "certify margin too large, d2 k3 shell margin 0.1": {"margin": 2.0},
    "certify audit, d2 k3": {"audit": (0.02, 0.95)},
    "certify max_questions, d3 k4 margin 0.3": {"max_questions": 15},
    "auto max_questions, wine": {**AUTO, "max_questions": 25},
    "auto audit, iris": {**AUTO, "audit": (0.05, 0.9)},
    "auto batch 4, d2 k8": {**AUTO, "method": Certify(batch=4)},
    "auto k given, iris": {"margin": "auto"},
    "predict batch 5, wine": {**AUTO, "method": Predict(batch=5)},
    "predict expected error, digits": {**AUTO, "method": Predict(expected_error=0.05)},
    "predict audit, wine": {**AUTO, "method": "predict", "audit": (0.05, 0.9)},
    "predict max_questions, digits": {**AUTO, "method": "predict", "max_questions": 40},
    "recur epsilon, d4 k5": {"method": Recur(epsilon=0.05)},
}
for _name, _options in OPTIONS.items():
    _family = _name.partition(", ")[2]
    declare(_name, partial(recovered, _family, **_options), _name == "certify audit, d2 k3")


@run("certify, n 100,000 d4 k5")
def large_in_memory() -> Outcome:
    made = ellipsoids(100_000, 4, 5, 1)
    return of_recovery(recover(made.X, made.oracle, **made.declared, random_state=0))


@run("predict, n 5,000 d3 k4")
def predicted_beyond_the_core() -> Outcome:
    made = ellipsoids(5_000, 3, 4, 2)
    return of_recovery(recover(made.X, made.oracle, method=Predict(0.01), random_state=0))


def known_groups(family: str, every: int) -> list[int | None]:
    """The true group of every so many rows."""
    labels = data(family).labels.tolist()
    return [label if row % every == 0 else None for row, label in enumerate(labels)]


def hinted_groups(family: str) -> Any:
    """Groups of which a tenth is wrong."""
    labels = data(family).labels
    return np.where(np.arange(len(labels)) % 10 == 3, (labels + 1) % (labels.max() + 1), labels)


for _name, _family, _given in (
    ("certify known", "d4 k5", "known"),
    ("certify hint", "d4 k5", "hint"),
    ("certify hint", "d2 k8", "hint"),
    ("certify known", "d2 k8", "known"),
    ("auto known", "wine", "known"),
    ("auto hint", "wine", "hint"),
    ("predict known", "iris", "known"),
    ("predict hint", "digits", "hint"),
    ("recur known", "d2 k3", "known"),
):

    def _with_groups(name: str = _name, family: str = _family, given: str = _given) -> Outcome:
        groups = known_groups(family, 20) if given == "known" else hinted_groups(family)
        method = name.partition(" ")[0]
        unknown = {} if method in ("certify", "recur") else AUTO
        options = {"method": "certify" if method == "auto" else method, given: groups, **unknown}
        return recovered(family, **options)

    _name = f"{_name}, {_family}"
    declare(_name, _with_groups, _name in ("certify hint, d2 k8", "recur known, d2 k3"))


def with_answers_of_before(family: str) -> Outcome:
    """Stops at a budget, and goes on from there with another seed."""
    made = data(family)
    first = recover(made.X, made.oracle, **made.declared, max_questions=12, random_state=0)
    return recovered(family, answers=first.answers, random_state=3)


declare("certify answers, d2 k8", partial(with_answers_of_before, "d2 k8"), quick=True)
declare("certify answers, d3 k4 margin 0.3", partial(with_answers_of_before, "d3 k4 margin 0.3"))


# -- other doors in memory -------------------------------------------------------------------------


def told(family: str, **options: Any) -> Outcome:
    """By `start`, the last question of those that wait first."""
    made = data(family)
    going = start(made.X, **{**made.declared, "random_state": 0, **options})
    halfway: Outcome = {}
    while going.pending:
        question = going.pending[-1]
        going.tell(question, same=bool(made.verdict(*question.pair) is Verdict.SAME))
        if going.n_questions == 5 and not halfway:
            halfway = of_recovery(going.snapshot())
    return {**of_recovery(going.result), "after_5": halfway.get("labels")}


declare("start, d2 k3", partial(told, "d2 k3"), quick=True)
declare("start batch 8, d4 k5", partial(told, "d4 k5", method=Certify(batch=8)))
declare("start auto, d3 k3 half", partial(told, "d3 k3 half", **AUTO))
declare("start predict, iris", partial(told, "iris", method="predict", **AUTO))
declare("start recur, d2 k3", partial(told, "d2 k3", method=Recur(sampling="batches")))
declare("start audit, wine", partial(told, "wine", method="predict", audit=(0.1, 0.9), **AUTO))


def fitted(family: str, **options: Any) -> Outcome:
    """By the estimator."""
    made = data(family)
    model = SameCluster(oracle=made.oracle, random_state=0, **{**made.declared, **options})
    return of_recovery(model.fit(made.X).recovery_)


declare("estimator, d2 k8", partial(fitted, "d2 k8"), quick=True)
declare("estimator auto, iris", partial(fitted, "iris", **AUTO))


@run("function oracle, d2 k3")
def by_a_function() -> Outcome:
    """By a function that is unsure about half of the pairs."""
    made = data("d2 k3")

    def says(i: int, j: int) -> Verdict:
        return Verdict.UNSURE if (i + j) % 2 == 0 else made.verdict(i, j)

    return of_recovery(recover(made.X, says, **made.declared, random_state=0))


@run("row oracle, d1 k2")
def by_rows() -> Outcome:
    made = data("d1 k2")
    border = (made.X[made.labels == 0].mean() + made.X[made.labels == 1].mean()) / 2
    oracle = RowOracle(lambda x, y: bool((x[0] < border) == (y[0] < border)))
    return of_recovery(recover(made.X, oracle, random_state=0))


for _seed in (0, 1):

    def _learned(seed: int = _seed) -> Outcome:
        made = ellipsoids(3_000, 2, 3, seed)
        asked = []

        def says(i: int, j: int) -> bool:
            asked.append((i, j))
            return bool(made.labels[i] == made.labels[j])

        learned = learn_cluster(made.X, says, 7, error=0.2, random_state=seed)
        return of_learned(learned, made.X, len(asked))

    declare(f"learn_cluster, seed {_seed}", _learned, quick=_seed == 0)


# -- answers that may be wrong ---------------------------------------------------------------------


def erring(family: str, p: float, unit: Any = "pair", **options: Any) -> Outcome:
    oracle = NoisyOracle(data(family).oracle, p, unit, random_state=1)
    return recovered(family, oracle, error_rate=p, **options)


declare("noisy, d2 k8", partial(erring, "d2 k8", 0.05), quick=True)
declare("noisy, d2 k3", partial(erring, "d2 k3", 0.1))
declare("noisy, d4 k5", partial(erring, "d4 k5", 0.15))
declare("noisy items, d4 k5", partial(erring, "d4 k5", 0.1, "item"))
declare("noisy auto, iris", partial(erring, "iris", 0.05, **AUTO))
declare("noisy predict, wine", partial(erring, "wine", 0.03, method="predict", **AUTO))
declare(
    "noisy believed, d2 k3",
    lambda: recovered("d2 k3", NoisyOracle(data("d2 k3").oracle, 0.2, random_state=3)),
)


def by_a_panel(family: str, p: float, **options: Any) -> Outcome:
    names = ("ann", "ben", "cem", "dot", "eve")
    truth = data(family).oracle
    people = {name: NoisyOracle(truth, p, random_state=at) for at, name in enumerate(names)}
    panel = Panel(people, confidence=0.99)
    return recovered(family, panel, **options) | {"single_answers": panel.n_answers}


declare("panel, d2 k3", partial(by_a_panel, "d2 k3", 0.1), quick=True)
declare("panel, d2 k8", partial(by_a_panel, "d2 k8", 0.2))
declare("panel, d4 k5", partial(by_a_panel, "d4 k5", 0.2))
declare("panel auto, iris", partial(by_a_panel, "iris", 0.05, **AUTO))


# -- in blocks -------------------------------------------------------------------------------------


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@cache
def many() -> Data:
    return ellipsoids(9_000, 2, 3, 4)


def in_blocks(
    source: Any = None, made: Data | None = None, proven: bool = True, **options: Any
) -> Outcome:
    """By `recover_large`, with a small sample so that most rows are decided in the sweep."""
    made = made or many()
    settings = {
        **made.declared,
        "random_state": 0,
        "sample": 1_000,
        "block": 512,
        "threads": 1,
        **options,
    }
    with folder() as here:
        proof = here / "proof.jsonl.gz" if proven and settings["margin"] != "auto" else None
        found = recover_large(
            made.X if source is None else source, made.oracle, proof=proof, **settings
        )
        return of_large(found, proof)


declare("blocks of an array", in_blocks, quick=True)
declare("blocks of an array, two threads", partial(in_blocks, threads=2, block=2_000))
declare("blocks of an array, k unknown", partial(in_blocks, n_clusters=None, random_state=2))
declare("blocks of an array, auto", partial(in_blocks, **AUTO))
declare("blocks of an array, auto audit", partial(in_blocks, **AUTO, audit=(0.05, 0.9)))
declare("blocks of an array, audit", partial(in_blocks, audit=(0.02, 0.95)))
declare("blocks of an array, numpy kernel", partial(in_blocks, method=Certify(kernel="numpy")))
declare("blocks of three columns", lambda: in_blocks(made=ellipsoids(9_000, 3, 3, 4)))
declare(
    "blocks of a shell, tiny sample",
    lambda: in_blocks(made=ellipsoids(3_000, 3, 3, 5, fill="shell"), sample=60),
)
declare(
    "blocks of a hundred thousand rows",
    lambda: in_blocks(made=ellipsoids(100_000, 2, 4, 3), sample=4_096, block=16_384),
)


@run("blocks of single precision")
def of_single_precision() -> Outcome:
    made = ellipsoids(6_000, 3, 3, 2, margin=1.1)
    return in_blocks(made.X.astype(np.float32), made, margin=1.0)


@run("blocks of a file", quick=True)
def of_a_file() -> Outcome:
    """From a .npy file, and labels into files."""
    with folder() as here:
        np.save(here / "points.npy", many().X)
        outcome = in_blocks(here / "points.npy", out=here / "found")
        files = {path.stem: np.load(path) for path in (here / "found").iterdir()}
    return outcome | {"files": of_labels(files["labels"], files["how"])}


@run("blocks of dask", quick=True)
def of_dask() -> Outcome:
    """Of a Dask array, by the workers that are there without a cluster."""
    import dask
    import dask.array

    with dask.config.set(scheduler="synchronous"):
        return in_blocks(dask.array.from_array(many().X, chunks=(700, 2)), proven=False)


@run("start_large answers", quick=True)
def told_in_blocks() -> Outcome:
    """Half of the answers, and a second run that goes on with them."""
    made = many()
    settings = {**made.declared, "random_state": 5, "sample": 500, "threads": 1}
    with start_large(made.X, **settings) as going:
        for _ in range(3):
            question = going.pending[0]
            going.tell(question, same=bool(made.verdict(*question.pair) is Verdict.SAME))
        answers = tuple(going.ledger)
    with start_large(made.X, answers=answers, **settings) as going:
        while going.pending:
            for question in going.pending:
                going.tell(question, same=bool(made.verdict(*question.pair) is Verdict.SAME))
    return of_large(going.result)


# -- sessions --------------------------------------------------------------------------------------


def keys(n: int) -> list[str]:
    return [f"item {row}" for row in range(n)]


@dataclass(frozen=True)
class Desk:
    """A session in a file, and people who know the truth."""

    session: Session
    store: SqliteStore
    made: Data

    def answer(self, count: int, who: str | None = None, wrong: bool = False) -> None:
        """So many answers, fewer if there is nothing to ask."""
        for _ in range(count):
            questions = self.session.ask(who)
            if not questions:
                return
            same = self.made.verdict(*questions[0].rows) is Verdict.SAME
            verdict = Verdict.of(same != wrong)
            self.session.tell(questions[0].id, verdict, who)

    def answer_all(self, who: str | None = None) -> None:
        self.answer(10_000, who)

    @property
    def outcome(self) -> Outcome:
        return of_session(self.session, self.store)


@contextlib.contextmanager
def desk(family: str, hints: Any = None, **parameters: Any) -> Iterator[Desk]:
    made = data(family)
    with folder() as here:
        store = SqliteStore(here / "golden.samecluster", create=True)
        with Session.create(
            store,
            keys(len(made.X)),
            made.X,
            parameters={**made.declared, **parameters},
            hints=hints,
            clock=lambda: datetime(2026, 1, 31, 12, tzinfo=UTC),
            seed=7,
        ) as session:
            yield Desk(session, store, made)


def in_a_session(family: str, **parameters: Any) -> Outcome:
    with desk(family, **parameters) as at:
        at.answer_all("ann")
        return at.outcome


declare("session, d2 k3", partial(in_a_session, "d2 k3"), quick=True)
declare("session auto, iris", partial(in_a_session, "iris", **AUTO))
declare("session predict, iris", partial(in_a_session, "iris", method="predict", **AUTO))
declare("session audit, d2 k3", partial(in_a_session, "d2 k3", audit=(0.05, 0.9)))
declare("session max_questions, wine", partial(in_a_session, "wine", max_questions=20, **AUTO))


declare("session hint, wine", lambda: in_a_session("wine", hints=hinted_groups("wine"), **AUTO))


@run("session of two people")
def by_two_people() -> Outcome:
    """Every question to two, a batch at a time, and what one of them gets wrong."""
    with desk("d2 k8", opinions=2, method={"name": "certify", "batch": 3}) as at:
        at.answer(6, "ann")
        at.answer(4, "ben")
        at.answer(1, "ben", wrong=True)
        for _ in range(40):
            at.answer(3, "ann")
            at.answer(3, "ben")
        return at.outcome | {"trouble": [one.kind for one in at.session.trouble]}


@run("session with second thoughts", quick=True)
def with_second_thoughts() -> Outcome:
    """Undone, unsure, flagged, taken back, named, doubted, and with answers from elsewhere."""
    with desk("d2 k3") as at:
        session = at.session
        at.answer(4, "ann")
        session.undo("ann")
        at.answer(1, "ann")
        session.tell(session.ask("ben")[0].id, "unsure", "ben")
        session.flag(session.ask("ben")[0].id, "blurred", "ben")
        pairs = [("item 30", "item 31"), ("item 32", "item 33")]
        session.import_answers(
            [(a, b, at.made.verdict(int(a[5:]), int(b[5:]))) for a, b in pairs], "last year"
        )
        session.retract(4, who="ann")
        session.make_exception("item 12", "ann")
        at.answer_all("ann")
        session.name(0, "striped", "ann")
        session.doubt("item 5", "ben")
        at.answer_all("ben")
        session.finish("ann")
        return at.outcome | {"anchors": session.anchors()}


@run("session with other rows")
def with_other_rows() -> Outcome:
    """Rows come, go and change; the session is opened again, and asks on."""
    made = data("d2 k3")
    names = keys(len(made.X))
    with desk("d2 k3") as at:
        at.answer(5)
        X = made.X[100:].copy()
        X[0] += 1e-4
        at.session.update(names[100:], X)
        at.session.confirm(names[100:101])
        later = Data(X, made.labels[100:], made.margin)
        Desk(at.session, at.store, later).answer_all()
        before = of_session(at.session, at.store)
        again = Session.open(at.store, names, made.X, update=True)
        goes_on = Desk(again, at.store, made)
        goes_on.answer_all()
        return goes_on.outcome | {"before": before["labels"]}


@run("session in trouble")
def in_trouble() -> Outcome:
    """A wrong answer, the first remedy that there is for it, and the way to the end."""
    with desk("d2 k3", n_clusters=None) as at:
        at.answer(3)
        at.answer(1, wrong=True)
        at.answer_all()
        kinds = []
        for _ in range(5):
            if not (trouble := at.session.trouble):
                break
            kinds.append([trouble[0].kind, len(trouble[0].answers), len(trouble[0].remedies)])
            at.session.apply(trouble[0].remedies[0])
            at.answer_all()
        return at.outcome | {"trouble": kinds}


# -- the command -----------------------------------------------------------------------------------


def command(*arguments: Any) -> Any:
    """What the command says with --json, run in this process."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["samecluster", *map(str, arguments), "--json"]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module("samecluster", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(err.getvalue()) from ended
    finally:
        sys.argv = before
    return json.loads(out.getvalue())


def write_table(path: Path, made: Data) -> None:
    """Points, a column of text that is no feature, a hint in some rows, and the truth."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["shell", *(f"c{at}" for at in range(made.X.shape[1])), "hint", "kind"])
        for row, (point, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
            hint = f"maybe {label}" if row % 3 == 0 else ""
            writer.writerow([f"shell {row}", *point, hint, f"kind {label}"])


def clustered(family: str, *options: str) -> Outcome:
    """By `samecluster cluster --truth` on a table whose hints are used only if options say so."""
    unused = [] if "--labels" in options else ["--ignore", "hint"]
    with folder() as here:
        write_table(here / "shells.csv", data(family))
        out, proof = here / "labels.csv", here / "proof.jsonl.gz"
        said = command(
            "cluster",
            here / "shells.csv",
            "--truth",
            "kind",
            "-o",
            out,
            "--proof",
            proof,
            *unused,
            *options,
        )
        with out.open(newline="") as file:
            rows = list(csv.DictReader(file))
        outcome: Outcome = {
            "questions": said["questions"],
            **of_labels([int(row["cluster"] or -1) for row in rows], [row["how"] for row in rows]),
            "error": said["error"],
            "columns": list(rows[0]),
        }
        return outcome | ({"proof": of_file(proof)} if proof.exists() else {})


declare("command, d2 k3", partial(clustered, "d2 k3", "--margin", "1", "--clusters", "3"), True)
declare("command auto, iris", partial(clustered, "iris"))
declare("command no session, duplicates", partial(clustered, "duplicates", "--no-session"))
declare(
    "command labels, wine", partial(clustered, "wine", "--labels", "hint", "--labels-as", "hint")
)
declare(
    "command budget, wine", partial(clustered, "wine", "--max-questions", "20", "--audit", "0.05")
)


def clustered_in_blocks(*options: str) -> Outcome:
    """By `samecluster cluster --in-blocks` on a .npy file."""
    made = many()
    with folder() as here:
        np.save(here / "points.npy", made.X)
        np.save(here / "truth.npy", made.labels)
        said = command(
            *("cluster", here / "points.npy", "--in-blocks", "--truth", here / "truth.npy"),
            *("-o", here / "found", "--proof", here / "proof.jsonl.gz", *options),
        )
        with contextlib.closing(SqliteStore(here / "points.npy.samecluster")) as store:
            answered = [event.body for event in store.read() if event.kind == "answered"]
        proof = here / "proof.jsonl.gz"
        return {
            "questions": said["questions"],
            **of_labels(np.load(here / "found/labels.npy"), np.load(here / "found/how.npy")),
            "counts": said["labels"],
            "sweeps": said["sweeps"],
            "answers": of_lines((body["items"], body["verdict"]) for body in answered),
            **({"proof": of_file(proof)} if proof.exists() else {}),
            **({"audit": said["audit"]} if said["audit"] else {}),
        }


DECLARED = ("--margin", "1", "--clusters", "3")
declare("command in blocks", partial(clustered_in_blocks, *DECLARED), True)
declare("command in blocks, auto", clustered_in_blocks)
declare("command in blocks, audit", partial(clustered_in_blocks, *DECLARED, "--audit", "0.02"))
