"""Questions of `samecluster cluster`, answered by a program or by the truth until none is left."""

from __future__ import annotations

from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from samecluster.cli.terminal.all_rows import passes_shown, take_in_open_rows
from samecluster.cli.terminal.answerers import Answerer
from samecluster.cli.terminal.screen import CompilingColumn, Screen
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.how import ways
from samecluster.recovery.result.sentences import count
from samecluster.sessions.running.drivers import drive_session
from samecluster.sessions.session import Session
from samecluster.workspace.export import ResultFiles
from samecluster.workspace.in_blocks.all_rows import AllRowsSweep, labelled_rows
from samecluster.workspace.in_blocks.row_audit import RowAudit
from samecluster.workspace.open import OpenSession


def label_blocks(
    console: Screen,
    opened: OpenSession,
    answerer: Answerer,
    files: ResultFiles,
    audit: tuple[float, float] | None,
) -> tuple[OpenSession, AllRowsSweep, AuditReport | None]:
    """Answer about the sample, label all rows, and let rows join until none has to.

    An audit is of all rows; those that it asks about join, too.
    """
    while True:
        drive(console, opened.session, answerer)
        report = None
        with (
            passes_shown(console) as on_progress,
            labelled_rows(opened, files, on_progress) as found,
        ):
            found.is_wanted = not found.needs_questions
            if found.is_wanted and audit is not None:
                checks = RowAudit(opened, answerer.answering, answerer.follow, answerer.who)
                report = checks.check(found, *audit)
                opened = checks.opened
        if found.is_wanted:
            return opened, found, report
        opened = take_in_open_rows(console, answerer.who, opened, found)
        answerer.follow(opened)


def drive(console: Screen, session: Session, answerer: Answerer) -> None:
    """Answer until nothing is left to ask."""
    # A number of clusters, or a file, is not markup.
    text = TextColumn("{task.description}", markup=False)
    columns = SpinnerColumn(), text, TimeElapsedColumn(), CompilingColumn()
    is_watched = console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=not is_watched) as shown:
        task = shown.add_task(_course(session), total=None)
        drive_session(
            session,
            answerer.answering,
            who=answerer.who,
            parallel=answerer.parallel,
            looks=answerer.looks,
            second_looks=answerer.second_looks,
            on_answer=lambda: shown.update(task, description=_course(session, answerer.spent())),
        )


def _course(session: Session, spent: str = "") -> str:
    """Questions so far, labels by how they are known, and what was spent."""
    known = session.snapshot()
    said = [count(known.n_questions, "question"), ways(known.by_how), spent]
    return "; ".join(filter(None, said))
