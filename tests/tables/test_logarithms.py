"""Columns with a long tail are used as logarithms, with the same bits everywhere; others stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import datasets

from samecluster.tables import FeatureOptions, Preparation, as_table
from samecluster.tables.column import TypedColumn
from samecluster.tables.features.logarithms import fitted_logarithm, has_long_tail, logarithm
from samecluster.tables.features.select import select_columns
from samecluster.workspace.open import open_session
from samecluster.workspace.request import Request

LOGARITHMS = FeatureOptions(logarithms=True, missing="median")


@given(st.lists(st.floats(0, 8e307), min_size=2, max_size=30))
def test_the_logarithm_keeps_the_order_and_is_close_to_the_true_one(values) -> None:
    x = np.array(values)
    by = fitted_logarithm(x)
    found = logarithm(x, by)
    assert np.isfinite(found).all()
    assert (np.diff(found[np.argsort(x, kind="stable")]) >= 0).all()
    assert np.abs(found - np.log2(x + by[1])).max() < 0.0861
    assert np.isfinite(logarithm(np.array([1.7e308]), (0.0, 1.7e308))).all()
    powers = np.ldexp(np.ones(2098), np.arange(-1074, 1024))
    assert (logarithm(powers, (0.0, 0.0)) == np.arange(-1074, 1024)).all()


def test_long_tails_are_found_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    tails = {
        "income": rng.lognormal(10, 1.2, 300),
        "share": np.where(rng.random(300) < 0.5, 0.0, rng.lognormal(0, 1, 300)),
    }
    others = {
        "normal": rng.normal(50, 5, 300),
        "flag": (rng.random(300) < 0.03).astype(float),
        "uniform": rng.uniform(0, 1, 300),
        "left": -rng.lognormal(0, 1, 300),
        "outlier": np.append(rng.normal(5, 1, 299), 1e6),
    }
    selection = select_columns(as_table({**tails, **others}), LOGARITHMS)
    assert selection.logarithms == tuple(tails)
    assert selection.notes[0].startswith("Used as logarithms, for their long tails: income, share")
    for plain in (FeatureOptions(), FeatureOptions(logarithms=True, scale=False)):
        assert select_columns(as_table(tails), plain).logarithms == ()


@pytest.mark.parametrize(("name", "expected"), [("iris", 0), ("wine", 0), ("breast_cancer", 7)])
def test_real_tables(name, expected) -> None:
    bunch = getattr(datasets, f"load_{name}")()
    columns = [TypedColumn("x", column) for column in bunch.data.T]
    assert sum(has_long_tail(column) for column in columns) == expected


def test_a_stored_logarithm_gives_the_same_bits_and_takes_what_was_never_seen() -> None:
    rng = np.random.default_rng(1)
    values = rng.lognormal(0, 2, 200)
    values[::7] = np.nan
    table = as_table({"x": values, "y": rng.normal(size=200)})
    preparation = Preparation.fit(table, LOGARITHMS)
    X = preparation.apply(table)
    assert preparation.logarithms == ("x",)
    assert abs(X[~np.isnan(values), 0].mean()) < 1e-9
    again = Preparation.from_json(preparation.to_json())
    assert again.apply(table).tobytes() == X.tobytes()
    later = again.apply(as_table({"x": [-5.0, 0.0, np.nanmin(values), 1e300], "y": [0.0] * 4}))
    assert later[0, 0] == later[1, 0] == later[2, 0] == X[:, 0].min()
    assert np.isfinite(later).all()


def test_a_declared_margin_is_one_of_the_columns_themselves(tmp_path) -> None:
    """A logarithm is no affine map. Where a session has some, what rests on a margin says so."""
    rng = np.random.default_rng(2)
    path = tmp_path / "a.csv"
    rows = [f"{np.exp(2 * x):.4f},{y:.4f}" for x, y in rng.normal(size=(90, 2))]
    path.write_text("x,y\n" + "\n".join(rows) + "\n")
    for margin, names in (("0.5", ()), (None, ("x",))):
        session = tmp_path / f"{margin}.samecluster"
        with open_session(Request(str(path), margin=margin, session=session)) as opened:
            assert opened.data.preparation.features.logarithms == names
            told = [one.details()["logarithms"] for one in opened.session.snapshot().prepared]
            assert told == ([list(names)] if names else [])
    with open_session(Request(str(path), margin="0.5", session=session)) as opened:
        (premise,) = opened.session.snapshot().prepared
        assert str(premise) == "that is so with logarithms of x"
