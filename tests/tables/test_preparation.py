"""Columns are chosen with reasons, and a preparation gives the same bits ever after."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from samecluster.errors import InvalidInputError
from samecluster.tables import CsvOptions, FeatureOptions, Preparation, as_table
from samecluster.tables.features.components import Components, ordered_product
from samecluster.tables.features.encoders import packed, unpacked
from samecluster.tables.features.select import select_columns
from samecluster.tables.reading.delimited import parse_delimited

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def parsed(text: str):
    return parse_delimited(text.encode(), "data.csv", CsvOptions(separator=",", header=True))


def reasons(table, **wanted) -> dict[str, str]:
    return {
        use.name: use.why
        for use in select_columns(table, FeatureOptions(**wanted)).uses
        if not use.used
    }


@pytest.fixture
def mixed():
    rng = np.random.default_rng(0)
    n = 30
    return as_table(
        {
            "number": rng.normal(size=n),
            "count": rng.integers(0, 5, size=n),
            "serial": np.arange(100, 100 + n),
            "always": np.full(n, 7),
            "name": [f"item {i}" for i in range(n)],
            "colour": [["red", "blue"][i % 2] for i in range(n)],
            "nothing": [None] * n,
            "truth": rng.integers(0, 2, size=n),
            "label": ["a", None, "b"] * 10,
        }
    )


def test_measurements_are_used_and_every_other_column_has_a_reason(mixed) -> None:
    choice = select_columns(mixed, FeatureOptions(id_column="name", truth="truth", labels="label"))
    assert choice.numbers == ("number", "count")
    assert reasons(mixed, id_column="name", truth="truth", labels="label") == {
        "serial": "whole numbers, all different: an identifier?",
        "always": "constant: always '7'",
        "name": "the id",
        "colour": "text of 2 kinds: --categories colour would use it",
        "nothing": "empty",
        "truth": "the truth",
        "label": "the labels",
    }


def test_numbers_with_a_unit_and_dates_are_no_text_and_codes_are_no_units() -> None:
    n = 30
    table = as_table(
        {
            "mass": [f"{i}.5 {'kg' if i % 3 else 'g'}" for i in range(n)],
            "day": [f"2024-05-{i + 1:02}" for i in range(n)],
            "house": [f"{i}{'abcdef'[i % 6]}" for i in range(n)],
            "x": [0.5, 1.25, 9.0] * 10,
        }
    )
    chosen = select_columns(table, FeatureOptions())
    assert reasons(table) == {
        "mass": "numbers with a unit, such as '0.5 g'; write the number alone to use them",
        "day": "dates, such as '2024-05-01'; write a number, such as the month, instead",
        "house": "text, all different: --id house or --text house would use it",
    }
    (note,) = chosen.notes
    assert note.startswith("Not used: mass, numbers with a unit, such as '0.5 g'; write")
    (problem,) = select_columns(table, FeatureOptions(features=("mass",))).problems
    assert problem == (
        "data, column 'mass': numbers with a unit, such as '0.5 g'; write the number alone to use "
        "them, or leave it out"
    )


def test_numbers_beside_a_text_can_be_added_as_is_said() -> None:
    table = as_table({"x": [0.5, 1.25, 9.0, 2.0], "said": ["a b c", "d e f", "g h i", "k l m"]})
    words: Any = {"texts": ("said",), "text_method": "words"}
    assert reasons(table, **words) == {
        "x": "shown only: features are the text; --features x adds it"
    }
    both = select_columns(table, FeatureOptions(features=("x",), **words))
    assert both.columns == ("x", "said")


def test_what_is_named_is_used_in_that_order(mixed) -> None:
    choice = select_columns(mixed, FeatureOptions(features=("serial", "number"), ignore=("count",)))
    assert choice.numbers == ("serial", "number")
    ignored = reasons(mixed, features=("serial", "number"), ignore=("count",))
    assert ignored["count"] == "left out as asked"
    assert ignored["always"] == "not among the features named"


def test_codes_that_are_numbers_now_and_then_are_text_but_a_slip_is_an_error() -> None:
    codes = as_table({"code": [7, "A7", 8, "B7", 9, "C7", 3, 2], "x": [1.5] * 7 + [2.5]})
    assert select_columns(codes, FeatureOptions()).numbers == ("x",)
    assert select_columns(codes, FeatureOptions()).problems == ()
    slip = as_table({"code": [7, "A7", 8, 9, 9, 9, 3, 2], "x": [1.5] * 7 + [2.5]})
    assert (
        "row 1, column 'code': 'A7' is no number"
        in select_columns(slip, FeatureOptions()).problems[0]
    )


def test_few_whole_numbers_are_an_identifier_only_by_their_name() -> None:
    table = as_table({"id": [1, 2, 3], "userID": [4, 6, 5], "height": [7, 8, 9]})
    assert select_columns(table, FeatureOptions()).numbers == ("height",)


def test_columns_of_an_array_are_all_features() -> None:
    assert select_columns(as_table(np.arange(40).reshape(20, 2)), FeatureOptions()).numbers == (
        "x0",
        "x1",
    )


def test_large_whole_numbers_are_told_apart_by_their_digits() -> None:
    cells = [str(2**60 + i) for i in range(20)]
    table = parsed("code,x\n" + "".join(f"{cell},{i % 3}.5\n" for i, cell in enumerate(cells)))
    assert select_columns(table, FeatureOptions()).numbers == ("x",)


def test_columns_are_standardised_unless_asked_not_to(mixed) -> None:
    X = Preparation.fit(mixed).apply(mixed)
    assert np.allclose(X.mean(axis=0), 0)
    assert np.allclose(X.std(axis=0), 1)
    raw = Preparation.fit(mixed, FeatureOptions(scale=False, truth="truth")).apply(mixed)
    assert np.array_equal(raw[:, 0], mixed.column("number").numbers.values)


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 4)), elements=FINITE),
    st.booleans(),
)
def test_a_stored_preparation_gives_the_same_bits(X, scale) -> None:
    """For numbers of any size; what comes out is finite."""
    table = as_table(X)
    names = table.names
    preparation = Preparation.fit(table, FeatureOptions(features=names, scale=scale))
    prepared = preparation.apply(table)
    again = Preparation.from_json(preparation.to_json())
    assert again.apply(table).tobytes() == prepared.tobytes()
    assert np.isfinite(prepared).all()
    assert again.to_json() == preparation.to_json()


@given(hnp.arrays(np.float64, hnp.array_shapes(max_dims=2), elements=st.floats()))
def test_arrays_are_packed_to_the_last_bit(array) -> None:
    assert unpacked(json.loads(json.dumps(packed(array)))).tobytes() == array.tobytes()


def test_rows_do_not_depend_on_the_rows_about_them(mixed) -> None:
    """The features of a row are the same whatever part of the table it comes in."""
    everything = FeatureOptions(categories=("colour",), truth="truth", reduce=2)
    preparation = Preparation.fit(mixed, everything)
    X = preparation.apply(mixed)
    part = as_table({name: list(mixed.column(name).values)[5:9] for name in mixed.names})
    assert preparation.apply(part).tobytes() == X[5:9].tobytes()


def test_the_ordered_product_sums_from_the_first_term_to_the_last() -> None:
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(300, 40)), rng.normal(size=(40, 70))
    product = ordered_product(A, B)
    assert np.allclose(product, A @ B)
    by_hand = 0.0
    for a, b in zip(A[299].tolist(), B[:, 69].tolist(), strict=True):
        by_hand += a * b
    assert product[299, 69] == by_hand


def test_principal_components_keep_the_largest_spread() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 6)) @ rng.normal(size=(6, 6))
    found = Components.fit(X, 3).apply(X)
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1][:3]
    assert np.allclose(found.var(axis=0, ddof=1), variances)
    with pytest.raises(InvalidInputError, match="reduce must be at most 6 for 200 rows"):
        Components.fit(X, 7)


def test_categories_become_columns_and_new_ones_are_none_of_them(mixed) -> None:
    wanted = FeatureOptions(features=("number",), categories=("colour",))
    preparation = Preparation.fit(mixed, wanted)
    X = preparation.apply(mixed)
    assert X.shape == (30, 3)
    assert (X[:, 1:].sum(axis=1) == 1).all()
    assert (X[0, 1:] != X[1, 1:]).all()
    later = as_table({"number": [0.5, 1.0], "colour": ["green", "red"]})
    assert preparation.apply(later)[:, 1:].sum(axis=1).tolist() == [0, 1]


def test_a_stored_preparation_holds_no_cells(mixed) -> None:
    texts = as_table({"says": ["secretive words here", "words here again", "secretive again"] * 4})
    stored = Preparation.fit(texts, FeatureOptions(texts=("says",))).to_json()
    assert "secretive" not in stored
    assert "blue" not in Preparation.fit(mixed, FeatureOptions(categories=("colour",))).to_json()


TOPICS = ["the cat and the dog like animals", "stocks and bonds and money at the bank"]


def test_texts_of_two_topics_lie_apart() -> None:
    rng = np.random.default_rng(3)
    topic = rng.integers(2, size=60)
    texts = [" ".join(rng.permutation(TOPICS[t].split())[:5]) for t in topic]
    table = as_table({"says": texts, "year": rng.integers(1990, 2000, size=60)})
    preparation = Preparation.fit(table, FeatureOptions(texts=("says",), text_dimensions=3))
    assert preparation.columns == ("says",)
    X = preparation.apply(table)
    assert X.shape == (60, 3)
    centres = np.array([X[topic == t].mean(axis=0) for t in (0, 1)])
    nearest = np.linalg.norm(X[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == topic).mean() > 0.95
    again = Preparation.from_json(preparation.to_json())
    assert again.apply(table).tobytes() == X.tobytes()
    silent = as_table({"says": ["entirely unknown vocabulary", texts[0]]})
    assert preparation.apply(silent)[0].tolist() == [0, 0, 0]
    assert preparation.apply(silent)[1].tobytes() == X[0].tobytes()


def test_missing_values_are_an_error_or_are_left_out() -> None:
    table = parsed("x,y\n1,2\n,3\n4,5\n6,NA\n7,8\n")
    with pytest.raises(
        InvalidInputError,
        match=r"line 3, column 'x': no value; 2 rows have missing values \(lines 3 and 5\)",
    ):
        Preparation.fit(table)
    preparation = Preparation.fit(table, FeatureOptions(drop_missing=True))
    assert preparation.kept(table).tolist() == [0, 2, 4]
    assert preparation.apply(table).shape == (3, 2)
    assert Preparation.from_json(preparation.to_json()).kept(table).tolist() == [0, 2, 4]


def test_new_data_is_checked_as_the_first_was() -> None:
    preparation = Preparation.fit(parsed("x,y\n1,2\n3,4\n"))
    for text, message in [
        ("x,z\n1,2\n3,4\n", "has no column 'y'; it has x, z"),
        ("x,y\n1,2\n3,\n", "line 3, column 'y': no value"),
        ("x,y\n1,2\nfour,4\n", "line 3, column 'x': 'four' is no number"),
        ("x,y\n1,2\ninf,4\n", "line 3, column 'x': 'inf' is no finite number"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            preparation.apply(parsed(text))


def test_a_preparation_of_another_version_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="version 99; only versions up to 2"):
        Preparation.from_json('{"version": 99}')


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"reduce": 0}, "reduce must be at least 1"),
        ({"features": ("a",), "truth": "a"}, "column 'a' cannot be a feature and the truth"),
        ({"texts": ("a",), "id_column": "a"}, "column 'a' cannot be a feature and the id"),
    ],
)
def test_wishes_that_contradict_are_refused(wanted, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        FeatureOptions(**wanted)
