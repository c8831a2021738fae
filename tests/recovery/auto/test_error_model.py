"""How often somebody errs is learned from how two opinions agree, and from what people say."""

import numpy as np
import pytest

from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.recovery.auto.error_model import USUAL, ErrorModel, ErrorRecord, compared


def opinions(error, sharpness, seed, n=2000, k=4):
    """True groups, chances by likeness that are calibrated up to ``sharpness``, what was said."""
    rng = np.random.default_rng(seed)
    chances = rng.dirichlet(np.full(k, 0.2), n)
    chances = np.maximum(chances, 1e-3) / np.maximum(chances, 1e-3).sum(axis=1, keepdims=True)
    truth = (chances.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    other = (truth + rng.integers(1, k, n)) % k
    said = np.where(rng.random(n) < error, other, truth)
    raised = chances**sharpness
    return truth, raised / raised.sum(axis=1, keepdims=True), said


@pytest.mark.parametrize("error", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("sharpness", [0.7, 1.0, 3.0])
def test_the_share_of_errors_and_the_worth_of_likeness_are_found(error, sharpness) -> None:
    _, chances, said = opinions(error, sharpness, seed=1)
    found = ErrorModel.fitted(chances, said)
    assert error / 2 < found.error < error * 2
    assert sharpness / 1.6 < found.dullness < sharpness * 1.6


@pytest.mark.parametrize(("error", "sharpness"), [(0.1, 1.0), (0.2, 3.0)])
def test_both_opinions_together_are_better_than_each_and_know_how_good(error, sharpness) -> None:
    truth, chances, said = opinions(error, sharpness, seed=2)
    both = ErrorModel.fitted(chances, said).posterior(chances, said)
    wrong = both.argmax(axis=1) != truth
    assert wrong.mean() < min((said != truth).mean(), (chances.argmax(axis=1) != truth).mean())
    assert (1 - both.max(axis=1)).mean() == pytest.approx(wrong.mean(), abs=0.02)


def test_without_a_word_likeness_alone_counts() -> None:
    chances = np.array([[0.7, 0.3], [0.2, 0.8]])
    found = ErrorModel(0.1, 1.0).posterior(chances, np.array([-1, 1]))
    assert found[0] == pytest.approx([0.7, 0.3])
    assert found[1, 1] > 0.9


def test_people_decide_which_of_two_opinions_errs() -> None:
    """A fifth is said to be elsewhere than likeness has it: either may be wrong."""
    n = 500
    chances = np.tile([0.8, 0.2 / 3, 0.2 / 3, 0.2 / 3], (n, 1))
    said = np.where(np.arange(n) % 5 == 0, 1 + np.arange(n) % 3, 0)
    odd = np.flatnonzero(said != 0)[:24]
    for truth in (said, np.zeros(n, dtype=np.int64)):
        allowed = np.ones((n, 4), dtype=np.bool_)
        allowed[odd] = np.arange(4) == truth[odd, None]
        found = ErrorModel.fitted(chances, said, USUAL, allowed)
        both = found.posterior(chances, said).argmax(axis=1)
        assert both.tolist() == truth.tolist()


def test_a_record_learns_by_what_was_said_and_which_items_were_misread() -> None:
    said = [
        (0, 1, "same"),
        (0, 2, "same"),
        (1, 2, "different"),
        (3, 4, "different"),
        (5, 6, "same"),
    ]
    answers = [Answer(Question(i, j), Verdict(v)) for i, j, v in said]
    truth = [0, 1, 1, 2, 3, 4, 4]
    known = lambda q: None if 5 in q.pair else Verdict.of(truth[q.item] == truth[q.comparator])  # noqa: E731
    wrong = compared([*answers, Answer(Question(2, 3), Verdict.UNSURE)], known)
    assert [wrong.get(answer) for answer in answers] == [1.0, 1.0, 1.0, 0.0, None]
    record = ErrorRecord().after(wrong)
    assert record.same.error == pytest.approx((1 + 2) / (20 + 2))
    assert record.different.error == pytest.approx((1 + 1) / (20 + 2))
    assert record.misread == (0, 1, 2)
