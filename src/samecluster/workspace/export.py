"""Files that a session ends in: the rows with their labels, the proof, the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from samecluster._extras import pyarrow
from samecluster._files import IsOurs, check_output, is_stdout, written_file
from samecluster.errors import InvalidInputError
from samecluster.proof.files import is_proof_file, save_proof
from samecluster.proof.log import ProofLog
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.reports import is_report, write_report
from samecluster.sessions.conflicts import Conflict
from samecluster.sessions.session import Session
from samecluster.tables.display import columns_to_show, shown
from samecluster.tables.result_files import NAMES, is_result_file
from samecluster.tables.writing import format_of, write_results
from samecluster.workspace.item_names import ItemNames
from samecluster.workspace.open import OpenSession
from samecluster.workspace.typed_command import typed

NO_PROOF = "There is no proof to write, as nothing is proven: that needs --margin NUMBER."

_PROOF_ENDINGS = (".jsonl.gz", ".jsonl", ".parquet")


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What is known at one moment: labels, names of clusters by number, what does not fit."""

    recovery: Recovery
    names: Mapping[int, str]
    trouble: Sequence[Conflict] = ()

    @classmethod
    def of(cls, session: Session) -> Snapshot:
        return cls(session.snapshot(), session.names(), session.trouble)


@dataclass(frozen=True)
class ResultFiles:
    """Where results go, and how they are written: ``out`` is a file, -, or a folder for blocks.

    With ``force`` a file is replaced that is no result of ours; ``inputs`` beside those of the
    session never are.
    """

    out: str | None = None
    proof: Path | None = None
    report: Path | None = None
    prefix: str = ""
    raw: bool = False
    force: bool = False
    inputs: tuple[Path, ...] = ()

    def check(self, opened: OpenSession) -> None:
        """InvalidInputError now for what would fail after all questions were asked."""
        if self.out is not None and opened.blocks is None:
            self._check_table(opened, self.out)
            self._check(opened, self.out, is_result_file)
        if self.proof is not None:
            if is_stdout(self.proof):
                raise InvalidInputError(
                    "--proof needs the name of a file: the points that it is about go beside it"
                )
            self._check(opened, self.proof, is_proof_file)
            self._check(opened, points_beside(self.proof), _is_with(self.proof))
        if self.report is not None:
            self._check(opened, self.report, is_report)

    def _check(self, opened: OpenSession, path: str | Path, is_ours: IsOurs) -> None:
        inputs = (*opened.inputs, *self.inputs)
        check_output(path, is_ours, force=self.force, inputs=inputs)

    def _check_table(self, opened: OpenSession, out: str) -> None:
        taken = next((n for n in NAMES if self.prefix + n in opened.table.columns), None)
        if taken is not None:
            raise InvalidInputError(
                f"{opened.table.source} has a column {self.prefix + taken!r} already; put "
                "something before the new names, such as --prefix new_"
            )
        if format_of(opened.table, out) == "parquet":
            pyarrow()  # says how to install it if it is missing


def write_labels(opened: OpenSession, known: Snapshot, files: ResultFiles) -> None:
    """The input with what was found about each row; clusters by name where they have one."""
    assert files.out is not None
    recovery = known.recovery
    asked = np.where(recovery.how_codes == How.ASKED, 1.0, np.nan)
    write_results(
        opened.table,
        files.out,
        [known.names.get(label, label) for label in recovery.labels.tolist()],
        recovery.how.tolist(),
        asked if recovery.probability is None else recovery.probability,
        rows=opened.data.rows,
        prefix=files.prefix,
        raw=files.raw,
        force=files.force,
        inputs=opened.inputs,
    )


def proof_of(known: Recovery) -> ProofLog | None:
    """The proof if something is proven; under a guessed margin the log proves nothing."""
    return known.proof if known.count(How.PROVEN) else None


def write_proof(opened: OpenSession, known: Snapshot, path: Path, *, force: bool = False) -> str:
    """The proof, and beside it the points that it is about; what to tell the user of it.

    The points are those after scaling, which a reader of the data alone does not have.
    """
    proof = proof_of(known.recovery)
    if proof is None:
        return NO_PROOF
    # Points before the proof: the proof that is there says whether points beside it are ours.
    with written_points(opened, path, force=force) as partial, partial.open("wb") as file:
        np.save(file, opened.data.X)
    save_proof(proof, path, force=force, inputs=opened.inputs)
    return proof_line(path, points_beside(path))


@contextmanager
def written_points(opened: OpenSession, proof: Path, *, force: bool = False) -> Iterator[Path]:
    """The file of the points that a proof is about, to be filled."""
    points, is_ours = points_beside(proof), _is_with(proof)
    with written_file(points, is_ours, force=force, inputs=opened.inputs) as partial:
        yield partial


def _is_with(proof: Path) -> IsOurs:
    """Points have no mark of their own; they are ours if a proof of ours is beside them."""
    stem = proof.name.partition(".")[0]
    beside = {proof, *(proof.with_name(stem + end) for end in _PROOF_ENDINGS)}
    return lambda _: any(one.is_file() and is_proof_file(one) for one in beside)


def points_beside(proof: Path) -> Path:
    """Where the points go that a proof is about."""
    return proof.with_name(f"{proof.name.partition('.')[0]}.points.npy")


def proof_line(proof: Path, points: Path) -> str:
    """Where a proof is, and how to check it."""
    return f"The proof is in {proof}; to check it: {typed('verify', points, proof)}"


def write_session_report(
    opened: OpenSession,
    known: Snapshot,
    path: Path,
    *,
    include_items: bool = False,
    force: bool = False,
) -> None:
    """The report as one HTML file; values of items that were asked about only if told to."""
    state, names = opened.session.state, ItemNames(opened.data)
    write_report(
        known.recovery,
        path,
        title=opened.table.source,
        trouble=[names.in_text(str(one)) for one in known.trouble],
        exceptions=[names(key) for key in sorted(state.book.exceptions)],
        items=_asked_items(opened, known.recovery) if include_items else None,
        names=known.names,
        force=force,
        inputs=opened.inputs,
    )


def _asked_items(opened: OpenSession, known: Recovery) -> dict[int, dict[str, str]]:
    columns = columns_to_show(opened.table, opened.options)
    return {
        row: {
            cell.column: cell.text for cell in shown(opened.table, opened.table_row(row), columns)
        }
        for row in np.flatnonzero(known.how_codes == How.ASKED).tolist()
    }
