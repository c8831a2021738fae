"""Columns that name rows are left out, and measured ones stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import datasets

from samecluster.tables import CsvOptions, FeatureOptions, as_table
from samecluster.tables.column import TypedColumn
from samecluster.tables.features.identifiers import why_identifier
from samecluster.tables.features.select import select_columns
from samecluster.tables.reading.delimited import parse_delimited


def why(name: str, values) -> str | None:
    return why_identifier(TypedColumn(name, values))


@given(
    st.integers(80, 200),
    st.integers(1, 5),
    st.integers(-1_000, 10**9),
    st.integers(0, 2**32),
    st.integers(0, 3),
)
def test_numbers_that_were_counted_out_are_identifiers_whatever_their_order(
    n, times, first, seed, n_missing
) -> None:
    """Each given to one row, or to a few rows; some cells may be blank."""
    rng = np.random.default_rng(seed)
    values = rng.permutation(np.repeat(np.arange(first, first + n), times)).astype(float)
    values[rng.permutation(len(values))[:n_missing]] = np.nan
    assert why("patient", values)


DRAWN = {
    "age": lambda rng, n: np.clip(rng.normal(45, 15, n), 0, 99).round(),
    "count": lambda rng, n: rng.poisson(rng.uniform(0.5, n), n),
    "price": lambda rng, n: rng.lognormal(6, 1.5, n).round(),
    "points": lambda rng, n: rng.integers(0, rng.integers(2, n * n), n),
    "waiting": lambda rng, n: rng.geometric(1 / rng.uniform(2, n * n), n),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_measured_whole_numbers_stay(kind) -> None:
    """Independent draws are taken for identifiers by chance only: fewer than 1 in 100."""
    rng = np.random.default_rng(0)
    sizes = [10, 30, 100, 500]
    taken = [bool(why(kind, DRAWN[kind](rng, n).astype(float))) for n in sizes * 100]
    assert sum(taken) <= 3


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=60), st.integers(0, 2**32))
def test_what_repeats_as_often_as_chance_has_it_stays(values, seed) -> None:
    column = np.random.default_rng(seed).permutation(np.repeat(values, 6)).astype(float)
    assert why("grade", column) is None


@pytest.mark.parametrize("name", ["ID", "id", "userId", "user_id", "User ID", "CustomerID", "id_2"])
def test_whole_numbers_named_as_ids_are_identifiers_though_they_repeat(name) -> None:
    values = np.random.default_rng(1).integers(0, 40, size=120)
    assert why(name, values) == "whole numbers, named like an identifier"
    assert why(name, values + 0.5) is None


@pytest.mark.parametrize(
    "name", ["COVID", "PAID", "acid", "grid", "NO", "yes_no", "width", "code2"]
)
def test_names_that_only_end_alike_are_none(name) -> None:
    assert why(name, np.random.default_rng(1).integers(0, 9, size=120)) is None


def test_answers_of_yes_and_no_stay_in_the_smallest_table() -> None:
    assert why("yes_no", np.array([0.0, 1.0, 0.0])) is None
    assert why("id", np.array([1.0, 2.0]))


def test_a_table_sorted_by_what_was_measured_keeps_it() -> None:
    rng = np.random.default_rng(2)
    people = np.sort(rng.lognormal(11, 1, 60).round())
    assert why("population", people) is None
    orders = np.cumsum(rng.integers(1, 40, size=60)) + 10_000.0
    assert why("order", orders) == "whole numbers that count up row by row: an identifier?"
    assert why("order", rng.permutation(orders * 1_000)) is None


def test_codes_with_zeros_before_their_digits_are_no_numbers() -> None:
    cells = ["00501", "10025", "10025", "94110", "60614", "00501"]
    for decimals, told in (("", True), (".00", False)):
        rows = "".join(f"{cell}{decimals},{at * 0.5}\n" for at, cell in enumerate(cells * 4))
        table = parse_delimited(f"area,x\n{rows}".encode(), "a.csv", CsvOptions())
        assert ("area" not in select_columns(table, FeatureOptions()).numbers) is told


def test_large_floats_are_whole_but_no_identifiers() -> None:
    values = np.random.default_rng(3).normal(6e23, 1e22, size=50)
    assert why("molecules", values) is None
    digits = [int(v) for v in np.random.default_rng(3).integers(2**60, 2**62, size=50)]
    assert why("account", digits) == "whole numbers, all different: an identifier?"


@pytest.mark.parametrize(
    "name", ["iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud"]
)
def test_all_columns_of_real_tables_stay(name) -> None:
    bunch = getattr(datasets, f"load_{name}")()
    table = as_table(dict(zip(bunch.feature_names, bunch.data.T, strict=True)))
    assert not [use for use in select_columns(table, FeatureOptions()).uses if use.is_identifier]


def test_identifiers_are_said_with_what_to_do() -> None:
    rng = np.random.default_rng(4)
    table = as_table(
        {"ID": rng.integers(0, 40, 99), "x": rng.normal(size=99), "row": np.arange(99)}
    )
    selection = select_columns(table, FeatureOptions())
    assert selection.numbers == ("x",)
    assert selection.notes == (
        "Left out: ID,row, as they look like identifiers. Settle it with --ignore ID,row, or use "
        "it with --features x,ID,row.",
    )
    for settled in (FeatureOptions(ignore=("ID", "row")), FeatureOptions(features=("ID", "x"))):
        assert select_columns(table, settled).notes == ()
    assert select_columns(table, FeatureOptions(features=("ID", "x"))).numbers == ("ID", "x")
