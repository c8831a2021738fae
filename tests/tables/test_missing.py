"""Missing cells are filled in and marked, left out, or named; bad cells are named all at once."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from samecluster import recover
from samecluster.errors import InvalidInputError
from samecluster.tables import CsvOptions, FeatureOptions, Preparation, as_table, read_table
from samecluster.tables.features.inspect import inspect_table
from samecluster.tables.features.select import select_columns
from samecluster.tables.reading.delimited import parse_delimited
from samecluster.tables.reading.dialect import MISSING

MEDIAN = FeatureOptions(missing="median")


def parsed(text: str, **options):
    return parse_delimited(text.encode(), "data.csv", CsvOptions(header=True, **options))


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(4, 20), st.integers(1, 4)),
        elements=st.integers(-(10**6), 10**6).map(lambda n: n / 8) | st.just(np.nan),
    ),
    st.booleans(),
)
def test_filled_cells_are_the_median_and_marked_and_all_others_stay(X, scale) -> None:
    names = tuple(f"c{at}" for at in range(X.shape[1]))
    kept = [at for at in range(X.shape[1]) if (~np.isnan(X[:, at])).any()]
    if not kept:
        return
    table = as_table(dict(zip(names, X.T, strict=True)))
    wanted = FeatureOptions(features=tuple(names[at] for at in kept), missing="median", scale=scale)
    preparation = Preparation.fit(table, wanted)
    found = preparation.apply(table)
    assert preparation.kept(table).tolist() == list(range(len(X)))
    assert np.isfinite(found).all()
    gaps = np.isnan(X[:, kept])
    marks = {tuple(column) for column in gaps.T if column.any()}
    assert found.shape[1] == len(kept) + len(marks)
    assert {tuple(column) for column in found[:, len(kept) :].T.astype(bool)} == marks
    for place, at in enumerate(kept):
        column, missing = X[:, at], gaps[:, place]
        whole = np.where(missing, np.nanquantile(column, 0.5, method="lower"), column)
        present = column[~missing]
        spread = present.std() or 1.0
        expected = (whole - present.mean()) / spread if scale else whole
        assert np.allclose(found[:, place], expected, atol=1e-6, rtol=1e-6)
    again = Preparation.from_json(preparation.to_json())
    assert again.apply(table).tobytes() == found.tobytes()
    assert again.missing == "median"


def test_what_is_filled_in_is_said_with_rows_columns_and_options() -> None:
    table = parsed("x,y,z\n1,2.5,3\n,3,\n4,5,7\n6,NA,8\n7,8,9\n")
    (note,) = select_columns(table, MEDIAN).notes
    assert note == (
        "3 missing cells are filled in: by the median of the column, marked in a 0/1 column "
        "(x, y, z). See lines 3 and 5; --missing drop leaves these rows out, --missing error stops."
    )
    found = inspect_table(table, MEDIAN)
    assert (found.n_filled, found.n_dropped, found.n_features) == (2, 0, 5), "x and z share a mark"
    assert note in str(found)
    assert select_columns(parsed("x,y\n1,2.5\n4,5\n"), MEDIAN).notes == ()


def test_cells_that_are_missing_later_are_filled_by_the_same_medians() -> None:
    preparation = Preparation.fit(parsed("x,y\n1,2\n3,4.5\n8,9\n,4\n"), MEDIAN)
    before = preparation.apply(parsed("x,y\n3,4\n"))
    later = preparation.apply(parsed("x,y\n3,\n"))
    assert later.shape == before.shape == (1, 3)
    assert later[0, 1] == before[0, 1]


def test_missing_categories_and_texts_are_none_of_those_known() -> None:
    table = as_table(
        {
            "x": [1.5, 2, 3, 4],
            "kind": ["a", None, "b", "a"],
            "says": ["one two", "one two", None, ""],
        }
    )
    wanted = FeatureOptions(
        features=("x",), categories=("kind",), texts=("says",), missing="median", text_dimensions=1
    )
    X = Preparation.fit(table, wanted).apply(table)
    assert X.shape == (4, 4), "no category of its own for a missing one"
    assert X[1, 1:3].tolist() == [0, 0]
    assert X[2, 3] == X[3, 3] == 0
    assert X[0, 3] == X[1, 3] != 0
    (note,) = select_columns(table, wanted).notes
    assert "as none of those known (kind, says)" in note


def test_given_features_are_never_filled_in() -> None:
    table = as_table({"x": [1.5, 2.5]}).with_matrices({"vectors": np.array([[1.0], [np.nan]])})
    with pytest.raises(InvalidInputError, match="row 1: no value"):
        Preparation.fit(table, MEDIAN)


def test_what_may_be_done_with_missing_cells_is_named() -> None:
    with pytest.raises(
        InvalidInputError, match="missing must be 'median', 'drop', 'error', got 'x'"
    ):
        FeatureOptions(missing="x")
    with pytest.raises(InvalidInputError, match="both dropped and filled in"):
        FeatureOptions(missing="median", drop_missing=True)
    assert FeatureOptions(drop_missing=True) == FeatureOptions(missing="drop")


def test_a_preparation_of_before_fills_nothing_in() -> None:
    table = parsed("x,y\n1,2\n,3\n4,5\n")
    stored = json.loads(Preparation.fit(table, FeatureOptions(missing="drop")).to_json())
    old = {**stored, "version": 1, "drop_missing": True}
    del old["missing"]
    assert Preparation.from_json(json.dumps(old)).kept(table).tolist() == [0, 2]
    strict = Preparation.from_json(json.dumps({**old, "drop_missing": False}))
    with pytest.raises(InvalidInputError, match="line 3, column 'x': no value"):
        strict.apply(table)


def test_bad_cells_of_all_columns_are_named_at_once() -> None:
    text = "x,y\n1,2\nabc,inf\n4,5\n" + "5,6\n" * 20
    (problem,) = select_columns(parsed(text), FeatureOptions()).problems
    assert problem == (
        "data.csv, line 3, column 'x': 'abc' is no number; line 3, column 'y': 'inf' is no finite "
        "number; correct them, count as missing with --na, or leave out with --ignore x,y"
    )
    with pytest.raises(InvalidInputError) as caught:
        Preparation.fit(parsed("x,y\n1,2\n3,4\n")).apply(parsed(text))
    assert str(caught.value) == problem


def test_the_first_ten_bad_cells_are_named_and_the_rest_counted() -> None:
    text = "x,y\n" + "1.5,2\n" * 200 + "".join(f"{word},4\n" for word in "abcdefghijkl")
    (problem,) = select_columns(parsed(text), FeatureOptions(features=("x", "y"))).problems
    assert problem.count("is no number") == 10
    assert "line 211, column 'x': 'j' is no number; and 2 more; correct them" in problem


def test_bad_cells_that_are_alike_are_named_once() -> None:
    text = "x,y\n" + "1.5,2\n" * 100 + "-,4\n" * 9
    (problem,) = select_columns(parsed(text), FeatureOptions(features=("x", "y"))).problems
    assert problem == (
        "data.csv, lines 102, 103, 104, 105, 106 and 4 more, column 'x': '-' is no number; correct "
        "them, count as missing with --na -, or leave out with --ignore x"
    )


WORDS = (*MISSING, "-999", "k.A.")


@pytest.mark.parametrize("kind", ["csv", "quoted", "jsonl", "parquet"])
def test_words_for_no_value_may_be_numbers_in_every_format(kind, tmp_path) -> None:
    """Also in a column where all cells are numbers, and however the number is written."""
    rows = [{"x": 1.5, "y": 4}, {"x": -999.0, "y": 5}, {"x": 2.5, "y": -999}, {"x": 3.5, "y": 7}]
    path = tmp_path / f"a.{'csv' if kind == 'quoted' else kind}"
    if kind == "parquet":
        sink = io.BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        path.write_bytes(sink.getvalue())
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows))
    else:
        quote = '"' if kind == "quoted" else ""
        cells = [f"{quote}{row['x']}{quote},{row['y']}\n" for row in rows]
        path.write_text("x,y\n" + "".join(cells))
    table = read_table(path, CsvOptions(missing=WORDS))
    assert table.column("x").numbers.missing.tolist() == [False, True, False, False]
    assert table.column("y").numbers.missing.tolist() == [False, False, True, False]
    assert not read_table(path).column("x").numbers.missing.any()


def test_an_array_with_missing_numbers_is_refused_with_what_works() -> None:
    X = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 6.0]])
    with pytest.raises(InvalidInputError, match=r"nan at row 1, column 0; .*missing='median'"):
        recover(X, lambda i, j: i == j)
    table = as_table(X)
    prepared = Preparation.fit(table, MEDIAN).apply(table)
    assert recover(prepared, lambda i, j: i == j).n_questions
    with pytest.raises(InvalidInputError, match=r"inf at row 1, column 0; only finite .*allowed$"):
        recover(np.nan_to_num(X, nan=np.inf), lambda i, j: i == j)
