"""`SameCluster` is a proper estimator of scikit-learn, and turns bad input away."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from samecluster import Recur, SameCluster, clustering_error
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle, RowOracle

X2 = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.5]])
CENTRES = np.array([[-1.0, 1.0], [-0.5, -1.5], [1.0, 0.5]])


def nearest_centre(x, y) -> bool:
    """Same group if the nearest of three fixed centres is the same."""
    one, two = (np.linalg.norm(np.resize(row, 2) - CENTRES, axis=1).argmin() for row in (x, y))
    return bool(one == two)


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    # Cells of three centres have hardly a margin, and certify would notice a larger one.
    [SameCluster(margin=1e-9, oracle=RowOracle(nearest_centre), random_state=0)]
)
def test_scikit_learn_finds_a_proper_estimator(estimator, check) -> None:
    check(estimator)


def test_the_estimator_clones_and_sets_parameters() -> None:
    made = make_ellipsoids(200, 2, 3, random_state=0)
    model = SameCluster(
        3, margin=1.0, oracle=LabelOracle(made.labels), method=Recur(), random_state=0
    )
    twin = clone(model).set_params(margin=0.5)
    assert twin.get_params()["margin"] == 0.5
    assert model.get_params()["margin"] == 1.0
    assert not hasattr(twin, "labels_")
    assert clustering_error(model.fit_predict(made.X), made.labels) == 0
    assert repr(model.recovery_).startswith("<Recovery by recur")


def test_one_cluster_is_refused_but_by_the_estimator_which_asks_nothing() -> None:
    assert SameCluster(n_clusters=1).fit(X2).n_questions_ == 0
    with pytest.raises(InvalidInputError, match="from 2 to"):
        SameCluster(n_clusters=0, oracle=LabelOracle([0, 0, 0])).fit(X2)


def test_an_oracle_is_needed_where_something_is_to_be_asked() -> None:
    with pytest.raises(InvalidInputError, match="needs an oracle"):
        SameCluster().fit(X2)
