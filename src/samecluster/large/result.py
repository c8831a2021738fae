"""What comes out of a recovery in blocks, in memory or in files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._files import appearing_folder
from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.large.other_rows import UNDECIDED
from samecluster.lifts.lift import ColumnMap
from samecluster.questions.pair import Answer
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.claims import Claim, ClaimBasis, claims
from samecluster.recovery.result.how import CodedLabels, ways
from samecluster.recovery.result.result import MarginSearch
from samecluster.recovery.result.separation import ProofSummary

_BYTES_PER_ROW = 4 + 1 + 2  # label, how, name
_SPARE = 1 << 20  # headers of three files and what a folder takes, with much room


@dataclass(frozen=True, eq=False)
class SampleRows:
    """The rows that were in memory, by which new rows are labelled; names are as in `Recovery`."""

    points: FloatArray
    labels: IntArray
    how_codes: npt.NDArray[np.int8]
    margin: float | None
    search: MarginSearch | None
    lift: ColumnMap | None
    resolution: tuple[float, ...]
    probability: None = None
    models: tuple[str, ...] = ()
    proof: None = None


@dataclass(frozen=True, eq=False)
class LargeRecovery(CodedLabels):
    """The outcome of a recovery in blocks.

    Attributes
    ----------
    labels : (n,) cluster of each row, numbered from 0; -1 where there is none
    how_codes : (n,) `How` of each label as a small integer
    n_questions : pairs that were really put to the oracle
    answers : all answers, in the order given; they are about rows
    n_sample : rows that were in memory in the end
    n_sweeps : passes over the data, beside the first look at it
    margin, n_clusters : as declared; a margin that was guessed, or None if none was of use
    search : how the margin was found, if it was guessed
    audit : what the audit has shown, if one was asked for
    exceptions : rows that answers put outside every group that was found
    proof : what the proof says beside the labels
    lift : the lift that the margin is one in; None for the columns as they are
    sample : the rows that were in memory in the end
    """

    labels: npt.NDArray[np.int32]
    how_codes: npt.NDArray[np.int8]
    n_questions: int
    answers: tuple[Answer, ...]
    n_sample: int
    n_sweeps: int
    margin: float | None
    n_clusters: int | None
    search: MarginSearch | None = None
    audit: AuditReport | None = None
    exceptions: tuple[int, ...] = ()
    proof: ProofSummary | None = None
    lift: ColumnMap | None = None
    sample: SampleRows | None = None

    def predict(self, rows: Any) -> Any:
        """Labels for new rows (m, d), as `samecluster.Recovery.predict` gives them.

        The known members that reach a row are those of the sample. So rows of the sample have the
        labels that they have; others of the data are labelled as if they were new.
        """
        return self._labeller.assign(rows)

    @cached_property
    def _labeller(self) -> Any:
        # By name, as it is made of rooms above this one.
        return import_module("samecluster.assignment.labeller").RowLabeller(self.sample)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """What is claimed about the labels, and under which premises."""
        return claims(ClaimBasis.of(self))

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is claimed about the labels, and what that rests on: a sentence for each claim."""
        return tuple(map(str, self.claims))

    def __repr__(self) -> str:
        return (
            f"<LargeRecovery: {len(self.labels):,} points, {self.n_questions:,} questions, "
            f"labels {ways(self.by_how)}>"
        )


@dataclass(frozen=True, eq=False)
class LabelStore:
    """Where labels are written: arrays in memory, or in files of a folder.

    ``names`` is for sweeps, and gone in the end. All of ``how`` is UNASSIGNED at first.
    """

    names: npt.NDArray[np.int16]
    labels: npt.NDArray[np.int32]
    how: npt.NDArray[np.int8]


@contextmanager
def label_store(n: int, out: str | Path | None) -> Generator[LabelStore, None, None]:
    """A place for n labels; a folder appears only when all is well."""
    if out is None:
        names = np.full(n, UNDECIDED, np.int16)
        yield LabelStore(names, np.empty(n, np.int32), np.zeros(n, np.int8))
        return
    folder = Path(out)
    check_room(n, folder)
    with appearing_folder(folder) as partial:
        names = _array_in(partial / "names.npy", n, np.int16)
        names[:] = UNDECIDED
        labels = _array_in(partial / "labels.npy", n, np.int32)
        how = _array_in(partial / "how.npy", n, np.int8)
        yield LabelStore(names, labels, how)
        labels.flush()
        how.flush()
        (partial / "names.npy").unlink()


def _array_in(path: Path, n: int, dtype: Any) -> Any:
    return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(n,))


def check_room(n: int, folder: Path) -> None:
    """InvalidInputError if labels of n rows cannot go into a new folder of this name."""
    if os.path.lexists(folder):
        raise InvalidInputError(f"out: {folder} exists already; name a folder that does not")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InvalidInputError(f"out: {parent} does not exist")
    needed, free = n * _BYTES_PER_ROW + _SPARE, shutil.disk_usage(parent).free
    if needed > free:
        raise InvalidInputError(
            f"out: {folder} needs {needed:,} bytes and only {free:,} are free there"
        )
