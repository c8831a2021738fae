"""Recover data larger than memory: the door, and the files that come out of it.

The passes are those of `samecluster.recovery.large`; what is found is written as it is found, into
a folder that appears when it is complete.
"""

from __future__ import annotations

import copy
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._typing import FloatArray, IntArray
from samecluster.api import _checked_answers, _checked_margin, _checked_n_clusters, _generator
from samecluster.errors import InvalidInputError
from samecluster.oracles.base import as_oracle, checked_answers
from samecluster.points.blocks import Points, surveyed
from samecluster.points.files import as_points
from samecluster.proof.files import writing_proof
from samecluster.questions.drive import drive_batches
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question
from samecluster.questions.run import Run
from samecluster.recovery.certify import Certify
from samecluster.recovery.large import UNDECIDED, LargePlan, Progress, Rest, sample_size
from samecluster.recovery.levels import first_rows
from samecluster.recovery.problem import Labelling, Problem
from samecluster.recovery.result import How
from samecluster.recovery.sweep import PIECE

__all__ = ["LargeRecovery", "recover_large"]

_BYTES_A_ROW = 4 + 1 + 2
_SPARE = 1 << 20
_WRITTEN_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class LargeRecovery:
    """The outcome of a recovery in blocks.

    Attributes
    ----------
    labels : (n,) cluster of each row, numbered from 0; -1 where there is none
    how_codes : (n,) `How` of each label as a small integer
    n_questions : pairs that were really put to the oracle
    answers : all answers, in the order given; they are about rows
    n_sample : rows that were in memory in the end
    n_sweeps : passes over the data, beside the first look at it
    margin, n_clusters : as declared
    """

    labels: npt.NDArray[np.int32]
    how_codes: npt.NDArray[np.int8]
    n_questions: int
    answers: tuple[Answer, ...]
    n_sample: int
    n_sweeps: int
    margin: float
    n_clusters: int | None

    def count(self, how: How) -> int:
        """How many labels are known this way."""
        return int(np.count_nonzero(self.how_codes == how))

    def __repr__(self) -> str:
        known = ", ".join(
            f"{self.count(how):,} {how.name.lower()}" for how in reversed(How) if self.count(how)
        )
        return (
            f"<LargeRecovery: {len(self.labels):,} points, {self.n_questions:,} questions, "
            f"labels {known}>"
        )


def recover_large(
    source: Any,
    oracle: Any,
    *,
    margin: float,
    n_clusters: int | None = None,
    method: Certify | None = None,
    columns: Sequence[str] | None = None,
    out: str | Path | None = None,
    proof: str | Path | None = None,
    answers: Iterable[Answer] = (),
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    sample: int | None = None,
    block: int = PIECE,
    threads: int | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> LargeRecovery:
    """Recover the clusters of data that need not fit into memory, by asking an oracle.

    Parameters
    ----------
    source : a path (.npy, Parquet, or a folder of such files), an array or a memory map, or any
        `samecluster.points.blocks.Points`
    oracle : as in `samecluster.recover`; rows are numbered through all files
    margin, n_clusters, answers, random_state : as in `samecluster.recover`; a margin is needed
    method : settings of certify
    columns : the columns of Parquet files to use; all if None
    out : a folder to write ``labels.npy`` and ``how.npy`` to; it must not exist.
        Without it labels are kept in memory
    proof : a file to write the proof to, for ``samecluster verify``
    sample : rows to keep in memory at first; by default as many as `samecluster.recover` looks at
        before it asks, at most 200,000, which gives the same questions
    block : rows read and decided at a time; questions and labels do not depend on it
    threads : how many to use, all cores if None; nor on this
    on_progress : told after every block how far the pass is

    Examples
    --------
    >>> from samecluster.instances import make_ellipsoids
    >>> from samecluster.oracles import LabelOracle
    >>> made = make_ellipsoids(n=50_000, d=2, k=3, random_state=0)
    >>> found = recover_large(
    ...     made.X.astype("float32"), LabelOracle(made.labels), n_clusters=3, margin=0.9,
    ...     random_state=0
    ... )
    >>> found.count(How.PROVEN) + found.count(How.ASKED)
    50000
    """
    points = as_points(source, columns)
    if points.n < 2:
        raise InvalidInputError(f"at least 2 points are needed, got {points.n}")
    declared = _checked_margin(margin)
    if declared is None:
        raise InvalidInputError("data in blocks needs a margin; estimate one on a sample first")
    settings = _Settings(
        method or Certify(),
        declared,
        _checked_n_clusters(n_clusters, points.n),
        tuple(_checked_answers(answers, points.n)),
        _generator(random_state),
        _checked_count("sample", sample, sample_size(points.n, points.d)),
        _checked_count("block", block, PIECE),
        _checked_count("threads", threads, os.cpu_count() or 1),
        on_progress,
    )
    with ExitStack() as stack:
        store = stack.enter_context(_store(points.n, out))
        run = _Started(points, settings, store, None if proof is None else Path(proof), stack)
        answering = as_oracle(oracle, run.view)
        drive_batches(run.run, lambda questions: checked_answers(answering, questions))
        found = run.finish()
    return store.reopened(found)


@dataclass(frozen=True, eq=False)
class _Settings:
    """What was asked for, checked."""

    method: Certify
    margin: float
    n_clusters: int | None
    answers: tuple[Answer, ...]
    rng: np.random.Generator
    sample: int
    block: int
    threads: int
    on_progress: Callable[[Progress], None]


class _Started:
    """One recovery: the first look at the data, then the run."""

    def __init__(
        self,
        points: Points,
        settings: _Settings,
        store: _Store,
        proof: Path | None,
        stack: ExitStack,
    ) -> None:
        self._settings, self._store = settings, store
        rows = _sampled_rows(points, settings)
        survey, X = surveyed(
            points,
            rows,
            settings.block,
            proof is not None,
            lambda done: settings.on_progress(Progress("survey", done, points.n)),
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
        labelling = Labelling(problem, "certify", ledger)
        self._rest = Rest(
            points,
            rows,
            store.names,
            settings.threads,
            np.random.default_rng(len(rows)),
            on_progress=settings.on_progress,
            block=settings.block,
        )
        self._plan = LargePlan(settings.method, problem, labelling, self._rest)
        self.view: Any = _View(points.n, self._plan)
        if proof is not None:
            assert labelling.proof is not None
            self._rest.write = stack.enter_context(writing_proof(labelling.proof.header(), proof))
        self.run = Run(self._plan.play(), ledger)

    def finish(self) -> LargeRecovery:
        """Write the labels; what is known about all rows."""
        n = len(self._store.names)
        for begin in range(0, n, _WRITTEN_AT_ONCE):
            end = min(begin + _WRITTEN_AT_ONCE, n)
            labels, how = self._plan.result(begin, end)
            self._store.labels[begin:end], self._store.how[begin:end] = labels, how
        return LargeRecovery(
            labels=self._store.labels,
            how_codes=self._store.how,
            n_questions=self.run.n_questions,
            answers=tuple(self.run.ledger),
            n_sample=len(self._rest.rows),
            n_sweeps=self._rest.n_sweeps,
            margin=self._settings.margin,
            n_clusters=self._settings.n_clusters,
        )


def _checked_count(name: str, value: Any, default: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InvalidInputError(f"{name} must be a whole number from 1 on, got {value!r}")
    return int(value)


def _sampled_rows(points: Points, settings: _Settings) -> IntArray:
    """The rows that certify in memory would look at first, then those with answers."""
    # Certify draws this number again, from a generator in the same state.
    seed = int(copy.deepcopy(settings.rng).integers(2**31))
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


class _View:
    """The data as oracles see it: they are only asked about rows of the sample."""

    def __init__(self, n: int, plan: LargePlan) -> None:
        self._n, self._plan = n, plan

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, row: int) -> FloatArray:
        return self._plan.point(row)


@dataclass(frozen=True, eq=False)
class _Store:
    """Where labels are written: arrays in memory or in files of a folder."""

    names: npt.NDArray[np.int16]
    labels: npt.NDArray[np.int32]
    how: npt.NDArray[np.int8]
    folder: Path | None = None

    def reopened(self, found: LargeRecovery) -> LargeRecovery:
        """The result, with labels from where they are now."""
        if self.folder is None:
            return found
        return replace(
            found,
            labels=np.load(self.folder / "labels.npy", mmap_mode="r"),
            how_codes=np.load(self.folder / "how.npy", mmap_mode="r"),
        )


@contextmanager
def _store(n: int, out: str | Path | None) -> Generator[_Store, None, None]:
    """A place for n labels; a folder appears only when all is well."""
    if out is None:
        names = np.full(n, UNDECIDED, np.int16)
        yield _Store(names, np.empty(n, np.int32), np.empty(n, np.int8))
        return
    folder = Path(out)
    _check_room(n, folder)
    partial = folder.with_name(folder.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        names = _array_in(partial / "names.npy", n, np.int16)
        names[:] = UNDECIDED
        labels = _array_in(partial / "labels.npy", n, np.int32)
        how = _array_in(partial / "how.npy", n, np.int8)
        yield _Store(names, labels, how, folder)
        labels.flush()
        how.flush()
        (partial / "names.npy").unlink()
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _array_in(path: Path, n: int, dtype: Any) -> Any:
    return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(n,))


def _check_room(n: int, folder: Path) -> None:
    if folder.exists():
        raise InvalidInputError(f"out: {folder} exists already; name a folder that does not")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InvalidInputError(f"out: {parent} does not exist")
    needed, free = n * _BYTES_A_ROW + _SPARE, shutil.disk_usage(parent).free
    if needed > free:
        raise InvalidInputError(
            f"out: {folder} needs {needed:,} bytes and only {free:,} are free there"
        )
