"""An item keeps its key when its file is sorted, converted or given labels."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.errors import InvalidInputError
from samecluster.tables import CsvOptions, as_table, item_keys, read_table
from samecluster.tables.reading.delimited import parse_delimited

ROWS = st.lists(
    st.tuples(
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["a", "b", "é", "12", "-0", "NA "]),
        st.integers(-(2**62), 2**62),
    ),
    min_size=1,
    max_size=8,
)


def parsed(text: str):
    return parse_delimited(text.encode(), "data.csv", CsvOptions(separator=",", header=True))


def as_csv(rows, order=(0, 1, 2)) -> str:
    lines = [",".join(str(row[at]) for at in order) for row in rows]
    return "\n".join([",".join("xyz"[at] for at in order), *lines]) + "\n"


@given(ROWS, st.randoms())
def test_keys_follow_the_rows_whatever_the_order_of_rows_and_columns(rows, random) -> None:
    keys = item_keys(parsed(as_csv(rows)))
    assert len(set(keys)) == len(rows)
    assert {key.split("#")[0] for key in keys} == {
        key.split("#")[0] for key in item_keys(parsed(as_csv(rows, (2, 0, 1))))
    }
    shuffled = random.sample(rows, len(rows))
    assert sorted(item_keys(parsed(as_csv(shuffled)))) == sorted(keys)


@given(ROWS)
def test_keys_are_equal_exactly_if_the_rows_are(rows) -> None:
    keys = [key.split("#")[0] for key in item_keys(parsed(as_csv(rows)))]

    def meaning(row):
        none = row[1].strip() == "NA"
        second = None if none else float(row[1]) if row[1] in ("12", "-0") else row[1]
        return (row[0], second, row[2])

    assert len(set(keys)) == len({meaning(row) for row in rows})


def test_a_row_is_the_same_in_every_format(tmp_path) -> None:
    values = {
        "x": [1.5, 2.0, -0.0, 1e300],
        "n": [1, 2**60, 3, 2**60 + 1],
        "t": ["a", "b ", None, "c"],
    }
    pq.write_table(pa.table(values), tmp_path / "data.parquet")
    rows = [dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=True)]
    (tmp_path / "data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "data.csv").write_text(
        f"n;t;x\n1;a;1,50\n{2**60};b;2\n3;;0,0\n{2**60 + 1};c;1e300\n"
    )
    expected = item_keys(as_table(values))
    for name in ("data.parquet", "data.jsonl", "data.csv"):
        assert item_keys(read_table(tmp_path / name)) == expected


@pytest.mark.parametrize("digits", [309, 350, 500])
def test_whole_numbers_that_no_float_holds_count_as_their_digits(digits: int) -> None:
    one, two = "9" * digits, "9" * (digits - 1) + "8"
    assert len(set(item_keys(parsed(f"x,n\na,{one}\na,{two}\na,3\n")))) == 3


def test_keys_stay_what_they_are() -> None:
    """Sessions keep keys: a change here would lose every answer ever given."""
    assert item_keys(as_table({"x": [1.5, 1.5], "t": ["a", "a"]})) == [
        "53cbb1495f34b3d3db824bd8d1cee5e3",
        "53cbb1495f34b3d3db824bd8d1cee5e3#2",
    ]


def test_labels_do_not_change_what_an_item_is() -> None:
    before, after = parsed("x,y,kind\n1,2,\n3,4,\n"), parsed("x,y,kind\n1,2,a\n3,4,b\n")
    assert item_keys(before, ignoring=["kind"]) == item_keys(after, ignoring=["kind"])
    assert item_keys(before) != item_keys(after)
    with pytest.raises(InvalidInputError, match="no column 'nothing'"):
        item_keys(before, ignoring=["nothing"])


def test_text_that_holds_a_neighbour_is_not_mistaken_for_it() -> None:
    keys = item_keys(as_table({"p": ["ab", "a"], "q": ["c", "bc"]}))
    assert len({key.split("#")[0] for key in keys}) == 2


def test_ids_are_used_as_they_are() -> None:
    assert item_keys(parsed("id,x\n007,1\n 8 ,2\n"), "id") == ["007", "8"]
    assert item_keys(as_table({"id": np.array([1.0, 2.0]), "x": [3, 4]}), "id") == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,x\na,1\nb,2\na,3\n", "line 4, column 'id': the id 'a' is also that of line 2"),
        ("id,x\na,1\n ,2\n", "line 3, column 'id': the id is blank"),
    ],
)
def test_bad_ids_name_the_rows(text, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        item_keys(parsed(text), "id")
