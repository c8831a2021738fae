"""What is said of predictions is held against what answers said before, and against random asks."""

from typing import Any

import numpy as np
import pytest

from samecluster import load, recover
from samecluster.oracles import LabelOracle
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.certainty import SecondOpinion, Track
from samecluster.recovery.predict.odds import LearnedOdds


def track_of(n: int, right: float, chance: float, seed: int = 0, at_random: bool = False) -> Track:
    """Records of n predictions with one chance, of which the share ``right`` is right."""
    rng = np.random.default_rng(seed)
    names = ClusterNames()
    names.found(0)
    names.found(1)
    track = Track(names, {})
    for item in range(2, n + 2):
        names.add(item, 0 if rng.random() < right else 1)
        track.note(item, 0, chance, at_random)
    return track


@pytest.mark.parametrize("right", [0.5, 0.8, 0.95])
def test_a_model_that_is_too_sure_is_believed_less(right) -> None:
    """It says 99 %; after 300 answers it is believed as far as it was right."""
    said = track_of(300, right, 0.99).calibrated(np.array([0.99]))[0]
    assert said == pytest.approx(right, abs=0.2)


def test_without_records_the_model_is_believed() -> None:
    said = Track(ClusterNames(), {}).calibrated(np.array([0.3, 0.9]))
    assert said == pytest.approx([0.3, 0.9], abs=1e-6)


def test_records_are_judged_by_what_is_known_later() -> None:
    """Groups that turn out to be one make a prediction right that seemed wrong."""
    names = ClusterNames()
    names.found(0)
    names.found(1)
    track = Track(names, {})
    for item in range(2, 60):
        names.add(item, 1)
        track.note(item, 0, 0.9, False)
    before = track.calibrated(np.array([0.9]))[0]
    names.merge(0, 1)
    assert before < 0.3
    assert track.calibrated(np.array([0.9]))[0] > 0.9


def test_points_that_were_picked_are_judged_apart_from_those_drawn_at_random() -> None:
    """Half of the picked ones were wrong and none of the others, and what is left is like these."""
    rng = np.random.default_rng(0)
    names = ClusterNames()
    names.found(0)
    names.found(1)
    track = Track(names, {})
    for item in range(2, 202):
        drawn = item % 4 == 0
        names.add(item, 0 if drawn or rng.random() < 0.5 else 1)
        track.note(item, 0, 0.9, drawn)
    others, picked = (track.calibrated(np.array([0.9]), picked=one)[0] for one in (False, True))
    assert picked == pytest.approx(0.5, abs=0.15)
    assert others > 0.9


def test_a_point_that_waits_outside_of_its_predicted_group_was_wrong() -> None:
    """On a sheet half of the points are marked; their own group is found later, or never."""
    names = ClusterNames()
    outside: dict[int, set[int]] = {}
    names.found(0)
    names.found(1)
    track = Track(names, outside)
    for item in range(2, 202):
        track.note(item, 0, 0.9, False)
        if item % 2:
            outside[item] = {0}
        else:
            names.add(item, 0)
    assert len(track) == 200
    assert track.calibrated(np.array([0.9]), picked=True)[0] == pytest.approx(0.5, abs=0.1)


def test_points_that_have_no_group_yet_speak_for_groups_that_nobody_has_met() -> None:
    """Of 40 random points 4 were marked and wait, and nobody was sure about 4 others."""
    names = ClusterNames()
    outside: dict[int, set[int]] = {}
    names.found(0)
    track = Track(names, outside)
    for item in range(1, 41):
        track.note(item, 0, 0.9, True)
        if item <= 4:
            outside[item] = {0}
        elif item > 8:
            names.add(item, 0)
    assert len(track) == 36, "whether the label of an unsure point is right is not known"
    bound = track.unseen()
    assert bound is not None
    assert bound > 8 / 40


@pytest.mark.parametrize(("right", "least", "most"), [(0.95, 0.5, 1.0), (0.3, 0.0, 0.2)])
def test_a_second_opinion_is_heard_as_far_as_it_was_right(right, least, most) -> None:
    """The regression gives every group .5; clouds are sure, and right as often as said."""
    rng = np.random.default_rng(0)
    second = SecondOpinion()
    for _ in range(100):
        said = 0 if rng.random() < right else 1
        second.note(0.5, np.array([8.0, 0.0])[[said, 1 - said]], 0)
    assert least < second.weight < most


def test_a_second_opinion_is_not_heard_before_it_was_compared() -> None:
    second = SecondOpinion()
    for _ in range(9):
        second.note(0.1, np.array([9.0, 0.0]), 0)
    assert second.weight == 0.0


def test_only_random_asks_bound_what_nobody_has_met() -> None:
    assert track_of(100, 1.0, 0.9).unseen() is None
    bound = track_of(60, 1.0, 0.9, at_random=True).unseen()
    assert bound == pytest.approx(1.0 - 0.05 ** (1 / 60))  # about 3/m


def test_the_bound_on_unmet_groups_holds_as_often_as_it_says() -> None:
    """A tenth of the rows is in groups of their own: at most 1 in 20 bounds is below that."""
    rng = np.random.default_rng(0)
    below = 0
    for _ in range(300):
        names = ClusterNames()
        names.found(0)
        track = Track(names, {})
        for item in range(1, 41):
            if rng.random() < 0.1:
                names.found(item)
            else:
                names.add(item, 0)
            track.note(item, 0, 0.9, True)
        bound = track.unseen()
        assert bound is not None
        below += bound < 0.1
    assert below <= 0.05 * 300 + 12


def test_odds_are_learned_from_answers() -> None:
    rng = np.random.default_rng(0)
    seen = np.column_stack([np.ones(2000), rng.normal(size=2000)])
    yes = (rng.random(2000) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * seen[:, 1]))).astype(float)
    odds = LearnedOdds((0.0, 0.0), (3.0, 3.0))
    odds.fit(seen, yes)
    assert odds.chances(np.array([[1.0, 0.5]]))[0] == pytest.approx(0.5, abs=0.05)


def test_a_result_says_how_many_are_wrong_only_after_enough_answers() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, size=300)
    X = rng.normal(size=(300, 2)) + 3.0 * truth[:, None]
    few, many = (
        recover(X, LabelOracle(truth), method="predict", max_questions=most, random_state=0)
        for most in (25, 110)
    )
    assert few.foresight is not None
    assert not few.foresight.tells
    assert any("is not known yet" in line for line in few.assumptions)
    if (many.how == "predicted").any() and many.foresight is not None and many.foresight.tells:
        assert any("groups that nobody has met" in line for line in many.assumptions)


def test_a_result_says_when_only_a_sample_was_modelled(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr("samecluster.recovery.predict.core_set._LARGEST", 5_500)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, size=6_000)
    X = rng.normal(size=(6_000, 2)) + 9.0 * truth[:, None]
    options: dict[str, Any] = {"method": "predict", "max_questions": 12, "random_state": 0}
    told = "The model is of a sample of 5,000 rows"
    some = recover(X, LabelOracle(truth), **options)
    assert any(told in line for line in some.assumptions)
    some.save(tmp_path / "some.result")
    assert load(tmp_path / "some.result").foresight == some.foresight
    whole = recover(X[:5_000], LabelOracle(truth[:5_000]), **options)
    assert not any(told in line for line in whole.assumptions)
