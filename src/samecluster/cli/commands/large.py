"""``samecluster cluster`` on data that need not fit into memory: here in blocks, or on Dask.

Answers go to a file beside the data as they come, by row numbers; the same command goes on.
"""

from __future__ import annotations

import json as json_text
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from samecluster.cli.options import OracleCommandOptions
from samecluster.errors import InvalidInputError
from samecluster.workspace.request import Request, listed

if TYPE_CHECKING:
    from rich.console import Console

    from samecluster.large.answer_log import AnswerLog
    from samecluster.large.api import LargeRecovery
    from samecluster.large.other_rows import PassProgress
    from samecluster.oracles.base import Oracle
    from samecluster.questions.pair import Question, Verdict

__all__ = ["LargeRequest", "cluster_large", "passes_shown"]

_INTERRUPTED = 130
_UNDERSTOOD = {"data", "features", "truth", "margin", "clusters", "audit"}


@dataclass(frozen=True)
class LargeRequest:
    """What a user asks for; nothing of it is checked yet.

    ``truth`` is a column of numbers in Parquet files, or a .npy file of labels; ``declared`` are
    margin, n_clusters and audit; ``out`` is a folder for labels.npy and how.npy.
    """

    data: Path
    features: Sequence[str] | None
    truth: str | None
    program: OracleCommandOptions | None
    declared: dict[str, Any]
    out: Path | None
    proof: Path | None
    dask: str | None = None
    answers: Path | None = None

    @classmethod
    def of(cls, request: Request, **others: Any) -> LargeRequest:
        """From the options of the command; InvalidInputError for those that need all the data."""
        request.refuse_all_but(_UNDERSTOOD, "--in-blocks or --dask")
        features = None if request.features is None else listed(request.features, ())
        declared = request.declared()
        return cls(Path(request.data), features, request.truth, declared=declared, **others)

    @property
    def answer_file(self) -> Path:
        """Where answers are kept: beside the data, unless said otherwise."""
        return self.answers or self.data.with_name(self.data.name + ".answers.jsonl")


def cluster_large(request: LargeRequest, *, json: bool) -> None:
    """Recover the data, telling how far it is; exit code 130 after Ctrl-C."""
    from rich.console import Console

    shown = Console(stderr=True, highlight=False)
    try:
        found = _recovered(request, shown)
    except KeyboardInterrupt:
        shown.print(
            f"Stopped. Answers are kept in {request.answer_file}; the same command goes on.",
            markup=False,
        )
        raise typer.Exit(_INTERRUPTED) from None
    told = _facts(request, found)
    if json:
        typer.echo(json_text.dumps(told, indent=2, ensure_ascii=False))
        return
    typer.echo(f"{told['points']:,} points, {told['questions']:,} questions")
    typer.echo(", ".join(f"{count:,} {how}" for how, count in told["labels"].items()))
    for line in (told["margin"], told["audit"]):
        if line is not None:
            typer.echo(line)
    if request.out is not None:
        typer.echo(f"Labels are in {request.out}: labels.npy and how.npy.")


def _recovered(request: LargeRequest, shown: Console) -> LargeRecovery:
    from samecluster.large.answer_log import AnswerLog
    from samecluster.large.api import start_large
    from samecluster.oracles.base import checked_answers
    from samecluster.points.files import open_points
    from samecluster.questions.drive import drive_batches

    points = open_points(request.data, request.features)
    log = AnswerLog(request.answer_file, points.n, points.d)
    if log.answers:
        kept = f"Going on with {request.answer_file}: {len(log.answers):,} answers are there."
        shown.print(kept, markup=False)
    with (
        passes_shown(shown) as on_progress,
        start_large(
            request.data,
            columns=request.features,
            out=request.out,
            proof=request.proof,
            answers=tuple(log.answers),
            random_state=0,
            dask=request.dask,
            on_progress=on_progress,
            **request.declared,
        ) as run,
        _answering(request, run.view, [points.column(at) for at in range(points.d)]) as oracle,
    ):
        return drive_batches(run, lambda asked: _kept(checked_answers(oracle, asked), log))


def _kept(
    answers: Iterable[tuple[Question, Verdict]], log: AnswerLog
) -> Generator[tuple[Question, Verdict], None, None]:
    """Answers as they come, each written down before it is told."""
    from samecluster.questions.pair import Answer

    for question, verdict in answers:
        log.append(Answer(question, verdict))
        yield question, verdict


@contextmanager
def _answering(request: LargeRequest, view: Any, names: list[str]) -> Iterator[Oracle]:
    """Whoever answers: a program, which sees the numbers of a row, or the truth."""
    from samecluster.oracles.command_protocol import ShownItem
    from samecluster.oracles.functions import FunctionOracle

    if request.program is None:
        true_label = _true_labels(request)
        yield FunctionOracle(lambda i, j: true_label(i) == true_label(j))
        return

    def shown(row: int) -> ShownItem:
        return ShownItem(f"row {row}", dict(zip(names, view[row].tolist(), strict=True)))

    with request.program.oracle(shown) as oracle:
        yield oracle


def _true_labels(request: LargeRequest) -> Callable[[int], Any]:
    """The true group of any row, read when asked for."""
    import numpy as np

    from samecluster.points.files import open_points

    if request.truth is None:
        raise InvalidInputError("somebody must answer: --oracle-cmd PROGRAM or --truth COLUMN")
    if not request.truth.endswith(".npy"):
        column = open_points(request.data, [request.truth])
        return lambda row: column.row(row)[0]
    labels = np.load(request.truth, mmap_mode="r", allow_pickle=False)
    n = open_points(request.data, request.features).n
    if labels.shape != (n,):
        raise InvalidInputError(
            f"--truth {request.truth} must hold one label for each of {n:,} rows, got shape "
            f"{labels.shape}"
        )
    return lambda row: labels[row]


@contextmanager
def passes_shown(console: Console) -> Iterator[Callable[[PassProgress], None]]:
    """A bar for each pass: blocks done, points decided, and the time that is left."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    text = TextColumn("{task.description}", markup=False)
    columns = text, BarColumn(), TimeRemainingColumn()
    watched = console.is_terminal
    with Bars(*columns, console=console, transient=True, disable=not watched) as bars:
        tasks: dict[str, Any] = {}

        def on_progress(progress: PassProgress) -> None:
            stage = progress.stage
            if stage not in tasks or bars.tasks[tasks[stage]].completed > progress.done:
                tasks[stage] = bars.add_task(stage, total=progress.n)
            bars.update(tasks[stage], completed=progress.done, description=str(progress))

        yield on_progress


def _facts(request: LargeRequest, found: LargeRecovery) -> dict[str, Any]:
    from samecluster.recovery.result.how import How

    counts = {how.name.lower(): found.count(how) for how in reversed(How) if found.count(how)}
    return {
        "points": len(found.labels),
        "questions": len(found.answers),
        "labels": counts,
        "margin": None if found.search is None else str(found.search),
        "audit": None if found.audit is None else str(found.audit),
        "sweeps": found.n_sweeps,
        "out": None if request.out is None else str(request.out),
        "answers": str(request.answer_file),
    }
