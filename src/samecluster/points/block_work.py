"""Work on all rows, block by block, wherever they are: here in threads, or where the data lives.

What is done to a block depends on its rows and its share alone, and blocks are cut alike whatever
the container. So neither threads nor machines nor containers make a difference.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol, TypeGuard, TypeVar, cast

from threadpoolctl import ThreadpoolController, threadpool_limits

from samecluster._typing import Array
from samecluster.points.protocol import Points

_AHEAD = 2  # blocks that wait beside one per thread, so that no thread waits for the disk

T = TypeVar("T")
S = TypeVar("S")
R = TypeVar("R")

Work = Callable[[Array, Any], T]
"""Rows (p, d) as they are stored, and their share, to a result. It can be pickled."""

Shares = Callable[[int, int], Any]
"""What the work on rows from here to before there has to know; None if there is nothing to do."""


class RemotePoints(Points, Protocol):
    """Points that are worked on where they are: only results come back."""

    def worked_on(
        self, work: Work[T], shares: Shares, size: int, threads: int
    ) -> Iterator[tuple[int, T | None]]: ...


def is_remote(points: Points) -> TypeGuard[RemotePoints]:
    """Whether rows are worked on elsewhere and cannot be read here."""
    return hasattr(points, "worked_on")


def over_blocks(
    points: Points, work: Work[T], shares: Shares, size: int, threads: int
) -> Iterator[tuple[int, T | None]]:
    """Work on blocks of ``size`` rows; yields the rows of each block and its result, in order."""
    if is_remote(points):
        yield from points.worked_on(work, shares, size, threads)
        return

    def work_on(item: tuple[Array, Any]) -> T | None:
        piece, share = item
        return None if share is None else work(piece, share)

    for (piece, _), result in in_order(work_on, _with_shares(points, shares, size), threads):
        yield len(piece), result


def _with_shares(points: Points, shares: Shares, size: int) -> Iterator[tuple[Array, Any]]:
    begin = 0
    for piece in points.blocks(size):
        end = begin + len(piece)
        yield piece, shares(begin, end)
        begin = end


def in_order(work: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[tuple[S, T]]:
    """Work on items in threads, a few ahead of what is taken; items and results in order."""
    if threads == 1:
        for item in items:
            yield item, work(item)
        return
    waiting: deque[tuple[S, Future[T]]] = deque()
    # All cores are busy with blocks: products that spread out as well would only wait for them.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append((item, pool.submit(work, item)))
                if len(waiting) > threads + _AHEAD:
                    first, result = waiting.popleft()
                    yield first, result.result()
            while waiting:
                first, result = waiting.popleft()
                yield first, result.result()
        finally:
            for _, result in waiting:
                result.cancel()


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Looking through all libraries of the process takes milliseconds, so not at every step.

    A library comes with modules, such as those of SciPy that are loaded when first wanted.
    """
    del n_modules
    return ThreadpoolController()


def on_one_thread(steps: Generator[S, R, T]) -> Generator[S, R, T]:
    """Play a generator with linear algebra on one thread while it works.

    Products of small arrays are slower on several threads, and much slower on a busy machine,
    where each waits for the slowest.
    """
    send: Callable[[], S] = functools.partial(next, steps)
    while True:
        try:
            with _libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
                asked = send()
        except StopIteration as end:
            return cast(T, end.value)
        try:
            send = functools.partial(steps.send, (yield asked))
        except GeneratorExit:
            steps.close()
            raise
        except BaseException as thrown:
            send = functools.partial(steps.throw, thrown)
