"""The command inspect, and what it says to expect."""

import io
import json
import sys

import numpy as np
import pytest
import typer

from samecluster.cli.commands.inspect import inspect
from samecluster.errors import InvalidInputError
from samecluster.tables import FeatureOptions, as_table
from samecluster.tables.display import telling_first
from samecluster.tables.features.inspect import inspect_table

app = typer.Typer(add_completion=False)
app.command()(inspect)


def inspected(*arguments: str) -> None:
    typer.main.get_command(app).main(list(arguments), standalone_mode=False)


@pytest.fixture
def flowers(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    rng = np.random.default_rng(0)
    rows = [
        f"plant {i};{x:.3f};{y:.3f};{i};red".replace(".", ",")
        for i, (x, y) in enumerate(rng.normal(size=(200, 2)))
    ]
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(["name;width;height;number;colour", *rows]) + "\n")
    return path


def test_the_command_says_how_the_file_is_read_and_what_is_used(flowers, capsys) -> None:
    inspected(str(flowers), "--id", "name")
    out = capsys.readouterr().out
    for words in (
        "flowers.csv: 200 rows, 5 columns",
        "separator semicolon, decimal comma, encoding utf-8",
        "whole numbers, all different: an identifier?",
        "text of 1 kinds",
        "the id",
        "200 items with 2 features, standardised.",
        "Enough rows per feature for proofs",
    ):
        assert words in out


def test_json_has_the_same_facts(flowers, capsys) -> None:
    inspected(str(flowers), "--json", "--features", "width,number", "--no-scale")
    facts = json.loads(capsys.readouterr().out)
    assert (facts["separator"], facts["decimal"], facts["encoding"]) == (";", ",", "utf-8")
    used = [column["name"] for column in facts["columns"] if column["used"]]
    assert used == ["width", "number"]
    assert (facts["n_features"], facts["scaled"], facts["problems"]) == (2, False, [])


def test_problems_are_printed_as_json_before_the_error(tmp_path, capsys) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n,3\n4,inf\n5,6\n")
    with pytest.raises(InvalidInputError, match="line 4, column 'y': 'inf'"):
        inspected(str(path), "--json", "--missing", "error")
    assert len(json.loads(capsys.readouterr().out)["problems"]) == 2


def test_a_table_comes_in_through_a_pipe(monkeypatch, capsys) -> None:
    class Pipe:
        buffer = io.BytesIO(b"x,y\n1,2\n3,5\n")

    monkeypatch.setattr(sys, "stdin", Pipe())
    inspected("-")
    assert "standard input: 2 rows, 2 columns" in capsys.readouterr().out


def test_separators_have_names_and_columns_may_hold_commas(tmp_path, capsys) -> None:
    path = tmp_path / "a.txt"
    path.write_text("size, cm\tweight\n1.5\t2\n3.5\t7\n")
    inspected(str(path), "--sep", "tab", "--features", "size, cm")
    assert "2 items with 1 feature," in capsys.readouterr().out


def test_very_wide_tables_are_not_listed_to_the_end(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "wide.npy"
    np.save(path, np.random.default_rng(0).normal(size=(5, 10_000)))
    inspected(str(path))
    out = capsys.readouterr().out
    assert "and 9,960 more columns" in out
    assert "Prediction carries" in out


def test_fewer_components_are_suggested_where_proofs_would_not_pay() -> None:
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(1_000, 3))
    X = hidden @ rng.normal(size=(3, 40)) + 0.01 * rng.normal(size=(1_000, 40))
    found = inspect_table(as_table(X))
    assert not found.proofs_pay
    assert found.suggested_reduce in (2, 3)
    assert "--reduce" in str(found)
    reduced = inspect_table(as_table(X), FeatureOptions(reduce=found.suggested_reduce))
    assert reduced.proofs_pay
    assert reduced.suggested_reduce is None
    assert inspect_table(as_table(X[:, :3])).suggested_reduce is None


def test_few_rows_are_for_prediction_whatever_is_reduced() -> None:
    found = inspect_table(as_table(np.random.default_rng(2).normal(size=(60, 13))))
    assert (found.proofs_pay, found.suggested_reduce) == (False, None)
    assert "Prediction carries the work" in str(found)


def test_rows_left_out_are_counted() -> None:
    table = as_table({"x": [1.5, None, 3.5, 4.5], "y": [1, 2, 2, 7]})
    found = inspect_table(table, FeatureOptions(drop_missing=True))
    assert (found.n_rows, found.n_dropped, found.n_features) == (4, 1, 2)
    assert "3 items (1 left out for missing values) with 2 features" in str(found)
    assert str(inspect_table(table)).splitlines()[-1].startswith("Problem: data, row 1")


def test_the_resolution_is_known_and_values_far_beyond_all_others_are_said() -> None:
    rng = np.random.default_rng(0)
    age, height = rng.normal(40, 9, 400).tolist(), rng.normal(170, 9, 400).tolist()
    age[17] = 999_999_999.0
    found = inspect_table(as_table({"age": age, "height": height}), FeatureOptions(scale=False))
    (note,) = found.notes
    assert note.startswith("Column 'age' is far beyond its other values in row 17: 1e+09, where")
    assert len(found.resolution) == 2
    assert max(found.resolution) < 1e-6
    assert note in str(found)


def test_the_only_column_of_sentences_is_used_as_text_without_an_option() -> None:
    things, deeds = ("letter", "parcel", "invoice", "card", "list"), ("came late", "was lost")
    ends = ("on Monday", "in May", "again")
    said = [f"the {a} {b} {c}" for a in things for b in deeds for c in ends]
    codes = [f"a {n}" for n in range(30)]
    found = inspect_table(as_table({"code": codes, "letter": said}))
    assert not found.problems
    assert [(use.name, use.used) for use in found.columns] == [("code", False), ("letter", True)]
    assert found.n_features > 1
    # Of two such columns nobody knows which, and what is left out stays out.
    two = as_table({"letter": said, "reply": said[::-1]})
    assert "has no column of numbers to use" in inspect_table(two).problems[0]
    assert not inspect_table(two, FeatureOptions(ignore=("reply",))).problems
    assert inspect_table(as_table({"code": codes})).problems


def test_sentences_and_features_are_shown_before_names() -> None:
    n = 30
    table = as_table(
        {
            "tag": [f"n{row}" for row in range(n)],
            "island": [f"island {row % 3}" for row in range(n)],
            "mass": [float(row % 7) for row in range(n)],
            "remark": [f"white line under the beak {row % 5}" for row in range(n)],
        }
    )
    found = telling_first(table, table.names, ("mass",))
    assert found == ("remark", "mass", "island", "tag")
