"""Recover data larger than memory: the doors `recover_large` and `start_large`.

The passes are those of `samecluster.large.plan`; what is found is written as it is found, into
files that appear when they are complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from samecluster._parameters import whole_number
from samecluster.errors import InvalidInputError
from samecluster.large.other_rows import PassProgress
from samecluster.large.plan import sample_size
from samecluster.large.result import LargeRecovery, label_store
from samecluster.large.run import LargeParameters, LargeRun
from samecluster.large.sweep import PIECE
from samecluster.lifts.lift import Lift
from samecluster.lifts.polynomial import Polynomial
from samecluster.oracles.base import VerdictReader, as_oracle, checked_answers
from samecluster.points.block_work import is_remote
from samecluster.points.dask_cluster import connected, open_dask
from samecluster.points.files import as_points
from samecluster.points.protocol import Points
from samecluster.questions.drive import drive_looks
from samecluster.questions.pair import Answer
from samecluster.recovery.certify.plan import Certify
from samecluster.validation import (
    checked_audit,
    checked_given,
    checked_margin,
    checked_n_clusters,
    generator,
)


def _ignore(_: PassProgress) -> None:
    """The progress of a pass that nobody watches."""


def recover_large(
    source: Any,
    oracle: Any,
    *,
    margin: float | Literal["auto"] = "auto",
    n_clusters: int | None = None,
    method: Certify | None = None,
    columns: Sequence[str] | None = None,
    out: str | Path | None = None,
    proof: str | Path | None = None,
    audit: tuple[float, float] | None = None,
    answers: Iterable[Answer] = (),
    lift: str | Polynomial | Lift | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    sample: int | None = None,
    block: int = PIECE,
    threads: int | None = None,
    dask: str | None = None,
    on_progress: Callable[[PassProgress], None] = _ignore,
) -> LargeRecovery:
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
    with start_large(
        source,
        margin=margin,
        n_clusters=n_clusters,
        method=method,
        columns=columns,
        out=out,
        proof=proof,
        audit=audit,
        answers=answers,
        lift=lift,
        random_state=random_state,
        sample=sample,
        block=block,
        threads=threads,
        dask=dask,
        on_progress=on_progress,
    ) as run:
        answering, read = as_oracle(oracle, run.view), VerdictReader()
        return drive_looks(run, lambda questions: checked_answers(answering, questions, read))


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
    lift: str | Polynomial | Lift | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    sample: int | None = None,
    block: int = PIECE,
    threads: int | None = None,
    dask: str | None = None,
    on_progress: Callable[[PassProgress], None] = _ignore,
) -> Generator[LargeRun, None, None]:
    """Begin a recovery in blocks whose questions you answer yourself, as a ``with`` block.

    Files appear when the block is left after the last answer; otherwise there are none, and
    ``answers=tuple(run.ledger)`` goes on later.

    Parameters
    ----------
    source : a path (.npy, Parquet, or a folder of such files), an array or a memory map, a Dask
        array or DataFrame, or any `samecluster.points.protocol.Points`; rows are numbered through
        all files
    margin, n_clusters, answers, lift, random_state : as in `samecluster.start`. With "auto" a
        margin is guessed on the sample, and no question is about other rows, except by an audit
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
        parameters = LargeParameters(
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
            lift,
        )
        with suppress(_Incomplete), ExitStack() as files:
            store = files.enter_context(label_store(points.n, out))
            run = LargeRun(points, parameters, store, None if proof is None else Path(proof), files)
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
    """Raised to discard partial files; never leaves this module."""


def _checked_count(name: str, value: Any, default: int) -> int:
    return default if value is None else whole_number(name, value)
