"""Files in blocks: the same rows as in one piece, and the same bytes written."""

import csv
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster.errors import InvalidInputError
from samecluster.tables.reading.blocks import is_large, table_blocks
from samecluster.tables.reading.detect import read_table
from samecluster.tables.reading.dialect import CsvOptions
from samecluster.tables.table import Table
from samecluster.tables.writing import Found, results_as_bytes, write_blocks

CELLS = st.one_of(
    st.floats(-1e6, 1e6).map(repr),
    st.sampled_from(["", "NA", "x", 'a "b"', "two\nlines", "a,b", "=1+1", "é", "x\r\ny", "-3"]),
)


def in_blocks(path: Path, size: int) -> list[Table]:
    return list(table_blocks(path, CsvOptions(), size))


def found(table: Table) -> Found:
    n = len(table)
    return Found(table, np.arange(n) % 3 - 1, ["proven"] * n, np.full(n, 0.5))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 99).map(str), CELLS, CELLS), min_size=2, max_size=30),
    st.integers(1, 60),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_text_in_blocks_is_the_text(
    rows: list[tuple[str, ...]], size: int, encoding: str, end: str
) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end)
    writer.writerow(["n", "a", "b"])
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "x.csv"), Path(folder, "out.csv")
        path.write_bytes(text.getvalue().encode(encoding))
        whole = read_table(path, CsvOptions(separator=",", decimal=".", header=True))
        parts = list(table_blocks(path, CsvOptions(separator=",", decimal=".", header=True), size))
        for name in whole.names:
            cells = [text for part in parts for text in part.column(name).texts]
            assert cells == list(whole.column(name).texts)
        lines = [line for part in parts if part.lines is not None for line in part.lines]
        assert whole.lines is not None
        assert lines == whole.lines.tolist()
        labels = iter(np.arange(len(whole)) % 3 - 1)
        blocks = [
            Found(p, [next(labels) for _ in range(len(p))], ["asked"] * len(p), [0.5] * len(p))
            for p in parts
        ]
        write_blocks(blocks, out, "csv")
        n = len(whole)
        assert out.read_bytes() == results_as_bytes(
            whole, np.arange(n) % 3 - 1, ["asked"] * n, np.full(n, 0.5)
        )


def test_json_lines_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    rows = [{"a": i, "b": f"t{i}"} if i % 3 else {"a": i} for i in range(50)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    parts = in_blocks(path, 40)
    assert len(parts) > 5
    assert [v for part in parts for v in part.column("a").numbers.values] == list(range(50))
    assert sum(int(part.column("b").missing.sum()) for part in parts) == 17
    write_blocks(map(found, parts), tmp_path / "o.jsonl", "jsonl")
    written = (tmp_path / "o.jsonl").read_text().splitlines()
    assert [json.loads(line)["a"] for line in written] == list(range(50))


def test_parquet_in_blocks(tmp_path: Path) -> None:
    path, n = tmp_path / "x.parquet", 70_000
    pq.write_table(pa.table({"a": np.arange(n), "t": [None, "x"] * (n // 2)}), path)
    parts = in_blocks(path, 1)
    assert len(parts) == 2
    write_blocks(map(found, parts), tmp_path / "o.parquet", "parquet", named=True)
    made = pq.read_table(tmp_path / "o.parquet")
    assert made["a"].to_pylist() == list(range(n))
    assert made.schema.field("cluster").type == pa.string()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n" + "1,2\n" * 9 + "1,2,3\n", "line 11: 2 cells expected, 3 found"),
        ("a,b\n" + "1,2\n" * 9 + "1\n" * 9, "line 11: 2 cells expected, 1 found"),
        ("a,b\n" + "1,2\n" * 9 + '"1,2\n', "line 11: unexpected end"),
        ('"a",b\n' + "1,2\n" * 9 + "1,\x002\n", "line 11: a NUL"),
        ("a,b\n" + "1,2\n" * 9 + "\udcff,2\n", "is no utf-8"),
    ],
)
def test_what_is_wrong_late_is_named_by_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InvalidInputError, match=message):
        in_blocks(path, 8)


def test_a_block_that_cannot_be_used_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n" + "1,2\n" * 9 + "1,2,3\n")
    with pytest.raises(InvalidInputError):
        write_blocks(map(found, table_blocks(path, CsvOptions(), 8)), tmp_path / "o.csv", "csv")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x.csv"]


def test_only_text_and_parquet_come_in_blocks(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.ones((50, 2)))
    (tmp_path / "x.csv").write_text("a\n" * 50)
    assert not is_large(tmp_path / "x.npy", 1)
    assert not is_large("-", 1)
    assert not is_large(tmp_path, 1)
    assert is_large(tmp_path / "x.csv", 50)
    assert not is_large(tmp_path / "x.csv", 500)
