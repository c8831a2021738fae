"""All rows of data in blocks, labelled by what a session knows of the sample that it asks about."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from samecluster.errors import InvalidInputError
from samecluster.large.follow import LabelledSample, OpenRows, SampleLabels
from samecluster.large.other_rows import UNDECIDED, OtherRows, PassProgress
from samecluster.large.result import label_store
from samecluster.recovery.certify.plan import Certify
from samecluster.recovery.result.how import How
from samecluster.tables.writing import FORMATS
from samecluster.workspace.data import BlockData
from samecluster.workspace.open import OpenSession, export_command
from samecluster.workspace.sample import joined

__all__ = [
    "AllRowsSweep",
    "check_folder",
    "is_proving",
    "row_counts",
    "sample_line",
    "swept",
    "taken_in",
    "write_all",
]


@dataclass(frozen=True, eq=False)
class AllRowsSweep:
    """What sweeps of all rows found.

    ``by_how`` counts all rows by how their label is known. Rows in ``to_ask`` need questions.
    """

    n: int
    by_how: dict[How, int]
    to_ask: OpenRows | None


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
    ways = ", ".join(
        f"{found.by_how[how]:,} {how.name.lower()}" for how in reversed(How) if found.by_how[how]
    )
    return f"All {found.n:,} rows: {ways}."


def is_proving(opened: OpenSession) -> bool:
    """Whether labels of other rows would be proven: the margin is declared, and stands."""
    session = opened.session
    declared = session.state.parameters.get("margin", "auto") != "auto"
    return declared and _rests_on_margin(opened)


def swept(opened: OpenSession, on_progress: Callable[[PassProgress], None]) -> AllRowsSweep:
    """Look at all rows, and keep nothing but counts and the rows that need questions."""
    n = _blocks(opened).survey.n
    return _swept(opened, np.full(n, UNDECIDED, np.int16), np.zeros(n, np.int8), None, on_progress)


def write_all(
    opened: OpenSession, out: Path, on_progress: Callable[[PassProgress], None]
) -> AllRowsSweep:
    """Write labels.npy and how.npy of all rows into a folder that appears when it is complete."""
    with label_store(_blocks(opened).survey.n, out) as store:
        return _swept(opened, store.names, store.how, store.labels, on_progress)


def check_folder(out: str) -> Path:
    """The folder to write to; InvalidInputError if a file was named."""
    if out == "-" or Path(out).suffix.lower() in FORMATS:
        raise InvalidInputError(
            f"-o must name a folder, as the data is in blocks: labels.npy and how.npy of all rows "
            f"go there; got {out}"
        )
    return Path(out)


def taken_in(opened: OpenSession, to_ask: OpenRows, who: str | None) -> OpenSession:
    """The session with more rows as items."""
    data = joined(opened.data, to_ask.rows, to_ask.points)
    opened.session.update(data.keys, data.X, preparation=data.preparation.to_json(), who=who)
    return replace(opened, data=data)


def _swept(
    opened: OpenSession,
    names: npt.NDArray[np.int16],
    how: npt.NDArray[np.int8],
    labels: npt.NDArray[np.int32] | None,
    on_progress: Callable[[PassProgress], None],
) -> AllRowsSweep:
    blocks = _blocks(opened)
    threads = os.cpu_count() or 1
    draws = np.random.default_rng(len(blocks.rows))
    rest = OtherRows(
        blocks.points, blocks.rows, names, how, threads, draws, on_progress=on_progress
    )
    found = SampleLabels(Certify(), _sample(opened), rest)
    to_ask = _decided(opened, found)
    rest.finish(found.labels, found.how, labels)
    counts = {way: int(np.count_nonzero(how == way)) for way in How}
    return AllRowsSweep(len(names), counts, to_ask)


def _decided(opened: OpenSession, found: SampleLabels) -> OpenRows | None:
    """Label the rows outside the sample; rows that need questions, None if none may be asked."""
    if not is_proving(opened):
        # While questions are left, what the sample has no label for is not guessed for the rest.
        found.infer(predict=bool(opened.session.progress().ended))
        return None
    to_ask = found.prove()
    budget = opened.session.state.parameters.get("max_questions")
    if budget is not None and opened.session.state.n_questions >= budget:
        found.predict(to_ask)
        return None
    return to_ask


def _sample(opened: OpenSession) -> LabelledSample:
    session, blocks = opened.session, _blocks(opened)
    known, row_of = session.snapshot(), session.state.items.row_of
    excepted = (row_of.get(key) for key in session.state.exceptions)
    return LabelledSample(
        opened.data.X,
        blocks.survey,
        known.answers,
        known.labels,
        known.how_codes,
        known.margin if _rests_on_margin(opened) else None,
        frozenset({*known.exceptions, *(row for row in excepted if row is not None)}),
        known.proof,
    )


def _rests_on_margin(opened: OpenSession) -> bool:
    """Not if answers refute the margin: until somebody has decided, nothing follows from it."""
    session = opened.session
    refuted = any(one.kind == "refutation" for one in session.trouble)
    return session.snapshot().method == "certify" and not refuted


def _blocks(opened: OpenSession) -> BlockData:
    assert opened.blocks is not None, "the session must be about data in blocks"
    return opened.blocks
