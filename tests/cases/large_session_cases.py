"""Sessions on data in blocks with small samples: data in files, and people who know the truth."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samecluster._typing import IntArray
from samecluster.sessions.session import Session
from samecluster.workspace.export import ResultFiles
from samecluster.workspace.in_blocks.all_rows import AllRowsSweep, labelled_rows, swept, taken_in
from samecluster.workspace.open import OpenSession

SAMPLE = 600


@pytest.fixture
def small_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of 600 rows, which in earnest only data of more than 200,000 rows has."""
    monkeypatch.setattr(
        "samecluster.workspace.in_blocks.sample.sample_size", lambda n, d: min(n, SAMPLE)
    )


def write_parquet(folder: Path, X: Any, name: str = "points.parquet", first: int = 0) -> Path:
    """Columns length, width, ... of numbers, an id and a note with the number of the row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = range(first, first + len(X))
    columns = {f"c{at}": X[:, at] for at in range(X.shape[1])}
    named = {"shell": [f"s{row}" for row in rows], "note": [f"note {row}" for row in rows]}
    pq.write_table(pa.table({**named, **columns}), folder / name, row_group_size=1_000)
    return folder / name


def write_all(
    opened: OpenSession, folder: Path, on_progress: Callable[[Any], None] = lambda _: None
) -> None:
    """Write labels.npy and how.npy of all rows, as `samecluster export` does."""
    with labelled_rows(opened, ResultFiles(str(folder)), on_progress):
        pass


def rows_of(opened: OpenSession) -> IntArray:
    """The rows of all the data that are items."""
    assert opened.blocks is not None
    return opened.blocks.rows


def answer_all(opened: OpenSession, truth: Any, most: int = 10_000) -> int:
    """Answer by the truth about rows of all the data; how many questions there were."""
    session: Session = opened.session
    rows, asked = rows_of(opened), 0
    while asked < most and (questions := session.ask()):
        i, j = rows[list(questions[0].rows)]
        session.tell(questions[0].id, "same" if truth[i] == truth[j] else "different")
        asked += 1
    return asked


def answered_to_the_end(opened: OpenSession, truth: Any) -> tuple[OpenSession, AllRowsSweep, int]:
    """Answer, let rows join, and answer again, as `samecluster label` does; how often they did."""
    n_joined = 0
    while True:
        answer_all(opened, truth)
        found = swept(opened, lambda _: None)
        if found.to_ask is None or not len(found.to_ask.rows):
            return opened, found, n_joined
        opened = taken_in(opened, found.to_ask, None)
        n_joined += 1


def folder_of(out: Path) -> tuple[np.ndarray, np.ndarray]:
    """Labels and how of an exported folder, which holds nothing else."""
    assert sorted(file.name for file in out.iterdir()) == ["how.npy", "labels.npy"]
    return np.load(out / "labels.npy"), np.load(out / "how.npy")
