"""No result destroys anything: what may be replaced, what never is, and how a file appears."""

import csv
import errno
import gzip
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from samecluster._files import appearing_folder, written_file
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.proof.files import is_proof_file
from samecluster.reports import is_report
from samecluster.tables.result_files import is_result_file
from tests.cases.command_line import run, run_apart

BEGIN = ("--truth", "kind", "--features", "a,b", "--id", "id", "--margin", "1")


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """Data and a session about it in which something is proven."""
    folder: Path = tmp_path_factory.mktemp("begun")
    made = make_ellipsoids(120, 2, 3, random_state=0)
    with (folder / "d.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "a", "b", "kind"])
        for row, (point, label) in enumerate(zip(made.X.tolist(), made.labels, strict=True)):
            writer.writerow([f"i{row}", *point, "xyz"[label]])
    done = run("cluster", folder / "d.csv", *BEGIN)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(begun: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("d.csv", "d.csv.samecluster"):
        (tmp_path / name).write_bytes((begun / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


WRITERS = {
    "export": ("export", "d.csv.samecluster", "-o"),
    "export's proof": ("export", "d.csv.samecluster", "-o", "fine.csv", "--proof"),
    "report": ("report", "d.csv.samecluster", "-o"),
    "cluster": ("cluster", "d.csv", *BEGIN, "-o"),
    "cluster's proof": ("cluster", "d.csv", *BEGIN, "--proof"),
    "cluster's report": ("cluster", "d.csv", *BEGIN, "--report"),
}
writers = pytest.mark.parametrize("writer", WRITERS.values(), ids=WRITERS)


def untouched(folder: Path) -> dict[str, bytes]:
    """The contents of all files but for those that a lock or a log comes and goes with."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and not file.name.endswith(("-lock", "-wal", "-shm"))
    }


@writers
@pytest.mark.parametrize("force", [(), ("--force",)], ids=["", "forced"])
@pytest.mark.parametrize("victim", ["d.csv.samecluster", "d.csv", "other.csv.samecluster"])
def test_neither_the_data_nor_a_session_is_replaced(folder, writer, victim, force) -> None:
    (folder / "other.csv.samecluster").write_bytes((folder / "d.csv.samecluster").read_bytes())
    before = untouched(folder)
    done = run(*writer, victim, *force)
    assert done.returncode == 2, done.stdout
    assert len(done.stderr.splitlines()[-1:]) == 1
    assert "name another" in done.stderr or "must end in" in done.stderr
    assert untouched(folder) == before


@writers
def test_a_foreign_file_is_replaced_by_force_only(folder, writer) -> None:
    (folder / "mine.csv").write_text("my own\n")
    before = untouched(folder)
    done = run(*writer, "mine.csv")
    assert done.returncode == 2
    assert "mine.csv exists and is no result of samecluster" in done.stderr
    assert untouched(folder) == before
    assert run(*writer, "mine.csv", "--force").returncode == 0
    assert (folder / "mine.csv").read_bytes() != b"my own\n"


@writers
def test_a_result_is_replaced_and_keeps_its_mode(folder, writer) -> None:
    assert run(*writer, "out.csv").returncode == 0
    (folder / "out.csv").chmod(0o640)
    assert run(*writer, "out.csv").returncode == 0
    assert stat.S_IMODE((folder / "out.csv").stat().st_mode) == 0o640
    assert not [name for name in os.listdir(folder) if name.endswith(".partial")]


@writers
def test_nothing_is_written_through_a_link(folder, writer) -> None:
    assert run(*writer, "target.csv").returncode == 0
    (folder / "out.csv").symlink_to("target.csv")
    (folder / "dangling.csv").symlink_to("nowhere.csv")
    before = untouched(folder)
    for name in ("out.csv", "dangling.csv"):
        done = run(*writer, name, "--force")
        assert done.returncode == 2
        assert f"{name} is a link" in done.stderr
    assert untouched(folder) == before


@writers
def test_what_is_no_file_stays_what_it_is(folder, writer) -> None:
    os.mkfifo(folder / "pipe.csv")
    (folder / "folder.csv").mkdir()
    for name in ("pipe.csv", "folder.csv"):
        done = run(*writer, name, "--force")
        assert done.returncode == 2
        assert "name a file, or - for standard output" in done.stderr
    assert stat.S_ISFIFO((folder / "pipe.csv").stat().st_mode)


def test_files_of_the_user_that_end_in_partial_stay(folder) -> None:
    (folder / "out.csv.partial").write_text("mine")
    (folder / "victim").write_text("precious")
    (folder / "link.csv.partial").symlink_to("victim")
    for name in ("out.csv", "link.csv"):
        assert run("export", "d.csv.samecluster", "-o", name).returncode == 0
    assert (folder / "out.csv.partial").read_text() == "mine"
    assert (folder / "victim").read_text() == "precious"


def test_points_beside_a_proof_are_replaced_only_with_their_proof(folder) -> None:
    np.save(folder / "proof.points.npy", np.ones((3, 2)))
    export = ("export", "d.csv.samecluster", "-o", "out.csv", "--proof", "proof.jsonl.gz")
    before = untouched(folder)
    done = run(*export)
    assert done.returncode == 2
    assert "proof.points.npy exists" in done.stderr
    assert untouched(folder) == before
    assert run(*export, "--force").returncode == 0
    assert run(*export).returncode == 0
    assert run("verify", "proof.points.npy", "proof.jsonl.gz").returncode == 0


def test_the_other_inputs_are_not_replaced(folder) -> None:
    (folder / "pairs.csv").write_text("i1,i1x,same\n")
    done = run("cluster", "d.csv", *BEGIN, "--pairs", "pairs.csv", "-o", "pairs.csv", "--force")
    assert done.returncode == 2
    assert (folder / "pairs.csv").read_text() == "i1,i1x,same\n"
    os.link(folder / "d.csv", folder / "same.csv")
    done = run("export", "d.csv.samecluster", "-o", "same.csv", "--force")
    assert "same.csv is what the rows or answers come from" in done.stderr


def test_standard_output_has_its_names(folder) -> None:
    printed = run("export", "d.csv.samecluster", "-o", "-").stdout
    assert printed.startswith("id,a,b,kind,cluster,how,probability\n")
    for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
        assert run("export", "d.csv.samecluster", "-o", name).stdout == printed
    assert run_apart("export", "d.csv.samecluster", "-o", "/dev/stdout").stdout == printed
    assert run("cluster", "d.csv", *BEGIN, "-o", "/dev/stdout").stdout == printed
    page = run("report", "d.csv.samecluster", "-o", "-").stdout
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    done = run("cluster", "d.csv", *BEGIN, "--report", "-", "-o", "/dev/stdout")
    assert "only one of" in done.stderr
    done = run("export", "d.csv.samecluster", "-o", "a.csv", "--proof", "-")
    assert "--proof needs the name of a file" in done.stderr
    assert run("export", "d.csv.samecluster", "-o", "/dev/null").returncode == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_results_are_known_by_their_columns_or_marks(folder) -> None:
    session = "d.csv.samecluster"
    for name in ("a.csv", "a.jsonl", "a.parquet"):
        for prefix in ("", "new_", 'é ,"'):
            assert run("export", session, "-o", name, "--prefix", prefix).returncode == 0
            assert is_result_file(folder / name), (name, prefix)
    assert not is_result_file(folder / "d.csv")
    for name in ("p.jsonl.gz", "p.parquet"):
        assert run("export", session, "-o", "a.csv", "--proof", name).returncode == 0
        assert is_proof_file(folder / name)
        assert not is_proof_file(folder / "a.parquet")
    assert run("report", session, "-o", "r.html").returncode == 0
    assert is_report(folder / "r.html")
    (folder / "other.html").write_text("<!DOCTYPE html>\n<html><head><title>samecluster</title>")
    assert not is_report(folder / "other.html")
    (folder / "other.gz").write_bytes(gzip.compress(b'{"format": "another"}\n'))
    assert not is_proof_file(folder / "other.gz")


@pytest.mark.parametrize("text", ["1,2\n3,4\n", "1;2,5\n3;4,5\n"])
def test_results_without_a_header_are_known_by_how(tmp_path, text) -> None:
    from samecluster.tables import read_table
    from samecluster.tables.writing import write_results

    (tmp_path / "d.csv").write_text(text)
    assert not is_result_file(tmp_path / "d.csv")
    table = read_table(tmp_path / "d.csv")
    for _ in range(2):
        write_results(table, tmp_path / "o.csv", [0, None], ["asked", "unassigned"], [0.5, None])
        assert is_result_file(tmp_path / "o.csv")
    with pytest.raises(InvalidInputError, match="is no result of samecluster"):
        write_results(table, tmp_path / "d.csv", [0, 1], ["asked"] * 2, [1, 1])
    assert (tmp_path / "d.csv").read_text() == text


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, Path.replace

    def noted_sync(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def noted_replace(partial: Path, target: Path) -> Path:
        done.append("name")
        return replace(partial, target)

    monkeypatch.setattr(os, "fsync", noted_sync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    with written_file(tmp_path / "a", lambda _: False) as partial:
        partial.write_text("x")
    assert done == ["file", "name", "folder"]
    done.clear()
    with appearing_folder(tmp_path / "b") as partial:
        (partial / "c").write_text("x")
    assert done == ["file", "folder"]


def test_what_fails_leaves_the_old_file(tmp_path) -> None:
    (tmp_path / "a").write_text("old")

    def fill() -> None:
        with written_file(tmp_path / "a", lambda _: True) as partial:
            partial.write_text("half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InvalidInputError, match="cannot be written: No space left"):
        fill()
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"
    with pytest.raises(InvalidInputError, match="File name too long"):
        written_file(tmp_path / ("x" * 256), lambda _: True).__enter__()
    with written_file(tmp_path / ("é" * 127), lambda _: True) as partial:
        partial.write_text("a name of 254 bytes")


def test_a_folder_with_other_files_is_not_reproduced_into(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "report.md").write_text("my own")
    done = run("reproduce", "figure1", "--quick", "--out", "mine")
    assert done.returncode == 2
    assert "holds other files" in done.stderr
    (tmp_path / "data.npy").write_text("my own")
    small = ("demo", "--points", "200", "--dimension", "2", "--clusters", "2", "--save")
    assert "data.npy exists" in run(*small, ".").stderr
    assert (tmp_path / "data.npy").read_text() == "my own"
    for _ in range(2):
        assert run(*small, "demo").returncode == 0
