"""Files that a session ends in: the rows with their labels, the proof, the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from samecluster._extras import pyarrow
from samecluster.errors import InvalidInputError
from samecluster.proof.log import ProofLog
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.conflicts import Conflict
from samecluster.sessions.session import Session
from samecluster.tables.display import columns_to_show, shown
from samecluster.tables.writing import NAMES, format_of, write_results
from samecluster.workspace.open import OpenSession

__all__ = [
    "NO_PROOF",
    "Snapshot",
    "check_outputs",
    "points_beside",
    "proof_line",
    "proof_of",
    "write_labels",
    "write_proof",
    "write_session_report",
]

NO_PROOF = "There is no proof to write, as nothing is proven: that needs --margin NUMBER."


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What is known at one moment: labels, names of clusters by number, what does not fit."""

    recovery: Recovery
    names: Mapping[int, str]
    trouble: Sequence[Conflict] = ()

    @classmethod
    def of(cls, session: Session) -> Snapshot:
        return cls(session.snapshot(), session.names(), session.trouble)


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


def write_labels(
    opened: OpenSession, known: Snapshot, out: str, *, prefix: str = "", raw: bool = False
) -> None:
    """The input with what was found about each row; clusters by name where they have one."""
    recovery = known.recovery
    asked = np.where(recovery.how_codes == How.ASKED, 1.0, np.nan)
    write_results(
        opened.table,
        out,
        [known.names.get(label, label) for label in recovery.labels.tolist()],
        recovery.how.tolist(),
        asked if recovery.probability is None else recovery.probability,
        rows=opened.data.rows,
        prefix=prefix,
        raw=raw,
    )


def proof_of(known: Recovery) -> ProofLog | None:
    """The proof if something is proven; under a guessed margin the log proves nothing."""
    return known.proof if known.count(How.PROVEN) else None


def write_proof(opened: OpenSession, known: Snapshot, path: Path) -> str:
    """The proof, and beside it the points that it is about; what to tell the user of it.

    The points are those after scaling, which a reader of the data alone does not have.
    """
    from samecluster.proof.files import save_proof

    proof = proof_of(known.recovery)
    if proof is None:
        return NO_PROOF
    points = points_beside(path)
    try:
        save_proof(proof, path)
        np.save(points, opened.data.X)
    except OSError as error:
        raise InvalidInputError(f"the proof {path} cannot be written: {error}") from error
    return proof_line(path, points)


def points_beside(proof: Path) -> Path:
    """Where the points go that a proof is about."""
    return proof.with_name(f"{proof.name.partition('.')[0]}.points.npy")


def proof_line(proof: Path, points: Path) -> str:
    """Where a proof is, and how to check it."""
    return f"The proof is in {proof}; to check it: samecluster verify {points} {proof}"


def write_session_report(
    opened: OpenSession, known: Snapshot, path: Path, *, include_items: bool = False
) -> None:
    """The report as one HTML file; values of items that were asked about only if told to."""
    from samecluster.reports import write_report

    state = opened.session.state
    write_report(
        known.recovery,
        path,
        title=opened.table.source,
        trouble=known.trouble,
        exceptions=sorted(state.exceptions),
        items=_asked_items(opened, known.recovery) if include_items else None,
        names=known.names,
    )


def _asked_items(opened: OpenSession, known: Recovery) -> dict[int, dict[str, str]]:
    columns = columns_to_show(opened.table, opened.options)
    return {
        row: {
            cell.column: cell.text for cell in shown(opened.table, opened.table_row(row), columns)
        }
        for row in np.flatnonzero(known.how_codes == How.ASKED).tolist()
    }
