"""How the doors put questions: several at once, again after failures, with a bar, until Ctrl-C."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from typing import Any

from samecluster._parameters import whole_number
from samecluster.errors import ContradictionError, InvalidInputError
from samecluster.oracles.base import Oracle
from samecluster.oracles.functions import FunctionOracle
from samecluster.oracles.several_at_once import Retry, SeveralAtOnce
from samecluster.questions.ledger import Ledger
from samecluster.questions.look_sizes import PAIRS, LookSizes
from samecluster.questions.pair import Answer
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Method


def is_async(function: Any) -> bool:
    """Whether it is an ``async def``, or an object that is called as one."""
    called = getattr(type(function), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def refuse_async(oracle: Any) -> None:
    if is_async(oracle):
        raise InvalidInputError(
            "this oracle is an async function: await samecluster.recover_async(X, oracle)"
        )


def asked_at_once(oracle: Oracle, looks: LookSizes, concurrency: Any, retry: Any) -> Oracle:
    """The oracle with so many questions out at once, and with tries after failures.

    One that puts several at once itself goes on doing so.
    """
    at_once, tries = whole_number("concurrency", concurrency), Retry.of(retry)
    if isinstance(oracle, SeveralAtOnce) or (at_once == 1 and not tries.errors):
        return oracle
    if looks != PAIRS:
        raise InvalidInputError(
            'concurrency and retry are about pairs: leave them out, or looks="auto"'
        )
    if type(oracle).answer_many is not Oracle.answer_many:
        raise InvalidInputError(
            f"{type(oracle).__name__} asks several at once and again by itself: set that there"
        )
    # Not what reads the answers of a function: it counts, and threads would count together.
    ask = oracle.asked if isinstance(oracle, FunctionOracle) else oracle.answer
    return SeveralAtOnce(ask, at_once, tries)


def in_batches(method: Method, concurrency: Any) -> Method:
    """The method with as many questions in a batch as can be out at once, if it has batches."""
    at_once = whole_number("concurrency", concurrency)
    if at_once > 1 and is_dataclass(method) and getattr(method, "batch", None) == 1:
        return replace(method, batch=at_once)
    return method


def all_answers(*sources: Iterable[Answer]) -> tuple[Answer, ...]:
    """Answers of several sources, without those that contradict what came before."""
    ledger = Ledger()
    for answer in (answer for source in sources for answer in source):
        try:
            ledger.record(answer)
        except ContradictionError:
            continue
    return tuple(ledger)


@contextmanager
def shown_progress(
    wanted: bool, on_progress: Callable[[Labelling], None] | None
) -> Generator[Callable[[Labelling], None] | None, None, None]:
    """What to call after each batch: the caller's function, and a bar if one is wanted.

    The bar is drawn in a terminal (on stderr) and in a notebook, and nowhere else.
    """
    if not wanted:
        yield on_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    console = Console(stderr=True)
    drawn = console.is_terminal or console.is_jupyter
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    with Progress(*columns, console=console, disable=not drawn) as bar:
        task = bar.add_task("no question yet", total=None)

        def show(labelling: Labelling) -> None:
            labelled, n = labelling.n_labelled, len(labelling.how)
            text = f"{labelling.n_questions:,} questions, {labelled:,} of {n:,} points labelled"
            bar.update(task, description=text, completed=labelled, total=n)
            if on_progress is not None:
                on_progress(labelling)

        yield show
