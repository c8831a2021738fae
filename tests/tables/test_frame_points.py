"""Data frames in and out: what is used of them, and results as frames of the same kind."""

import asyncio
import logging
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import samecluster
from samecluster import SameCluster, recover, recover_async, start
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from samecluster.tables import FeatureOptions, Preparation, as_table
from tests.cases.session_cases import store_of

MADE = make_ellipsoids(200, 2, 3, random_state=0)
COLUMNS: dict[str, list[Any]] = {
    "id": [f"k{row}" for row in range(200)],
    "a": MADE.X[:, 0].tolist(),
    "b": MADE.X[:, 1].tolist(),
    "kind": ["round" if row % 3 else "square" for row in range(200)],
    "note": [f"text number {row % 7}" for row in range(200)],
}


def frame(kind: str) -> Any:
    if kind == "pandas":
        made = pd.DataFrame(COLUMNS, index=[f"row {row}" for row in range(200)])
        return made.astype({"kind": "category"})
    if kind == "polars":
        return pl.DataFrame(COLUMNS).with_columns(pl.col("kind").cast(pl.Categorical))
    table = pa.table(COLUMNS)
    return table.set_column(3, "kind", table["kind"].dictionary_encode())


def same(i: int, j: int) -> bool:
    return bool(MADE.labels[i] == MADE.labels[j])


KINDS = ["pandas", "polars", "pyarrow"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_prepared_as_the_command_line_does_it(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "samecluster"):
        found = recover(frame(kind), same, random_state=0)
    options = FeatureOptions(categories=("kind",), missing="median", logarithms=True)
    table = as_table(frame(kind))
    assert (found.points == Preparation.fit(table, options).apply(table)).all()
    assert found.points.shape == (200, 4)
    said = "\n".join(found.frame.uses)
    assert "kind: categories (2), one column each" in said
    assert "id: not used, text, all different: text='id' would use it" in said
    assert said in found.summary()["text"]
    assert caplog.text.count("kind: categories") == 1, "it is said once"


@pytest.mark.parametrize("kind", KINDS)
def test_results_are_frames_of_the_kind_that_came_in(kind: str) -> None:
    given = frame(kind)
    found = recover(given, same, random_state=0)
    made, joined = found.to_frame(), found.join(given)
    assert type(made) is type(joined) is type(given)
    assert as_table(made).names == ("cluster", "how", "probability")
    assert as_table(joined).names == (*COLUMNS, "cluster", "how", "probability")
    assert list(as_table(joined).column("cluster").numbers.values) == found.labels.tolist()
    assert list(as_table(made).column("how").texts) == found.how.tolist()
    if kind == "pandas":
        assert (made.index == given.index).all()
    with pytest.raises(InvalidInputError, match="has a column 'cluster' already"):
        found.join(joined)
    assert as_table(found.join(joined, "new_")).names[-1] == "new_probability"
    with pytest.raises(InvalidInputError, match="200"):
        found.join(given[:10])


@pytest.mark.parametrize("kind", KINDS)
def test_new_rows_in_a_frame_have_their_columns_in_any_order(kind: str) -> None:
    given = frame(kind)
    found = recover(given, same, random_state=0)
    turned = ["note", "b", "kind", "a", "id"]
    other = given[turned] if kind == "pandas" else given.select(turned)
    assert (found.predict(other).labels == found.labels).all()
    assert (found.predict(given[:7]).labels == found.labels[:7]).all()
    lacking = given[["a", "kind"]] if kind == "pandas" else given.select(["a", "kind"])
    with pytest.raises(InvalidInputError, match="rows has no column 'b'"):
        found.predict(lacking)


def test_numbers_alone_are_used_as_they_are() -> None:
    given = pd.DataFrame(MADE.X, columns=["a", "b"])
    found, plain = (recover(X, same, random_state=0, margin=1.0) for X in (given, MADE.X))
    assert found.answers == plain.answers
    assert (found.points == MADE.X).all()
    assert (found.predict(given[["b", "a"]]).labels == found.labels).all()
    assert (found.predict(MADE.X).labels == found.labels).all()
    for like in (pl.from_pandas(given), pa.Table.from_pandas(given)):
        assert recover(like, same, random_state=0, margin=1.0).answers == plain.answers


def test_columns_can_be_named() -> None:
    given = frame("pandas")
    found = recover(given, same, features=["a"], categories=[], random_state=0, max_questions=20)
    assert found.points.shape == (200, 1)
    assert start(given, ignore="kind", random_state=0).labelling.recovery().points.shape == (200, 2)
    by_text = recover(given, same, text="note", random_state=0, max_questions=20)
    assert by_text.points.shape[1] >= 10
    gone = given.copy()
    gone.iloc[3, 1] = np.nan
    filled = recover(gone, same, categories=[], random_state=0, max_questions=20)
    assert filled.points.shape == (200, 3), "what is filled is marked"
    assert "filled in" in "\n".join(filled.frame.uses)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (MADE.X, {"text": "note"}, "text= is about the columns of a data frame"),
        (COLUMNS, {"features": ["nobody"]}, "X has no column 'nobody'"),
        (COLUMNS, {"features": ["note"]}, "use it with categories='note' or text='note'"),
        (COLUMNS, {"missing": "drop"}, "missing must be 'median' or 'error'"),
        ({"a": [1.0, None, 2.0]}, {"missing": "error"}, "no value; 1 row has"),
        ({"note": ["x", "y"]}, {}, "text"),
        ({"a": [1.0, float("inf"), 2.0], "t": list("xyz")}, {}, "inf"),
        (pl.LazyFrame({"a": [1]}), {}, "X.collect()"),
        (COLUMNS, {"gives": "words"}, "gives must be 'numbers' or 'rows'"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(X: Any, options: Any, message: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        recover(X, same, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert "--" not in str(error.value)


def test_an_oracle_may_ask_for_rows() -> None:
    given, truth = frame("polars"), dict(zip(COLUMNS["id"], MADE.labels.tolist(), strict=True))
    seen: list[Any] = []

    def ask(one: Any, two: Any) -> bool:
        seen.append(one)
        return bool(truth[one["id"]] == truth[two["id"]])

    async def ask_later(one: Any, two: Any) -> bool:
        return ask(one, two)

    found = recover(given, ask, gives="rows", random_state=0)
    assert found.answers == recover(given, same, random_state=0).answers
    assert set(seen[0]) == set(COLUMNS)
    assert type(seen[0]["a"]) is float
    later = asyncio.run(recover_async(given, ask_later, gives="rows", random_state=0))
    assert len(later.labels) == 200
    with pytest.raises(InvalidInputError, match="a function of two rows"):
        recover(given, samecluster.oracles.LabelOracle(MADE.labels), gives="rows")


def test_the_estimator_takes_frames() -> None:
    given = frame("pandas")
    model = SameCluster(oracle=same, random_state=0, ignore=["kind"])
    again = clone(model).fit(given)
    assert again.feature_names_in_.tolist() == list(COLUMNS)
    assert (again.labels_ == recover(given, same, ignore=["kind"], random_state=0).labels).all()
    assert (again.predict(given) == again.labels_).all()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(given.rename(columns={"a": "z"}))
    scaled = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaled, SameCluster(oracle=same, random_state=0))
    labels = pipeline.fit_predict(given[["a", "b"]])
    assert (pipeline.predict(given[["a", "b"]]) == labels).all()
    assert list(pipeline[-1].recovery_.to_frame().index) == list(given.index)


def test_sessions_take_frames() -> None:
    given, keys = frame("pandas"), COLUMNS["id"]
    session = Session.create(MemoryStore(), keys, given, columns={"ignore": "id"}, seed=0)
    for _ in range(12):
        (question,) = session.ask()
        session.tell(question.id, "same" if same(*question.rows) else "different")
    known = session.snapshot()
    assert known.points.shape == (200, 4)
    for kind in KINDS:
        opened = Session.open(store_of(session), keys, frame(kind))
        assert (opened.snapshot().labels == known.labels).all()


def test_a_kept_result_takes_frames(tmp_path: Any) -> None:
    found = recover(frame("pandas"), same, random_state=0)
    found.save(tmp_path / "r.zip")
    again = samecluster.load(tmp_path / "r.zip")
    assert again.frame.uses == found.frame.uses
    assert (again.predict(frame("pyarrow")).labels == found.labels).all()
    assert len(again.to_frame()) == 200
