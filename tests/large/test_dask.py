"""Dask: the same questions and labels, X stays where it is, and workers may die."""

import json
import os
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from samecluster import Certify
from samecluster.cli.main import app
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.large.api import recover_large
from samecluster.large.result import LargeRecovery
from samecluster.oracles import LabelOracle

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pd = pytest.importorskip("pandas")
distributed = pytest.importorskip("distributed")

MADE = make_ellipsoids(9_000, 3, 3, random_state=4)
NAMES = ["x", "y", "z"]


def recovered(source: Any, **options: Any) -> LargeRecovery:
    settings: dict[str, Any] = {
        "n_clusters": 3,
        "margin": 1.0,
        "random_state": 0,
        "sample": 1_000,
        "block": 512,
        "method": Certify(kernel="numpy"),
    }
    return recover_large(source, LabelOracle(MADE.labels), **settings | options)


@cache
def from_memory() -> LargeRecovery:
    return recovered(MADE.X)


def is_as_expected(found: LargeRecovery) -> bool:
    whole = from_memory()
    same = found.labels == whole.labels, found.how_codes == whole.how_codes
    return found.answers == whole.answers and bool(np.all(same))


def frame(rows: Any = MADE.X) -> Any:
    return pd.DataFrame(rows, columns=NAMES)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A scheduler and two workers, each a process of its own."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_arrays_and_frames_give_the_same_questions_and_labels(scheduler, tmp_path) -> None:
    """However they are cut: into columns, into uneven chunks, or into chunks of unknown size."""
    array = da.from_array(MADE.X, chunks=((10, 4_000, 4_181, 809), (2, 1)))
    everything = da.from_array(np.ones(9_000, bool), chunks=3_000)
    with dask.config.set(scheduler=scheduler):
        assert is_as_expected(recovered(array))
        assert is_as_expected(recovered(da.from_array(MADE.X, chunks=(3_000, 3))[everything]))
        wide = dd.from_pandas(frame().assign(name="a"), npartitions=4)
        assert is_as_expected(recovered(wide, columns=NAMES))


def test_workers_of_a_cluster_read_files_themselves(cluster, tmp_path) -> None:
    """By an address: Parquet and .npy files, also in folders, named in messages as always."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    (tmp_path / "tables").mkdir()
    (tmp_path / "arrays").mkdir()
    for at, part in enumerate(np.split(MADE.X, [10, 4_000])):
        np.save(tmp_path / "arrays" / f"part{at}.npy", part)
        table = pa.table(dict(zip(NAMES, part.T, strict=True)))
        pq.write_table(table, tmp_path / "tables" / f"part{at}.parquet", row_group_size=1_701)
    np.save(tmp_path / "turned.npy", np.asfortranarray(MADE.X))
    address = cluster.scheduler_address
    for name in ("tables", "arrays", "turned.npy"):
        assert is_as_expected(recovered(tmp_path / name, dask=address))
    holed = MADE.X[4_000:].copy()
    holed[3_731, 1] = np.nan
    np.save(tmp_path / "arrays" / "part2.npy", holed)
    with pytest.raises(InvalidInputError, match=r"part2\.npy, row 3731, column '1' is nan"):
        recovered(tmp_path / "arrays", dask=address, out=tmp_path / "found")
    assert not (tmp_path / "found").exists()


ARRIVALS: list[int] = []
"""The processes in which chunks arrived that were made elsewhere, as far as this one knows."""


class WatchedRows:
    """Rows that leave a trace where they arrive."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self._rows, dtype=dtype)

    def __reduce__(self) -> Any:
        return arrived, (self._rows,)


def arrived(rows: Any) -> WatchedRows:
    ARRIVALS.append(os.getpid())
    return WatchedRows(rows)


def rows_here(begin: int, end: int, client: int) -> Any:
    assert os.getpid() != client, "rows were made in the client"
    return WatchedRows(MADE.X[begin:end])


def from_ranges(make: Any, *given: Any) -> Any:
    """An array whose chunks of 1,024 rows are made by ``make(begin, end, ...)``."""
    chunks = []
    for begin in range(0, 9_000, 1_024):
        end = min(begin + 1_024, 9_000)
        made = dask.delayed(make)(begin, end, *given)
        chunks.append(da.from_delayed(made, (end - begin, 3), dtype=float))
    return da.concatenate(chunks)


def test_rows_never_come_to_the_client(cluster) -> None:
    """They are made by workers and may move between them; only results come here."""
    with distributed.Client(cluster) as client:
        assert is_as_expected(recovered(from_ranges(rows_here, os.getpid())))
        assert not ARRIVALS
        client.submit(rows_here, 0, 10, os.getpid()).result()
        assert ARRIVALS, "rows that do come are noticed"


def dying_rows(begin: int, end: int, folder: str) -> Any:
    """Rows of which some kill the worker that makes them: one in each pass, the first time."""
    stage = "sweep" if Path(folder, "surveyed").exists() else "survey"
    if begin == {"survey": 2_048, "sweep": 5_120}[stage] and not Path(folder, stage).exists():
        Path(folder, stage).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return MADE.X[begin:end]


def test_workers_that_die_in_the_middle_change_nothing(cluster, tmp_path) -> None:
    """One is killed in the first pass, one in the sweep, and others do their work again."""

    def note(progress: Any) -> None:
        if progress.stage == "survey" and progress.done == progress.n:
            (tmp_path / "surveyed").touch()

    with distributed.Client(cluster):
        found = recovered(from_ranges(dying_rows, str(tmp_path)), on_progress=note)
    assert is_as_expected(found)
    assert {path.name for path in tmp_path.iterdir()} == {"survey", "surveyed", "sweep"}


def other_rows(begin: int, end: int) -> Any:
    return MADE.X[begin:end] + 1e-12 * np.random.default_rng().random()


def spoilt(columns: Any = NAMES, kind: str = "f8", hole: bool = False, rows: int = 500) -> Any:
    """Two good partitions, and one between them that is not what it should be."""

    def part(number: int) -> Any:
        own = frame(MADE.X[1_000 * number :][:1_000])
        if number != 1:
            return own
        own = own[:rows].rename(columns=dict(zip(NAMES, columns, strict=True))).astype(kind)
        if hole:
            own.iloc[321, 2] = np.nan
        return own

    return dd.from_map(part, range(3), meta=frame()[:0], enforce_metadata=False)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: spoilt(rows=0), "partition 1 has no rows"),
        (
            lambda: spoilt(columns=["x", "y", "w"]),
            "partition 1 has another schema: columns x, y, w",
        ),
        (lambda: spoilt(hole=True), r"row 1321 \(partition 1, row 321 of it\), column 'z' is nan"),
        (lambda: from_ranges(other_rows), r"row 0 \(chunk 0.*changed while they were read"),
        (lambda: da.zeros((5, 2, 2)), "the Dask array must have two dimensions"),
        (lambda: da.from_array(np.array([["a"]])), "the Dask array must hold real numbers"),
        (lambda: da.from_array(np.zeros((0, 2))), "the Dask array is empty"),
        (lambda: dask.delayed(MADE.X), "arrays and DataFrames hold points, got Delayed"),
        (lambda: dd.from_pandas(frame().assign(z="a"), npartitions=1), "column 'z' holds"),
    ],
)
def test_collections_that_hold_no_points_are_refused(source, message, tmp_path) -> None:
    with (
        dask.config.set({"scheduler": "synchronous", "dataframe.convert-string": False}),
        pytest.raises(InvalidInputError, match=message),
    ):
        recovered(source(), out=tmp_path / "found")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["x"]}, "columns can only be chosen"),
        ({"proof": "proof.gz"}, "leave proof out"),
        ({"dask": "tcp://127.0.0.1:1"}, "no Dask scheduler answers at tcp://127.0.0.1:1"),
    ],
)
def test_impossible_settings_are_refused(options, message, monkeypatch) -> None:
    monkeypatch.setattr("samecluster.points.dask_cluster._TIMEOUT", "1s")
    with pytest.raises(InvalidInputError, match=message):
        recovered(da.from_array(MADE.X), **options)


def test_arrays_in_memory_are_not_sent_to_a_cluster(cluster) -> None:
    with pytest.raises(InvalidInputError, match="works on paths that its workers see"):
        recovered(MADE.X, dask=cluster.scheduler_address)


def test_the_command_drives_a_session_on_a_cluster(cluster, tmp_path, monkeypatch) -> None:
    """Workers do the passes of a sample session; questions and labels are as on one machine."""
    monkeypatch.setattr("samecluster.workspace.in_blocks.sample.sample_size", lambda n, d: 1_000)
    monkeypatch.chdir(tmp_path)
    np.save("points.npy", MADE.X)
    np.save("labels.npy", MADE.labels)
    told = {}
    for name, more in (("here", ["--in-blocks"]), ("there", ["--dask", cluster.scheduler_address])):
        arguments = [
            *("cluster", "points.npy", "--truth", "labels.npy", "--margin", "1"),
            *("--session", f"{name}.samecluster", "-o", name, "--json", *more),
        ]
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, (done.output, done.exception)
        told[name] = json.loads(done.stdout)
    assert told["here"]["questions"] == told["there"]["questions"]
    assert told["here"]["labels"] == told["there"]["labels"]
    assert (np.load("here/labels.npy") == np.load("there/labels.npy")).all()
    assert (np.load("here/how.npy") == np.load("there/how.npy")).all()
