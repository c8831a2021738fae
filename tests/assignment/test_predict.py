"""Labels for new rows: proven by old members only, each row by itself, old rows as they were."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from samecluster import How, SameCluster, recover, true_margin
from samecluster.assignment.neighbours import LocalPlanes
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.recovery.predict.similarity import FeatureMap, features


@pytest.fixture(scope="module")
def halves():
    """A recovery of every other row, the other rows, and the truth in the numbers of the labels."""
    made = make_ellipsoids(n=2000, d=3, k=4, random_state=0)
    old = np.arange(2000) % 2 == 0
    truth = LabelOracle(made.labels[old])
    found = recover(made.X[old], truth, margin=made.margin, random_state=0)
    number = np.empty(4, dtype=np.int64)
    number[made.labels[old]] = found.labels
    return found, made.X[~old], number[made.labels[~old]]


def test_what_is_proven_is_right_and_the_premise_is_said(halves) -> None:
    found, new, truth = halves
    said = found.predict(new)
    proven = said.how_codes == How.PROVEN
    assert np.mean(proven) > 0.9
    assert np.array_equal(said.labels[proven], truth[proven])
    assert np.mean(said.labels != truth) < 0.01
    assert "margin 1 holds for the old rows and the new row together" in str(said)
    assert np.isnan(said.probability[proven]).all()


def test_proven_rows_are_in_reach_of_old_members(halves) -> None:
    """An independent solver finds weights that show it, for each cluster and no other."""
    from scipy.optimize import linprog

    found, new, _ = halves
    said = found.predict(new[:60])
    for row in np.flatnonzero(said.how_codes == How.PROVEN)[:15]:
        members = found.points[found.labels == said.labels[row]]
        columns = np.column_stack([members, np.ones(len(members))]).T
        both = np.hstack([columns, -columns])
        target = np.append(new[row], 1.0)
        solved = linprog(np.ones(both.shape[1]), A_eq=both, b_eq=target, method="highs")
        assert solved.fun <= np.sqrt(1.0 + found.margin) + 1e-6


def test_old_rows_have_their_labels(halves) -> None:
    found, _, _ = halves
    said = found.predict(found.points)
    assert np.array_equal(said.labels, found.labels)
    assert np.array_equal(said.how_codes, found.how_codes)


def test_a_batch_makes_no_difference(halves) -> None:
    found, new, _ = halves
    whole = found.predict(new)
    for begin, end in pairwise([0, 1, 7, 100, 1000]):
        part = found.predict(new[begin:end])
        assert np.array_equal(part.labels, whole.labels[begin:end])
        assert np.array_equal(part.how_codes, whole.how_codes[begin:end])


def test_rows_beyond_all_groups_have_no_label_and_none_is_fine(halves) -> None:
    found, new, _ = halves
    far = found.predict(new + 1000.0)
    assert (far.labels == -1).all()
    assert (far.how_codes == How.UNASSIGNED).all()
    assert not far.chances.any()
    nothing = found.predict(np.zeros((0, 3)))
    assert nothing.labels.shape == (0,)
    assert nothing.chances.shape == (0, 4)


def test_a_row_in_two_reaches_refutes_the_margin_for_itself() -> None:
    """Two segments on a line, and a declared margin with which their reaches would meet."""
    X = np.concatenate([np.linspace(0.0, 1.0, 40), np.linspace(1.3, 2.3, 40)])[:, None]
    labels = np.repeat([0, 1], 40)
    margin = 0.9 * min(one.margin for one in true_margin(X, labels))
    found = recover(X, LabelOracle(labels), margin=margin, random_state=0)
    said = found.predict(np.array([[1.15], [0.5125], [1.9]]))
    assert said.refuted.tolist() == [0]
    assert said.how[0] == "predicted"
    assert said.how[1:].tolist() == ["proven", "proven"]
    assert "in reach of two clusters" in str(said)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(2, 4))
def test_no_wrong_proven_label_if_the_margin_holds_for_all(seed, d, k) -> None:
    made = make_ellipsoids(n=300, d=d, k=k, random_state=seed)
    old = np.random.default_rng(seed).random(300) < 0.5
    if len(np.unique(made.labels[old])) < 2:
        return
    answers = LabelOracle(made.labels[old])
    found = recover(made.X[old], answers, margin=made.margin, random_state=0)
    said = found.predict(made.X[~old])
    assert not len(said.refuted)
    for label in np.unique(said.labels[said.how_codes == How.PROVEN]):
        mine = made.labels[~old][(said.labels == label) & (said.how_codes == How.PROVEN)]
        assert set(mine) == set(made.labels[old][found.labels == label])


def test_a_guessed_margin_infers_and_a_model_predicts() -> None:
    made = make_ellipsoids(n=3000, d=2, k=3, random_state=1)
    found = recover(made.X[:2000], LabelOracle(made.labels[:2000]), random_state=0)
    assert found.search is not None
    said = found.predict(made.X[2000:])
    assert said.count(How.PROVEN) == 0
    assert said.count(How.INFERRED) > 900
    X, y = load_iris(return_X_y=True)
    model = recover(X[::2], LabelOracle(y[::2]), method="predict", random_state=0)
    said = model.predict(X[1::2])
    assert set(said.how) <= {"predicted", "unassigned", "asked"}
    named = said.labels >= 0
    assert np.mean(named) > 0.9
    assert np.nanmean(said.probability[named]) > 0.9


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((2, 5)), "3 columns"),
        (np.zeros(3), "two dimensions"),
        ([[0.0, np.nan, 1.0]], "nan at row 0, column 1"),
        ([["a", "b", "c"]], "must be numbers"),
    ],
)
def test_bad_rows_are_named(halves, rows: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        halves[0].predict(rows)


def test_the_estimator_predicts_in_pipelines_and_when_cloned() -> None:
    made = make_ellipsoids(n=600, d=2, k=3, random_state=0)
    model = SameCluster(oracle=LabelOracle(made.labels), random_state=0)
    both = make_pipeline(StandardScaler(), clone(model)).fit(made.X)
    labels = both[-1].labels_.copy()
    assert np.array_equal(both.predict(made.X), labels)
    assert np.array_equal(both.predict(made.X[:7]), labels[:7])
    chances = both.predict_proba(made.X + 1e-4)
    assert chances.shape == (600, 3)
    assert np.all(chances.sum(axis=1) <= 1.0 + 1e-9)
    assert np.array_equal(both[-1].labels_, labels)


def test_features_of_old_rows_are_those_of_the_model() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6)) * [1, 1, 1, 1, 1, 1e3] + 5.0
    some = np.arange(0, 200, 2)
    apply, points = FeatureMap.of(X, some)
    assert np.array_equal(points, features(X, some))
    assert np.allclose(apply(X), points, rtol=0, atol=1e-12)
    assert np.mean(np.sum(points**2, axis=1)) == pytest.approx(1.0)


def test_whitened_features_place_new_rows_where_groups_are_thin() -> None:
    """Sheets one above the other: what separates them is the direction of least spread."""
    rng = np.random.default_rng(0)
    groups = rng.integers(4, size=1200)
    X = np.column_stack([rng.normal(scale=[9, 9, 9], size=(1200, 3)), groups * 1.0])
    X[:, 3] += rng.normal(scale=0.15, size=1200)
    old, new = slice(0, 600), slice(600, 1200)
    plain = LocalPlanes(X[old], groups[old], np.ones(600), 4, np.eye(4))
    chosen = LocalPlanes.fitted(X[old], groups[old], np.ones(600), 4)
    assert chosen.error < plain.error - 0.05
    wrong = [
        np.mean(planes.chances(X[new])[0].argmax(axis=1) != groups[new])
        for planes in (plain, chosen)
    ]
    assert wrong[1] < wrong[0] / 2
    chances, beyond = chosen.chances(X[new])
    assert beyond.mean() <= 0.04
    assert chosen.chances(X[new] + [0, 0, 0, 40.0])[1].all()
    said = 1.0 - chances.max(axis=1)[~beyond].mean()
    true = np.mean(chances.argmax(axis=1)[~beyond] != groups[new][~beyond])
    assert true / 2 <= said <= 2 * true
