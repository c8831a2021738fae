"""Theorem 4's families: exact margins for every hidden choice, and no way round asking."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import clustering_error, recover
from samecluster.errors import InvalidInputError
from samecluster.instances import LatentInstance, make_hypercube, make_packing
from samecluster.instances.lower_bounds import fewest_questions, hide_outlier, possible_outliers
from samecluster.oracles import LabelOracle

seeds = st.integers(0, 10**6)


@given(seed=seeds, d=st.integers(2, 6), margin=st.floats(0.03, 0.1428))
def test_a_packing_has_its_size_and_its_margin(seed, d, margin) -> None:
    made = make_packing(d, margin, random_state=seed)
    assert len(made.X) >= 2 * ((1 + margin) / (8 * margin)) ** ((d - 1) / 2)
    assert len(np.unique(made.X, axis=0)) == len(made.X)
    assert np.bincount(made.labels).tolist() == [len(made.X) - 2, 1, 1]
    assert (made.X[made.labels == 1] == -made.X[made.labels == 2]).all()
    assert made.margin_holds()
    # The paper's picture: W = (1+γ)diag(z*), 1+γ at the outliers, below 1 elsewhere.
    (outlier,) = made.X[made.labels == 1]
    assert made.metrics[0].matrix == pytest.approx((1 + margin) * np.diag(outlier**2))
    squares = np.sum((made.X @ made.metrics[0].factor.T) ** 2, axis=1)
    assert squares[made.labels > 0] == pytest.approx(1 + margin)
    assert squares[made.labels == 0].max() < 1


@given(seed=seeds, margin=st.floats(0.05, 1.0), share=st.sampled_from([0.5, 1.0, 1.5]))
def test_a_hypercube_has_its_margin(seed, margin, share) -> None:
    """With the columns of the theorem, more, and half of them, where many draws fail."""
    d = int(np.ceil(share * 48 * (1 + margin) ** 2))
    made = make_hypercube(40, d, margin, random_state=seed)
    assert set(np.unique(made.X)) == {0.0, 1.0}
    assert np.bincount(made.labels).tolist() == [39, 1]
    assert made.margin_holds()
    (outlier,) = made.X[made.labels == 1]
    assert (made.metrics[0].matrix == np.diag(outlier)).all()


def test_the_margin_check_can_fail() -> None:
    """One more point beside an outlier, and the margin is gone."""
    for made in (make_packing(3, 0.05, random_state=0), make_hypercube(20, 100, 0.4, 0)):
        near = made.X[made.labels == 1] * 0.99
        spoilt = LatentInstance(
            np.vstack([made.X, near]), np.append(made.labels, 0), made.margin, made.metrics
        )
        assert made.margin_holds()
        assert not spoilt.margin_holds()


@given(seed=seeds, d=st.integers(2, 4), margin=st.floats(0.03, 0.1428))
def test_every_point_of_a_packing_may_be_the_outlier(seed, d, margin) -> None:
    made = make_packing(d, margin, random_state=seed)
    assert (possible_outliers(made.X, margin) == np.arange(len(made.X))).all()
    for outlier in range(len(made.X)):
        assert hide_outlier(made.X, outlier, margin, scale=1 + margin).margin_holds()


@pytest.mark.parametrize("seed", range(5))
def test_most_points_of_a_hypercube_may_be_the_outlier(seed) -> None:
    made = make_hypercube(30, 100, 0.4, random_state=seed)
    possible = possible_outliers(made.X, 0.4)
    assert len(possible) >= 27
    assert np.flatnonzero(made.labels == 1)[0] in possible
    for outlier in range(30):
        assert hide_outlier(made.X, outlier, 0.4).margin_holds() == (outlier in possible)


def small_families() -> list[tuple[str, LatentInstance]]:
    return [
        ("packing, d=2", make_packing(2, 0.01, random_state=0)),
        ("packing, d=3", make_packing(3, 0.02, random_state=1)),
        ("hypercube", make_hypercube(8, 100, 0.4, random_state=2)),
    ]


families = pytest.mark.parametrize(
    "made", [made for _, made in small_families()], ids=[name for name, _ in small_families()]
)


def choices(made: LatentInstance) -> list[LatentInstance]:
    """One clustering for each choice of the outlier; the two of a mirror pair are the same."""
    different = {
        (made.labels > 0).tobytes(): made
        for made in (
            hide_outlier(made.X, int(outlier), made.margin)
            for outlier in possible_outliers(made.X, made.margin)
        )
    }
    return list(different.values())


@families
def test_an_answer_same_rules_out_at_most_two_choices(made) -> None:
    """Over all pairs and all choices: "different" says that one of the two is an outlier."""
    hidden = choices(made)
    assert len(hidden) >= 4
    for i, j in itertools.combinations(range(len(made.X)), 2):
        ruled_out = [one for one in hidden if one.labels[i] != one.labels[j]]
        assert len(ruled_out) <= 2
        assert all(one.labels[i] > 0 or one.labels[j] > 0 for one in ruled_out)


@families
def test_the_best_strategy_needs_as_many_questions_as_claimed(made) -> None:
    """The depth of the best decision tree over all questions, by brute force."""
    hidden = choices(made)
    questions = set()
    for i, j in itertools.combinations(range(len(made.X)), 2):
        same = sum(1 << c for c, one in enumerate(hidden) if one.labels[i] == one.labels[j])
        questions.add(same)

    @functools.cache
    def depth(left: int) -> int:
        if left.bit_count() <= 1:
            return 0
        splits = {left & same for same in questions} - {0, left}
        return 1 + min(max(depth(part), depth(left & ~part)) for part in splits)

    needed = depth((1 << len(hidden)) - 1)
    assert fewest_questions(len(hidden)) <= needed <= fewest_questions(len(hidden)) + 1


@families
@pytest.mark.parametrize("method", ["certify", "recur", "everything"])
def test_no_exact_method_gets_by_with_fewer(made, method) -> None:
    """With its seed fixed a method is deterministic; some choice must cost it the bound."""
    hidden = choices(made)
    asked = []
    for one in hidden:
        found = recover(
            one.X,
            LabelOracle(one.labels),
            n_clusters=one.n_clusters,
            margin=one.margin,
            method=method,
            random_state=0,
        )
        assert clustering_error(found.labels, one.labels) == 0
        asked.append(found.n_questions)
    assert max(asked) >= fewest_questions(len(hidden))
    # Two choices at most are found by each question, so the average is linear too.
    assert np.mean(asked) >= (len(hidden) - 1) / 4


def test_the_same_seed_gives_the_same_points() -> None:
    for make in (
        lambda seed: make_packing(3, 0.05, random_state=seed),
        lambda seed: make_hypercube(10, 100, 0.4, random_state=seed),
    ):
        assert (make(3).X == make(3).X).all()
        assert (make(3).X != make(4).X).any()


def test_impossible_wishes_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="below 1/7"):
        make_packing(3, 0.2)
    with pytest.raises(InvalidInputError, match="d must be"):
        make_packing(1, 0.1)
    with pytest.raises(InvalidInputError, match="even"):
        make_packing(2, 0.1, n=7)
    with pytest.raises(InvalidInputError, match="no room for 400 points"):
        make_packing(2, 0.1, n=400, random_state=0)
    with pytest.raises(InvalidInputError, match="more columns"):
        make_hypercube(50, 5, 1.0, random_state=0)
    with pytest.raises(InvalidInputError, match="margin must be above 0"):
        make_hypercube(50, 5, 0.0)
