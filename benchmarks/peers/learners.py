"""Classifiers with margin sampling: they ask for class labels and are charged in questions.

The next point is the one whose two best classes are closest in score. Both are told k, and their
columns are brought to unit variance. Points that were asked about keep their label.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC

from benchmarks.peers.counting import CountingOracle, Placed, Trace
from benchmarks.peers.instances import Case

Scores = npt.NDArray[np.float64]


def rbf_svm(case: Case, oracle: CountingOracle, trace: Trace, seed: int, C: float = 1.0) -> None:
    """scikit-learn's SVC; random points until two classes are known."""
    X = StandardScaler().fit_transform(case.X)
    placed = Placed(oracle, case.n_clusters)
    for item in np.random.default_rng(seed).permutation(len(X)).tolist():
        placed.place(item, range(placed.n_known_classes))
        if placed.n_known_classes == 2:
            break
    model = SVC(kernel="rbf", C=C, gamma="scale", decision_function_shape="ovr")
    while len(placed.items) < len(X):
        model.fit(X[placed.items], placed.classes)
        scores = _one_column_a_class(model.decision_function(X))
        trace.note(_kept(np.argmax(scores, axis=1), placed))
        gap = _gap(scores)
        gap[placed.items] = np.inf
        item = int(np.argmin(gap))
        placed.place(item, _best_first(scores[item]))


def scikit_activeml(
    case: Case, oracle: CountingOracle, trace: Trace, seed: int, C: float = 1.0, degree: int = 2
) -> None:
    """UncertaintySampling over logistic regression on the columns, their squares and products."""
    from skactiveml.classifier import SklearnClassifier  # type: ignore[import-not-found]
    from skactiveml.pool import UncertaintySampling  # type: ignore[import-not-found]

    quadratic = make_pipeline(
        StandardScaler(), PolynomialFeatures(degree, include_bias=False), StandardScaler()
    )
    X = quadratic.fit_transform(case.X)
    placed = Placed(oracle, case.n_clusters)
    model = SklearnClassifier(
        LogisticRegression(C=C, max_iter=1000), classes=range(case.n_clusters), random_state=seed
    )
    sampling = UncertaintySampling(method="margin_sampling", random_state=seed)
    for y in _growing(placed, len(X)):
        # It says so when it cannot fit yet, because one class only is known; it then guesses.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
            scores = model.predict_proba(X)[:, : max(1, placed.n_known_classes)]
            trace.note(_kept(np.argmax(scores, axis=1), placed))
            item = int(sampling.query(X, y, model, fit_clf=False)[0])
        placed.place(item, _best_first(scores[item])[: placed.n_known_classes])


def _growing(placed: Placed, n: int) -> Iterator[Any]:
    """Class labels of all points, NaN where none is known, until all are."""
    while len(placed.items) < n:
        y = np.full(n, np.nan)
        y[placed.items] = placed.classes
        yield y


def _kept(predicted: npt.NDArray[np.int64], placed: Placed) -> npt.NDArray[np.int64]:
    predicted[placed.items] = placed.classes
    return predicted


def _best_first(scores: Scores) -> list[int]:
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order


def _one_column_a_class(decision: Scores) -> Scores:
    return np.column_stack([-decision, decision]) if decision.ndim == 1 else decision


def _gap(scores: Scores) -> Scores:
    two_best = np.partition(scores, -2, axis=1)[:, -2:]
    return np.asarray(two_best[:, 1] - two_best[:, 0])
