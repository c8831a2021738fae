"""What is known already is read with its place, and items are shown with theirs."""

import pytest

from samecluster.errors import InvalidInputError
from samecluster.tables import FeatureOptions, as_table
from samecluster.tables.display import columns_to_show, shown
from samecluster.tables.known_answers import KnownLabel, KnownPair, read_labels, read_pairs

KEYS = ["a", "b", "c", "7"]


def test_blank_labels_are_unknown() -> None:
    table = as_table({"x": [1, 2, 3, 4], "kind": ["a", " ", None, " b "]})
    assert read_labels(table, "kind") == [KnownLabel(0, "a"), KnownLabel(3, "b")]


@pytest.mark.parametrize(
    "text",
    [
        "a,b,same\nc,7,different\n",
        "first,second,verdict\na,b,same\nc,7,different\n",
        "a;b;Same\n c ; 7;DIFFERENT\n",
        '"a"\t"b"\tsame\nc\t7\tdifferent',
    ],
)
def test_pairs_are_read_with_and_without_header(text, tmp_path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(text)
    assert read_pairs(file, KEYS) == [KnownPair(0, 1, True), KnownPair(2, 3, False)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,perhaps\n", "pairs.csv, line 1, cell 3: 'same' or 'different' is needed"),
        ("a,b,same\na,c,perhaps\n", "pairs.csv, line 2, cell 3: 'same' or 'different' is needed"),
        ("a,b,same\na,d,same\n", "pairs.csv, line 2, cell 2: no item has the id 'd'"),
        ("a,b,same\nb,b,same\n", "pairs.csv, line 2: 'b' is paired with itself"),
        ("a,b\nb,c\n", "pairs.csv: three columns are needed"),
    ],
)
def test_bad_pairs_name_file_line_and_cell(text, message, tmp_path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text(text)
    with pytest.raises(InvalidInputError, match=message):
        read_pairs(file, KEYS)


def test_pairs_of_json_lines_have_no_header(tmp_path) -> None:
    file = tmp_path / "pairs.jsonl"
    file.write_text('{"one": "a", "other": 7, "verdict": "same"}\n')
    assert read_pairs(file, KEYS) == [KnownPair(0, 3, True)]
    file.write_text('{"one": "a", "other": 7, "verdict": "first"}\n')
    with pytest.raises(InvalidInputError, match="line 1, cell 3"):
        read_pairs(file, KEYS)


def test_numbers_are_shown_with_their_percentile_and_codes_are_not() -> None:
    table = as_table({"x": [1, 2, 2, 9, None], "code": ["1", "b", "c", "d", "e"]})
    percentiles = [shown(table, row)[0].percentile for row in range(5)]
    assert percentiles == [12.5, 50.0, 50.0, 87.5, None]
    assert shown(table, 0, ["code"]) == [("code", "1", None)]
    with pytest.raises(InvalidInputError, match="no column 'y'"):
        shown(table, 0, ["y"])


def test_truth_and_labels_are_never_shown_unless_asked_for() -> None:
    table = as_table(
        {"id": [1, 2], "x": [1.5, 2.5], "y": [3.5, 1], "t": ["p", "q"], "truth": [0, 1]}
    )
    assert columns_to_show(table, FeatureOptions(truth="truth")) == ("id", "x", "y", "t")
    by_id = FeatureOptions(id_column="id", labels="truth")
    assert columns_to_show(table, by_id, 3) == ("id", "x", "t")
    assert columns_to_show(table, FeatureOptions(features=("y",))) == ("y", "t")
