"""What is said of predictions is held against what answers said before, and against random asks."""

import numpy as np
import pytest

from samecluster import recover
from samecluster.oracles import LabelOracle
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.certainty import Track
from samecluster.recovery.predict.odds import LearnedOdds


def track_of(n: int, right: float, chance: float, seed: int = 0, at_random: bool = False) -> Track:
    """Records of n predictions with one chance, of which the share ``right`` is right."""
    rng = np.random.default_rng(seed)
    names = ClusterNames()
    names.found(0)
    names.found(1)
    track = Track(names)
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
    said = Track(ClusterNames()).calibrated(np.array([0.3, 0.9]))
    assert said == pytest.approx([0.3, 0.9], abs=1e-6)


def test_records_are_judged_by_what_is_known_later() -> None:
    """Groups that turn out to be one make a prediction right that seemed wrong."""
    names = ClusterNames()
    names.found(0)
    names.found(1)
    track = Track(names)
    for item in range(2, 60):
        names.add(item, 1)
        track.note(item, 0, 0.9, False)
    before = track.calibrated(np.array([0.9]))[0]
    names.merge(0, 1)
    assert before < 0.3
    assert track.calibrated(np.array([0.9]))[0] > 0.9


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
        track = Track(names)
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
    assert any("does not say how many" in line for line in few.assumptions)
    if (many.how == "predicted").any() and many.foresight is not None and many.foresight.tells:
        assert any("groups that nobody has met" in line for line in many.assumptions)
