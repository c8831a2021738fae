"""Files that a session ends in: the rows with their labels, the proof, the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from samecluster.cli.opening import Opened
from samecluster.errors import InvalidInputError
from samecluster.extras import pyarrow
from samecluster.recovery.result import How
from samecluster.tables.results import NAMES, format_of, write_results

__all__ = ["check_outputs", "write_labels", "write_proof", "write_session_report"]


def check_outputs(opened: Opened, out: str | None, prefix: str, *others: Path | None) -> None:
    """InvalidInputError now for what would fail after all questions were asked."""
    taken = next((n for n in NAMES if prefix + n in opened.table.columns), None)
    if out is not None and taken is not None:
        raise InvalidInputError(
            f"{opened.table.source} has a column {prefix + taken!r} already; put something before "
            "the new names, such as --prefix new_"
        )
    if out is not None and format_of(opened.table, out) == "parquet":
        pyarrow()  # says how to install it if it is missing
    for path in (None if out in (None, "-") else Path(str(out)), *others):
        if path is not None and not path.absolute().parent.is_dir():
            raise InvalidInputError(f"{path} cannot be written: there is no folder {path.parent}")


def write_labels(opened: Opened, out: str, *, prefix: str = "", raw: bool = False) -> None:
    """The input with what was found about each row; clusters by name where they have one."""
    known, names = opened.session.snapshot(), opened.session.names()
    labels = [names.get(label, label) for label in known.labels.tolist()]
    asked = np.where(known.how_codes == How.ASKED, 1.0, np.nan)
    write_results(
        opened.table,
        out,
        labels,
        known.how.tolist(),
        asked if known.probability is None else known.probability,
        rows=opened.prepared.rows,
        prefix=prefix,
        raw=raw,
    )


def write_proof(opened: Opened, path: Path) -> Path | None:
    """The proof, and beside it the points that it is about; None if nothing is proven.

    The points are those after scaling, which a reader of the data alone does not have.
    """
    from samecluster.proof.files import save_proof

    known = opened.session.snapshot()
    if known.proof is None or not known.count(How.PROVEN):
        return None
    points = path.with_name(f"{path.name.partition('.')[0]}.points.npy")
    try:
        save_proof(known.proof, path)
        np.save(points, opened.prepared.X)
    except OSError as error:
        raise InvalidInputError(f"the proof {path} cannot be written: {error}") from error
    return points


def write_session_report(opened: Opened, path: Path) -> None:
    """The report as one HTML file, without values of items."""
    from samecluster.reports import write_report

    session, known = opened.session, opened.session.snapshot()
    write_report(
        known,
        path,
        title=opened.table.source,
        audit=known.audit,
        trouble=session.trouble,
        exceptions=sorted(session.state.exceptions),
        names=session.names(),
        margin_declared=session.state.parameters.get("margin", "auto") != "auto",
    )
