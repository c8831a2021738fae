"""The parts of prediction: closed forms equal what they stand for, and large data fits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from samecluster.recovery import distances
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.distances import nearest
from samecluster.recovery.predict.calibration import SHARPNESS, Calibration
from samecluster.recovery.predict.choice.spread import middles_of_cells
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.core_set import core_of, extended
from samecluster.recovery.predict.gaussian_process import NOISE, GaussianProcess, left_out
from samecluster.recovery.predict.graph import Graph
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.predict.sameness import Sameness
from samecluster.recovery.predict.similarity import Similarity, features, whitened

NOBODY = np.zeros(0, dtype=np.int64)


def all_of(X):
    return np.arange(len(X))


def random_points(seed: int, n: int = 40, d: int = 3) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, d)) + 3.0 * rng.integers(0, 2, size=(n, 1))
    return features(points, all_of(points))


def similarities(points: np.ndarray) -> list[Similarity]:
    return [Similarity.of(kind, Graph(points), points) for kind in Similarity.kinds]


def all_rows(points: np.ndarray) -> np.ndarray:
    return Graph(points).rows(np.arange(len(points)))


# -- regression ------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(0, 2), st.integers(1, 25))
def test_answers_one_by_one_give_what_all_at_once_give(seed, kind, m) -> None:
    """Rank-one updates with groups that appear and merge on the way, beside a fit from scratch."""
    rng = np.random.default_rng(seed)
    points = random_points(seed)
    similarity = similarities(points)[kind]
    asked = rng.choice(40, size=m, replace=False).tolist()
    groups = rng.integers(0, 4, size=m)
    one_by_one = GaussianProcess(similarity, 40)
    for _ in range(4):
        one_by_one.add_group()
    half = m // 2
    for item, group in zip(asked[:half], groups[:half], strict=True):
        one_by_one.learn(item, int(group))
    one_by_one.merge(1, 3)
    groups[groups == 3] = 1
    for item, group in zip(asked[half:], groups[half:], strict=True):
        one_by_one.learn(item, int(group))

    at_once = GaussianProcess.fitted(similarity, 40, asked, np.eye(3)[groups])
    assert np.allclose(one_by_one.targets, at_once.targets)
    assert np.allclose(one_by_one.mean, at_once.mean, atol=1e-4)
    assert np.allclose(one_by_one.variance, at_once.variance, atol=1e-4)
    assert np.allclose(one_by_one.ahead, at_once.ahead, atol=1e-4)
    everything = np.arange(40)
    assert np.allclose(one_by_one.covariance(everything), at_once.covariance(everything), atol=1e-4)
    kernel = similarity.rows(everything)
    weights = np.linalg.solve(kernel[np.ix_(asked, asked)] + NOISE * np.eye(m), np.eye(3)[groups])
    assert np.allclose(at_once.mean, kernel[:, asked] @ weights, atol=1e-4)


@given(st.integers(0, 10_000), st.integers(0, 2), st.integers(2, 15))
def test_leave_one_out_equals_leaving_each_one_out(seed, kind, m) -> None:
    rng = np.random.default_rng(seed)
    similarity = similarities(random_points(seed))[kind]
    asked = rng.choice(40, size=m, replace=False).tolist()
    targets = np.eye(3)[rng.integers(0, 3, size=m)]
    at_asked = np.array(asked)
    closed = left_out(similarity.among(at_asked), targets)
    for at, item in enumerate(asked):
        others = asked[:at] + asked[at + 1 :]
        refitted = GaussianProcess.fitted(similarity, 40, others, np.delete(targets, at, axis=0))
        assert np.allclose(closed[at], refitted.mean[item], atol=1e-4)


def test_the_mean_ahead_of_an_answer_knows_nothing_of_it() -> None:
    similarity = similarities(random_points(1))[2]
    model = GaussianProcess(similarity, 40, n_groups=2)
    for item in (3, 9, 27, 14, 30):
        before = model.mean[item].copy()
        model.learn(item, item % 2)
        assert np.array_equal(model.ahead[-1], before)


def test_gain_is_the_variance_that_an_answer_removes() -> None:
    model = GaussianProcess(similarities(random_points(2))[2], 40, n_groups=1)
    model.learn(5, 0)
    for item in (0, 7, 33):
        before = model.variance.sum()
        expected = float(model.gain(np.array([item]), np.ones(40))[0])
        model.learn(item, 0)
        assert before - model.variance.sum() == pytest.approx(expected, rel=1e-4)


@given(st.integers(0, 10_000), st.integers(0, 2))
def test_what_the_rest_says_about_a_group_equals_a_fit_without_it(seed, kind) -> None:
    rng = np.random.default_rng(seed)
    similarity = similarities(random_points(seed))[kind]
    asked = rng.choice(40, size=12, replace=False)
    groups = np.concatenate([np.arange(3), rng.integers(0, 3, size=9)])
    targets = np.eye(3)[groups]
    model = GaussianProcess.fitted(similarity, 40, asked.tolist(), targets)
    found = model.without_own_group()
    for group in range(3):
        own = groups == group
        rest = GaussianProcess.fitted(similarity, 40, asked[~own].tolist(), targets[~own])
        assert np.allclose(found[group], rest.mean[asked[own]].mean(axis=0), atol=1e-3)


# -- whether two are one ---------------------------------------------------------------------------


def test_a_point_near_a_group_is_likely_in_it_and_shares_add_up() -> None:
    same = Sameness().chances(np.array([[1.0, 0.1, 0.0], [0.0, 0.0, -np.inf]]), np.array([0, 0]))
    assert same[0, 0] > 0.9
    assert (same.sum(axis=1) < 1.0).all()
    assert same[1, 2] == 0.0


def test_a_group_that_was_met_often_is_less_likely_part_of_another() -> None:
    scores = np.zeros((4, 5))
    same = Sameness().chances(scores, np.array([0, 1, 5, 50]))[:, 0]
    assert (np.diff(same) < 0).all()


@pytest.mark.parametrize("right", [True, False])
def test_answers_teach_how_far_scores_can_be_trusted(right) -> None:
    """After many answers that agree with the scores P(same) rises, otherwise it falls."""
    sameness, scores = Sameness(), np.array([0.4, 0.1])
    before = sameness.chances(scores[None], np.array([0]))[0, 0]
    for _ in range(60):
        sameness.heard(scores, 0, right)
    after = sameness.chances(scores[None], np.array([0]))[0, 0]
    assert after > max(before, 0.85) if right else after < min(before, 0.2)


# -- features and similarities ---------------------------------------------------------------------


def test_features_do_not_depend_on_where_the_origin_is_or_on_the_unit() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * [1, 2, 1.5, 1, 0.5, 1]
    plain = cdist(*2 * [features(X, all_of(X))])
    for moved in (X + 100.0, X * 1e6, X * 1e-300, X * 1e300):
        assert np.allclose(cdist(*2 * [features(moved, all_of(X))]), plain, atol=1e-6)
    assert np.mean(np.sum(features(X, all_of(X)) ** 2, axis=1)) == pytest.approx(1.0)


def test_columns_in_unlike_units_are_brought_to_one_spread() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * [1, 1000, 1, 0.01]
    other_units = X * [10, 0.01, 1, 1000]
    one, other = (cdist(*2 * [features(Z, all_of(Z))]) for Z in (X, other_units * [1, 1e5, 1, 1]))
    assert np.allclose(one, other)


def test_columns_of_one_unit_keep_their_proportions() -> None:
    X = np.random.default_rng(0).normal(size=(50, 3)) * [1, 2, 3]
    found = features(X, all_of(X))
    assert np.allclose(
        cdist(found, found) * cdist(X, X)[0, 1] / cdist(found, found)[0, 1], cdist(X, X)
    )


@pytest.mark.parametrize("shape", [(30, 200), (200, 80), (2, 1)])
def test_features_have_at_most_fifty_columns(shape) -> None:
    found = features(np.random.default_rng(0).normal(size=shape), np.arange(shape[0]))
    assert found.shape[0] == shape[0]
    assert 1 <= found.shape[1] <= 50


def test_points_that_are_all_the_same_have_features() -> None:
    found = features(np.full((5, 3), 7.0), np.arange(5))
    assert np.array_equal(found, np.zeros((5, 1)))
    assert np.isfinite(all_rows(found)).all()
    assert np.array_equal(whitened(found, np.zeros(5, dtype=int), np.ones(5, dtype=bool)), found)


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 12))
def test_nearest_finds_the_nearest(seed, n, count) -> None:
    rng = np.random.default_rng(seed)
    among = rng.normal(size=(count + 5, 3))
    points = rng.normal(size=(n, 3))
    _, squares = nearest(points, among, count)
    assert np.allclose(squares, np.sort(cdist(points, among) ** 2, axis=1)[:, :count], atol=1e-9)
    numbers, own_squares = nearest(among, among, count, own=True)
    assert not (numbers == np.arange(len(among))[:, None]).any()
    apart = np.sort(cdist(among, among) ** 2, axis=1)[:, 1 : count + 1]
    assert np.allclose(own_squares, apart, atol=1e-9)


@pytest.mark.parametrize("copies", [1, 30])
def test_a_tree_finds_the_same_neighbours(copies: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of points that have more copies than neighbours are asked for."""
    rng = np.random.default_rng(copies)
    points = np.repeat(rng.normal(size=(2400 // copies, 4)), copies, axis=0)
    points = rng.permutation(points).astype(np.float32)
    numbers, squares = nearest(points, points, 10, own=True)
    assert not (numbers == np.arange(len(points))[:, None]).any()
    assert all(len(set(row)) == 10 for row in numbers.tolist())
    monkeypatch.setattr(distances, "_TREE_ROWS", 10_000)
    assert np.allclose(squares, nearest(points, points, 10, own=True)[1], atol=1e-5)


def test_similarities_among_some_are_those_of_the_whole() -> None:
    points = np.random.default_rng(0).normal(size=(700, 3)).astype(np.float32)
    some, graph = np.array([3, 650, 17, 18, 400]), Graph(points)
    solved = graph.among(some)
    whole = graph.rows(some)[:, some]
    assert np.allclose(solved, whole, atol=2e-3)
    assert np.allclose(graph.among(some), whole)


def test_graph_similarity_is_the_scaled_inverse() -> None:
    """Beside the definition, in double precision."""
    points = random_points(3, n=60)
    gaps = cdist(points, points)
    local = np.sort(gaps, axis=1)[:, 10]
    near = gaps <= local[:, None]
    weights = np.where(near | near.T, np.exp(-(gaps**2) / np.outer(local, local)), 0.0)
    np.fill_diagonal(weights, 0.0)
    degree = np.sqrt(weights.sum(axis=1))
    inverse = np.linalg.inv(np.eye(60) - 0.99 * weights / np.outer(degree, degree))
    size = np.sqrt(np.diagonal(inverse))
    assert np.allclose(all_rows(points), inverse / np.outer(size, size), atol=1e-5)


def test_graph_similarity_does_not_leap_over_gaps() -> None:
    points = np.concatenate([np.linspace(0, 1, 30), np.linspace(9, 10, 30)])[:, None]
    found = all_rows(points)
    assert np.allclose(found[:30, 30:], 0.0, atol=1e-6)
    assert found[:30, :30].min() > 0.05


def test_rows_that_are_solved_for_are_those_of_the_dense_inverse(monkeypatch) -> None:
    """The sparse form beside the dense one; its diagonal is estimated, so it is near 1."""
    points = np.random.default_rng(0).normal(size=(600, 3)).astype(np.float32)
    dense, items = Graph(points), np.array([0, 7, 300])
    monkeypatch.setattr(Graph, "LARGEST_DENSE", 10)
    sparse = Graph(points)
    assert dense.is_dense
    assert not sparse.is_dense
    exact, solved = dense.rows(items), sparse.rows(items)
    own = solved[np.arange(3), items]
    assert np.abs(own - 1.0).max() < 0.7
    for row, other in zip(exact, solved, strict=True):
        assert np.corrcoef(row, other)[0, 1] > 0.9
    assert np.array_equal(sparse.rows(items), solved)


def test_similarities_between_some_are_the_same_from_either_side(monkeypatch) -> None:
    monkeypatch.setattr(Graph, "LARGEST_DENSE", 10)
    points = np.random.default_rng(0).normal(size=(600, 3)).astype(np.float32)
    few, many = np.array([3, 9]), np.arange(20, 60)
    fresh, known = Graph(points), Graph(points)
    known.rows(many)
    from_many = known.between(few, many)  # their rows are there already
    assert np.allclose(fresh.between(few, many), from_many, atol=0.01)
    assert np.allclose(fresh.between(many, few), from_many.T, atol=0.01)


def test_what_is_around_a_point_is_what_walks_bring_to_it() -> None:
    points = random_points(4, n=50)
    graph = Graph(points)
    everywhere = graph.around(np.ones(50))
    assert (everywhere > 1.0).all()
    alone = np.zeros(50)
    alone[3] = 1.0
    assert int(graph.around(alone).argmax()) == 3


def test_first_points_are_spread_over_the_data() -> None:
    """One at least in each of twelve blobs of very different sizes."""
    rng = np.random.default_rng(0)
    blob = np.repeat(np.arange(12), [2000, 800, *[220] * 10])
    points = rng.normal(size=(len(blob), 2)) * 0.1 + 5.0 * np.column_stack([blob % 4, blob // 4])
    first = middles_of_cells(points.astype(np.float32), rng)
    assert len(first) == len(set(first))
    assert len(set(blob[first].tolist())) >= 11


def test_many_copies_of_a_point_do_no_harm() -> None:
    points = np.concatenate([np.zeros((30, 2)), np.random.default_rng(0).normal(size=(30, 2))])
    found = all_rows(points)
    assert np.isfinite(found).all()
    assert np.allclose(np.diagonal(found), 1.0, atol=1e-5)


def test_whitening_makes_groups_spread_alike_all_round() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=4000)
    points = rng.normal(size=(4000, 2)) * [5.0, 1.0] + 3.0 * groups[:, None]
    found = whitened(points, groups, np.ones(4000, dtype=bool))
    spread = found[groups == 0].std(axis=0)
    assert spread.max() / spread.min() < 2.0  # 5 before; a tenth of the covariance stays a sphere


# -- clouds ----------------------------------------------------------------------------------------


def log_likelihood(x, members, common, borrowed) -> float:
    """Of a point under a Gaussian of members and borrowed pseudo-points, and their number."""
    offsets = members - members.mean(axis=0)
    covariance = (offsets.T @ offsets + borrowed * common) / (len(members) + borrowed)
    away = x - members.mean(axis=0)
    square = away @ np.linalg.solve(covariance, away)
    return float(np.log(len(members)) - (square + np.linalg.slogdet(covariance)[1]) / 2.0)


@given(st.integers(0, 10_000))
def test_cloud_scores_leave_each_point_out(seed) -> None:
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(3), rng.integers(0, 3, size=27)])
    points = rng.normal(size=(30, 2)) + 2.0 * groups[:, None]
    clouds = Clouds(points, groups, 4)
    scores = clouds.scores()
    assert (scores[:, 3] == -np.inf).all()
    for at in range(30):
        for group in range(3):
            counted = clouds.inside & (groups == group) & (np.arange(30) != at)
            if counted.any():
                expected = log_likelihood(
                    points[at], points[counted], clouds.common, clouds.borrowed
                )
                assert scores[at, group] == pytest.approx(expected, rel=1e-6, abs=1e-6)
            else:
                assert scores[at, group] == -np.inf


def test_clouds_leave_out_the_farthest_of_large_groups() -> None:
    rng = np.random.default_rng(0)
    points = np.concatenate([rng.normal(size=(99, 2)), [[1000.0, 0.0]]])
    clouds = Clouds(points, np.zeros(100, dtype=int), 1)
    assert not clouds.inside[99]
    assert np.abs(clouds.means).max() < 1.0


# -- probabilities ---------------------------------------------------------------------------------


@pytest.mark.parametrize("true_sharpness", [4.0, 12.0, 40.0])
def test_sharpness_is_found_from_scores_and_truth(true_sharpness) -> None:
    rng = np.random.default_rng(0)
    scores = rng.random(size=(3000, 3))
    shares = Calibration(true_sharpness, 0.0).probabilities(scores)
    truth = (rng.random(3000)[:, None] > shares.cumsum(axis=1)).sum(axis=1)
    found = Calibration.fitted(scores, truth, SHARPNESS)
    assert found.sharpness == pytest.approx(true_sharpness, rel=0.25)


def test_without_evidence_the_sharpness_is_the_usual_one() -> None:
    found = Calibration.fitted(np.zeros((0, 3)), np.zeros(0, dtype=int), SHARPNESS)
    assert found.sharpness == pytest.approx(SHARPNESS, rel=0.11)
    assert 0 < found.lapse <= 0.1


def test_probabilities_leave_something_for_groups_nobody_has_seen() -> None:
    found = Calibration(12.0, 0.02).probabilities(np.array([[1.0, 0.0], [-np.inf, -np.inf]]))
    assert (found > 0).all()
    assert (found.sum(axis=1) < 1.0).all()


# -- the core --------------------------------------------------------------------------------------


def test_copies_are_modelled_once() -> None:
    points = np.array([[0.0], [1.0], [0.0], [2.0], [1.0]])
    core, place = core_of(points, 10, np.random.default_rng(0), NOBODY)
    assert core.tolist() == [0, 1, 3]
    assert place.tolist() == [0, 1, 0, 2, 1]


def test_the_core_of_large_data_holds_what_lies_apart_and_what_is_asked_for() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20_000, 2))
    points[777] = [50.0, 0.0]
    core, place = core_of(points, 4000, rng, np.array([5, 11]))
    assert 4900 <= len(core) <= 5002
    assert {5, 11, 777} <= set(core.tolist())
    assert np.array_equal(place[core], np.arange(len(core)))
    assert np.count_nonzero(place >= 0) == len(core)


def test_others_go_with_the_core() -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, size=9000)
    points = rng.normal(size=(9000, 2)) + 20.0 * labels[:, None]
    points[8000:] = points[:1000]
    labels[8000:] = labels[:1000]
    core = np.arange(1000)
    chances = 0.04 + 0.88 * np.eye(3)[labels[:1000]]
    found = extended(points, core, labels[:1000], chances)
    assert np.array_equal(found.argmax(axis=1), labels)
    assert np.array_equal(found[:1000], chances)
    assert np.array_equal(found[8000:], chances)
    assert found[1000:8000].max() <= 0.92  # no surer than the core is


def test_a_group_that_is_ruled_out_is_not_predicted() -> None:
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    names = ClusterNames()
    model = Predictor(X, names, np.random.default_rng(0))
    for item in (0, 5):
        names.found(item)
        model.learn(item)
    assert model.prediction().groups[1] == 0
    model.rule_out(1, 0)
    assert model.prediction().groups.tolist() == [0, 1, 0, 1, 1, 1]
    names.merge(0, 1)
    assert model.prediction().groups.tolist() == [0] * 6


def test_what_is_ruled_out_of_a_group_is_ruled_out_of_the_one_it_is_merged_into() -> None:
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [0.3]])
    names = ClusterNames()
    model = Predictor(X, names, np.random.default_rng(0))
    for item in (0, 5, 6):
        names.found(item)
        model.learn(item)
    model.rule_out(1, 2)
    names.merge(0, 2)
    assert model.prediction().groups[[1, 2]].tolist() == [1, 0]
