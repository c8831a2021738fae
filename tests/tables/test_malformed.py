"""Whatever is handed in, the answer is one line that names file, row and column; exit code 2."""

import io
import pickle
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from samecluster.cli.commands.inspect import inspect
from samecluster.cli.main import EXIT_CODES
from samecluster.errors import InvalidInputError
from samecluster.tables import CsvOptions
from samecluster.tables.features.inspect import inspect_table
from samecluster.tables.reading.delimited import parse_delimited
from samecluster.tables.reading.json_lines import parse_json_lines
from samecluster.tables.reading.npy import parse_npy, parse_npz
from samecluster.tables.reading.parquet import parse_parquet


def npy(array, allow_pickle=False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def parquet(columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


WIDE = "id," + ",".join(f"c{i}" for i in range(10_000))
NUMBERS = np.arange(6.0).reshape(3, 2) ** 2

MALFORMED = {
    # name: (file, content, options, parts of the message)
    "empty": ("a.csv", b"", [], ["a.csv is empty"]),
    "blank lines only": ("a.csv", b"\n \n\n", [], ["a.csv is empty"]),
    "a mark only": ("a.csv", b"\xef\xbb\xbf", [], ["a.csv is empty"]),
    "header only": ("a.csv", b"x,y\n", [], ["a.csv has no rows", "at least one row"]),
    "quoted header only": ("a.csv", b'"x","y"\n', [], ["a.csv has no rows"]),
    "one row": ("a.csv", b"x,y\n1.5,2\n", [], ["a.csv has only 1 row; at least 2"]),
    "one column of text": ("a.csv", b"x\na\nb\n", [], ["no column of numbers", "'x': text"]),
    "one row left": (
        "a.csv",
        b"x,y\n1,2\n,3\n4,\n",
        ["--drop-missing"],
        ["a.csv: fewer than 2 rows are without missing values"],
    ),
    "short row": ("a.csv", b"x,y\n1,2\n3\n", [], ["a.csv, line 3: 2 cells expected, 1 found"]),
    "long row": ("a.csv", b"x,y\n1,2\n3,4,5\n", [], ["a.csv, line 3: 2 cells", "3 found"]),
    "two bad rows that even out": ("a.csv", b"x,y\n1\n3,4,5\n", [], ["a.csv, line 2: 2 cells"]),
    "short quoted row": ("a.csv", b'x,y\n"1",2\n"3"\n', [], ["line 3: 2 cells expected, 1"]),
    "open quote": ("a.csv", b'x,y\n1,2\n"3,4\n5,6\n', [], ["a.csv, line 3: ", "quote"]),
    "quote in the middle": ("a.csv", b'x,y\n1,2\n"3"4,5\n', [], ["a.csv, line 3: ", "quote"]),
    "not UTF-8": (
        "a.csv",
        "name,x\nRom,1\nKöln,2\n".encode("cp1252"),
        [],
        ["a.csv, line 3, column 'name': byte 0xF6 is no utf-8", "--encoding cp1252"],
    ),
    "not in the encoding named": (
        "a.csv",
        "x,name\n1,Köln\n".encode("cp1252"),
        ["--encoding", "ascii"],
        ["a.csv, line 2, column 'name': byte 0xF6 is no ascii"],
    ),
    "no such encoding": ("a.csv", b"x,y\n1,2\n", ["--encoding", "runes"], ["no encoding 'runes'"]),
    "NUL": ("a.csv", b"x,y\n1,2\n3,\x004\n", [], ["a.csv, line 3: a NUL character"]),
    "binary": ("a.csv", bytes(range(128, 256)) * 4, [], ["a.csv, line 1", "no utf-8"]),
    "zip": ("a.csv", zipped("x", b"1"), [], ["a.csv is a zip file", "save the sheet as CSV"]),
    "Parquet named csv": ("a.csv", parquet({"x": [1, 2]}), [], ["a.csv is a Parquet file"]),
    "NumPy named csv": ("a.csv", npy(NUMBERS), [], ["a.csv is a NumPy file"]),
    "gzip": ("a.csv", b"\x1f\x8b\x08\0", [], ["a.csv is packed with gzip"]),
    "Excel": ("a.xlsx", b"x", [], [".xlsx files cannot be read", "save the sheet as CSV"]),
    "pickle": ("a.pkl", pickle.dumps([1]), [], [".pkl files cannot be read", "can run programs"]),
    "NaN": (
        "a.csv",
        b"x,y\n1,2\nNaN,3\n4,5\n",
        ["--missing", "error"],
        ["a.csv, line 3, column 'x': no value"],
    ),
    "blank cell": (
        "a.csv",
        b"x,y\n1,2\n3,\n4,5\n",
        ["--missing", "error"],
        ["a.csv, line 3, column 'y': no value"],
    ),
    "gap in a text column named": (
        "a.csv",
        b"x,t\n1,a\n2,\n3,b\n",
        ["--missing", "error", "--categories", "t"],
        ["a.csv, line 3, column 't': no value"],
    ),
    "inf": ("a.csv", b"x,y\n1,2\ninf,3\n", [], ["a.csv, line 3, column 'x': 'inf' is no finite"]),
    "too large": (
        "a.csv",
        b"x,y\n1,2\n1e999,3\n",
        [],
        ["line 3, column 'x': '1e999' is no finite"],
    ),
    "huge integer": (
        "a.csv",
        b"x,y\n1,2\n" + b"9" * 400 + b",3\n",
        [],
        ["a.csv, line 3, column 'x': '99999", "is no finite number"],
    ),
    "text among numbers": (
        "a.csv",
        b"x,y\n1,2\nabc,3\n4,5\n",
        [],
        ["a.csv, line 3, column 'x': 'abc' is no number", "--na", "--ignore x"],
    ),
    "text among numbers far down": (
        "a.csv",
        b"x,y\n" + b"1.5,2\n2.5,3\n" * 500 + b"?1,4\n",
        [],
        ["a.csv, line 1002, column 'x': '?1' is no number"],
    ),
    "grouped digits": ("a.csv", b'x,y\n"1,000",2\n7,3\n', [], ["line 2, column 'x': '1,000'"]),
    "digits with underscores": ("a.csv", b"x,y\n1_000,2\n3,4\n", [], ["line 2, column 'x'"]),
    "two decimal marks": (
        "a.csv",
        b"x;y\n1,5;2,5\n3,5;4.5\n5,5;6,5\n",
        [],
        ["a.csv, line 3, column 'y': '4.5' is no number with decimal mark ','", "--decimal ."],
    ),
    "wrong separator": (
        "a.csv",
        b"x,y\n1,2\n3,4\n",
        ["--sep", ";"],
        ["line 1: with", "seems to be ','"],
    ),
    "separator of two": ("a.csv", b"x,y\n1,2\n", ["--sep", "::"], ["separator must be one"]),
    "separator is the mark": (
        "a.csv",
        b"x,y\n1,2\n",
        ["--sep", ",", "--decimal", ","],
        ["cannot both be ','"],
    ),
    "same name twice": ("a.csv", b"x,x\n1,2\n3,4\n", [], ["a.csv, line 1: two columns", "'x'"]),
    "names on several lines": (
        "a.csv",
        b'"one\ntwo","' + b"long " * 99 + b'"\n1,2\nx,y\n3,4\n',
        [],
        ["a.csv, line 4, column 'one two': 'x' is no number"],
    ),
    "same id twice": (
        "a.csv",
        b"id,x\na,1\nb,2\na,3\n",
        ["--id", "id"],
        ["a.csv, line 4, column 'id': the id 'a' is also that of line 2"],
    ),
    "blank id": ("a.csv", b"id,x\na,1\n,2\n", ["--id", "id"], ["line 3, column 'id': the id is"]),
    "no such id": ("a.csv", b"x,y\n1,2\n3,4\n", ["--id", "n"], ["no column 'n'; it has x, y"]),
    "no such feature": ("a.csv", b"x,y\n1,2\n", ["--features", "x,z"], ["no column 'z'"]),
    "no such truth": ("a.csv", b"x,y\n1,2\n", ["--truth", "z"], ["a.csv has no column 'z'"]),
    "nothing to leave out": ("a.csv", b"x,y\n1,2\n", ["--ignore", "z"], ["no column 'z'"]),
    "feature of text": (
        "a.csv",
        b"x,t\n1,a\n2,b\n",
        ["--features", "t"],
        ["a.csv, column 't': there are no numbers in it", "--categories t"],
    ),
    "feature and truth": (
        "a.csv",
        b"x,y\n1,2\n",
        ["--features", "x", "--truth", "x"],
        ["cannot be"],
    ),
    "constants only": ("a.csv", b"x,y\n1,2\n1,2\n", [], ["'x': constant: always '1'"]),
    "identifiers only": (
        "a.csv",
        b"x\n" + b"".join(b"%d\n" % i for i in range(20)),
        [],
        ["'x': whole numbers, all different", "--features"],
    ),
    "empty columns only": ("a.csv", b"x,y\n,\n,\n", [], ["'x': empty"]),
    "10,000 columns, one short": (
        "a.csv",
        (WIDE + "\na" + ",1" * 10_000 + "\nb" + ",2" * 9_999 + "\n").encode(),
        [],
        ["a.csv, line 3: 10001 cells expected, 10000 found"],
    ),
    "10,000 columns, one text": (
        "a.csv",
        (WIDE + "\na" + ",1" * 10_000 + "\nb" + ",2" * 9_999 + ",x\n").encode(),
        [],
        ["a.csv, line 3, column 'c9999': 'x' is no number"],
    ),
    "too many components": ("a.csv", b"x,y\n1,2\n3,4\n5,7\n", ["--reduce", "5"], ["at most 2"]),
    "no components": (
        "a.csv",
        b"x,y\n1,2\n3,4\n",
        ["--reduce", "0"],
        ["reduce must be at least 1"],
    ),
    "text without words": (
        "a.csv",
        b"t,u\na,1\nb,2\n",
        ["--text", "t", "--text-by", "words"],
        ["a.csv, column 't': fewer than 2 words"],
    ),
    "empty Parquet": ("a.parquet", b"", [], ["a.parquet is empty"]),
    "Parquet cut short": (
        "a.parquet",
        parquet({"x": [1.5, 2]})[:-9],
        [],
        ["a.parquet is no Parquet"],
    ),
    "Parquet cut to its name": ("a.parquet", b"PAR1", [], ["a.parquet is no Parquet"]),
    "Parquet without rows": ("a.parquet", parquet({"x": pa.array([], pa.int8())}), [], ["0 rows"]),
    "Parquet of text": ("a.parquet", parquet({"x": ["a", "b"]}), [], ["no column of numbers"]),
    "Parquet with a null": (
        "a.parquet",
        parquet({"x": [1.5, None, 3.5], "y": [1, 2, 5]}),
        ["--missing", "error"],
        ["a.parquet, row 1, column 'x': no value"],
    ),
    "Parquet with inf": (
        "a.parquet",
        parquet({"x": [1.5, float("-inf"), 3.5]}),
        [],
        ["a.parquet, row 1, column 'x': '-inf' is no finite"],
    ),
    "NumPy of objects": (
        "a.npy",
        npy(np.array([[1, "a"]], dtype=object), allow_pickle=True),
        [],
        ["a.npy holds Python objects, which can run programs"],
    ),
    "a bare pickle as NumPy": ("a.npy", pickle.dumps([1, 2]), [], ["a.npy holds Python objects"]),
    "NumPy cut short": ("a.npy", npy(NUMBERS)[:-8], [], ["a.npy is no NumPy file, or is cut"]),
    "empty NumPy": ("a.npy", b"", [], ["a.npy is empty"]),
    "NumPy of one dimension": ("a.npy", npy(np.zeros(3)), [], ["a.npy: two dimensions", "(3,)"]),
    "NumPy of three dimensions": ("a.npy", npy(np.zeros((2, 2, 2))), [], ["shape (2, 2, 2)"]),
    "NumPy without rows": ("a.npy", npy(np.zeros((0, 2))), [], ["a.npy is empty: its shape is"]),
    "complex NumPy": ("a.npy", npy(NUMBERS + 1j), [], ["a.npy holds complex numbers"]),
    "NumPy with NaN": (
        "a.npy",
        npy(np.array([[1, 2], [3, np.nan], [5, 7]])),
        ["--missing", "error"],
        ["a.npy, row 1, column 'x1': no value"],
    ),
    "npz of two lengths": (
        "a.npz",
        npz(x=np.zeros(3), y=np.zeros(4)),
        [],
        ["a.npz: 'y' has 4 rows and 'x' has 3"],
    ),
    "npz of objects": (
        "a.npz",
        zipped("x.npy", npy(np.array([{}, {}]), allow_pickle=True)),
        [],
        ["a.npz, array 'x' holds Python objects"],
    ),
    "npz without arrays": ("a.npz", npz(), [], ["a.npz holds no arrays"]),
    "npy named npz": ("a.npz", npy(NUMBERS), [], ["a.npz is not what its name says"]),
    "zip of text named npz": ("a.npz", zipped("x.txt", b"1"), [], ["a.npz"]),
    "empty JSON": ("a.jsonl", b"\n\n", [], ["a.jsonl is empty"]),
    "broken JSON": ("a.jsonl", b'{"x": 1}\n{"x": \n', [], ["a.jsonl, line 2: not JSON"]),
    "JSON array": ("a.json", b'[{"x": 1},\n{"x": 2}]', [], ["a.json, line 1", "one object a line"]),
    "JSON of numbers": ("a.jsonl", b"1\n2\n", [], ["a.jsonl, line 1: an object such as"]),
    "JSON key twice": ("a.jsonl", b'{"x": 1, "x": 2}\n', [], ["line 1", "'x' is there twice"]),
    "JSON without keys": ("a.jsonl", b"{}\n{}\n", [], ["the objects have no keys"]),
    "JSON nested": ("a.jsonl", b'{"x":' + b"[" * 99_999 + b"\n", [], ["a.jsonl, line 1: "]),
    "half a character": ("a.jsonl", b'{"x": "\\ud800"}\n', [], ["line 1: half of a character"]),
    "JSON of mixed types": (
        "a.jsonl",
        b'{"x": 1}\n{"x": "two"}\n{"x": 3}\n',
        [],
        ["a.jsonl, line 2, column 'x': 'two' is no number"],
    ),
    "JSON with a key missing": (
        "a.jsonl",
        b'{"x": 1, "y": 2}\n{"x": 3}\n{"x": 4, "y": 7}\n',
        ["--missing", "error"],
        ["a.jsonl, line 2, column 'y': no value"],
    ),
    "JSON with a huge integer": (
        "a.jsonl",
        b'{"x": 1}\n{"x": ' + b"9" * 400 + b"}\n",
        [],
        ["a.jsonl, line 2, column 'x'", "is no finite number"],
    ),
    "JSON with an endless integer": (
        "a.jsonl",
        b'{"x": ' + b"9" * 5000 + b"}\n",
        [],
        ["a.jsonl, line 1: not JSON"],
    ),
    "JSON not UTF-8": ("a.jsonl", b'{"x": "\xf6"}\n', [], ["a.jsonl, line 1", "no utf-8"]),
    "missing vectors": ("a.csv", b"x,y\n1,2\n3,4\n", ["--vectors", "no.npy"], ["no file no.npy"]),
}

app = typer.Typer(add_completion=False)
app.command()(inspect)


def inspected(*arguments: str) -> None:
    typer.main.get_command(app).main(list(arguments), standalone_mode=False)


def assert_one_line_and_code_2(error: InvalidInputError) -> None:
    assert "\n" not in str(error)
    assert len(str(error)) < 600
    assert next(code for kind, code in EXIT_CODES.items() if isinstance(error, kind)) == 2


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_input_is_named_in_one_line(name, tmp_path, capsys) -> None:
    file, content, options, parts = MALFORMED[name]
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(InvalidInputError) as caught:
        inspected(str(path), *options)
    for part in parts:
        assert part in str(caught.value)
    assert_one_line_and_code_2(caught.value)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["no.csv", "no/deeper.parquet", "empty folder"])
def test_places_without_data_are_named(name, tmp_path) -> None:
    (tmp_path / "empty folder").mkdir()
    with pytest.raises(InvalidInputError, match=r"there is no file|is a folder without images"):
        inspected(str(tmp_path / name))


VALID = {
    "csv": b'id;x,y;"z"\na;1,5;2\nb;2,5;-1e3\nc;7;8\n',
    "jsonl": b'{"x": 1, "y": "a"}\n{"x": 2.5, "y": null}\n',
    "parquet": parquet({"x": [1.5, 2.5, None], "y": ["a", "b", "c"]}),
    "npy": npy(NUMBERS),
    "npz": npz(x=NUMBERS, y=np.array(["a", "b", "c"])),
}
PARSERS = {
    "csv": lambda data, name: parse_delimited(data, name, CsvOptions()),
    "jsonl": parse_json_lines,
    "parquet": parse_parquet,
    "npy": parse_npy,
    "npz": parse_npz,
}


@st.composite
def damaged(draw, whole: bytes) -> bytes:
    """The bytes of a file with some of them changed, cut out or put in."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        data[at : at + draw(st.integers(0, 6))] = draw(st.binary(max_size=6))
    return bytes(data)


@pytest.mark.parametrize("kind", VALID)
@given(data=st.data())
def test_damaged_files_are_read_or_refused_and_nothing_else(kind, data) -> None:
    content = data.draw(damaged(VALID[kind]) | st.binary(max_size=60))
    try:
        table = PARSERS[kind](content, f"a.{kind}")
        str(inspect_table(table))
    except InvalidInputError as error:
        assert_one_line_and_code_2(error)
