"""All rows of data in blocks, labelled by what a session knows of the sample that it asks about;
and rows that join the sample, so that they can be asked about."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._typing import IntArray
from samecluster.large.follow import LabelledSample, OpenRows, SampleLabels
from samecluster.large.other_rows import UNDECIDED, OtherRows, PassProgress, Write, answers_about
from samecluster.large.result import label_store
from samecluster.large.sweep import PIECE
from samecluster.points.survey import Survey, lifted_survey, surveyed
from samecluster.proof.files import writing_proof
from samecluster.recovery.certify.plan import Certify
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.recovery.result.claims import Claim, ClaimBasis, claims
from samecluster.recovery.result.how import How, ways
from samecluster.recovery.result.separation import summary_of
from samecluster.workspace.data import BlockData
from samecluster.workspace.export import ResultFiles, points_beside, written_points
from samecluster.workspace.in_blocks.sample import joined
from samecluster.workspace.open import OpenSession, export_command


@dataclass(eq=False)
class AllRowsSweep:
    """What sweeps of all rows found.

    ``how`` and ``labels`` (n,) are of all rows, the latter if somebody wants them. Rows in
    ``to_ask`` need questions. Who sets ``is_wanted`` to False leaves no files.
    """

    how: npt.NDArray[np.int8]
    labels: npt.NDArray[np.int32] | None
    to_ask: OpenRows | None
    n_sweeps: int
    is_wanted: bool = True

    @property
    def n(self) -> int:
        return len(self.how)

    @property
    def by_how(self) -> dict[How, int]:
        """All rows by how their label is known."""
        return {way: int(np.count_nonzero(self.how == way)) for way in How}

    @property
    def needs_questions(self) -> bool:
        return self.to_ask is not None and bool(len(self.to_ask.rows))


def sample_line(opened: OpenSession, session: str | None = None) -> str | None:
    """That the items are a sample, and which command labels all rows; None if they are not.

    ``session`` is what to call the session file if not by its path.
    """
    blocks = opened.blocks
    if blocks is None:
        return None
    path, data = (opened.path, blocks.path) if session is None else (Path(session), blocks.name)
    return (
        f"The items are a sample: {len(blocks.rows):,} of the {blocks.survey.n:,} rows of "
        f"{blocks.name}. To label all rows: {export_command(path, data, 'FOLDER')}"
    )


def row_counts(found: AllRowsSweep) -> str:
    """All rows by how they are known, for people."""
    return f"All {found.n:,} rows: {ways(found.by_how)}."


def row_claims(
    opened: OpenSession, found: AllRowsSweep, audit: AuditReport | None
) -> tuple[Claim, ...]:
    """What is claimed about all rows, if their labels are at hand."""
    if found.labels is None:
        return ()
    rows, known = opened.block_data.rows, opened.session.snapshot()
    return claims(
        ClaimBasis(
            found.labels,
            found.how,
            answers_about(known.answers, rows),
            known.margin if _rests_on_margin(opened) else None,
            not is_proving(opened),
            known.n_clusters,
            summary_of(known.proof, lambda item: int(rows[item])),
            exceptions=tuple(rows[list(known.exceptions)].tolist()),
            audit=audit,
            prepared=known.prepared,
        )
    )


def is_proving(opened: OpenSession) -> bool:
    """Whether labels of other rows would be proven: the margin is declared, and stands."""
    session = opened.session
    declared = session.state.parameters.get("margin", "auto") != "auto"
    return declared and _rests_on_margin(opened)


def swept(opened: OpenSession, on_progress: Callable[[PassProgress], None]) -> AllRowsSweep:
    """Look at all rows, and keep nothing but how they are known, and rows that need questions."""
    n = opened.block_data.survey.n
    names, how = np.full(n, UNDECIDED, np.int16), np.zeros(n, np.int8)
    return _swept(opened, names, how, None, on_progress)


@contextmanager
def labelled_rows(
    opened: OpenSession, files: ResultFiles, on_progress: Callable[[PassProgress], None]
) -> Iterator[AllRowsSweep]:
    """Labels of all rows, which may be changed until the end of the block.

    Then labels.npy and how.npy are in the folder ``files.out``; without it they are in memory. The
    proof is written if something can be proven (`is_proving`). Files appear when all is well.
    """
    out, proof = None if files.out is None else Path(files.out), files.proof
    with suppress(_Unwanted), ExitStack() as writing:
        store = writing.enter_context(label_store(opened.block_data.survey.n, out))

        def write_proof(header: dict[str, Any]) -> Write:
            assert proof is not None
            log = writing_proof(header, proof, force=files.force, inputs=opened.inputs)
            return writing.enter_context(log)

        to_proof = None if proof is None else write_proof
        found = _swept(opened, store.names, store.how, store.labels, on_progress, to_proof)
        yield found
        if not found.is_wanted:
            raise _Unwanted


class _Unwanted(Exception):
    """Raised to discard partial files; never leaves this module."""


def write_points(opened: OpenSession, proof: Path, *, force: bool = False) -> Path:
    """The file that a proof of all rows is checked with: the data, or a copy of its features."""
    blocks = opened.block_data
    (file, _), *others = blocks.files.files
    if not others and file.suffix.lower() == ".npy":
        return Path(blocks.path)
    points, begin = blocks.files, 0
    shape, dtype = (points.n, points.d), points.dtype
    with written_points(opened, proof, force=force) as partial:
        written = np.lib.format.open_memmap(partial, mode="w+", dtype=dtype, shape=shape)
        for block in points.blocks(PIECE):
            written[begin : begin + len(block)] = block
            begin += len(block)
        written.flush()
    return points_beside(proof)


def taken_in(opened: OpenSession, to_ask: OpenRows, who: str | None) -> OpenSession:
    """The session with more rows as items."""
    data = joined(opened.data, to_ask.rows, to_ask.points)
    opened.session.update(data.keys, data.X, preparation=data.preparation.to_json(), who=who)
    return replace(opened, data=data)


def with_rows(opened: OpenSession, rows: IntArray, who: str | None) -> OpenSession:
    """The session with these rows of the data among its items; one pass if some are new."""
    blocks = opened.block_data
    new = np.setdiff1d(rows, blocks.rows)
    if not len(new):
        return opened
    _, points = surveyed(blocks.points, new, PIECE, False, threads=os.cpu_count() or 1)
    return taken_in(opened, OpenRows(new, points, 0), who)


def _swept(
    opened: OpenSession,
    names: npt.NDArray[np.int16],
    how: npt.NDArray[np.int8],
    labels: npt.NDArray[np.int32] | None,
    on_progress: Callable[[PassProgress], None],
    write_proof: Callable[[dict[str, Any]], Write] | None = None,
) -> AllRowsSweep:
    blocks, to_ask = opened.block_data, None
    draws = np.random.default_rng(len(blocks.rows))
    rest = OtherRows(
        blocks.points, blocks.rows, names, how, os.cpu_count() or 1, draws, on_progress=on_progress
    )
    proves, survey = is_proving(opened), blocks.survey
    if proves and write_proof is not None:
        survey = _fingerprinted(blocks, on_progress)
    lift = opened.session.snapshot().lift
    survey = lifted_survey(blocks.points, survey, lift, PIECE, os.cpu_count() or 1)
    found = SampleLabels(_settings(opened), _sample(opened, survey), rest)
    if proves:
        to_ask = found.prove(write_proof)
        if opened.session.state.spent_budgets:
            found.predict(to_ask)
            to_ask = None
    else:
        # While questions are left, what the sample has no label for is not guessed for the rest.
        found.infer(predict=bool(opened.session.progress().ended))
    rest.finish(found.labels, found.how, labels)
    return AllRowsSweep(how, labels, to_ask, rest.n_sweeps)


def _fingerprinted(blocks: BlockData, on_progress: Callable[[PassProgress], None]) -> Survey:
    """The survey with the fingerprint that a proof needs, which takes one more pass."""
    n = blocks.survey.n
    survey, _ = surveyed(
        blocks.points,
        np.zeros(0, np.int64),
        PIECE,
        True,
        lambda done: on_progress(PassProgress("fingerprint", done, n)),
        os.cpu_count() or 1,
    )
    return survey


def _settings(opened: OpenSession) -> Certify:
    """The settings of certify that the session has."""
    method = opened.session.state.parameters.get("method")
    if not isinstance(method, Mapping) or method.get("name") != "certify":
        return Certify()
    return Certify(**{name: value for name, value in method.items() if name != "name"})


def _sample(opened: OpenSession, survey: Survey) -> LabelledSample:
    session = opened.session
    known, row_of = session.snapshot(), session.state.items.row_of
    excepted = (row_of.get(key) for key in session.state.book.exceptions)
    return LabelledSample(
        opened.data.X,
        survey,
        known.answers,
        known.labels,
        known.how_codes,
        known.margin if _rests_on_margin(opened) else None,
        frozenset({*known.exceptions, *(row for row in excepted if row is not None)}),
        known.proof,
        known.lift,
    )


def _rests_on_margin(opened: OpenSession) -> bool:
    """Not if answers refute the margin: until somebody has decided, nothing follows from it."""
    session = opened.session
    refuted = any(one.kind == "refutation" for one in session.trouble)
    return session.snapshot().method == "certify" and not refuted
