"""Mixtures that guide questions: right where clusters are plain, harmless where they are not."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.mixture import GaussianMixture

from samecluster.points.array import unit_scaled
from samecluster.recovery.certify.guide.mixture import Mixture, components
from samecluster.recovery.result.clustering_error import clustering_error


@pytest.mark.parametrize("declared", [True, False])
def test_plain_clusters_are_its_components(declared: bool) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        labels = rng.integers(4, size=900)
        shapes = rng.normal(size=(4, 3, 3))
        clouds = np.einsum("ni,nij->nj", rng.normal(size=(900, 3)), shapes[labels])
        X = clouds + 40.0 * np.eye(4, 3)[labels]
        found = components(unit_scaled(X), 4 if declared else None, seed)
        assert clustering_error(found, labels) <= 0.01


def test_one_cloud_is_one_component() -> None:
    points = np.random.default_rng(0).normal(size=(800, 4))
    assert set(components(unit_scaled(points), None, 0)) == {0}


def test_densities_and_criterion_are_those_of_scikit_learn() -> None:
    """From the same shares, so that it is the formulas that are compared and not the search."""
    rng = np.random.default_rng(1)
    points = unit_scaled(rng.normal(size=(300, 3)))
    shares = rng.dirichlet(np.ones(4), size=300)
    ours = Mixture.of(points, shares)
    theirs = GaussianMixture(4, reg_covar=1e-9)
    theirs._initialize(points, shares)
    values = theirs.score_samples(points)
    logs = ours.log_densities(points)
    np.testing.assert_allclose(np.logaddexp.reduce(logs, axis=1), values, rtol=1e-9)
    assert np.array_equal(ours.nearest(points), theirs.predict(points))
    fitted = Mixture(ours.log_weights, ours.means, ours.maps, float(values.mean()))
    assert fitted.bic(300) == pytest.approx(theirs.bic(points), rel=1e-12)


@settings(max_examples=40)
@given(
    st.integers(1, 40),
    st.integers(1, 4),
    st.none() | st.integers(1, 6),
    st.sampled_from([0.0, 1e-200, 1e-12, 1.0]),
    st.integers(0, 99),
)
def test_copies_planes_and_tiny_differences_are_no_trouble(
    n: int, d: int, k: int | None, size: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 3, size=(n, 1)) + size * rng.integers(0, 3, size=(n, d))
    found = components(points.astype(np.float64), k, seed)
    assert found.shape == (n,)
    assert found.min() >= 0


def test_the_first_question_loads_nothing_heavy() -> None:
    """Loading any of these takes longer than finding the question."""
    code = (
        "import sys, numpy, samecluster\n"
        "X = numpy.random.default_rng(0).normal(size=(3000, 4))\n"
        "assert samecluster.start(X, random_state=0).pending\n"
        "heavy = {'scipy', 'sklearn', 'clarabel', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
