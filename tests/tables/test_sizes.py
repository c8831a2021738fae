"""What would fill the memory is refused before it does, and what is no file is not read."""

import gzip
import io
import os
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from samecluster._files import MAX_BYTES
from samecluster.errors import InvalidInputError
from samecluster.large.answer_log import read_answer_log
from samecluster.points.files import open_points
from samecluster.proof.files import read_lines
from samecluster.tables import CsvOptions, read_table
from tests.cases.command_line import run

SMALL = CsvOptions(max_bytes=1 << 20)


def zeros_npz(path: Path, rows: int) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (rows, 2)}
    )
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        packed.open("X.npy", "w", force_zip64=True) as member,
    ):
        member.write(header.getvalue())
        for _ in range(rows // (1 << 20)):
            member.write(bytes(16 << 20))


def test_an_archive_is_measured_before_it_is_unpacked(tmp_path) -> None:
    zeros_npz(tmp_path / "bomb.npz", 6 << 20)
    assert (tmp_path / "bomb.npz").stat().st_size < 1 << 20
    with pytest.raises(InvalidInputError, match=r"bomb\.npz takes 0\.1 GiB in memory, more than"):
        read_table(tmp_path / "bomb.npz", SMALL)
    np.savez_compressed(tmp_path / "fine.npz", np.zeros((200_000, 2)))
    with pytest.raises(InvalidInputError, match="--max-memory GIB"):
        read_table(tmp_path / "fine.npz", SMALL)
    assert len(read_table(tmp_path / "fine.npz")) == 200_000


@pytest.mark.parametrize(
    "columns",
    [
        {"a": pa.array(np.zeros(400_000))},
        {"a": pa.array(["x" * 1_000] * 4_000)},
        {"a": pa.array([[1.0] * 100] * 4_000)},
    ],
    ids=["numbers", "texts", "lists"],
)
def test_parquet_that_is_packed_well_is_refused(tmp_path, columns) -> None:
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    assert (tmp_path / "x.parquet").stat().st_size < 100_000
    with pytest.raises(InvalidInputError, match=r"x\.parquet takes .* GiB in memory"):
        read_table(tmp_path / "x.parquet", SMALL)
    assert read_table(tmp_path / "x.parquet").column("a").texts[0]


def test_blocks_are_measured_one_by_one(tmp_path) -> None:
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    table = pa.table({"a": np.zeros(400_000), "b": np.zeros(400_000)})
    pq.write_table(table, whole, row_group_size=400_000)
    pq.write_table(table, cut, row_group_size=50_000)
    with pytest.raises(InvalidInputError, match="a group of rows takes"):
        open_points(whole, max_bytes=1 << 20)
    assert open_points(cut, max_bytes=1 << 20).n == open_points(whole).n == 400_000


def test_images_are_measured_before_they_are_decoded(tmp_path) -> None:
    for number in range(3):
        Image.new("RGBA", (40, 40), (number, 0, 0, 255)).save(tmp_path / f"{number}.png")
    assert len(read_table(tmp_path, SMALL)) == 3
    with pytest.raises(InvalidInputError, match="pixels of 3 images takes"):
        read_table(tmp_path, SMALL, image_size=150)
    with pytest.raises(InvalidInputError, match="pixels of 3 images takes"):
        read_table(tmp_path, image_size=10_000)
    Image.new("RGBA", (400, 400)).save(tmp_path / "large.png")
    with pytest.raises(InvalidInputError, match=r"large\.png takes"):
        read_table(tmp_path, SMALL)
    Image.new("L", (15_000, 13_000)).save(tmp_path / "large.png")
    with pytest.raises(InvalidInputError, match=r"large\.png (takes|is no image that can be read)"):
        read_table(tmp_path)


def test_lines_and_groups_of_proofs_are_measured(tmp_path) -> None:
    with gzip.open(tmp_path / "p.gz", "wb", compresslevel=1) as file:
        for _ in range(12):
            file.write(b" " * (16 << 20))
    with pytest.raises(InvalidInputError, match=r"p\.gz, line 1: line 1 takes"):
        list(read_lines(tmp_path / "p.gz"))
    nulls = pa.table({"kind": pa.nulls(100_000, pa.string())})
    pq.write_table(nulls.replace_schema_metadata({"samecluster": "{}"}), tmp_path / "p.parquet")
    with pytest.raises(InvalidInputError, match="a group of rows takes"):
        list(read_lines(tmp_path / "p.parquet", 1 << 20))


def test_text_files_and_standard_input_have_the_same_limit(tmp_path, monkeypatch) -> None:
    (tmp_path / "x.csv").write_text("a,b\n" + "1,2\n" * 400_000)
    with pytest.raises(InvalidInputError, match=r"x\.csv takes"):
        read_table(tmp_path / "x.csv", SMALL)
    text = "a,b\n" + "1.5,2\n2.5,7\n9,3\n" * 20_000
    done = run("inspect", "-", "--max-memory", "0.0001", text=text)
    assert done.returncode == 2
    assert "standard input takes 0.0 GiB" in done.stderr
    assert run("inspect", "-", text=text).returncode == 0
    with (tmp_path / "sparse.npy").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert "more than the 2" in run("inspect", tmp_path / "sparse.npy").stderr
    for wrong in ("0", "-1", "nan", "inf", "1e30"):
        assert "--max-memory must be" in run("inspect", "-", "--max-memory", wrong).stderr


def test_a_session_remembers_what_it_may_take(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    pq.write_table(pa.table({"a": rng.random(90), "b": rng.random(90)}), "d.parquet")
    begin = ("label", "d.parquet", "--max-memory")
    assert run(*begin, "0.000001", text="q\n").returncode == 2
    assert run(*begin, "1", text="q\n").returncode == 0
    assert run(*begin, "0.000001", text="q\n").returncode == 2
    assert run("status", "d.parquet").returncode == 0
    assert '"max_memory": 1.0' in run("history", "d.parquet", "--json").stdout


def test_pipes_and_devices_are_not_read(tmp_path, monkeypatch) -> None:
    """Each of these would wait, or read, for ever."""
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "x.npy", "x.parquet", "p.gz", "x.samecluster"):
        os.mkfifo(name)
    (tmp_path / "d.csv").write_text("a,b\n" + "".join(f"{n},{n * n % 7}\n" for n in range(50)))
    assert run("label", "d.csv", text="q\n").returncode == 0
    for arguments in (
        ("inspect", "x.csv"), ("label", "x.npy"), ("label", "x.parquet"), ("label", "/dev/zero"),
        ("label", "x.npy", "--in-blocks"), ("label", "x.parquet", "--in-blocks"),
        ("verify", "d.csv", "p.gz"), ("verify", "x.npy", "p.gz"),
        ("margin", "x.csv", "--labels", "a"),
        ("import", "d.csv", "x.csv"), ("label", "d.csv", "--pairs", "x.csv"),
        ("label", "d.csv", "--session", "n", "--vectors", "x.npy"), ("status", "x.samecluster"),
        ("label", "d.csv", "--session", "x.samecluster"), ("doctor", "x.samecluster"),
        ("cluster", "x.npy", "--in-blocks", "--truth", "x.npy"),
    ):  # fmt: skip
        done = run(*arguments)
        assert done.returncode in (1, 2), arguments
        assert len((done.stdout + done.stderr).splitlines()) == 1, done.stderr
    with pytest.raises(InvalidInputError, match="no regular file"):
        read_answer_log(Path("x.csv"), 3)
