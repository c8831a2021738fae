"""Diagnosis of labelled data: margins, what breaks them, and the command that prints it."""

import csv

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster import true_margin
from samecluster.instances import make_ellipsoids
from samecluster.recovery.margin_diagnosis import MOST_BREAKERS, components_with_margins, diagnose
from tests.cases.command_line import run, run_apart


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(0, 4))
@settings(max_examples=25)
def test_without_the_breakers_there_is_a_margin_and_with_them_there_is_none(
    seed, d, strays
) -> None:
    made = make_ellipsoids(120, d, 3, margin=1.0, random_state=seed)
    rng = np.random.default_rng(seed)
    labels = made.labels.copy()
    moved = rng.choice(len(labels), size=strays, replace=False)
    labels[moved] = (labels[moved] + 1) % 3
    margins = true_margin(made.X, labels)
    for cluster, found in zip(diagnose(made.X, labels), margins, strict=True):
        assert cluster.margin == found.margin
        assert cluster.size == np.count_nonzero(labels == cluster.label)
        if cluster.breakers is None:
            continue
        assert (found.margin > 0) == (len(cluster.breakers) == 0)
        assert not (labels[cluster.breakers] == cluster.label).any()
        kept = np.setdiff1d(np.arange(len(labels)), cluster.breakers)
        mine = (labels[kept] == cluster.label).astype(int)
        assert true_margin(made.X[kept], mine)[-1].margin > 0


def test_few_strays_are_named() -> None:
    made = make_ellipsoids(600, 2, 2, margin=1.0, random_state=3)
    inside = [int(np.argmin(made.ellipsoids[0].norms(made.X)))]
    labels = made.labels.copy()
    labels[inside] = 1
    first = diagnose(made.X, labels)[0]
    assert first.margin == 0
    assert first.breakers is not None
    assert first.breakers.tolist() == inside


def test_groups_drawn_at_random_have_more_strays_than_can_be_named() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(400, 2)), rng.integers(2, size=400)
    assert all(cluster.breakers is None for cluster in diagnose(X, labels))
    assert MOST_BREAKERS < 200
    assert components_with_margins(X, labels) is None


def test_margins_appear_with_the_component_that_tells_the_groups_apart() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5)) * [10.0, 5.0, 1.0, 0.1, 0.01]
    labels = (X[:, 2] > 0).astype(int)
    X[:, 2] += 4 * labels
    # Columns are scaled to one range, so the order of the components is not that of the columns.
    count = components_with_margins(X, labels)
    assert count is not None
    flat = diagnose(np.column_stack([X, np.zeros(200)]), labels)
    assert [cluster.rank for cluster in flat] == [5, 5]


@pytest.fixture
def table(tmp_path):
    made = make_ellipsoids(300, 2, 2, margin=0.5, random_state=5)
    path = tmp_path / "data.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "a", "b", "group"])
        for i, (x, label) in enumerate(zip(made.X, made.labels, strict=True)):
            writer.writerow([f"row {i}", *x, "left" if label else "right"])
    return path


def test_the_command_names_groups_margins_and_what_to_declare(table) -> None:
    done = run("margin", table, "--labels", "group")
    assert done.returncode == 0, done.stderr
    assert "300 rows, 2 columns of numbers" in done.stdout
    assert "left" in done.stdout
    assert "right" in done.stdout
    assert "Declare a margin of at most" in done.stdout
    declared = float(done.stdout.split("at most ")[1].split(":")[0])
    assert declared >= 0.5 * (1 - 1e-2)


def test_errors_say_what_to_do(table, tmp_path) -> None:
    wrong = run_apart("margin", table, "--labels", "kind")
    assert wrong.returncode != 0
    assert "has no column 'kind'; it has name, a, b, group" in wrong.stderr
    assert "there is no file" in run("margin", tmp_path / "no.csv", "--labels", "x").stderr
    short = tmp_path / "short.csv"
    short.write_text("a,b\n1,2\n3\n")
    assert "line 3: 2 cells expected" in run("margin", short, "--labels", "b").stderr
    short.write_text("a,b\n")
    assert "at least one row" in run("margin", short, "--labels", "b").stderr
    short.write_text("a,b\nx,1\n")
    assert "no column of numbers" in run("margin", short, "--labels", "b").stderr
    short.write_text("a,a\n1,1\n")
    assert "same name" in run("margin", short, "--labels", "a").stderr
