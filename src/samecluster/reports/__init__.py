"""A recovery as one HTML file that anybody can open: no network, no scripts, light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samecluster.errors import InvalidInputError

if TYPE_CHECKING:
    from samecluster.recovery.result.result import Recovery

__all__ = ["write_report"]


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
) -> None:
    """Write a report. The file appears only when it is complete.

    It shows row numbers and no values of items unless ``items`` are given; but its picture shows
    where points lie.

    Parameters
    ----------
    recovery : what it is about
    path : the file; one that is there is replaced
    title : in the page's head
    trouble : what answers and margin cannot all be right about, such as `RefutedError`
    exceptions : points that were set aside, each as text
    items : rows to show, by row number, each with its fields; None shows none
    columns : names of the columns, for the picture
    names : names of clusters, by label
    """
    from samecluster.reports.page import Contents, page

    for row in items or ():
        if not 0 <= row < len(recovery.labels):
            raise InvalidInputError(
                f"items must be rows from 0 to {len(recovery.labels) - 1}, got {row}"
            )
    contents = Contents(recovery, title, trouble, exceptions, items, columns, names or {})
    _write(page(contents), Path(path))


def _write(text: str, target: Path) -> None:
    partial = target.with_name(target.name + ".partial")
    try:
        # Half a character, as damaged data may hold, must not cost the report.
        partial.write_text(text, "utf-8", errors="replace")
        partial.replace(target)
    except OSError as error:
        raise InvalidInputError(f"the report {target} cannot be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
