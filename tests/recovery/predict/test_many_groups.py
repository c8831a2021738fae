"""Many groups: points that would take long to place found groups, which are joined later."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samecluster import clustering_error, recover
from samecluster.oracles import LabelOracle
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict import placing
from samecluster.recovery.predict.model import Predictor
from samecluster.recovery.predict.sameness import RATHER_NEW, expected_questions


def by_playing(same: list[float]) -> float:
    """The same number, group after group: what is asked with which chance."""
    tried, asked = 0.0, 0.0
    new = 1.0 - sum(same)
    for chance in sorted(same, reverse=True):
        left = 1.0 - tried
        if new >= RATHER_NEW * left:
            break
        asked += left
        tried += chance
    return asked


@given(st.lists(st.floats(0.001, 1.0), min_size=1, max_size=30), st.floats(0.01, 0.99))
def test_expected_questions_are_those_of_trying_group_after_group(weights, known) -> None:
    same = [known * weight / sum(weights) for weight in weights]
    left = 1.0 - np.cumsum([0.0, *sorted(same, reverse=True)])
    assume((np.abs(left[-1] - RATHER_NEW * left) > 1e-9).all())  # or rounding decides
    assert expected_questions(np.array([same]))[0] == pytest.approx(by_playing(same), abs=1e-6)


def test_a_likely_group_takes_one_question_and_alike_ones_half_of_them() -> None:
    assert expected_questions(np.array([[0.99]]))[0] == pytest.approx(1.0)
    many = expected_questions(np.full((1, 25), 0.99 / 25))[0]
    assert 12.0 < many < 14.0


def overlapping(seed: int, k: int = 30) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, 1500)
    return rng.normal(size=(k, 8))[truth] + rng.normal(size=(1500, 8)) * 0.6, truth


def error(seed: int) -> float:
    X, truth = overlapping(seed)
    found = recover(X, LabelOracle(truth), method="predict", max_questions=300, random_state=0)
    return clustering_error(found.labels, truth)


def test_giving_up_on_points_that_take_long_leaves_fewer_wrong(monkeypatch) -> None:
    """30 groups that overlap, 300 questions: 20 % wrong on average, 26 if all are placed."""
    patient = np.mean([error(seed) for seed in (0, 1)])
    monkeypatch.setattr(placing, "_MANY_GROUPS", 10**9)
    assert patient < np.mean([error(seed) for seed in (0, 1)]) - 0.03


def model_of_many_rows() -> tuple[ClusterNames, Predictor]:
    """More rows than have all their similarities worked out: it starts with middles of cells."""
    names = ClusterNames()
    X = np.random.default_rng(0).normal(size=(4_100, 3))
    return names, Predictor(X, names, np.random.default_rng(0))


def test_spread_points_come_also_after_others_if_most_of_these_are_alone() -> None:
    """Points of an attempt at proofs are not spread, and with many groups every place counts."""
    first = model_of_many_rows()[1].next_item(())
    for n_groups, starts in ((20, True), (2, False)):
        names, model = model_of_many_rows()
        for item in range(20):
            if item < n_groups:
                names.found(item)
            else:
                names.add(item, item % n_groups)
            model.learn(item)
        assert model.is_starting is starts
        assert (model.next_item(names.name_of) == first) is starts


def test_first_points_that_nobody_can_place_do_not_keep_others_waiting() -> None:
    names, model = model_of_many_rows()
    shown: list[int] = []
    while model.is_starting and len(names.name_of) < 40:
        item = model.next_item([*shown, *names.name_of])
        assert item is not None
        assert item not in shown
        if len(shown) < 10:  # nobody is sure about the first ten
            shown.append(item)
        else:
            names.found(item) if len(names.name_of) < 2 else names.add(item, item % 2)
            model.learn(item)
    assert not model.is_starting
    assert len(names.name_of) < 20
