"""Drivers: answers are kept as they come, also if the next one fails."""

import asyncio

import pytest

from samecluster import clustering_error
from samecluster.sessions.running.drivers import drive_async
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
