"""Questions counted alike for every tool, and what a tool is charged for a class label."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import IO

import numpy as np
import numpy.typing as npt

from samecluster import clustering_error

Labels = npt.NDArray[np.int64]


class LimitReached(Exception):
    """A tool asked for more questions than the comparison allows."""


class Exact(Exception):
    """A tool has had no error for so many questions that nothing is to be learned from more."""


class CountingOracle:
    """Answers from the true labels and counts; a pair that was asked before costs nothing."""

    def __init__(self, labels: Labels, limit: int) -> None:
        self._labels = labels.tolist()
        self._asked: set[tuple[int, int]] = set()
        self.limit = limit
        self.limit_reached = False

    @property
    def n_questions(self) -> int:
        return len(self._asked)

    def same(self, i: int, j: int) -> bool:
        pair = (min(int(i), int(j)), max(int(i), int(j)))
        if pair not in self._asked:
            if self.n_questions == self.limit:
                self.limit_reached = True
                raise LimitReached
            self._asked.add(pair)
        return bool(self._labels[pair[0]] == self._labels[pair[1]])


class Placed:
    """Points whose class is known, for tools that ask for class labels.

    A class is known by its first member. A point is compared with the known classes in a given
    order until one is the same. If ``n_classes`` are known and all but one differ, it is the last,
    without a question: the tools are told how many there are.
    """

    def __init__(self, oracle: CountingOracle, n_classes: int) -> None:
        self._oracle = oracle
        self._n_classes = n_classes
        self._first: list[int] = []
        self.items: list[int] = []
        self.classes: list[int] = []

    @property
    def n_known_classes(self) -> int:
        return len(self._first)

    def place(self, item: int, order: Sequence[int]) -> int:
        """The class of a point; ``order`` names the known classes, the likeliest first."""
        if sorted(order) != list(range(self.n_known_classes)):
            raise ValueError(f"order must name {self.n_known_classes} classes, got {order}")
        found = self._find(item, order)
        if found == self.n_known_classes:
            self._first.append(item)
        self.items.append(item)
        self.classes.append(found)
        return found

    def _find(self, item: int, order: Sequence[int]) -> int:
        complete = self.n_known_classes == self._n_classes
        for known in order[:-1] if complete else order:
            if self._oracle.same(item, self._first[known]):
                return known
        return order[-1] if complete else self.n_known_classes


class Trace:
    """The errors of a run, written as lines of JSON as they come, so that a killed run leaves its.

    Time is the processor's, without that spent on measuring.
    """

    def __init__(
        self,
        truth: Labels,
        oracle: CountingOracle,
        out: IO[str],
        patience: int,
        on_restart: Callable[[], None] = lambda: None,
    ) -> None:
        self._truth, self._oracle, self._out = truth, oracle, out
        self._on_restart = on_restart
        self._patience = patience
        self._exact_since: int | None = None
        self._begun = time.process_time()

    def restart(self, oracle: CountingOracle) -> None:
        """What follows is a new run with a larger budget; only its time and course count."""
        self._oracle = oracle
        self._exact_since = None
        self._on_restart()
        self._begun = time.process_time()
        self._write(event="restart")

    def note(self, labels: npt.ArrayLike) -> None:
        """The labels that the tool would give now; -1 where it has none, which is an error."""
        paused = time.process_time()
        asked = self._oracle.n_questions
        error = clustering_error(np.asarray(labels, dtype=np.int64), self._truth)
        self._write(event="error", asked=asked, error=error, seconds=paused - self._begun)
        if error > 0:
            self._exact_since = None
        elif self._exact_since is None:
            self._exact_since = asked
        self._begun += time.process_time() - paused
        if self._exact_since is not None and asked - self._exact_since >= self._patience:
            raise Exact

    def at(self, budget: int, labels: npt.ArrayLike) -> None:
        """The labels that the tool gives when told beforehand to ask no more than ``budget``."""
        error = clustering_error(np.asarray(labels, dtype=np.int64), self._truth)
        self._write(event="at", budget=budget, error=error)

    def end(self, how: str) -> None:
        """How the run ended: "stopped" by itself, "limit" of questions, or "exact" for long."""
        seconds = time.process_time() - self._begun
        self._write(event="end", how=how, asked=self._oracle.n_questions, seconds=seconds)

    def _write(self, **fields: object) -> None:
        print(json.dumps(fields), file=self._out, flush=True)
