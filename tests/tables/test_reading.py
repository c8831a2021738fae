"""Files and Python objects become the same columns, whatever they are written in."""

import csv
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from samecluster.errors import InvalidInputError
from samecluster.tables import CsvOptions, Table, as_table, read_table
from samecluster.tables.reading.delimited import parse_delimited

CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=8)


def parsed(text: str | bytes, **asked) -> Table:
    data = text if isinstance(text, bytes) else text.encode()
    return parse_delimited(data, "data.csv", CsvOptions(**asked))


def numbers(table: Table, name: str) -> list[float]:
    return list(table.column(name).numbers.values.tolist())


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoted", [False, True])
def test_separator_and_line_ends_are_found(separator, newline, quoted) -> None:
    rows = [["name", "x", "y"], ["a", "1.5", "2"], ["b", "-3", "4e2"], ["c", ".5", "6"]]
    mark = '"' if quoted else ""
    text = newline.join(separator.join(mark + cell + mark for cell in row) for row in rows)
    table = parsed(text + newline)
    assert table.dialect is not None
    assert (table.dialect.separator, table.dialect.newline) == (separator, newline)
    assert table.names == ("name", "x", "y")
    assert numbers(table, "x") == [1.5, -3.0, 0.5]
    assert list(table.column("name").texts) == ["a", "b", "c"]
    assert table.lines is not None
    assert table.lines.tolist() == [2, 3, 4]


@pytest.mark.parametrize(
    ("text", "decimal", "x"),
    [
        ("x;y\n3,14;1\n2,5;2\n", ",", [3.14, 2.5]),
        ("x;y\n3.14;1\n2.5;2\n", ".", [3.14, 2.5]),
        ("3,14;1,5\n2,5;2,5\n", ",", [3.14, 2.5]),
        ('x,y\n"3,14",1\n"2,5",2\n', ".", None),
        ("x\ty\n3,14\tversion 1.5\n2,5\tversion 2.5\n", ",", [3.14, 2.5]),
        ("x;y\n" + "1;2\n" * 300 + "3,5;2\n", ",", [*[1.0] * 300, 3.5]),
        ("x;y\n1,5e3;1\n-,5;2\n", ",", [1500.0, -0.5]),
    ],
)
def test_the_decimal_mark_is_found(text, decimal, x) -> None:
    table = parsed(text)
    assert table.dialect is not None
    assert table.dialect.decimal == decimal
    column = table.column(table.names[0])
    assert numbers(table, column.name) == x if x else len(column.numbers.not_numbers) == 2


def test_what_is_asked_for_overrides_what_is_found() -> None:
    table = parsed("a;b,c\n1;2,3\n", separator=",", header=False)
    assert list(table.column("x1").texts) == ["c", "3"]
    assert numbers(parsed("x;y\n1,5;1\n", decimal=","), "x") == [1.5]
    assert parsed("x,y\nminus,1\n", missing=("minus",)).column("x").missing.tolist() == [True]
    latin = parsed("name,x\nMünchen,1\n".encode("cp1252"), encoding="cp1252")
    assert list(latin.column("name").texts) == ["München"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_encodings_are_found_by_their_marks_or_zeros(encoding) -> None:
    table = parsed("größe,x\nmüde,1\nwach,2\n".encode(encoding))
    assert table.names == ("größe", "x")
    assert list(table.column("größe").texts) == ["müde", "wach"]


def test_quoted_cells_may_hold_anything_and_lines_are_still_right() -> None:
    table = parsed('name,x\n"two\nlines, one cell",1\n\n"say ""hi""",oops\n')
    assert list(table.column("name").texts) == ["two\nlines, one cell", 'say "hi"']
    assert table.place(1, "x") == "data.csv, line 5, column 'x'"


def test_blank_lines_are_no_rows() -> None:
    table = parsed("x,y\n1,2\n\n3,4\n\n\n")
    assert numbers(table, "y") == [2, 4]
    assert table.row_name(1) == "line 4"


def test_a_first_line_of_numbers_is_no_header() -> None:
    assert parsed("1,2\n3,4\n").names == ("x0", "x1")
    assert parsed("1,2\n3,4\n", header=True).names == ("1", "2")
    assert parsed(",2019,2020\n0,1,2\n").names == ("column 1", "2019", "2020")


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=6))
@example([("", "", "a")])
def test_every_cell_that_a_csv_writer_writes_is_read_back(rows) -> None:
    """Whatever characters cells hold, with the separator and quotes among them."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([("p", "q", "r"), *rows])
    table = parsed(file.getvalue(), separator=",", header=True)
    found = [table.column(name).texts for name in "pqr"]
    assert list(zip(*found, strict=True)) == rows


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_numbers_are_read_to_the_last_bit_by_the_quick_way_and_the_slow_one(values) -> None:
    text = "x,y\n" + "".join(f"{value!r},1\n" for value in values)
    quick, slow = parsed(text), parsed(text + '"",1\n')
    assert numbers(quick, "x") == values
    assert numbers(slow, "x")[:-1] == values
    comma = parsed(text.replace(",", ";").replace(".", ","), decimal=",")
    assert numbers(comma, "x") == values


def test_what_python_takes_for_a_number_but_people_do_not_is_text() -> None:
    table = parsed("x,y,z,w\n1_000,١٢,0x10,1 2\n2,3,4,5\n")
    assert [table.column(name).numbers.not_numbers.tolist() for name in "xyzw"] == [[0]] * 4


def test_missing_values_are_known_by_their_usual_names() -> None:
    table = parsed("x,y\nNA,1\n ,2\nnull,3\n4,4\n")
    assert table.column("x").numbers.missing.tolist() == [True, True, True, False]
    kept = parsed("x,y\nNA,1\n-,2\n4,4\n", missing=("-",)).column("x").numbers
    assert kept.not_numbers.tolist() == [0]
    assert kept.missing.tolist() == [False, True, False]


VALUES = {
    "id": ["a", "b", "c"],
    "x": [0.1, -2.5, 1e300],
    "whole": [1, 2, 2**60 + 1],
    "gaps": [1.5, None, 2.5],
    "flag": [True, False, True],
}


def written(kind, folder):
    path = folder / f"data.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(VALUES), path)
    elif kind == "jsonl":
        rows = [dict(zip(VALUES, row, strict=True)) for row in zip(*VALUES.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        cells = zip(*VALUES.values(), strict=True)
        lines = [",".join("" if cell is None else str(cell) for cell in row) for row in cells]
        path.write_text("\n".join([",".join(VALUES), *lines]) + "\n")
    return path


class Frame:
    """The part of a data frame that pandas and polars have in common."""

    def __init__(self, columns) -> None:
        self.columns = list(columns)
        self._columns = columns

    def __getitem__(self, name):
        return np.array(self._columns[name])


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv", "dict", "frame", "arrow"])
def test_all_formats_say_the_same(kind, tmp_path) -> None:
    objects = {"dict": VALUES, "frame": Frame(VALUES), "arrow": pa.table(VALUES)}
    table = as_table(objects[kind]) if kind in objects else read_table(written(kind, tmp_path))
    assert table.names == tuple(VALUES)
    assert list(table.column("id").texts) == VALUES["id"]
    assert numbers(table, "x") == VALUES["x"]
    assert list(table.column("whole").texts) == ["1", "2", str(2**60 + 1)]
    assert table.column("gaps").numbers.missing.tolist() == [False, True, False]
    assert len(table.column("flag").numbers.not_numbers) == 3
    assert as_table(table) is table


def test_whole_numbers_with_gaps_stay_whole() -> None:
    frame = pa.table({"n": pa.array([2**60 + 1, None, 3])})
    assert list(as_table(frame).column("n").texts) == [str(2**60 + 1), "", "3"]


def test_numpy_files(tmp_path) -> None:
    X = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "a.npy", X)
    table = read_table(tmp_path / "a.npy")
    assert table.is_matrix
    assert numbers(table, "x1") == [1, 3, 5]
    np.savez(tmp_path / "b.npz", X=X, kind=np.array(["p", "q", "r"]))
    table = as_table(str(tmp_path / "b.npz"))
    assert table.names == ("x0", "x1", "kind")
    assert list(table.column("kind").texts) == ["p", "q", "r"]
    record = np.array([(1, 2.5), (3, 4.5)], dtype=[("p", int), ("q", float)])
    np.save(tmp_path / "c.npy", record)
    assert numbers(read_table(tmp_path / "c.npy"), "q") == [2.5, 4.5]


def test_lists_of_mixed_rows_keep_their_numbers_and_arrays_of_flags_are_numbers() -> None:
    table = as_table([["a", 1.5], ["b", 2.5]])
    assert numbers(table, "x1") == [1.5, 2.5]
    assert list(table.column("x0").texts) == ["a", "b"]
    assert numbers(as_table(np.array([[True], [False]])), "x0") == [1, 0]


def test_narrow_floats_keep_their_short_text() -> None:
    table = as_table({"x": np.array([0.1, 2.5], dtype=np.float32)})
    assert list(table.column("x").texts) == ["0.1", "2.5"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"separator": "ab"}, "separator must be one character"),
        ({"decimal": ":"}, "decimal mark must be"),
        ({"separator": ",", "decimal": ","}, "cannot both be"),
        ({"encoding": "klingon"}, "there is no encoding 'klingon'"),
    ],
)
def test_what_is_asked_for_is_checked(asked, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        CsvOptions(**asked)


def test_rows_are_listed_briefly() -> None:
    table = parsed("x,y\n" + "1,2\n" * 10)
    assert table.row_names([0]) == "line 2"
    assert table.row_names([0, 2]) == "lines 2 and 4"
    assert table.row_names(range(7)) == "lines 2, 3, 4, 5, 6 and 2 more"
    assert as_table([[1, 2], [3, 4]]).row_names([0, 1]) == "rows 0 and 1"


def test_a_text_file_without_columns_has_one_text_per_line(tmp_path) -> None:
    path = tmp_path / "letters.txt"
    path.write_text("Dear Sir, it came late.\n\nThank you; it works.\nNo reply, none, ever.\n")
    table = read_table(path)
    assert table.names == ("text",)
    assert list(table.column("text").texts)[::2] == [
        "Dear Sir, it came late.",
        "No reply, none, ever.",
    ]
    assert table.row_name(1) == "line 3"


@pytest.mark.parametrize("text", ["x,y\n1,2\n3,4\n", "x\ty and z\tw\n1\t2\t3\n4\t5\t6\n"])
def test_a_text_file_with_columns_is_a_table(text, tmp_path) -> None:
    path = tmp_path / "table.txt"
    path.write_text(text)
    assert read_table(path).names[0] == "x"
    assert len(read_table(path)) == 2


def test_a_broken_table_is_not_taken_for_texts(tmp_path) -> None:
    path = tmp_path / "table.txt"
    path.write_text("bill length mm,bill depth mm\n" + "1,2\n" * 9 + "1,2,3\n")
    with pytest.raises(InvalidInputError, match="line 11: 2 cells expected, 3 found"):
        read_table(path)
