"""Oracles answer what they should, and noise is persistent, of the right rate and of its unit."""

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from samecluster import Question, Verdict
from samecluster.errors import InvalidInputError, ProtocolError
from samecluster.oracles import FunctionOracle, LabelOracle, NoisyOracle, RowOracle
from samecluster.questions.look import Board, Choice, LookSizes, Sheet

items = st.integers(0, 99)


@given(items, items, st.integers(0, 5), st.sampled_from(["pair", "item"]))
def test_noise_is_symmetric_and_persistent(i, j, seed, unit) -> None:
    if i == j:
        return
    noisy = NoisyOracle(LabelOracle(np.arange(100) % 3), 0.4, unit, random_state=seed)
    again = NoisyOracle(LabelOracle(np.arange(100) % 3), 0.4, unit, random_state=seed)
    assert noisy.answer(Question(i, j)) is noisy.answer(Question(j, i))
    assert noisy.answer(Question(i, j)) is again.answer(Question(i, j))


def flips(p: float, unit: Literal["pair", "item"], seed: int = 0) -> np.ndarray:
    """Which pairs of 120 items an oracle gets wrong, as a symmetric matrix."""
    labels = np.arange(120) % 3
    noisy = NoisyOracle(LabelOracle(labels), p, unit, random_state=seed)
    wrong = np.zeros((120, 120), dtype=bool)
    for i in range(120):
        for j in range(i):
            said = noisy.answer(Question(i, j)) is Verdict.SAME
            wrong[i, j] = wrong[j, i] = said != (labels[i] == labels[j])
    return wrong


def test_errors_per_pair_come_at_the_stated_rate_and_independently() -> None:
    wrong = flips(0.1, "pair")
    n_pairs = 120 * 119 / 2
    assert abs(wrong.sum() / 2 - 0.1 * n_pairs) < 5 * np.sqrt(0.09 * n_pairs)
    assert wrong.sum(axis=0).max() < 40, "an item is wrong about nearly everything"
    assert (flips(0.1, "pair", seed=1) != wrong).any()
    assert not flips(0.0, "pair").any()


def test_errors_per_item_hit_all_comparisons_of_that_item() -> None:
    wrong = flips(0.1, "item")
    errs = wrong.sum(axis=0) > 60
    assert 2 <= errs.sum() <= 30
    expected = errs[:, None] != errs[None, :]
    assert (wrong == expected).all()


@pytest.mark.parametrize("unit", ["pair", "item"])
def test_two_people_err_independently_of_each_other(unit) -> None:
    one, two = flips(0.2, unit, seed=1), flips(0.2, unit, seed=2)
    both = (one & two).sum() / 2
    expected = one.mean() * two.mean() * 120 * 119 / 2
    # Errors per item come in blocks, so that their overlap scatters more.
    assert abs(both - expected) < (5 if unit == "pair" else 25) * np.sqrt(expected)


@pytest.mark.parametrize("unit", ["pair", "item"])
def test_noise_does_not_depend_on_what_was_asked_before(unit) -> None:
    labels = np.arange(40) % 3
    questions = [Question(i, j) for i in range(40) for j in range(i)]
    forward = NoisyOracle(LabelOracle(labels), 0.3, unit, random_state=5)
    backward = NoisyOracle(LabelOracle(labels), 0.3, unit, random_state=5)
    answers = {question: forward.answer(question) for question in questions}
    assert all(backward.answer(question) is answers[question] for question in questions[::-1])


def test_unsure_stays_unsure_under_noise() -> None:
    shy = FunctionOracle(lambda i, j: Verdict.UNSURE)
    assert NoisyOracle(shy, 0.9).answer(Question(0, 1)) is Verdict.UNSURE


def test_row_oracles_see_the_rows_also_through_noise() -> None:
    X = np.array([[1.0], [2.0], [-1.0]])
    rows = RowOracle(lambda x, y: (x[0] > 0) == (y[0] > 0))
    for oracle in (rows.bound_to(X), NoisyOracle(rows, 0.0).bound_to(X)):
        assert oracle.answer(Question(0, 1)) is Verdict.SAME
        assert oracle.answer(Question(0, 2)) is Verdict.DIFFERENT
    with pytest.raises(ProtocolError, match="bound_to"):
        rows.answer(Question(0, 1))


def test_impossible_noise_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="p must be"):
        NoisyOracle(LabelOracle([0]), 1.0)
    with pytest.raises(InvalidInputError, match="unit is"):
        NoisyOracle(LabelOracle([0]), 0.1, "day")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="random_state must be a whole number"):
        NoisyOracle(LabelOracle([0]), 0.1, random_state=np.random.default_rng(0))  # type: ignore[arg-type]


def test_a_noisy_oracle_errs_on_looks_at_the_rates_given_and_always_alike() -> None:
    labels = np.arange(3_000) % 3
    noisy = NoisyOracle(
        LabelOracle(labels), p=0.0, random_state=4, mischoice=0.2, overlook=0.3
    ).bound_to(labels[:, None].astype(float))
    assert noisy.look_sizes(LookSizes()) == LookSizes()
    choices = [Choice(item, ((0,), (1,), (2,))) for item in range(3, 3_000)]
    wrong = [noisy.choose(choice).groups != (choice.item % 3,) for choice in choices]
    assert 0.17 < np.mean(wrong) < 0.23
    assert wrong == [noisy.choose(choice).groups != (choice.item % 3,) for choice in choices]
    sheets = [Sheet(0, tuple(range(at, at + 12))) for at in range(3, 2_900, 12)]
    odd = [sum(item % 3 != 0 for item in sheet.items) for sheet in sheets]
    marked = [noisy.sort(sheet).marked for sheet in sheets]
    assert all(item % 3 for items in marked for item in items), "what belongs is never marked"
    assert 0.27 < 1 - sum(map(len, marked)) / sum(odd) < 0.33
    boards = [Board((at, at + 1, at + 3)) for at in range(0, 2_990, 3)]
    left_alone = [not noisy.join(board).joined for board in boards]
    assert 0.27 < np.mean(left_alone) < 0.33
