"""Files that a session ends in: the rows with their labels, the proof, the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from samecluster._extras import pyarrow
from samecluster.errors import InvalidInputError
from samecluster.proof.log import ProofLog
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.conflicts import Conflict
from samecluster.tables.display import columns_to_show, shown
from samecluster.tables.writing import NAMES, format_of, write_results
from samecluster.workspace.open import OpenSession

__all__ = [
    "check_outputs",
    "proof_of",
    "write_known_labels",
    "write_known_proof",
    "write_known_report",
    "write_labels",
    "write_proof",
    "write_session_report",
]


def check_outputs(opened: OpenSession, out: str | None, prefix: str, *others: Path | None) -> None:
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


def write_labels(opened: OpenSession, out: str, *, prefix: str = "", raw: bool = False) -> None:
    """The input with what was found about each row; clusters by name where they have one."""
    session = opened.session
    write_known_labels(opened, session.snapshot(), session.names(), out, prefix=prefix, raw=raw)


def write_known_labels(
    opened: OpenSession,
    known: Recovery,
    names: Mapping[int, str],
    out: str,
    *,
    prefix: str = "",
    raw: bool = False,
) -> None:
    """The same with what was known at some moment; leaves the session alone."""
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


def write_proof(opened: OpenSession, path: Path) -> str:
    """The proof, and beside it the points that it is about; what to tell the user of it.

    The points are those after scaling, which a reader of the data alone does not have.
    """
    return write_known_proof(opened, opened.session.snapshot(), path)


def proof_of(known: Recovery) -> ProofLog | None:
    """The proof if something is proven; under a guessed margin the log proves nothing."""
    return known.proof if known.count(How.PROVEN) else None


def write_known_proof(opened: OpenSession, known: Recovery, path: Path) -> str:
    """The same with what was known at some moment; leaves the session alone."""
    from samecluster.proof.files import save_proof

    proof = proof_of(known)
    if proof is None:
        return "There is no proof to write, as nothing is proven: that needs --margin NUMBER."
    points = path.with_name(f"{path.name.partition('.')[0]}.points.npy")
    try:
        save_proof(proof, path)
        np.save(points, opened.prepared.X)
    except OSError as error:
        raise InvalidInputError(f"the proof {path} cannot be written: {error}") from error
    return f"The proof is in {path}; to check it: samecluster verify {points} {path}"


def write_session_report(opened: OpenSession, path: Path, *, include_items: bool = False) -> None:
    """The report as one HTML file; values of items that were asked about only if told to."""
    session, known = opened.session, opened.session.snapshot()
    items = _asked_items(opened) if include_items else None
    write_known_report(opened, known, session.names(), session.trouble, path, items=items)


def write_known_report(
    opened: OpenSession,
    known: Recovery,
    names: Mapping[int, str],
    trouble: Sequence[Conflict],
    path: Path,
    *,
    items: Mapping[int, Mapping[str, str]] | None = None,
) -> None:
    """The same with what was known at some moment; leaves the run of the session alone."""
    from samecluster.reports import write_report

    state = opened.session.state
    write_report(
        known,
        path,
        title=opened.table.source,
        audit=known.audit,
        trouble=trouble,
        exceptions=sorted(state.exceptions),
        items=items,
        names=names,
        margin_declared=state.parameters.get("margin", "auto") != "auto",
    )


def _asked_items(opened: OpenSession) -> dict[int, dict[str, str]]:
    columns = columns_to_show(opened.table, opened.wanted)
    asked = np.flatnonzero(opened.session.snapshot().how_codes == How.ASKED).tolist()
    return {
        row: {
            cell.column: cell.text for cell in shown(opened.table, opened.table_row(row), columns)
        }
        for row in asked
    }
