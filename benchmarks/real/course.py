"""One run on a set: the error at some numbers of questions, and what the run said of it then."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.real.sets import data
from samecluster import clustering_error, start
from samecluster.recovery.predict.plan import Predict
from samecluster.recovery.result.how import How

MARKS = (50, 100, 200, 300, 500, 1000)


@dataclass(frozen=True)
class Checkpoint:
    """``said`` is the expected share of wrong labels, None where the run says that it is unknown.

    ``cpu`` are seconds of the run so far, without those of measuring it.
    """

    questions: int
    error: float
    said: float | None
    groups: int
    asked: int
    cpu: float


def checkpoints(
    name: str, method: str, seed: int, most: int, stops: bool = False
) -> list[Checkpoint]:
    """A run to its end or to ``most`` questions, the last checkpoint included.

    With ``stops`` it may end when it expects few wrong labels; otherwise it goes on.
    """
    X, truth = data(name)
    chosen: Any = Predict(expected_error=0.0) if method == "predict" and not stops else method
    begin = time.process_time()
    run = start(X, method=chosen, max_questions=most, random_state=seed)
    found, apart = [], 0.0
    while run.pending:
        question = run.pending[0]
        i, j = question.pair
        run.tell(question, same=bool(truth[i] == truth[j]))
        if run.n_questions in MARKS or not run.pending:
            before = time.process_time()
            found.append(_now(run, truth, before - begin - apart))
            apart += time.process_time() - before
    return found


def _now(run: Any, truth: Any, cpu: float) -> Checkpoint:
    known = run.snapshot() if run.pending else run.result
    said = None if known.probability is None else float(np.mean(1.0 - known.probability))
    return Checkpoint(
        questions=run.n_questions,
        error=clustering_error(known.labels, truth),
        said=said,
        groups=len(np.unique(known.labels[known.labels >= 0])),
        asked=known.count(How.ASKED),
        cpu=cpu,
    )


def as_record(name: str, method: str, seed: int, one: Checkpoint) -> dict[str, Any]:
    return {"set": name, "method": method, "seed": seed, **asdict(one)}
