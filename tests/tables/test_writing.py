"""Results come out as the rows that went in, unchanged, with three columns more."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import How
from samecluster.errors import InvalidInputError
from samecluster.tables import CsvOptions, FeatureOptions, Preparation, as_table, read_table
from samecluster.tables.reading.delimited import parse_delimited
from samecluster.tables.writing import results_as_bytes, write_results

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6)


def parsed(text: str | bytes, **asked):
    data = text if isinstance(text, bytes) else text.encode()
    return parse_delimited(data, "data.csv", CsvOptions(**asked))


def as_csv(table, raw=False, **more) -> str:
    n = len(table)
    return results_as_bytes(table, [0] * n, ["asked"] * n, [1.0] * n, raw=raw, **more).decode()


def test_columns_are_appended_in_the_dialect_of_the_file() -> None:
    table = parsed("id;x\r\na;1,50\r\nb;2,5\r\n".encode("utf-8-sig"))
    out = results_as_bytes(table, [3, -1], ["proven", "unassigned"], [0.25, None])
    assert (
        out
        == (
            "\ufeffid;x;cluster;how;probability\r\na;1,50;3;proven;0,25\r\nb;2,5;;unassigned;\r\n"
        ).encode()
    )


def test_a_file_without_header_stays_without() -> None:
    assert as_csv(parsed("1,2\n3,4\n")) == "1,2,0,asked,1.0\n3,4,0,asked,1.0\n"


@given(st.lists(st.tuples(CELL, CELL), min_size=1, max_size=5))
def test_raw_cells_come_out_as_they_went_in(rows) -> None:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([("p", "q"), *rows])
    table = parsed(file.getvalue(), separator=",", header=True)
    back = list(csv.reader(io.StringIO(as_csv(table, raw=True), newline="")))
    assert [tuple(row[:2]) for row in back[1:]] == rows
    escaped = list(csv.reader(io.StringIO(as_csv(table), newline="")))
    for row, written in zip(rows, escaped[1:], strict=True):
        for cell, out in zip(row, written, strict=False):
            assert out in (cell, "'" + cell)
            assert not out.startswith(("=", "@", "\t"))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_numbers_round_trip_exactly_and_probabilities_to_four_digits(values) -> None:
    n = len(values)
    shares = [abs(v) for v in values]
    for source in (
        as_table({"x": values}),
        parsed("x,y\n" + "".join(f"{v!r},1\n" for v in values)),
    ):
        out = parsed(results_as_bytes(source, [0] * n, ["asked"] * n, shares))
        assert out.column("x").numbers.values.tolist() == values
        kept = [min(round(v, 4), 0.9999) if v < 1 else v for v in shares]
        assert out.column("probability").numbers.values.tolist() == kept
        lines = results_as_bytes(source, [0] * n, ["a"] * n, shares, format="jsonl").splitlines()
        assert [json.loads(line)["x"] for line in lines] == values


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t"])
def test_text_that_a_spreadsheet_would_run_is_escaped_and_numbers_are_not(start) -> None:
    table = as_table({"t": [start + "cmd", "-3.5"], "x": [-3.5, 4.5]})
    first, second = list(csv.reader(io.StringIO(as_csv(table))))[1:]
    assert first[:2] == ["'" + start + "cmd", "-3.5"]
    assert second[:2] == ["-3.5", "4.5"]
    names = results_as_bytes(table, [start + "cmd", "b"], ["asked"] * 2, [1, 1]).decode()
    assert f",'{start}cmd,asked" in names
    assert (
        f",{start}cmd,asked"
        in results_as_bytes(table, [start + "cmd", "b"], ["asked"] * 2, [1, 1], raw=True).decode()
    )


def test_negative_decimals_with_a_comma_are_numbers() -> None:
    table = parsed("x;t\n-3,5;-\n2,5;--\n", missing=("-",))
    assert as_csv(table).splitlines()[1:] == ["-3,5;-;0;asked;1,0", "2,5;'--;0;asked;1,0"]


def test_a_column_of_that_name_is_an_error_that_says_what_to_do() -> None:
    table = parsed("cluster,x\n1,2\n3,4\n")
    with pytest.raises(InvalidInputError, match=r"a column 'cluster' already.*--prefix new_"):
        as_csv(table)
    assert as_csv(table, prefix="new_").startswith("cluster,x,new_cluster,new_how,new_probability")


def test_rows_that_were_left_out_are_unassigned() -> None:
    table = parsed("x,y\n1,2\n,3\n4,5\n")
    kept = Preparation.fit(table, FeatureOptions(drop_missing=True)).kept(table)
    out = results_as_bytes(table, [0, 1], ["asked", "proven"], [1.0, 0.5], rows=kept).decode()
    assert out.splitlines()[1:] == ["1,2,0,asked,1.0", ",3,,unassigned,", "4,5,1,proven,0.5"]


def test_json_lines_stay_as_they_were(tmp_path) -> None:
    lines = ['{"x": 1.50, "t": "ü",  "deep": {"a": [1]}}', '{"x":2}', "{}"]
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    table = read_table(tmp_path / "in.jsonl")
    write_results(table, tmp_path / "out.jsonl", [0, None, "b"], ["asked"] * 3, [1, None, 0.5])
    out = (tmp_path / "out.jsonl").read_text().splitlines()
    assert out[0] == lines[0][:-1] + ', "cluster": 0, "how": "asked", "probability": 1.0}'
    assert json.loads(out[1]) == {"x": 2, "cluster": None, "how": "asked", "probability": None}
    assert json.loads(out[2])["cluster"] == "b"


def test_parquet_keeps_its_types(tmp_path) -> None:
    made = pa.table({"x": pa.array([1, None], pa.int16()), "d": pa.array([1, 2], pa.date32())})
    pq.write_table(made, tmp_path / "in.parquet")
    table = read_table(tmp_path / "in.parquet")
    write_results(table, tmp_path / "out.parquet", np.array([4, -1]), ["asked"] * 2, [1.0, 0.1])
    out = pq.read_table(tmp_path / "out.parquet")
    assert out.select(["x", "d"]).equals(made)
    assert out["cluster"].to_pylist() == [4, None]
    assert out["probability"].to_pylist() == [1.0, 0.1]
    write_results(table, tmp_path / "out.csv", [0, 1], ["asked"] * 2, [1, 1])
    assert (tmp_path / "out.csv").read_text().splitlines()[2] == ",1970-01-03,1,asked,1.0"


def test_text_tables_get_types_where_all_cells_have_one(tmp_path) -> None:
    table = parsed(f"whole,share,code,mixed,big\n1,0.5,007,a,{10**30}\n2,,008,2,5\n")
    write_results(table, tmp_path / "out.parquet", ["one", "two"], ["asked"] * 2, [1, 1])
    out = pq.read_table(tmp_path / "out.parquet")
    assert out["whole"].to_pylist() == [1, 2]
    assert out["share"].to_pylist() == [0.5, None]
    assert out["code"].to_pylist() == ["007", "008"]
    assert out["mixed"].to_pylist() == ["a", "2"]
    assert out["big"].to_pylist() == [str(10**30), "5"]
    assert out["cluster"].to_pylist() == ["one", "two"]
    lines = results_as_bytes(table, [0, 1], ["asked"] * 2, [1, 1], format="jsonl").splitlines()
    assert json.loads(lines[0])["big"] == 10**30
    assert json.loads(lines[1])["share"] is None


def test_json_has_no_word_for_what_is_no_number() -> None:
    table = as_table({"x": [float("nan"), float("inf")]})
    lines = results_as_bytes(table, [0, 0], ["a"] * 2, [1, 1], format="jsonl").splitlines()
    assert [json.loads(line)["x"] for line in lines] == [None, "inf"]


def test_how_is_written_in_words() -> None:
    table = as_table({"x": [1.5, 2.5]})
    out = results_as_bytes(table, [0, 1], [How.ASKED, "proven"], [1, 1]).decode().splitlines()
    assert [line.split(",")[2] for line in out[1:]] == ["asked", "proven"]
    with pytest.raises(InvalidInputError, match="how must have words such as 'asked', got 4"):
        results_as_bytes(table, [0, 1], [4, 4], [1, 1])


def test_a_file_appears_only_when_it_is_complete(tmp_path) -> None:
    table = parsed("x,y\n1,2\n3,4\n")
    target = tmp_path / "out.csv"
    old = "x,y,cluster,how,probability\nold\n"
    target.write_text(old)
    with pytest.raises(InvalidInputError, match="cluster has 1 values for 2 rows"):
        write_results(table, target, [0], ["asked"] * 2, [1, 1])
    assert target.read_text() == old
    write_results(table, target, [0, 1], ["asked"] * 2, [1, 1])
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert target.read_text().startswith("x,y,cluster")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("out.xlsx", "the name must end in"),
        ("no/out.csv", "cannot be written: there is no folder"),
        (".", "is a folder; name a file"),
    ],
)
def test_places_that_cannot_be_written_are_named(name, message, tmp_path) -> None:
    table = parsed("x,y\n1,2\n3,4\n")
    with pytest.raises(InvalidInputError, match=message):
        write_results(table, tmp_path / name, [0, 1], ["asked"] * 2, [1, 1])


def test_standard_output_takes_the_format_of_the_input(tmp_path, capsysbinary) -> None:
    write_results(parsed("x,y\n1,2\n3,4\n"), "-", [0, 1], ["asked"] * 2, [1, 1])
    assert capsysbinary.readouterr().out.startswith(b"x,y,cluster,how,probability\n1,2,0")
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n')
    write_results(read_table(tmp_path / "a.jsonl"), "-", [0], ["asked"], [1])
    assert json.loads(capsysbinary.readouterr().out)["how"] == "asked"


def test_a_name_that_the_encoding_lacks_is_an_error() -> None:
    table = parsed("name,x\nMünchen,1\nRom,2\n".encode("cp1252"), encoding="cp1252")
    with pytest.raises(InvalidInputError, match="'→' cannot be written in cp1252"):
        results_as_bytes(table, ["→", "b"], ["asked"] * 2, [1, 1])
    with pytest.raises(InvalidInputError, match="format must be csv"):
        results_as_bytes(table, [0, 0], ["asked"] * 2, [1, 1], format="odf")  # type: ignore[arg-type]


@pytest.mark.parametrize("sign", "=+-@＝＋－＠")
@pytest.mark.parametrize(
    "before", ["", " ", "\n", "\r", "\t", "\x0b", "\xa0", "\ufeff", "\u200f", " \n "]
)
def test_a_formula_is_disarmed_wherever_it_hides(before, sign) -> None:
    table = as_table({"t": [f"{before}{sign}1+1", f"x{sign}1+1", "-5", " +5"], "x": [1, 2, 3, 4]})
    rows = list(csv.reader(io.StringIO(as_csv(table), newline="")))
    assert rows[1][0] == f"'{before}{sign}1+1"
    assert [row[0] for row in rows[2:]] == [f"x{sign}1+1", "-5", " +5"]
