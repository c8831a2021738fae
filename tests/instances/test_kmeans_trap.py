"""Where SCQ-k-means goes wrong and by how much (Lemma 10), and where it need not (Lemma 11)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import Recovery, ScqKMeans, clustering_error, recover
from samecluster.errors import InvalidInputError
from samecluster.geometry.metric import LatentMetric
from samecluster.instances import LatentInstance, make_ellipsoids, make_kmeans_trap
from samecluster.oracles import LabelOracle
from samecluster.recovery.paper.scq_kmeans import KnownCentres
from samecluster.recovery.problem import Method


def run(made: LatentInstance, method: str | Method, seed: int = 0) -> Recovery:
    return recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=made.n_clusters,
        margin=made.margin,
        method=method,
        random_state=seed,
    )


def known_centres(made: LatentInstance) -> KnownCentres:
    """The centres and a member of each cluster, given away."""
    centres = np.array([metric.centre for metric in made.metrics])
    members = [int(np.argmax(made.labels == cluster)) for cluster in range(made.n_clusters)]
    return KnownCentres(centres, members)


@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 300),
    p=st.floats(0.01, 0.99),
    margin=st.floats(0.01, 100.0),
    d=st.integers(2, 5),
    jitter=st.sampled_from([0.0, 1e-3, 0.04]),
)
def test_the_trap_has_its_margin_and_hardly_more(seed, n, p, margin, d, jitter) -> None:
    made = make_kmeans_trap(n, p, margin, d, jitter, random_state=seed)
    sizes = np.bincount(made.labels)
    assert abs(sizes[1] - n * (1 - p) / 2) <= 1
    assert made.margin_holds()
    first = made.metrics[0]
    assert not first.has_margin(made.X, made.labels == 0, margin * 1.00001)
    for cluster, metric in enumerate(made.metrics):
        assert metric.centre == pytest.approx(made.X[made.labels == cluster].mean(axis=0))
        assert (metric.matrix == np.diag([0.25] + [1.0] * (d - 1))).all()
    assert len(np.unique(made.X, axis=0)) == (n if jitter else 3)


@pytest.mark.parametrize("jitter", [0.0, 0.01])
@pytest.mark.parametrize("p", [0.1, 0.3, 0.6])
def test_scq_k_means_takes_both_clusters_for_one(p, jitter) -> None:
    """The lemma: an error of (1−p)/2 with probability at least 1−p, from a large sample."""
    fooled = 0
    for seed in range(30):
        made = make_kmeans_trap(1000, p, 0.1, jitter=jitter, random_state=seed)
        error = clustering_error(run(made, ScqKMeans(sample_size=400), seed).labels, made.labels)
        fooled += error >= (1 - p) / 2 - 0.01
        assert error <= (1 - p) / 2 + 1e-9
    assert fooled >= 30 * (1 - p)


def test_ten_draws_a_cluster_are_fooled_as_well() -> None:
    """The default setting, which is that of the paper's experiments."""
    errors = []
    for seed in range(30):
        made = make_kmeans_trap(1000, 0.3, random_state=seed)
        errors.append(clustering_error(run(made, "scq-k-means", seed).labels, made.labels))
    assert np.median(errors) == pytest.approx(0.35)
    assert np.mean(errors) > 0.3


@pytest.mark.parametrize("jitter", [0.0, 0.01])
@pytest.mark.parametrize("method", ["recur", "certify"])
def test_recur_and_certify_are_exact_in_the_trap(method, jitter) -> None:
    for seed in range(5):
        made = make_kmeans_trap(1000, [0.1, 0.3, 0.6][seed % 3], 0.1, 2, jitter, seed)
        found = run(made, method, seed)
        assert clustering_error(found.labels, made.labels) == 0
        assert found.n_questions < 300


def test_known_centres_do_not_help_below_the_condition_number() -> None:
    """κ_W = 4 here: binary search fails at every margin below 3, and works from 3 on."""
    for margin, error in {0.1: 0.35, 1.0: 0.35, 2.99: 0.35, 3.0: 0.0, 4.0: 0.0}.items():
        made = make_kmeans_trap(1000, 0.3, margin, random_state=0)
        assert made.margin_holds()
        found = run(made, known_centres(made))
        assert clustering_error(found.labels, made.labels) == pytest.approx(error), margin


def mirrored_ellipsoids(
    seed: int, d: int, k: int, condition: float, share: float = 1.0
) -> LatentInstance:
    """Clusters of which each point has a mirror image, so that the centre is the centroid.

    They stand as close together as a share of the margin κ − 1 about their centroids allows.
    """
    rng = np.random.default_rng(seed)
    made = make_ellipsoids(30 * k, d, k, 1.0, condition, random_state=rng)
    # Whole numbers have exact centroids, and W = AᵀA from their floats is what is checked.
    metrics = [np.asarray((e.axes / e.lengths).T) for e in made.ellipsoids]
    halves = [
        np.rint(1e6 * (made.X[made.labels == j] - e.centre)) for j, e in enumerate(made.ellipsoids)
    ]
    clusters = [np.concatenate([half, -half]) for half in halves]
    directions = rng.normal(size=(k, d))
    labels = np.repeat(np.arange(k), [len(cluster) for cluster in clusters])

    def placed(scale: float) -> LatentInstance:
        centres = np.rint(scale * directions)
        X = np.concatenate([c + own for c, own in zip(centres, clusters, strict=True)])
        latent = tuple(LatentMetric(A, c) for A, c in zip(metrics, centres, strict=True))
        return LatentInstance(X, labels, share * (condition - 1.0), latent)

    low, high = 0.0, 1e6
    while not placed(high).margin_holds():
        low, high = high, 2 * high
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (low, middle) if placed(middle).margin_holds() else (middle, high)
    return placed(high)


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 4),
    k=st.integers(2, 5),
    condition=st.sampled_from([1.01, 2.0, 9.0, 100.0]),
)
def test_a_margin_of_the_condition_number_lets_binary_search_recover(seed, d, k, condition) -> None:
    """Lemma 11, at the margin κ − 1 and hardly more, with O(log n) questions a cluster."""
    made = mirrored_ellipsoids(seed, d, k, condition)
    for cluster, metric in enumerate(made.metrics):
        own = made.X[made.labels == cluster]
        assert (own.sum(axis=0) == len(own) * metric.centre).all(), "the centre is the centroid"
        if d > 1:
            assert np.linalg.cond(metric.factor) ** 2 == pytest.approx(condition, rel=1e-9)
    told = known_centres(made)
    for search in (told, KnownCentres(told.centres)):
        found = run(made, search)
        assert (found.labels == made.labels).all()
        assert found.n_questions <= k * (math.log2(len(made.X)) + 1)
        assert set(found.how) == {"predicted"}


def test_the_lemma_has_something_to_say_here() -> None:
    """A hundredth of that margin is not enough for many of these instances."""
    failures = 0
    for seed in range(20):
        made = mirrored_ellipsoids(seed, 3, 3, 100.0, share=0.01)
        found = run(made, known_centres(made))
        failures += clustering_error(found.labels, made.labels) > 0
    assert failures >= 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 3}, "n must be"),
        ({"p": 1.0}, "p must be"),
        ({"margin": 0.0}, "margin must be"),
        ({"d": 1}, "d at least 2"),
        ({"jitter": 0.08}, "jitter must be from 0"),
    ],
)
def test_impossible_wishes_are_refused(arguments, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make_kmeans_trap(**{"n": 100, "p": 0.5, "random_state": 0, **arguments})


def test_impossible_settings_are_refused() -> None:
    made = make_kmeans_trap(10, 0.5, random_state=0)
    with pytest.raises(InvalidInputError, match=r"centres must be \(k, 2\)"):
        run(made, KnownCentres(np.zeros(2)))
    with pytest.raises(InvalidInputError, match="one a cluster, got 3 for 2"):
        run(made, KnownCentres(np.zeros((3, 2))))
    with pytest.raises(InvalidInputError, match="one a centre, got 1 for 2"):
        run(made, KnownCentres(np.zeros((2, 2)), [0]))
    with pytest.raises(InvalidInputError, match="sample_size"):
        run(made, ScqKMeans(sample_size=0))


def test_the_height_is_as_in_the_paper() -> None:
    made = make_kmeans_trap(1000, 0.3, 0.5, random_state=0)
    (height,) = np.unique(made.X[made.labels == 1][:, 1])
    assert height == pytest.approx(math.sqrt(1.5) / 2, rel=1e-11)
    assert Fraction(height) ** 2 > Fraction(3, 8), "equality is no margin"
