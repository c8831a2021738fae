"""Recover data larger than memory: the doors `recover_large` and `start_large`.

The passes are those of `samecluster.large.plan`; what is found is written as it is found, into
files that appear when they are complete.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.large.other_rows import OtherRows, PassProgress
from samecluster.large.plan import LargeAuto, LargePlan, sample_size
from samecluster.large.result import LabelStore, LargeRecovery, label_store
from samecluster.large.sweep import PIECE
from samecluster.oracles.base import as_oracle, checked_answers
from samecluster.points.block_work import is_remote
from samecluster.points.dask_cluster import connected, open_dask
from samecluster.points.files import as_points
from samecluster.points.protocol import Points
from samecluster.points.survey import surveyed
from samecluster.proof.files import writing_proof
from samecluster.questions.drive import drive_batches
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question
from samecluster.questions.run import Plan, Run
from samecluster.recovery.audit.plan import audited
from samecluster.recovery.certify.levels import first_rows, sample_seed
from samecluster.recovery.certify.plan import Certify
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.validation import (
    checked_audit,
    checked_given,
    checked_margin,
    checked_n_clusters,
    generator,
)

__all__ = ["LargeRecovery", "LargeRun", "recover_large", "start_large"]

_WRITTEN_AT_ONCE = 1 << 20


def recover_large(source: Any, oracle: Any, **options: Any) -> LargeRecovery:
    """Recover the clusters of data that need not fit into memory, by asking an oracle.

    ``oracle`` is as in `samecluster.recover`; all other parameters are those of `start_large`.

    Examples
    --------
    >>> from samecluster.instances import make_ellipsoids
    >>> from samecluster.oracles import LabelOracle
    >>> made = make_ellipsoids(n=50_000, d=2, k=3, margin=1.1, random_state=0)
    >>> single = made.X.astype("float32")
    >>> recover_large(single, LabelOracle(made.labels), n_clusters=3, margin=1.0, random_state=0)
    <LargeRecovery: 50,000 points, 6 questions, labels 9 asked, 49,991 proven>
    """
    with start_large(source, **options) as run:
        answering = as_oracle(oracle, run.view)
        return drive_batches(run, lambda questions: checked_answers(answering, questions))


@contextmanager
def start_large(
    source: Any,
    *,
    margin: float | Literal["auto"] = "auto",
    n_clusters: int | None = None,
    method: Certify | None = None,
    columns: Sequence[str] | None = None,
    out: str | Path | None = None,
    proof: str | Path | None = None,
    audit: tuple[float, float] | None = None,
    answers: Iterable[Answer] = (),
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    sample: int | None = None,
    block: int = PIECE,
    threads: int | None = None,
    dask: str | None = None,
    on_progress: Callable[[PassProgress], None] = lambda _: None,
) -> Generator[LargeRun, None, None]:
    """Begin a recovery in blocks whose questions you answer yourself, as a ``with`` block.

    Files appear when the block is left after the last answer; otherwise there are none, and
    ``answers=tuple(run.ledger)`` goes on later.

    Parameters
    ----------
    source : a path (.npy, Parquet, or a folder of such files), an array or a memory map, a Dask
        array or DataFrame, or any `samecluster.points.protocol.Points`; rows are numbered through
        all files
    margin, n_clusters, answers, random_state : as in `samecluster.start`. With "auto" a margin is
        guessed on the sample, and no question is about other rows, except by an audit
    method : settings of certify
    columns : the columns of Parquet files or of a DataFrame to use; all if None
    out : a folder to write ``labels.npy`` and ``how.npy`` to; it must not exist. Without it labels
        are kept in memory
    proof : a file to write the proof to, for ``samecluster verify``; needs a declared margin
    audit : (error, confidence): ask about random rows until at most that share of the labels is
        shown to be wrong, as in `samecluster.recover`; nothing is learned from failures
    sample : rows to keep in memory at first; by default as many as `samecluster.recover` looks at
        before it asks, at most 200,000, which gives the same questions
    block : rows read and decided at a time; questions and labels do not depend on it
    threads : how many to use, all cores if None; nor on this
    dask : the address of a Dask scheduler whose workers do both passes, and read the files if
        source is a path. A Dask collection without it goes to the scheduler that Dask would use
    on_progress : told after every block how far the pass is
    """
    with ExitStack() as cluster:
        if dask is not None:
            cluster.enter_context(connected(dask))
        points = _opened(source, columns, on_dask=dask is not None)
        if points.n < 2:
            raise InvalidInputError(f"at least 2 points are needed, got {points.n}")
        declared = checked_margin(margin)
        if declared is None and proof is not None:
            raise InvalidInputError("a proof needs a declared margin; with a guessed one, none is")
        settings = _Settings(
            method or Certify(),
            declared,
            checked_n_clusters(n_clusters, points.n),
            tuple(checked_given(answers, points.n)),
            generator(random_state),
            _checked_count("sample", sample, sample_size(points.n, points.d)),
            _checked_count("block", block, PIECE),
            _checked_count("threads", threads, os.cpu_count() or 1),
            on_progress,
            checked_audit(audit),
        )
        with suppress(_Incomplete), ExitStack() as files:
            store = files.enter_context(label_store(points.n, out))
            run = LargeRun(points, settings, store, None if proof is None else Path(proof), files)
            yield run
            if not run.done:
                raise _Incomplete


def _opened(source: Any, columns: Sequence[str] | None, on_dask: bool) -> Points:
    if on_dask and isinstance(source, str | Path):
        return open_dask(Path(source).absolute(), columns)
    points = as_points(source, columns)
    if on_dask and not is_remote(points):
        raise InvalidInputError(
            "dask works on paths that its workers see, and on Dask arrays and DataFrames; got "
            f"{type(source).__name__}"
        )
    return points


class _Incomplete(Exception):
    """Tells the files that they are not complete; nobody else hears of it."""


@dataclass(frozen=True, eq=False)
class _Settings:
    """What was asked for, checked."""

    method: Certify
    margin: float | None
    n_clusters: int | None
    answers: tuple[Answer, ...]
    rng: np.random.Generator
    sample: int
    block: int
    threads: int
    on_progress: Callable[[PassProgress], None]
    audit: tuple[float, float] | None


class LargeRun(Run[LargeRecovery]):
    """A recovery in blocks under way: the data has been looked at once."""

    def __init__(
        self,
        points: Points,
        settings: _Settings,
        store: LabelStore,
        proof: Path | None,
        files: ExitStack,
    ) -> None:
        self._settings, self._store = settings, store
        rows = _sampled_rows(points, settings)
        survey, X = surveyed(
            points,
            rows,
            settings.block,
            proof is not None,
            lambda done: settings.on_progress(
                PassProgress("survey", done, points.n, 0, settings.block)
            ),
            settings.threads,
        )
        ledger = Ledger(settings.answers)
        problem = Problem(
            X=X,
            n_clusters=settings.n_clusters,
            margin=settings.margin,
            rng=settings.rng,
            answers=_by_place(tuple(ledger), rows),
            survey=survey,
        )
        self._rest = OtherRows(
            points,
            rows,
            store.names,
            settings.threads,
            np.random.default_rng(len(rows)),
            on_progress=settings.on_progress,
            block=settings.block,
        )
        self._large: LargePlan | LargeAuto = LargeAuto(settings.method, problem, self._rest)
        if settings.margin is not None:
            labelling = Labelling(problem, "certify", ledger)
            self._large = LargePlan(settings.method, problem, labelling, self._rest)
            if proof is not None:
                assert labelling.proof is not None
                header = labelling.proof.header()
                self._rest.write = files.enter_context(writing_proof(header, proof))
        self.view: Any = _LabelView(points, self._large)
        super().__init__(self._whole(), ledger)

    def _whole(self) -> Plan[LargeRecovery]:
        yield from self._large.play()
        n, store = len(self._store.names), self._store
        for begin in range(0, n, _WRITTEN_AT_ONCE):
            end = min(begin + _WRITTEN_AT_ONCE, n)
            store.labels[begin:end], store.how[begin:end] = self._large.result(begin, end)
        report = None
        if self._settings.audit is not None:
            # Drawn only now: whoever chose the labels could not know which would be checked.
            draws = np.random.default_rng(int(self._settings.rng.integers(2**63)))
            report = yield from audited(
                store.labels, store.how, tuple(self.ledger), *self._settings.audit, draws
            )
        search = self._large.search if isinstance(self._large, LargeAuto) else None
        return LargeRecovery(
            labels=store.labels,
            how_codes=store.how,
            n_questions=self.n_questions,
            answers=tuple(self.ledger),
            n_sample=len(self._rest.rows),
            n_sweeps=self._rest.n_sweeps,
            margin=self._settings.margin if search is None else search.margin,
            n_clusters=self._settings.n_clusters,
            search=search,
            audit=report,
        )


def _checked_count(name: str, value: Any, default: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InvalidInputError(f"{name} must be a whole number from 1 on, got {value!r}")
    return int(value)


def _sampled_rows(points: Points, settings: _Settings) -> IntArray:
    """The rows that certify in memory would look at first, then those with answers."""
    # Certify draws the seed again, from a generator in the same state.
    seed = sample_seed(copy.deepcopy(settings.rng))
    rows = first_rows(points.n, min(settings.sample, points.n), seed)
    asked = {item for answer in settings.answers for item in answer.question.pair}
    return np.concatenate([rows, np.array(sorted(asked - set(rows.tolist())), dtype=np.int64)])


def _by_place(answers: tuple[Answer, ...], rows: IntArray) -> tuple[Answer, ...]:
    """Answers about rows, as answers about their places in the sample."""
    if not answers:
        return ()
    place = {row: at for at, row in enumerate(rows.tolist())}
    return tuple(
        Answer(
            Question(place[answer.question.item], place[answer.question.comparator]),
            answer.verdict,
            answer.who,
        )
        for answer in answers
    )


class _LabelView:
    """The data as oracles see it: mostly they are asked about rows of the sample."""

    def __init__(self, points: Points, plan: LargePlan | LargeAuto) -> None:
        self._points, self._plan = points, plan

    def __len__(self) -> int:
        return self._points.n

    def __getitem__(self, row: int) -> FloatArray:
        point = self._plan.point(row)
        return self._points.row(row).astype(np.float64) if point is None else point
