"""SCQ-k-means does what it can: spheres yes, stretched clusters no."""

import numpy as np
import pytest

from samecluster import AskEverything, ScqKMeans, clustering_error, recover
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.recovery.paper.scq_kmeans import _whitened


@pytest.mark.parametrize("seed", range(5))
def test_far_apart_spheres_are_recovered(seed) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=2000)
    X = rng.normal(size=(2000, 3)) + 30 * np.eye(3)[labels]
    found = recover(
        X,
        LabelOracle(labels),
        n_clusters=3,
        margin=1.0,
        method=ScqKMeans(),
        random_state=seed,
    )
    assert clustering_error(found.labels, labels) == 0
    assert found.n_questions < 3 * (30 * 2 + 12)
    assert set(found.how) <= {"asked", "predicted"}


@pytest.mark.parametrize("seed", range(3))
def test_whitening_undoes_a_stretch_of_all_the_data(seed) -> None:
    """Two balls one above the other in every column, then everything stretched by 100."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=2000)
    balls = rng.normal(size=(2000, 2)) + 8 * labels[:, None] * np.array([1.0, 0.0])
    X = balls * np.array([1.0, 100.0])
    errors = {}
    for whiten in (False, True):
        found = recover(
            X,
            LabelOracle(labels),
            n_clusters=2,
            margin=1.0,
            method=ScqKMeans(whiten=whiten),
            random_state=seed,
        )
        errors[whiten] = clustering_error(found.labels, labels)
    assert errors[True] < errors[False]
    whitened = _whitened(X)
    assert np.allclose(whitened.T @ whitened, np.eye(2))


def test_stretched_clusters_are_not() -> None:
    errors = []
    for seed in range(5):
        made = make_ellipsoids(5000, 4, 5, random_state=seed)
        found = recover(
            made.X,
            LabelOracle(made.labels),
            n_clusters=5,
            margin=1.0,
            method="scq-k-means",
            random_state=seed,
        )
        errors.append(clustering_error(found.labels, made.labels))
    assert 0.1 < np.mean(errors) < 0.6


def test_constant_columns_survive_whitening() -> None:
    X = np.array([[0.0, 5.0], [0.1, 5.0], [9.0, 5.0], [9.1, 5.0]])
    found = recover(
        X, LabelOracle([0, 0, 1, 1]), n_clusters=2, margin=1.0, method=ScqKMeans(whiten=True)
    )
    assert clustering_error(found.labels, [0, 0, 1, 1]) == 0


def test_asking_everything_is_exact_on_anything() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=500)
    X = rng.normal(size=(500, 2))
    found = recover(
        X, LabelOracle(labels), n_clusters=4, margin=1.0, method=AskEverything(), random_state=0
    )
    assert clustering_error(found.labels, labels) == 0
    # Those of the last cluster differ from all others, and are in it if there are four.
    assert set(found.how) == {"asked", "inferred"}
    assert len(set(labels[found.how == "inferred"])) == 1
    # A point of the c-th cluster on the list costs c+1 questions, the last one of k = 4 only 3.
    assert 500 < found.n_questions <= 3 * 500
