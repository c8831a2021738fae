"""``samecluster cluster``: questions answered by a program, or by the known truth."""

from __future__ import annotations

import json as json_text
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samecluster.cli.options import Json, OracleCommandOptions, takes_request
from samecluster.errors import InvalidInputError, OracleError
from samecluster.workspace.request import Request

if TYPE_CHECKING:
    from rich.console import Console

    from samecluster._typing import IntArray
    from samecluster.sessions.running.drivers import Answering
    from samecluster.sessions.session import Session
    from samecluster.workspace.open import OpenSession

__all__ = ["cluster"]

_INTERRUPTED = 130

OracleCommand = Annotated[
    str | None,
    typer.Option(
        "--oracle-cmd", help="A program that reads a JSON question a line and writes an answer."
    ),
]
Parallel = Annotated[
    int, typer.Option("--parallel", help="Copies of the program, each with one question at a time.")
]
Timeout = Annotated[float, typer.Option("--timeout", help="Seconds to wait for an answer.")]
Retries = Annotated[
    int, typer.Option("--retries", help="How often a question is put again after a failure.")
]
Show = Annotated[
    list[str] | None,
    typer.Option("--show", help="Columns that the program sees: a,b,c or several times."),
]
InBlocks = Annotated[
    bool,
    typer.Option(
        "--in-blocks",
        help="DATA need not fit into memory: .npy, Parquet, or a folder of either. Truth is a "
        "column of numbers or a .npy file, and labels go to the folder -o.",
    ),
]
DaskAddress = Annotated[
    str | None,
    typer.Option("--dask", help="The same on the workers of a Dask scheduler at this address."),
]
NoSession = Annotated[
    bool, typer.Option("--no-session", help="Keep no answers: a run that stops begins anew.")
]
Out = Annotated[
    str | None,
    typer.Option("-o", "--out", help="Where labels go: a .csv, .jsonl or .parquet file, or -"),
]
Prefix = Annotated[str, typer.Option("--prefix", help="Put before the names of new columns.")]
Raw = Annotated[bool, typer.Option("--raw", help="Leave text such as =1+1 in CSV as it is.")]
Proof = Annotated[Path | None, typer.Option("--proof", help="Where the proof goes: .jsonl.gz")]
Report = Annotated[Path | None, typer.Option("--report", help="Where a report goes: .html")]


@dataclass(frozen=True)
class _Files:
    """What to write at the end."""

    out: str | None
    prefix: str
    raw: bool
    proof: Path | None
    report: Path | None


@takes_request("in_blocks")
def cluster(
    request: Request,
    oracle_cmd: OracleCommand = None,
    parallel: Parallel = 1,
    timeout: Timeout = 60.0,
    retries: Retries = 2,
    show: Show = None,
    in_blocks: InBlocks = False,
    dask: DaskAddress = None,
    no_session: NoSession = False,
    out: Out = None,
    prefix: Prefix = "",
    raw: Raw = False,
    proof: Proof = None,
    report: Report = None,
    json: Json = False,
) -> None:
    """Find the groups in data with a program that answers, or with the truth as a simulation.

    Answers are kept as they come: if the run stops for whatever reason, the same command goes on
    and asks nothing again. With --truth COLUMN that column answers; with --oracle-cmd a program
    does (and the truth, where given, only measures the error).

    Exit code 0 when nothing is left to ask or the budget is spent, 2 if the data or an option
    cannot be used, 1 if the program fails or something else is wrong, 130 after Ctrl-C.

    Example: samecluster cluster letters.csv --oracle-cmd "python ask_model.py" --parallel 4
    """
    from rich.console import Console

    if oracle_cmd is None and request.truth is None:
        raise InvalidInputError(
            "somebody must answer: --oracle-cmd PROGRAM or --truth COLUMN (a person answers in "
            "`samecluster label`)"
        )
    if no_session and request.session is not None:
        raise InvalidInputError("--session and --no-session exclude each other")
    if json and out == "-":
        raise InvalidInputError("--json and -o - both write to standard output; name a file")
    program = (
        None
        if oracle_cmd is None
        else OracleCommandOptions(oracle_cmd, parallel, timeout, retries, show)
    )
    if in_blocks or dask is not None:
        from samecluster.cli.commands.large import LargeRequest, cluster_large

        if no_session or report is not None:
            raise InvalidInputError(
                "--no-session and --report do not go with --in-blocks or --dask"
            )
        large = LargeRequest.of(
            request,
            program=program,
            out=None if out is None else Path(out),
            proof=proof,
            dask=dask,
        )
        cluster_large(large, json=json)
        return
    files = _Files(out, prefix, raw, proof, report)
    progress = Console(stderr=True, highlight=False)
    try:
        with _place_for_answers(request, no_session) as placed:
            _cluster(placed, program, files, json, progress, is_kept=not no_session)
    except KeyboardInterrupt:
        kept = (
            "Nothing is kept." if no_session else "All answers are kept; the same command goes on."
        )
        progress.print(f"Stopped. {kept}", markup=False)
        raise typer.Exit(_INTERRUPTED) from None


@contextmanager
def _place_for_answers(request: Request, no_session: bool) -> Iterator[Request]:
    if not no_session:
        yield request
        return
    with tempfile.TemporaryDirectory() as folder:
        yield replace(request, session=Path(folder, "answers.samecluster"))


def _cluster(
    request: Request,
    program: OracleCommandOptions | None,
    files: _Files,
    json: bool,
    progress: Console,
    is_kept: bool,
) -> None:
    from samecluster.cli.terminal.answerers import truth_of_items
    from samecluster.cli.terminal.closing import facts
    from samecluster.workspace.export import check_outputs
    from samecluster.workspace.open import open_session

    with progress.status("reading the data"):
        opened = open_session(request)
    with _gone_if_refused(opened):
        if opened.blocks is not None:
            raise InvalidInputError(
                f"{opened.path} is a session on data in blocks, for `samecluster label` and "
                "`serve`; a program answers with --in-blocks, which keeps its answers elsewhere"
            )
        check_outputs(opened, files.out, files.prefix, files.proof, files.report)
        truth = None if request.truth is None else truth_of_items(opened, request.truth)
        _greet(progress, opened, is_kept)
        try:
            _answer_all(opened, request, program, truth, progress)
        except OracleError as error:
            n, noted = opened.session.state.n_questions, f"kept in {opened.path}"
            kept = f"{n:,} answers are {noted}; the same command goes on" if is_kept else ""
            raise OracleError(f"{error}\n{kept}".strip()) from error
        told = facts(opened, truth)
        told["session"] = str(opened.path) if is_kept else None
        written = _write(opened, files)
        if json:
            typer.echo(json_text.dumps(told, indent=2, ensure_ascii=False))
        else:
            _print_end(opened, files, written, told, is_kept)


@contextmanager
def _gone_if_refused(opened: OpenSession) -> Iterator[None]:
    """A session that a wrong option ends before the first answer leaves no file.

    Its features would stay, and the command could not be tried again with others.
    """
    refused = False
    try:
        with opened:
            yield
    except InvalidInputError:
        refused = opened.is_new and not opened.session.state.n_questions
        raise
    finally:
        if refused:
            opened.path.unlink()


def _greet(progress: Console, opened: OpenSession, is_kept: bool) -> None:
    from samecluster.cli.commands.inspect import print_inspection

    if not opened.is_new:
        n = opened.session.state.n_questions
        progress.print(f"Going on with {opened.path}: {n:,} answers are there.", markup=False)
        return
    print_inspection(progress, opened.data.inspection(), opened.data.notes)
    if is_kept:
        progress.print(f"Answers go to {opened.path}.", markup=False)


def _answer_all(
    opened: OpenSession,
    request: Request,
    program: OracleCommandOptions | None,
    truth: IntArray | None,
    progress: Console,
) -> None:
    from functools import partial

    from samecluster.cli.terminal.answerers import ShownItems, answer_by_truth
    from samecluster.workspace.pair_display import checked_columns
    from samecluster.workspace.request import listed

    if program is None:
        assert truth is not None
        who = request.who or f"column {request.truth}"
        _drive(opened.session, partial(answer_by_truth, truth), who, 1, progress)
        return
    columns = checked_columns(opened, listed(program.show, opened.table.names))
    # A session that was begun without it knows nothing of the truth; the program must not see it.
    shown = ShownItems(opened, [name for name in columns if name != request.truth])
    with program.oracle(shown) as oracle:
        opened.session.widen(program.parallel)
        who = request.who or "program"
        _drive(opened.session, oracle.answer_many, who, program.parallel, progress)


def _drive(
    session: Session, answering: Answering, who: str, parallel: int, progress: Console
) -> None:
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from samecluster.sessions.running.drivers import drive_session

    # A number of clusters, or a file, is not markup.
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    is_watched = progress.is_terminal
    with Progress(*columns, console=progress, transient=True, disable=not is_watched) as shown:
        task = shown.add_task(_course(session), total=None)
        drive_session(
            session,
            answering,
            who=who,
            parallel=parallel,
            on_answer=lambda: shown.update(task, description=_course(session)),
        )


def _course(session: Session) -> str:
    """Questions so far, and labels by how they are known."""
    from samecluster.recovery.result.how import How

    known = session.snapshot()
    ways = [f"{known.count(how):,} {how.name.lower()}" for how in reversed(How) if known.count(how)]
    return f"{known.n_questions:,} questions; {', '.join(ways)}"


def _write(opened: OpenSession, files: _Files) -> list[str]:
    """Write what was asked for, and say so."""
    from samecluster.workspace.export import (
        Snapshot,
        write_labels,
        write_proof,
        write_session_report,
    )

    told, known = [], Snapshot.of(opened.session)
    if files.out is not None:
        write_labels(opened, known, files.out, prefix=files.prefix, raw=files.raw)
        told += [] if files.out == "-" else [f"Labels are in {files.out}."]
    if files.proof is not None:
        told.append(write_proof(opened, known, files.proof))
    if files.report is not None:
        write_session_report(opened, known, files.report)
        told.append(f"The report is in {files.report}; its picture shows where points lie.")
    return told


def _print_end(
    opened: OpenSession,
    files: _Files,
    written: list[str],
    told: dict[str, object],
    is_kept: bool,
) -> None:
    from rich.console import Console

    from samecluster.cli.terminal.closing import next_steps, summary

    console = Console(stderr=files.out == "-", highlight=False)
    following = next_steps(opened, files.out is not None, is_kept)
    for line in (*summary(told), *written, *following):
        console.print(line, markup=False, soft_wrap=True)
