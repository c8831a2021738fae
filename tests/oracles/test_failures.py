"""An oracle that fails costs no answer: the error has them all, and the same call goes on."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from samecluster import (
    Question,
    Verdict,
    clustering_error,
    learn_cluster,
    recover,
    recover_large,
)
from samecluster.errors import ContradictionError, OracleError, RefutedError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import FunctionOracle, LabelOracle, NoisyOracle, Oracle, Panel, RowOracle

MADE = make_ellipsoids(n=300, d=2, k=4, random_state=3)
USUAL: dict[str, Any] = {"n_clusters": 4, "margin": MADE.margin, "random_state": 0}


class Failing(Oracle):
    """Answers by the truth, and fails once, at the call of this number."""

    def __init__(self, at: int, error: Exception | None = None) -> None:
        self.at, self.error = at, error or ConnectionError("the line is dead")
        self.asked: list[Question] = []

    def answer(self, question: Question) -> Verdict:
        self.at -= 1
        if self.at == 0:
            raise self.error
        self.asked.append(question)
        i, j = question.pair
        return Verdict.of(bool(MADE.labels[i] == MADE.labels[j]))


CALLS: dict[str, Callable[..., Any]] = {
    "recover": lambda oracle, **more: recover(MADE.X, oracle, **USUAL, **more),
    "with errors": lambda oracle, **more: recover(MADE.X, oracle, error_rate=0.05, **USUAL, **more),
    "recover_large": lambda oracle, **more: recover_large(MADE.X, oracle, **USUAL, **more),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("at", [1, 2, 7])
def test_the_error_has_all_answers_and_the_same_call_goes_on(call, at) -> None:
    whole = Failing(0)
    expected = call(whole)
    oracle = Failing(at)
    with pytest.raises(OracleError, match="the line is dead") as caught:
        call(oracle)
    error = caught.value
    assert [answer.question for answer in error.answers] == oracle.asked
    assert len(oracle.asked) == at - 1
    assert ("answers=error.answers goes on" in str(error)) == (at > 1)
    found = call(oracle, answers=error.answers)
    assert oracle.asked == whole.asked, "a question was put twice, or another one"
    assert (found.labels == expected.labels).all()


def test_the_error_has_what_followed_from_the_answers() -> None:
    with pytest.raises(OracleError) as caught:
        recover(MADE.X, Failing(7), **USUAL)
    found = caught.value.recovery
    assert found.answers == caught.value.answers
    assert 0 < np.count_nonzero(found.labels >= 0) < 300
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert again.answers == caught.value.answers


def test_answers_that_mend_others_are_kept_too() -> None:
    """The oracle fails while answers are put again that cannot all be right."""
    truth = FunctionOracle(lambda i, j: bool(MADE.labels[i] == MADE.labels[j]))
    noisy = NoisyOracle(truth, 0.2, random_state=0)
    said: dict[Question, Verdict] = {}
    stop_at = 0

    def answer(i: int, j: int) -> Verdict:
        if len(said) == stop_at:
            raise TimeoutError
        return said.setdefault(Question(i, j), noisy.answer(Question(i, j)))

    for stop_at in range(6, 30, 4):  # noqa: B007
        said.clear()
        with pytest.raises(OracleError) as caught:
            recover(MADE.X, answer, error_rate=0.2, **USUAL)
        assert {one.question: one.verdict for one in caught.value.answers} == said


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_function_that_returns_nothing_is_told_so(call) -> None:
    class Silent(Oracle):
        def answer(self, question: Question) -> Verdict:
            del question
            return None  # type: ignore[return-value]

    for oracle in (lambda i, j: None, RowOracle(lambda x, y: None), Silent()):
        with pytest.raises(OracleError, match="the function returns nothing: its first 10") as one:
            call(oracle)
        assert one.value.answers == ()


def test_none_means_unsure() -> None:
    said: list[bool | None] = []

    def answer(i: int, j: int) -> bool | None:
        same = bool(MADE.labels[i] == MADE.labels[j])
        said.append(None if len(said) % 3 == 1 else same)
        return said[-1]

    found = recover(MADE.X, answer, **USUAL)
    verdicts = [answer.verdict for answer in found.answers]
    assert verdicts.count(Verdict.UNSURE) == said.count(None) > 0
    assert (found.labels >= 0).all()
    said = [None] * 9
    found = recover(MADE.X, lambda i, j: said.pop() if said else i % 2 == j % 2, random_state=0)
    assert [answer.verdict for answer in found.answers][:9] == [Verdict.UNSURE] * 9


def test_a_person_of_a_panel_who_fails_costs_no_answer() -> None:
    ann, ben = Failing(8), Failing(0)
    panel = Panel({"ann": ann, "ben": ben}, error=0.05)
    with pytest.raises(OracleError) as caught:
        recover(MADE.X, panel, **USUAL)
    assert caught.value.answers
    assert len(panel.answers) == len(ann.asked) + len(ben.asked)
    found = recover(MADE.X, panel, answers=caught.value.answers, **USUAL)
    assert (found.labels >= 0).all()


def test_answers_that_refute_the_margin_are_all_taken_along() -> None:
    said: list[Question] = []

    def turns(i: int, j: int) -> bool:
        said.append(Question(i, j))
        return bool(MADE.labels[i] == MADE.labels[j]) if len(said) < 6 else len(said) % 2 == 0

    with pytest.raises((ContradictionError, RefutedError)) as stopped:
        recover(MADE.X, turns, **USUAL)
    error = stopped.value
    assert [answer.question for answer in error.all_answers] == said
    assert error.recovery.answers == error.all_answers
    assert "answers=error.all_answers goes on" in str(error)
    right = error.all_answers[:5]
    found = recover(MADE.X, LabelOracle(MADE.labels), answers=right, **USUAL)
    assert clustering_error(found.labels, MADE.labels) == 0


def test_learning_a_cluster_goes_on_where_its_oracle_failed() -> None:
    made = make_ellipsoids(n=3_000, d=2, k=2, random_state=0)
    n_asked = 0

    def fails(i: int, j: int) -> bool:
        nonlocal n_asked
        n_asked += 1
        if n_asked == 100:
            raise RuntimeError("gone")
        return bool(made.labels[i] == made.labels[j])

    with pytest.raises(OracleError) as stopped:
        learn_cluster(made.X, fails, 7, error=0.3, random_state=0)
    kept = stopped.value.all_answers
    assert len(kept) == 99
    learned = learn_cluster(made.X, fails, 7, error=0.3, answers=kept, random_state=0)
    whole = learn_cluster(made.X, LabelOracle(made.labels), 7, error=0.3, random_state=0)
    assert n_asked - 1 <= whole.n_sample + 1
    assert (learned.contains(made.X) == whole.contains(made.X)).all()
