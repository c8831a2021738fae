"""What the terminal says while all rows of data in blocks are looked at, and after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from samecluster.cli.commands.large import passes_shown
from samecluster.errors import InvalidInputError
from samecluster.workspace.all_rows import (
    check_folder,
    is_proving,
    row_counts,
    swept,
    taken_in,
    write_all,
)

if TYPE_CHECKING:
    from rich.console import Console

    from samecluster.workspace.open import OpenSession

__all__ = ["export_all", "look_further", "take_in_what_needs_questions"]


def look_further(console: Console, who: str | None, opened: OpenSession) -> OpenSession | None:
    """Label all rows, say what came out, and take in rows that need questions, if there are any."""
    if opened.blocks is None:
        return None
    rest = opened.blocks.survey.n - len(opened.blocks.rows)
    console.print()
    console.print(f"Looking at the {rest:,} rows outside the sample.", markup=False)
    with passes_shown(console) as on_progress:
        found = swept(opened, on_progress)
    console.print(row_counts(found), markup=False)
    if found.to_ask is None or not len(found.to_ask.rows):
        return None
    more = f"{len(found.to_ask.rows):,} rows are out of reach of the answers and join the sample."
    console.print(more, markup=False)
    with console.status("working out what follows for them"):
        return taken_in(opened, found.to_ask, who)


def take_in_what_needs_questions(
    console: Console, who: str | None, opened: OpenSession
) -> OpenSession:
    """The same for a page, which cannot do it itself: only where rows may join."""
    is_done = opened.blocks is not None and opened.session.progress().ended
    if not is_done or not is_proving(opened):
        return opened
    return look_further(console, who, opened) or opened


def export_all(
    console: Console, opened: OpenSession, out: str, proof: Path | None, prefix: str, raw: bool
) -> list[str]:
    """Write labels of all rows; what to tell of it."""
    if proof is not None:
        raise InvalidInputError(
            "--proof does not go with a session on data in blocks, which keeps no proof of rows "
            "outside its sample; `samecluster cluster --in-blocks --proof` writes one of all rows"
        )
    for option, given in (("--prefix", prefix), ("--raw", raw)):
        if given:
            raise InvalidInputError(f"{option} does not go with data in blocks; leave it out")
    folder = check_folder(out)
    with passes_shown(console) as on_progress:
        found = write_all(opened, folder, on_progress)
    told = [row_counts(found), f"The sample: {opened.session.progress()}."]
    if found.to_ask is not None and len(found.to_ask.rows):
        n = len(found.to_ask.rows) + found.to_ask.n_more
        told.append(
            f"{n:,} rows need more questions: `samecluster label` asks them, and rows join the "
            "sample where they have to."
        )
    return [*told, f"Labels of all rows are in {folder}: labels.npy and how.npy."]
