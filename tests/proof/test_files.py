"""Logs in files: what is read is what was written, in either format, or an error that says why."""

from __future__ import annotations

import functools
import gzip
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from samecluster import Certify, recover
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.proof import parquet
from samecluster.proof.checker import BadProof, check
from samecluster.proof.files import load_proof, read_lines, save_proof
from samecluster.proof.fingerprint import fingerprint
from samecluster.proof.log import ProofLog

HAS_PYARROW = importlib.util.find_spec("pyarrow") is not None
needs_pyarrow = pytest.mark.skipif(not HAS_PYARROW, reason="pyarrow is not installed")
ENDINGS = ["jsonl.gz", pytest.param("parquet", marks=needs_pyarrow)]
LINE = np.array([[0.0], [1.0], [1.25], [30.0], [31.0], [0.5]])


def every_kind_of_record() -> ProofLog:
    """A log with all kinds; not all of it holds."""
    log = ProofLog(fingerprint(LINE), 1.25, 2, np.array([2.0**-30]))
    log.add_cluster(0)
    log.add_answer(1, 0, "same")
    log.add_answer(3, 0, "different")
    log.add_cluster(3)
    log.add_inside(0, np.array([2, 5]), np.array([[0, 1], [2, 0]]))
    log.add_inside(0, np.array([4]), np.array([[0, -1]]))  # a run of its own beside another
    log.add_inside(1, np.array([5]), np.array([[3, -1]]))
    log.add_outside(4, 0, 3, np.array([4, 0]))
    log.add_weights(1, True, np.array([4, 5]), [(3, 1.0 / 3.0), (-1, 3e18)], [(0, 5e-324)], 0.1)
    log.add_weights(1, False, np.array([0]), [], [], 1.7e308)
    log.add_differ(0, 1, [(0, 0.0), (-1, np.pi)], [(4, 1e-300)])
    log.add_last(4, 1)
    log.add_count()
    return log


def text(lines: Any) -> list[str]:
    """Lines as they would stand in a file of text."""
    return [json.dumps(line, default=np.ndarray.tolist) for line in lines]


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_kind_of_record_survives_a_file(tmp_path, ending) -> None:
    log = every_kind_of_record()
    path = tmp_path / f"proof.{ending}"
    save_proof(log, path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert text(read_lines(path)) == text(log.lines())
    again = load_proof(str(path))
    assert len(again) == len(log) == 15
    assert again.header() == log.header()
    assert text(again.lines()) == text(log.lines())
    with pytest.raises(BadProof) as caught:
        check(LINE, read_lines(path))
    assert caught.value.record == 6, "the second run of `in` records is forged"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_log_without_records_survives(tmp_path, ending) -> None:
    log = ProofLog(fingerprint(LINE), 0.1, None, np.array([0.0]))
    save_proof(log, tmp_path / f"proof.{ending}")
    assert text(read_lines(tmp_path / f"proof.{ending}")) == text([log.header()])


@functools.cache
def proofs() -> dict[str, tuple[Any, ProofLog]]:
    """Logs of recoveries that lean on reach, on exclusions and on counting."""
    found = {}
    for name, options in {
        "wide": {"n": 3000, "d": 2, "k": 3, "margin": 1.0},
        "narrow": {"n": 400, "d": 3, "k": 4, "margin": 0.05},
        "scaled": {"n": 500, "d": 4, "k": 2, "margin": 0.3},
    }.items():
        margin = options.pop("margin")
        made = make_ellipsoids(**options, margin=margin, random_state=1)  # type: ignore[arg-type]
        recovery = recover(
            made.X,
            LabelOracle(made.labels),
            n_clusters=None if name == "scaled" else made.n_clusters,
            margin=margin,
            method=Certify(kernel="numpy"),
            random_state=0,
        )
        assert recovery.proof is not None
        found[name] = made.X, recovery.proof
    return found


@needs_pyarrow
def test_parquet_and_text_give_the_same_lines_for_real_proofs(tmp_path, monkeypatch) -> None:
    kinds: set[str] = set()
    for rows_a_group in (parquet._ROWS_PER_GROUP, 100):
        monkeypatch.setattr(parquet, "_ROWS_PER_GROUP", rows_a_group)
        for name, (X, log) in proofs().items():
            paths = tmp_path / f"{name}.parquet", tmp_path / f"{name}.jsonl.gz"
            for path in paths:
                save_proof(log, path)
            assert text(read_lines(paths[0])) == text(read_lines(paths[1])) == text(log.lines())
            verified = check(X, read_lines(paths[0]))
            assert (verified.labels >= 0).all()
            kinds |= verified.n_records.keys()
    assert kinds >= {"cluster", "answer", "in", "out", "last", "count"}


@needs_pyarrow
def test_parquet_is_read_and_written_in_groups_of_rows(tmp_path) -> None:
    import pyarrow.parquet as pq

    log = ProofLog(fingerprint(LINE), 1.25, 2, np.array([2.0**-30]))
    rng = np.random.default_rng(0)
    for size in (1, 150_000, 3):
        log.add_answer(size, 0, "same")
        log.add_inside(0, rng.integers(10**6, size=size), rng.integers(10**6, size=(size, 2)))
    for _ in range(70_000):
        log.add_answer(1, 0, "same")
    path = tmp_path / "long.PARQUET"
    save_proof(log, path)
    file = pq.ParquetFile(path)
    sizes = [file.metadata.row_group(at).num_rows for at in range(file.num_row_groups)]
    assert sum(sizes) == len(log)
    assert len(sizes) == 4
    assert max(sizes) <= parquet._ROWS_PER_GROUP + 8192
    assert str(file.schema_arrow.field("columns").type) == "list<element: int64>"
    assert text(read_lines(path)) == text(log.lines())


@pytest.mark.parametrize("ending", ENDINGS)
def test_cut_and_altered_files_are_named(tmp_path, ending) -> None:
    path = tmp_path / f"proof.{ending}"
    log = ProofLog(fingerprint(LINE), 1.25, 2, np.array([2.0**-30]))
    for item in np.random.default_rng(0).integers(10**6, size=20_000):
        log.add_answer(int(item), 0, "same")
    save_proof(log, path)
    whole = path.read_bytes()
    assert load_proof(path).header() == log.header()
    for damaged in (whole[: len(whole) // 2], whole[:-1], whole[:5], b"", b"\x1f\x8b" + whole[9:]):
        path.write_bytes(damaged)
        with pytest.raises(InvalidInputError, match=path.name):
            load_proof(path)


@needs_pyarrow
def test_foreign_parquet_files_are_named(tmp_path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    header = json.dumps(every_kind_of_record().header()).encode()
    path = tmp_path / "table.parquet"
    for columns, metadata in (
        ({"x": [1.0, 2.0]}, None),
        ({"x": [1.0, 2.0]}, {b"samecluster": header}),
        ({"line": [0], "kind": ["put"]}, {b"samecluster": header}),
        ({"line": [0], "kind": ["answer"]}, {b"samecluster": header}),
        ({"line": [0], "kind": ["answer"]}, {b"samecluster": b"{"}),
    ):
        pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
        with pytest.raises(InvalidInputError, match=r"table\.parquet: not a proof log in Parquet"):
            list(read_lines(path))
    with gzip.open(path, "wt") as file:  # text under a name that promises a table
        file.write("{}\n")
    with pytest.raises(InvalidInputError, match="not a proof log in Parquet"):
        load_proof(path)


def test_text_that_is_no_log_is_named(tmp_path) -> None:
    path = tmp_path / "text"
    for content, message in (
        ("not json\n", "line 1"),
        ('{"format": 1}\n', "not a proof log"),
        ("[1, 2]\n", "not a proof log"),
        ("", "not a proof log"),
        (json.dumps(every_kind_of_record().header()) + '\n["in", 0\n', "line 2"),
    ):
        path.write_text(content)
        with pytest.raises(InvalidInputError, match=message):
            load_proof(path)


def test_without_pyarrow_an_error_says_how_to_get_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / "proof.parquet"
    with pytest.raises(InvalidInputError, match=r"pip install samecluster\[parquet\]"):
        save_proof(every_kind_of_record(), path)
    assert not list(tmp_path.iterdir())
    path.write_bytes(b"PAR1")
    with pytest.raises(InvalidInputError, match=r"pip install samecluster\[parquet\]"):
        load_proof(path)


def test_many_items_of_one_certificate_go_to_several_lines() -> None:
    log = ProofLog(fingerprint(LINE), 1.25, 2, np.array([2.0**-30]))
    log.add_weights(0, True, np.arange(20_000), [(0, 1.0)], [(1, 1.0)], 0.5)
    parts = list(log.lines())[1:]
    assert [len(part[3]) for part in parts] == [8192, 8192, 3616]
    assert [item for part in parts for item in part[3]] == list(range(20_000))
    assert len({json.dumps([*part[:3], *part[4:]]) for part in parts}) == 1
    assert len(log) == 20_000


def verify(*paths: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "samecluster", "verify", *map(str, paths)],
        capture_output=True,
        text=True,
        env={"NO_COLOR": "1", "COLUMNS": "200", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        check=False,
    )


@needs_pyarrow
def test_the_command_checks_parquet(tmp_path) -> None:
    X, log = proofs()["narrow"]
    data, proof = tmp_path / "data.npy", tmp_path / "proof.parquet"
    np.save(data, X)
    save_proof(log, proof)
    done = verify(data, proof)
    assert done.returncode == 0, done.stderr
    assert "The proof holds: 400 of 400 labels" in done.stdout
    proof.write_bytes(proof.read_bytes()[:-9])
    done = verify(data, proof)
    assert done.returncode == 2
    assert done.stderr.startswith("samecluster: ")
    assert "not a proof log in Parquet" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_command_says_the_resolution_and_refuses_a_large_one(tmp_path) -> None:
    data, proof = tmp_path / "data.npy", tmp_path / "proof.jsonl.gz"
    np.save(data, LINE)
    log = ProofLog(fingerprint(LINE), 1.25, 2, np.array([2.0**-12]))
    log.add_cluster(0)
    save_proof(log, proof)
    done = verify(data, proof)
    assert done.returncode == 0
    assert "if every cluster has margin 1.25 (resolution 0.00024)" in done.stdout
    log.resolution[0] = 1e300  # with it one cluster follows from no answer
    log.add_inside(0, np.arange(1, 6), np.tile([0, -1], (5, 1)))
    save_proof(log, proof)
    done = verify(data, proof)
    assert done.returncode == 1
    assert "does NOT hold. header: resolution 1e+300 of column 0" in done.stdout
    log.resolution[0] = 20.0
    save_proof(log, proof)
    assert verify(data, proof).returncode == 1
    done = verify(data, proof, "--resolution", "0.9")
    assert done.returncode == 1, "20 is more than values differ by"
    assert "at most 0.9 of it is allowed" in done.stdout


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"a":' * 100_000, "[" + "9" * 5000 + "]", "null", '["cluster", NaN]']
)
def test_lines_that_are_no_records_are_named(tmp_path, line) -> None:
    path = tmp_path / "proof.jsonl"
    path.write_text("\n".join([*text([next(iter(every_kind_of_record().lines()))]), line, ""]))
    with pytest.raises((InvalidInputError, BadProof), match=r"line 2|record 0"):
        check(LINE, read_lines(path))


@needs_pyarrow
@pytest.mark.parametrize("column", ["inner", "outer", "weight", "items", "columns", "word"])
def test_a_table_without_a_weight_or_another_field_is_refused_in_one_sentence(
    tmp_path, column
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "proof.parquet"
    save_proof(every_kind_of_record(), path)
    table = pq.read_table(path)
    for value in (None, [{"name": 0, "weight": None}]):
        if value is not None and column not in ("inner", "outer"):
            continue
        cells = [value if cell else cell for cell in table[column].to_pylist()]
        columns = {name: table[name] for name in table.column_names}
        columns[column] = pa.array(cells, type=table[column].type)
        broken = pa.table(columns).replace_schema_metadata(table.schema.metadata)
        pq.write_table(broken, path)
        with pytest.raises((InvalidInputError, BadProof)):
            check(LINE, read_lines(path))
