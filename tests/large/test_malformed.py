"""Bad data in blocks is named, and nothing is left behind."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samecluster import Certify
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.large.api import recover_large
from samecluster.oracles import LabelOracle
from samecluster.points.protocol import recut

MADE = make_ellipsoids(2_000, 3, 2, random_state=0)


def refused(source: Any, message: str, tmp_path: Path, **options: Any) -> None:
    before = sorted(tmp_path.iterdir())
    settings: dict[str, Any] = {
        "out": tmp_path / "found",
        "proof": tmp_path / "proof.gz",
        "margin": 1.0,
        "sample": 200,
        "block": 100,
        "method": Certify(kernel="numpy"),
    }
    with pytest.raises(InvalidInputError, match=message):
        recover_large(source, LabelOracle(MADE.labels), **settings | options)
    assert sorted(tmp_path.iterdir()) == before


def parts(folder: Path, **changed: Any) -> Path:
    folder.mkdir()
    for at, part in enumerate(np.array_split(MADE.X, 4)):
        np.save(folder / f"part{at}.npy", changed.get(f"part{at}", part))
    return folder


def test_a_number_that_is_not_finite_is_named_with_its_file_and_row(tmp_path) -> None:
    X = MADE.X.copy()
    X[1_731, 2] = np.nan
    refused(X, "row 1731, column 2 is nan", tmp_path)
    part = np.array_split(X, 4)[3]
    folder = parts(tmp_path / "data", part3=part)
    refused(folder, r"part3\.npy, row 231, column '2' is nan", tmp_path)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (np.zeros((5, 4)), r"part2\.npy has another layout than .*part0\.npy: 4 columns"),
        (np.zeros((0, 3)), r"part2\.npy is empty"),
        (np.zeros(5), r"part2\.npy must have two dimensions"),
        (np.array([["a", "b", "c"]]), r"part2\.npy must hold real numbers"),
        (np.array([[None] * 3]), r"part2\.npy is no NumPy file of numbers"),
    ],
)
def test_a_part_that_does_not_fit_is_named(part, message, tmp_path) -> None:
    refused(parts(tmp_path / "data", part2=part), message, tmp_path)


def test_a_file_that_is_cut_short_is_named(tmp_path) -> None:
    np.save(tmp_path / "data.npy", MADE.X)
    whole = (tmp_path / "data.npy").read_bytes()
    (tmp_path / "data.npy").write_bytes(whole[:-100])
    refused(tmp_path / "data.npy", "cut short", tmp_path)


@pytest.mark.parametrize("stage", ["survey", "sweep"])
def test_data_that_changes_while_it_is_read_is_noticed(stage, tmp_path) -> None:
    np.save(tmp_path / "data.npy", MADE.X)
    other = MADE.X + 1.0

    def write(progress: Any) -> None:
        if progress.stage == stage and progress.done == 500:
            np.save(tmp_path / "data.npy", other)

    refused(
        tmp_path / "data.npy", r"data\.npy changed while it was read", tmp_path, on_progress=write
    )


def test_too_little_disk_is_known_before_anything_is_asked(tmp_path, monkeypatch) -> None:
    usage = type("Usage", (), {"free": 1_000})
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    refused(MADE.X, r"found needs [\d,]+ bytes and only 1,000 are free", tmp_path)


def test_a_folder_that_exists_is_not_overwritten(tmp_path) -> None:
    (tmp_path / "found").mkdir()
    refused(MADE.X, "exists already", tmp_path)
    refused(MADE.X, "does not exist", tmp_path, out=tmp_path / "no" / "such")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": "auto"}, "a proof needs a declared margin"),
        ({"audit": (2, 0.95)}, "audit must be an error"),
        ({"margin": -1.0}, "margin must be"),
        ({"sample": 0}, "sample must be a whole number"),
        ({"block": 1.5}, "block must be a whole number"),
        ({"threads": True}, "threads must be a whole number"),
        ({"n_clusters": 1}, "n_clusters must be"),
        ({"columns": ["x"]}, "columns can only be chosen in Parquet"),
    ],
)
def test_impossible_settings_are_refused(options, message, tmp_path) -> None:
    refused(MADE.X, message, tmp_path, **options)


def test_sources_that_are_none_are_refused(tmp_path) -> None:
    refused(tmp_path / "nothing.npy", "there is no file", tmp_path)
    (tmp_path / "data.csv").write_text("1,2\n")
    refused(tmp_path / "data.csv", r"must end in \.npy or \.parquet", tmp_path)
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", r"holds no \.npy and no \.parquet", tmp_path)
    refused(np.zeros((1, 2)), "at least 2 points", tmp_path)


def test_parquet_columns_are_checked(tmp_path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "data.parquet"
    columns = dict(zip("xyz", MADE.X.T, strict=True))
    pq.write_table(pa.table(columns | {"name": ["a"] * 2_000}), path)
    refused(path, "column 'name' holds string; only numbers are allowed", tmp_path)
    refused(path, "has no column 'w'; it has x, y, z, name", tmp_path, columns=["x", "w"])
    holes = [None if at == 1_234 else 1.0 for at in range(2_000)]
    pq.write_table(pa.table(columns | {"w": holes}), path)
    refused(path, r"data\.parquet, row 1234, column 'w' is empty", tmp_path)
    pq.write_table(pa.table(columns).slice(0, 0), path)
    refused(path, "has no rows", tmp_path)
    path.write_bytes(b"PAR1 nothing of the kind")
    refused(path, "is no Parquet file", tmp_path)


def test_blocks_are_cut_alike_whatever_the_pieces() -> None:
    X = np.arange(50)[:, None]
    rng = np.random.default_rng(0)
    for size in (1, 3, 7, 50, 60):
        expected = [X[at : at + size] for at in range(0, 50, size)]
        for _ in range(5):
            cuts = np.sort(rng.integers(0, 51, size=6))
            found = list(recut(np.split(X, cuts), size))
            assert [block.tolist() for block in found] == [block.tolist() for block in expected]
