"""All doors take the same parameters, with the same defaults, to the same results."""

from inspect import Parameter, signature

import numpy as np
import pytest
from sklearn.datasets import load_iris

from samecluster import Predict, SameCluster, recover, recover_large, start, start_large
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.sessions.parameters import _PARAMETERS

DATA = {"X", "source", "oracle", "self"}
# start has no oracle that errs or fails, and nobody to call
TOLD_LATER = {"gives", "error_rate", "on_progress", "concurrency", "retry", "progress"}


def defaults(door) -> dict[str, object]:
    """Parameters that say what is wanted, not about what."""
    found = signature(door).parameters.values()
    return {p.name: p.default for p in found if p.name not in DATA}


def test_start_and_the_estimator_have_the_parameters_and_defaults_of_recover() -> None:
    wanted = defaults(recover)
    assert defaults(SameCluster.__init__) == wanted
    assert defaults(start) == {k: v for k, v in wanted.items() if k not in TOLD_LATER}
    assert not any(default is Parameter.empty for default in wanted.values())


def test_large_data_and_sessions_differ_only_in_what_they_add() -> None:
    wanted, large = defaults(recover), defaults(start_large)
    assert defaults(recover_large) == large
    common = (wanted.keys() & large.keys()) - {"method", "on_progress"}
    assert common == {"margin", "n_clusters", "audit", "answers", "lift", "random_state"}
    assert {name: large[name] for name in common} == {name: wanted[name] for name in common}
    # A session hands what it was given to `start`, so that its defaults are those. How many
    # opinions a question needs, and the seconds that looks took people, only a session knows.
    assert set(_PARAMETERS) - {"opinions", "look_seconds"} <= wanted.keys()


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"n_clusters": 3, "margin": 1.0},
        {"audit": (0.1, 0.9), "method": Predict()},
        {"max_questions": 7, "known": [0, 0, 1] + [None] * 197},
        {"hint": [0] * 100 + [1] * 100, "error_rate": 0.1},
    ],
)
def test_the_estimator_finds_what_recover_finds(declared) -> None:
    made = make_ellipsoids(200, 2, 3, random_state=0)
    truth = np.r_[0, 0, 1, made.labels[3:]] if "known" in declared else made.labels
    one = recover(made.X, LabelOracle(truth), random_state=0, **declared)
    two = SameCluster(oracle=LabelOracle(truth), random_state=0, **declared).fit(made.X)
    assert np.array_equal(one.labels, two.labels_)
    assert np.array_equal(one.how, two.how_)
    assert one.answers == two.recovery_.answers
    assert one.assumptions == two.recovery_.assumptions


def test_the_estimator_declares_nothing_that_nobody_declared() -> None:
    X, truth = load_iris(return_X_y=True)
    model = SameCluster(oracle=LabelOracle(truth), random_state=0).fit(X)
    assert "proven" not in model.how_
    assert model.n_questions_ < len(X)
