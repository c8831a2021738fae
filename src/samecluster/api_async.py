"""`recover_async`: the same recovery for oracles that are ``async def``."""

from __future__ import annotations

import asyncio
import functools
from typing import Any

from samecluster.api import recover
from samecluster.asking import is_async
from samecluster.errors import InvalidInputError, RecoveryInterrupted
from samecluster.oracles.several_at_once import Retry, SeveralAtOnce
from samecluster.questions.pair import Question
from samecluster.recovery.result.result import Recovery
from samecluster.tables.frame_points import asked_with_rows


async def recover_async(
    X: Any, oracle: Any, *, concurrency: int = 8, retry: Any = (), **options: Any
) -> Recovery:
    """Recover the clusters of X by asking a coroutine function, several questions at a time.

    ``oracle`` is an ``async def`` of two row numbers (or rows, with ``gives="rows"``); up to
    ``concurrency`` calls of it are under way at once. All other parameters are those of
    `samecluster.recover`. The work between questions is done in a thread, so that the event loop
    stays free. If the task is cancelled, calls under way are waited for, and the CancelledError
    has ``answers`` and ``recovery``, as `samecluster.errors.RecoveryInterrupted` has them.

    Examples
    --------
    >>> import asyncio
    >>> from samecluster.instances import make_ellipsoids
    >>> made = make_ellipsoids(n=500, d=2, k=3, random_state=0)
    >>> async def same(i, j):
    ...     await asyncio.sleep(0)  # in place of a service
    ...     return made.labels[i] == made.labels[j]
    >>> found = asyncio.run(recover_async(made.X, same, margin=made.margin, random_state=0))
    >>> len(found.labels)
    500
    """
    if not is_async(oracle):
        raise InvalidInputError(
            "recover_async asks an async function; for others, recover(X, oracle, concurrency=8)"
        )
    loop = asyncio.get_running_loop()
    if options.get("gives") == "rows":
        oracle = asked_with_rows(oracle, X)
        del options["gives"]

    async def called(question: Question) -> Any:
        return await oracle(question.item, question.comparator)

    def ask(question: Question) -> Any:
        return asyncio.run_coroutine_threadsafe(called(question), loop).result()

    asking = SeveralAtOnce(ask, concurrency, Retry.of(retry))
    work = functools.partial(recover, X, asking, concurrency=concurrency, **options)
    thread = asyncio.ensure_future(asyncio.to_thread(_outcome, work))
    try:
        found = await asyncio.shield(thread)
    except asyncio.CancelledError as cancelled:
        asking.stop()
        stopped = await thread
        if isinstance(stopped, Recovery | RecoveryInterrupted):
            cancelled.answers = stopped.answers  # type: ignore[attr-defined]
            cancelled.recovery = (  # type: ignore[attr-defined]
                stopped if isinstance(stopped, Recovery) else stopped.recovery
            )
        raise
    if isinstance(found, BaseException):
        raise found
    recovered: Recovery = found
    return recovered


def _outcome(work: Any) -> Any:
    """What a call returns or raises: a KeyboardInterrupt in a thread must not end the loop."""
    try:
        return work()
    except BaseException as error:
        return error
