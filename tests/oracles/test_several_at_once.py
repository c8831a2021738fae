"""Oracles that take their time: several questions at once, tries after failures, Ctrl-C."""

import asyncio
import signal
import threading
from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from samecluster import clustering_error, recover, recover_async
from samecluster.errors import InvalidInputError, OracleError, RecoveryInterrupted
from samecluster.instances import make_ellipsoids
from samecluster.oracles import CommandOracle, LabelOracle, Retry, SeveralAtOnce
from samecluster.questions.pair import Question, Verdict
from samecluster.testing import check_oracle


@pytest.fixture(scope="module")
def made():
    return make_ellipsoids(n=600, d=4, k=5, random_state=0)


class Watch:
    """Counts calls, and how many are under way at once."""

    def __init__(self, labels, stop_after=None):
        self.labels, self.stop_after = labels, stop_after
        self.now = self.most = 0
        self.calls: Counter[frozenset[int]] = Counter()
        self.lock = threading.Lock()
        self.together = threading.Barrier(4)

    def __call__(self, i, j):
        with self.lock:
            self.calls[frozenset((i, j))] += 1
            self.now += 1
            self.most = max(self.most, self.now)
        try:
            # Waits until four are here; at the end of a batch there may be fewer.
            self.together.wait(timeout=0.05)
        except threading.BrokenBarrierError:
            self.together.reset()
        with self.lock:
            self.now -= 1
            if self.stop_after and sum(self.calls.values()) >= self.stop_after:
                self.stop_after = None
                signal.raise_signal(signal.SIGINT)
        return self.labels[i] == self.labels[j]


def test_it_is_an_oracle(made) -> None:
    truth = LabelOracle(made.labels)
    check_oracle(SeveralAtOnce(truth.answer, 3), made.X)


def test_blocking_oracles_are_called_in_threads(made) -> None:
    watch = Watch(made.labels)
    found = recover(made.X, watch, margin=made.margin, random_state=0, concurrency=4)
    assert watch.most == 4
    assert set(watch.calls.values()) == {1}
    assert sum(watch.calls.values()) == found.n_questions
    alone = recover(made.X, LabelOracle(made.labels), margin=made.margin, random_state=0)
    assert len(np.unique(np.stack([found.labels, alone.labels]), axis=1).T) == 5


def test_coroutines_are_asked_together_and_give_the_same_as_threads(made) -> None:
    now = most = 0

    async def same(i, j):
        nonlocal now, most
        now += 1
        most = max(most, now)
        for _ in range(400):  # until another one is there, on a busy machine also after a while
            await asyncio.sleep(0.005)
            if most > 1:
                break
        now -= 1
        return made.labels[i] == made.labels[j]

    options = {"margin": made.margin, "random_state": 0}
    found = asyncio.run(recover_async(made.X, same, concurrency=5, **options))
    assert 1 < most <= 5
    threads = recover(made.X, LabelOracle(made.labels), concurrency=5, **options)
    assert {a.question for a in found.answers} == {a.question for a in threads.answers}
    assert np.array_equal(found.labels, threads.labels)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_named_errors_are_tried_again_and_others_are_not(made, concurrency) -> None:
    tried: Counter[tuple[int, int]] = Counter()

    def flaky(i, j):
        tried[i, j] += 1
        if tried[i, j] < 3:
            raise TimeoutError("busy")
        return made.labels[i] == made.labels[j]

    options = {"margin": made.margin, "random_state": 0, "concurrency": concurrency}
    found = recover(made.X, flaky, retry=Retry((TimeoutError,), tries=3, wait=0), **options)
    assert set(tried.values()) == {3}
    assert found.n_questions == len(tried)
    tried.clear()
    with pytest.raises(OracleError, match="TimeoutError: busy"):
        recover(made.X, flaky, retry=Retry((TimeoutError,), tries=2, wait=0), **options)
    tried.clear()
    with pytest.raises(OracleError, match="TimeoutError: busy"):
        recover(made.X, flaky, retry=KeyError, **options)
    assert set(tried.values()) == {1}


def test_answers_under_way_are_kept_when_one_fails(made) -> None:
    """Of four questions at once one fails: the other three are not asked again."""
    watch = Watch(made.labels)

    def failing(i, j):
        said = watch(i, j)
        if sum(watch.calls.values()) >= 9:
            raise ConnectionError("gone")
        return said

    options = {"margin": made.margin, "random_state": 0, "concurrency": 4}
    with pytest.raises(OracleError) as failed:
        recover(made.X, failing, **options)
    again = Watch(made.labels)
    recover(made.X, again, answers=failed.value.answers, **options)
    answered = {frozenset(a.question.pair) for a in failed.value.answers}
    assert len(answered) >= 8
    assert answered.isdisjoint(again.calls)


@pytest.mark.parametrize("concurrency", [1, 4])
def test_ctrl_c_loses_no_answer_and_the_run_goes_on(made, concurrency) -> None:
    options = {"margin": made.margin, "random_state": 0, "concurrency": concurrency}
    watch = Watch(made.labels, stop_after=7)
    with pytest.raises(KeyboardInterrupt) as stopped:
        recover(made.X, watch, **options)
    assert isinstance(stopped.value, RecoveryInterrupted)
    answered = {frozenset(a.question.pair) for a in stopped.value.answers}
    # With one thread the signal comes inside the call whose answer it prevents.
    assert len(answered) == sum(watch.calls.values()) - (concurrency == 1)
    partial = stopped.value.recovery
    known = partial.labels >= 0
    for label in np.unique(partial.labels[known]):
        assert len(np.unique(made.labels[known & (partial.labels == label)])) == 1
    again = Watch(made.labels)
    done = recover(made.X, again, answers=stopped.value.answers, **options)
    assert answered.isdisjoint(again.calls)
    assert done.count(done.how_codes.max()) > 0
    assert (done.labels >= 0).all()


def test_ctrl_c_while_thinking_and_in_spite_of_errors(made) -> None:
    def stop(_labelling) -> None:
        signal.raise_signal(signal.SIGINT)

    for error_rate in (0.0, 0.1):
        with pytest.raises(RecoveryInterrupted) as stopped:
            recover(
                made.X,
                LabelOracle(made.labels),
                margin=made.margin,
                error_rate=error_rate,
                on_progress=stop,
                random_state=0,
            )
        assert len(stopped.value.answers) == 1
        assert stopped.value.recovery.n_questions == 0


def test_a_cancelled_task_has_the_answers(made) -> None:
    async def main():
        asked = 0

        async def same(i, j):
            nonlocal asked
            asked += 1
            if asked == 5:
                task.cancel()
            await asyncio.sleep(0)
            return made.labels[i] == made.labels[j]

        async def watched():
            try:
                await recover_async(made.X, same, concurrency=2, random_state=0)
            except asyncio.CancelledError as cancelled:
                return asked, vars(cancelled)

        task = asyncio.ensure_future(watched())
        return await task

    asked, kept = asyncio.run(main())
    assert len(kept["answers"]) == asked >= 5
    assert len(kept["recovery"].answers) == asked


def test_late_answers_are_given_when_the_question_comes_again() -> None:
    gate = threading.Event()
    calls = []

    def slow(question):
        calls.append(question)
        if question == Question(2, 3):
            gate.wait()
        return Verdict.SAME

    oracle = SeveralAtOnce(slow, 2)
    answers = oracle.answer_many([Question(0, 1), Question(2, 3)])
    assert next(answers) == (Question(0, 1), Verdict.SAME)
    gate.set()
    answers.close()
    # The first one was given, but nobody came back for more: it may not have been heard.
    assert [a.question for a in oracle.undelivered] == [Question(0, 1), Question(2, 3)]
    assert oracle.answer(Question(2, 3)) is Verdict.SAME
    assert len(calls) == 2


def test_what_does_not_go_together_is_said(made, tmp_path) -> None:
    async def same(i, j):
        return True

    with pytest.raises(InvalidInputError, match="recover_async"):
        recover(made.X, same)
    with pytest.raises(InvalidInputError, match="concurrency=8"):
        asyncio.run(recover_async(made.X, lambda i, j: True))
    bad: tuple[Any, ...] = (0, 2.5, "8")
    for wrong in bad:
        with pytest.raises(InvalidInputError, match="concurrency must be"):
            recover(made.X, LabelOracle(made.labels), concurrency=wrong)
    with pytest.raises(InvalidInputError, match="classes of exceptions"):
        recover(made.X, LabelOracle(made.labels), retry=("TimeoutError",))
    with pytest.raises(InvalidInputError, match="leave them out"):
        recover(made.X, LabelOracle(made.labels), looks="auto", concurrency=4)
    with pytest.raises(InvalidInputError, match="set that there"):
        recover(made.X, CommandOracle("true"), concurrency=4)


def test_a_bar_is_drawn_in_terminals_only(made, capsys, monkeypatch) -> None:
    options = {"margin": made.margin, "random_state": 0, "progress": True}
    recover(made.X, LabelOracle(made.labels), **options)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("FORCE_COLOR", "1")
    recover(made.X, LabelOracle(made.labels), **options)
    out, err = capsys.readouterr()
    assert not out
    assert "600 of 600 points labelled" in err


def test_eight_at_once_cost_few_questions_and_save_most_rounds() -> None:
    """81 questions in 81 rounds, and 81 in 14; where questions are few, so are the savings."""
    made = make_ellipsoids(n=20_000, d=8, k=5, random_state=0)
    rounds = 0

    def count(_labelling) -> None:
        nonlocal rounds
        rounds += 1

    truth = LabelOracle(made.labels)
    found = recover(made.X, truth, random_state=0, concurrency=8, on_progress=count)
    assert found.n_questions <= 1.25 * 81
    assert rounds <= 81 / 5


def test_eight_at_once_predict_as_well_with_a_quarter_more_questions() -> None:
    """Points that are placed make room for others, and no two of them say the same."""
    X, truth = load_digits(return_X_y=True)
    rounds = 0

    def count(_labelling) -> None:
        nonlocal rounds
        rounds += 1

    options: dict[str, Any] = {"method": "predict", "random_state": 0}
    alone = recover(X, LabelOracle(truth), max_questions=80, **options)
    found = recover(
        X, LabelOracle(truth), max_questions=100, concurrency=8, on_progress=count, **options
    )
    assert rounds <= 80 / 5
    before, after = (clustering_error(one.labels, truth) for one in (alone, found))
    assert after <= before + 0.01
