"""What the terminal says while all rows of data in blocks are looked at, and after."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samecluster._files import is_stdout
from samecluster.errors import InvalidInputError
from samecluster.large.result import check_room
from samecluster.recovery.result.sentences import count
from samecluster.tables.writing import FORMATS
from samecluster.workspace.export import NO_PROOF, ResultFiles, proof_line
from samecluster.workspace.in_blocks.all_rows import (
    AllRowsSweep,
    is_proving,
    labelled_rows,
    row_counts,
    swept,
    taken_in,
    write_points,
)

if TYPE_CHECKING:
    from samecluster.cli.terminal.screen import Screen
    from samecluster.large.other_rows import PassProgress
    from samecluster.workspace.open import OpenSession


@contextmanager
def passes_shown(console: Screen) -> Iterator[Callable[[PassProgress], None]]:
    """A bar for each pass: blocks done, points decided, and the time that is left."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from samecluster.cli.terminal.screen import CompilingColumn

    text = TextColumn("{task.description}", markup=False)
    columns = text, BarColumn(), TimeRemainingColumn(), CompilingColumn()
    watched = console.is_terminal
    with Bars(*columns, console=console, transient=True, disable=not watched) as bars:
        tasks: dict[str, Any] = {}

        def on_progress(progress: PassProgress) -> None:
            stage = progress.stage
            if stage not in tasks or bars.tasks[tasks[stage]].completed > progress.done:
                tasks[stage] = bars.add_task(stage, total=progress.n)
            bars.update(tasks[stage], completed=progress.done, description=str(progress))

        yield on_progress


def look_further(console: Screen, who: str | None, opened: OpenSession) -> OpenSession | None:
    """Label all rows, say what came out, and take in rows that need questions, if there are any."""
    if opened.blocks is None:
        return None
    rest = opened.blocks.survey.n - len(opened.blocks.rows)
    console.print()
    console.print(f"Looking at the {count(rest, 'row')} outside the sample.")
    with passes_shown(console) as on_progress:
        found = swept(opened, on_progress)
    console.print(row_counts(found))
    return take_in_open_rows(console, who, opened, found) if found.needs_questions else None


def take_in_open_rows(
    console: Screen, who: str | None, opened: OpenSession, found: AllRowsSweep
) -> OpenSession:
    """The session with the rows that need questions among its items."""
    assert found.to_ask is not None
    rows = count(len(found.to_ask.rows), "row")
    console.print(f"Out of reach of the answers, so that they join the sample: {rows}.")
    with console.status("working out what follows for them"):
        return taken_in(opened, found.to_ask, who)


def take_in_what_needs_questions(
    console: Screen, who: str | None, opened: OpenSession
) -> OpenSession:
    """The same for a page, which cannot do it itself: only where rows may join."""
    is_done = opened.blocks is not None and opened.session.progress().ended
    if not is_done or not is_proving(opened):
        return opened
    return look_further(console, who, opened) or opened


def export_all(console: Screen, opened: OpenSession, files: ResultFiles) -> list[str]:
    """Write labels of all rows; what to tell of it."""
    check_folder(opened, files)
    with (
        passes_shown(console) as on_progress,
        labelled_rows(opened, files, on_progress) as found,
    ):
        pass  # they are written as they are
    told = [row_counts(found), f"The sample: {opened.session.progress()}."]
    if found.needs_questions:
        assert found.to_ask is not None
        n = len(found.to_ask.rows) + found.to_ask.n_more
        told.append(
            f"Not known without more questions: {count(n, 'row')}. `samecluster label` asks them, "
            "and rows join the sample where they have to."
        )
    return [*told, *written_lines(opened, files)]


def check_folder(opened: OpenSession, files: ResultFiles) -> None:
    """InvalidInputError now for files that do not go with data in blocks, or would fail later."""
    for option, given in (("--prefix", files.prefix), ("--raw", files.raw)):
        if given:
            raise InvalidInputError(f"{option} does not go with data in blocks; leave it out")
    out = files.out
    if out is not None and (is_stdout(out) or Path(out).suffix.lower() in FORMATS):
        raise InvalidInputError(
            f"-o must name a folder, as the data is in blocks: labels.npy and how.npy of all rows "
            f"go there; got {out}"
        )
    if out is not None:
        check_room(opened.block_data.survey.n, Path(out))
    files.check(opened)


def written_lines(opened: OpenSession, files: ResultFiles) -> list[str]:
    """Where the labels of all rows are, and their proof; writes the points that it is about."""
    told = []
    if files.out is not None:
        told.append(f"Labels of all rows are in {files.out}: labels.npy and how.npy.")
    if files.proof is not None and is_proving(opened):
        points = write_points(opened, files.proof, force=files.force)
        told.append(proof_line(files.proof, points))
    elif files.proof is not None:
        told.append(NO_PROOF)
    return told
