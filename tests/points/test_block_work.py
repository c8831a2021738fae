"""Linear algebra on one thread while a plan works, and as before in between."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from samecluster.points.block_work import on_one_thread


def threads() -> set[int]:
    return {one["num_threads"] for one in ThreadpoolController().select(user_api="blas").info()}


def steps(log):
    log.append(threads())
    try:
        heard = yield "first"
        log.append((heard, threads()))
        yield "second"
    except KeyError as thrown:
        log.append((thrown.args, threads()))
        yield "third"
    return "end"


def test_steps_work_on_one_thread_and_whoever_waits_has_all() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        log: list[object] = []
        play = on_one_thread(steps(log))
        assert next(play) == "first"
        assert threads() == before
        assert play.send(7) == "second"
        assert play.throw(KeyError("x")) == "third"
        with pytest.raises(StopIteration) as ended:
            next(play)
        assert threads() == before
    assert ended.value.value == "end"
    assert log == [{1}, (7, {1}), (("x",), {1})]


def test_a_plan_that_is_left_is_closed() -> None:
    closed = []

    def plan():
        try:
            yield 1
        finally:
            closed.append(True)

    play = on_one_thread(plan())
    next(play)
    play.close()
    assert closed
