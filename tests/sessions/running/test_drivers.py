"""Drivers: answers are kept as they come, also if the next one fails."""

import asyncio

import pytest

from samecluster import clustering_error
from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.running.drivers import drive_async, drive_session
from tests.cases.session_cases import (
    FAST,
    instance,
    new_session,
    reopened,
    truth,
)

MADE = instance()


@pytest.mark.parametrize("parallel", [1, 4])
def test_the_async_driver_finishes_and_keeps_what_was_answered_before_an_error(parallel) -> None:
    session = new_session(method={**FAST, "batch": 4})
    left = 9

    async def failing(question):
        nonlocal left
        await asyncio.sleep(0)
        left -= 1
        if left < 0:
            raise RuntimeError("the line went dead")
        return truth(question)

    async def answering(question):
        await asyncio.sleep(0)
        return truth(question)

    with pytest.raises(RuntimeError, match="went dead"):
        asyncio.run(drive_async(session, failing, parallel=parallel))
    assert session.state.n_questions >= 9 - parallel
    session = reopened(session)
    found = asyncio.run(drive_async(session, answering, parallel=parallel))
    assert clustering_error(found.labels, MADE.labels) == 0


def several_at_a_time(asked: list[Question], n: int):
    """An oracle that takes up to n questions before it gives its oldest answer."""

    def answering(questions):
        waiting: list[Question] = []
        for question in questions:
            asked.append(question)
            waiting.append(question)
            if len(waiting) == n:
                yield by_truth(waiting.pop(0))
        while waiting:
            yield by_truth(waiting.pop(0))

    return answering


def by_truth(question: Question) -> tuple[Question, Verdict]:
    one, two = question.pair
    return question, Verdict.of(bool(MADE.labels[one] == MADE.labels[two]))


@pytest.mark.parametrize("parallel", [1, 4])
def test_an_oracle_is_asked_until_nothing_is_left_and_nothing_twice(parallel) -> None:
    asked: list[Question] = []
    told: list[int] = []
    session = new_session(method={**FAST, "batch": 4})
    drive_session(
        session,
        several_at_a_time(asked, parallel),
        who="program",
        parallel=parallel,
        on_answer=lambda: told.append(session.state.n_questions),
    )
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0
    assert len(asked) == len(set(asked)) == len(told)
    assert session.state.book.people == ["program"]
    assert session.progress().ended == "nothing is left to ask"


@pytest.mark.parametrize("budget", [1, 6, 11])
def test_what_is_under_way_counts_against_the_budget(budget) -> None:
    asked: list[Question] = []
    session = new_session(method={**FAST, "batch": 4}, max_questions=budget)
    drive_session(session, several_at_a_time(asked, 4), who=None, parallel=4)
    assert session.state.n_questions == len(asked) == budget

    async def answering(question):
        await asyncio.sleep(0)
        return truth(question)

    session = new_session(method={**FAST, "batch": 4}, max_questions=budget)
    asyncio.run(drive_async(session, answering, parallel=4))
    assert session.state.n_questions == budget
