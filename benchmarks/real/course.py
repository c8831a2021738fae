"""One run on a set: the error at some numbers of questions, and what the run said of it then."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

import numpy as np

from benchmarks.real.sets import data
from samecluster import Recovery, clustering_error, start
from samecluster.recovery.predict.plan import Predict

MARKS = (50, 100, 200, 300, 500, 1000)
_SECONDS = 600  # of the processor: what a baseline has not reached by then is left out


@dataclass(frozen=True)
class Checkpoint:
    """``said`` is the expected share of wrong labels, None where the run says that it is unknown.

    ``unseen`` is the share that may be in groups that nobody has met. ``cpu`` are seconds of the
    run so far, without those of measuring it. A run that ended before has ``ended`` questions.
    """

    questions: int
    error: float
    said: float | None = None
    unseen: float | None = None
    groups: int = 0
    cpu: float = 0.0
    ended: int | None = None


def checkpoints(name: str, method: str, seed: int, marks: Sequence[int]) -> list[Checkpoint]:
    """Prediction goes on to the last mark; with nothing declared a run ends when it is done."""
    X, truth = data(name)
    chosen: Any = Predict(expected_error=0.0) if method == "predict" else method
    begin, apart, left = time.process_time(), 0.0, list(marks)
    run = start(X, method=chosen, max_questions=marks[-1], random_state=seed)
    found = []
    while run.pending:
        question = run.pending[0]
        i, j = question.pair
        run.tell(question, same=bool(truth[i] == truth[j]))
        while left and (run.n_questions >= left[0] or not run.pending):
            before = time.process_time()
            ended = run.n_questions if run.n_questions < left[0] else None
            found.append(_now(run, truth, before - begin - apart, left.pop(0), ended))
            apart += time.process_time() - before
    return found


def _now(run: Any, truth: Any, cpu: float, mark: int, ended: int | None) -> Checkpoint:
    known = run.snapshot() if run.pending else run.result
    return Checkpoint(
        questions=mark,
        error=clustering_error(known.labels, truth),
        said=said_error(known),
        unseen=None if known.foresight is None else known.foresight.unseen,
        groups=len(np.unique(known.labels[known.labels >= 0])),
        cpu=round(cpu, 2),
        ended=ended,
    )


def said_error(known: Recovery) -> float | None:
    """The share of wrong labels that a result expects; None where it says that it is unknown."""
    if known.foresight is None or not known.foresight.tells or known.probability is None:
        return None
    return float(np.mean(1.0 - known.probability))


def baseline(name: str, method: str, seed: int, marks: Sequence[int]) -> list[Checkpoint]:
    """The same of a tool of `benchmarks.real.baselines`, as far as it comes in ten minutes."""
    from benchmarks.peers.counting import CountingOracle, LimitReached
    from benchmarks.peers.instances import Case
    from benchmarks.real.baselines import BASELINES, Marks

    X, truth = data(name)
    oracle = CountingOracle(truth, marks[-1])
    trace = Marks(truth, oracle, marks)
    try:
        with _limited_time():
            BASELINES[method](Case(X, truth, 0.0), oracle, trace, seed)
    except _TimeIsUp:
        pass
    except LimitReached:
        trace.end("limit")
    else:
        trace.end("stopped")
    return [Checkpoint(mark, error) for mark, error in trace.errors.items()]


class _TimeIsUp(Exception):
    """The time of a baseline is used up."""


@contextmanager
def _limited_time() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def as_record(name: str, method: str, seed: int, one: Checkpoint) -> dict[str, Any]:
    kept = {key: value for key, value in asdict(one).items() if value is not None}
    kept["error"] = round(one.error, 6)
    today = date.today().isoformat()
    return {"date": today, "set": name, "method": method, "seed": seed, **kept}
