"""A recovery as one HTML file that anybody can open: no network, no scripts, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samecluster._files import written_file
from samecluster.errors import InvalidInputError
from samecluster.reports.markup import MARK

if TYPE_CHECKING:
    from samecluster.recovery.result.result import Recovery

__all__ = ["is_report", "write_report"]

_HEAD = 2_000  # bytes in which the mark is; the head before it never changes


def write_report(
    recovery: Recovery,
    path: str | Path,
    *,
    title: str,
    trouble: Sequence[Any] = (),
    exceptions: Sequence[Any] = (),
    items: Mapping[int, Mapping[str, Any]] | None = None,
    columns: Sequence[str] | None = None,
    names: Mapping[int, str] | None = None,
    force: bool = False,
    inputs: Iterable[Path] = (),
) -> None:
    """Write a report. The file appears only when it is complete.

    It shows row numbers and no values of items unless ``items`` are given; but its picture shows
    where points lie.

    Parameters
    ----------
    recovery : what it is about
    path : the file; one that is there is replaced if it is a report, or with ``force``
    title : in the page's head
    trouble : what answers and margin cannot all be right about, such as `RefutedError`
    exceptions : points that were set aside, each as text
    items : rows to show, by row number, each with its fields; None shows none
    columns : names of the columns, for the picture
    names : names of clusters, by label
    inputs : files that are never replaced, such as the data
    """
    from samecluster.reports.page import Contents, page

    for row in items or ():
        if not 0 <= row < len(recovery.labels):
            raise InvalidInputError(
                f"items must be rows from 0 to {len(recovery.labels) - 1}, got {row}"
            )
    contents = Contents(recovery, title, trouble, exceptions, items, columns, names or {})
    with written_file(path, is_report, force=force, inputs=inputs) as partial:
        # Half a character, as damaged data may hold, must not cost the report.
        partial.write_text(page(contents), "utf-8", errors="replace")


def is_report(path: Path) -> bool:
    """Whether a file is a report, by the mark in its head."""
    with path.open("rb") as file:
        return MARK.encode() in file.read(_HEAD)
