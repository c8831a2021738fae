"""Files that owners download: rows with their labels, the report, the proof.

They are made from a summary, so that no answer waits for them.
"""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from samecluster.errors import ProtocolError
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.conflicts import Conflict
from samecluster.web.snapshot import SessionSummary
from samecluster.workspace.export import (
    ResultFiles,
    Snapshot,
    proof_of,
    write_labels,
    write_proof,
    write_session_report,
)
from samecluster.workspace.open import OpenSession

_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}


@dataclass(frozen=True)
class Download:
    """A file, its media type and the name that it is saved under."""

    data: bytes
    kind: str
    name: str


def labels(opened: OpenSession, summary: SessionSummary, format_: str) -> Download:
    """The input with what was found about each row."""
    known = _known(summary)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"labels.{format_}"
        prefix = "samecluster_" if "cluster" in opened.table.columns else ""
        write_labels(opened, Snapshot(known, summary.names), ResultFiles(str(file), prefix=prefix))
        return Download(file.read_bytes(), _TYPES[format_], file.name)


def report(opened: OpenSession, summary: SessionSummary, trouble: list[Conflict]) -> Download:
    """The report, without values of items."""
    known = _known(summary)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        write_session_report(opened, Snapshot(known, summary.names, trouble), file)
        return Download(file.read_bytes(), "text/html; charset=utf-8", file.name)


def proof(opened: OpenSession, summary: SessionSummary) -> Download:
    """The proof and its points in one archive."""
    known = _known(summary)
    if proof_of(known) is None:
        raise ProtocolError("there is no proof: nothing is proven without a declared margin")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_proof(opened, Snapshot(known, summary.names), folder / "proof.jsonl.gz")
        archive = folder / "proof.zip"
        with zipfile.ZipFile(archive, "w") as packed:
            for file in sorted(folder.glob("proof.*")):
                if file != archive:
                    packed.write(file, file.name)
        return Download(archive.read_bytes(), "application/zip", archive.name)


def _known(summary: SessionSummary) -> Recovery:
    if summary.recovery is None:
        raise ProtocolError("the session is still being worked out; try again in a moment")
    return summary.recovery
