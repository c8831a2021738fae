"""Clouds: what suits a group, what fits it badly, and what lies beyond all groups."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from samecluster.recovery.predict.clouds import Clouds, beyond_all, edges_of


def groups_of(*sizes: int, seed: int = 0, apart: float = 20.0):
    rng = np.random.default_rng(seed)
    points = np.concatenate(
        [rng.normal((apart * at, 0.0), size=(size, 2)) for at, size in enumerate(sizes)]
    )
    return points, np.repeat(np.arange(len(sizes)), sizes)


def test_a_far_point_is_beyond_shaped_groups_and_a_near_one_is_not() -> None:
    points, groups = groups_of(60, 60)
    clouds = Clouds(points, groups, 2)
    edges = edges_of(clouds, points, groups, 0.0)
    assert beyond_all(clouds, edges, np.array([[10.0, 50.0], [0.0, 0.0]])).tolist() == [True, False]
    assert not beyond_all(clouds, edges, points).any(), "no member is beyond its own group"


def test_a_margin_moves_the_edge_outward() -> None:
    points, groups = groups_of(60, 60)
    clouds = Clouds(points, groups, 2)
    for margin in (0.0, 0.5, 2.0):
        own = clouds.squares(points[groups == 0], 0).max()
        assert edges_of(clouds, points, groups, margin)[0] == pytest.approx((1 + margin) * own)


def test_a_group_of_few_members_has_no_edge_so_that_nothing_is_beyond() -> None:
    points, groups = groups_of(60, 5)
    clouds = Clouds(points, groups, 2)
    edges = edges_of(clouds, points, groups, 0.0)
    assert edges[1] == np.inf
    assert not beyond_all(clouds, edges, np.array([[10.0, 500.0]])).any()


def test_a_single_member_has_no_say_as_it_may_be_a_stray_itself() -> None:
    points, groups = groups_of(60, 1)
    clouds = Clouds(points, groups, 2)
    edges = edges_of(clouds, points, groups, 0.0)
    assert edges[1] == -np.inf
    assert beyond_all(clouds, edges, np.array([[10.0, 500.0]])).all()


def test_if_all_groups_have_one_member_nothing_is_beyond() -> None:
    points, groups = groups_of(1, 1)
    clouds = Clouds(points, groups, 2)
    assert not beyond_all(clouds, edges_of(clouds, points, groups, 0.0), points + 100.0).any()


def test_frozen_clouds_score_alike_and_hold_no_points() -> None:
    points, groups = groups_of(40, 30)
    clouds = Clouds(points, groups, 2)
    light = clouds.frozen()
    assert len(light.points) == len(light.groups) == len(light.inside) == 0
    assert len(clouds.points) == 70, "the original keeps what it was fitted to"
    assert np.array_equal(light.scores_of(points), clouds.scores_of(points))


def test_scores_are_log_likelihoods_of_the_covariance_that_squares_measure() -> None:
    points, groups = groups_of(200, 100, apart=3.0)
    clouds = Clouds(points, groups, 2)
    factor = np.linalg.inv(clouds._factors[1])
    expected = multivariate_normal(clouds.means[1], factor @ factor.T).logpdf(points)
    found = clouds.scores_of(points)[:, 1] - np.log(clouds.sizes[1])
    assert np.allclose(found - found[0], expected - expected[0])


def test_a_point_in_the_wrong_group_is_the_worst_misfit() -> None:
    points, groups = groups_of(50, 50)
    groups[3] = 1
    assert Clouds(points, groups, 2).misfits().argmax() == 3


def test_with_one_group_the_farthest_point_is_the_worst_misfit() -> None:
    points, groups = groups_of(50)
    points[7] = [9.0, 9.0]
    assert Clouds(points, groups, 1).misfits().argmax() == 7
