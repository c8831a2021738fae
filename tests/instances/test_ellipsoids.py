"""Generated clusterings have the margin they promise, and no more than that."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster.errors import InvalidInputError
from samecluster.instances import Instance, make_ellipsoids


def margins(made: Instance) -> list[float]:
    """The margin of each cluster by its own (W, c)."""
    found = []
    for j, ellipsoid in enumerate(made.ellipsoids):
        squared = np.einsum(
            "ij,jk,ik->i",
            made.X - ellipsoid.centre,
            ellipsoid.matrix,
            made.X - ellipsoid.centre,
        )
        found.append(float(squared[made.labels != j].min() / squared[made.labels == j].max()) - 1)
    return found


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 8),
    k=st.integers(2, 8),
    margin=st.sampled_from([0.05, 0.2, 1.0, 3.0]),
    condition=st.sampled_from([1.0, 100.0, 1e4]),
)
def test_the_tightest_pair_has_the_margin_almost_exactly(seed, d, k, margin, condition) -> None:
    made = make_ellipsoids(300, d, k, margin, condition, random_state=seed)
    found = margins(made)
    assert min(found) > margin
    # Long thin clusters may have it around one centre already, and cannot be moved closer.
    centres = np.array([ellipsoid.centre for ellipsoid in made.ellipsoids])
    assert min(found) <= margin * 1.1 or not centres.any()
    assert len(np.unique(made.labels)) == k
    for ellipsoid in made.ellipsoids:
        assert ellipsoid.contains(made.X[made.labels == made.ellipsoids.index(ellipsoid)]).all()
        if d > 1:
            assert np.linalg.cond(ellipsoid.matrix) == pytest.approx(condition, rel=1e-6)


@given(seed=st.integers(0, 10**6), ranks=st.lists(st.integers(1, 5), min_size=3, max_size=3))
def test_clusters_have_the_rank_asked_for(seed, ranks) -> None:
    made = make_ellipsoids(90, 5, 3, rank=ranks, random_state=seed)
    for j, rank in enumerate(ranks):
        points = made.X[made.labels == j]
        singular = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
        assert np.count_nonzero(singular > 1e-9 * singular[0]) == rank
    assert min(margins(made)) > made.margin


@given(
    n=st.integers(4, 2000),
    sizes=st.lists(st.floats(0.001, 100), min_size=4, max_size=4),
)
def test_sizes_add_up_and_no_cluster_is_empty(n, sizes) -> None:
    counts = np.bincount(make_ellipsoids(n, 2, 4, sizes=sizes, random_state=0).labels, minlength=4)
    assert counts.sum() == n
    assert counts.min() >= 1
    exact = np.array(sizes) / np.sum(sizes) * n
    assert (np.abs(counts - exact)[exact >= 1] <= 5).all()


def test_the_same_seed_gives_the_same_points() -> None:
    one, two = (make_ellipsoids(50, 3, 2, random_state=7) for _ in range(2))
    assert (one.X == two.X).all()
    assert (make_ellipsoids(50, 3, 2, random_state=8).X != one.X).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 2, "k": 3}, "n must be at least k"),
        ({"margin": 0}, "margin must be above 0"),
        ({"condition": 0.5}, "condition must be at least 1"),
        ({"rank": 9}, "rank must be from 1 to 3"),
        ({"rank": [1]}, "rank must be from 1 to 3"),
        ({"sizes": [1, 0]}, "sizes must be 2 positive numbers"),
    ],
)
def test_impossible_wishes_are_refused(arguments, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make_ellipsoids(**{"n": 100, "d": 3, "k": 2, "random_state": 0, **arguments})
