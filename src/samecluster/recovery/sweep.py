"""Rows that are not in memory, decided block by block by clusters as they are known now.

A sweep changes nothing: each row stands by itself, so neither where blocks are cut nor how many
threads work makes a difference. What it accepts has passed the same rigorous check as everything
else, with the same columns to show for it; what it does not accept comes back to the plan.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TypeVar

import numpy as np

from samecluster._typing import Array
from samecluster.geometry import programs
from samecluster.geometry.kernel import Kernel
from samecluster.geometry.reach import Members
from samecluster.recovery.closure import Closure

__all__ = ["PIECE", "Decided", "Sweep", "in_order"]

PIECE = 16_384
"""Rows decided at once: large enough for NumPy, small enough for the cache."""

_AHEAD = 2
_QUIET = np.errstate(over="ignore", invalid="ignore", divide="ignore")

T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, eq=False)
class Decided:
    """What became of rows: the name of each one's cluster, -1 if undecided; and why.

    ``columns`` (p, d+1) are the columns that prove it: rows of the sample, or -1-j for τ_j.
    """

    names: Array
    columns: Array


class Sweep:
    """The clusters of a closure, made ready to decide many rows."""

    @_QUIET
    def __init__(self, closure: Closure) -> None:
        self._names = list(closure.alive)
        self._clusters = [closure.clusters[c] for c in self._names]
        self._bound, self._limit = closure.bound, closure.limit
        self._compiled = closure.kernel.compiled
        self._kernels: SimpleQueue[Kernel] = SimpleQueue()
        # Powers of two: the product is exact, as it is for the sample.
        self._scale = np.ldexp(1.0, -closure.exponent)
        for cluster in self._clusters:
            cluster.prune()
            cluster.whiten()
            cluster.deep_starts(closure.kernel, closure.bound)

    def decide(self, rows: Array) -> Decided:
        """Decide rows (p, d) as they are stored; may be called from several threads."""
        kernel = Kernel(self._compiled) if self._kernels.empty() else self._kernels.get()
        try:
            return self._decide(kernel, rows * self._scale)
        finally:
            self._kernels.put(kernel)

    @_QUIET
    def _decide(self, kernel: Kernel, points: Array) -> Decided:
        """Each point against the cluster in which it is most central, then against the others."""
        D = points.shape[1] + 1
        found = Decided(np.full(len(points), -1, np.int16), np.zeros((len(points), D), np.int32))
        everything = np.arange(len(points))
        near = kernel.nearest_cluster(points, everything, self._clusters)
        for at in range(len(self._clusters)):
            self._accept(kernel, at, points, np.flatnonzero(near == at), found)
        left = np.flatnonzero(found.names < 0)
        for at in range(len(self._clusters)):
            left = left[found.names[left] < 0]
            others = left[near[left] != at]
            if len(others):
                lifted = self._clusters[at].lift(points[others]).astype(np.float32)
                inside = self._clusters[at].score(lifted) <= self._bound * (1 + 1e-5)
                self._accept(kernel, at, points, others[inside], found)
        return found

    def _accept(self, kernel: Kernel, at: int, points: Array, which: Array, found: Decided) -> None:
        if not len(which):
            return
        cluster = self._clusters[at]
        shown, basis = self._reached(kernel, cluster, cluster.lift(points[which]))
        found.names[which[shown]] = self._names[at]
        found.columns[which[shown]] = cluster.ids[basis]

    def _reached(self, kernel: Kernel, cluster: Members, lifted: Array) -> tuple[Array, Array]:
        """Which lifted points are shown to be in reach, and the columns that show each."""
        single = lifted.astype(np.float32)
        start = kernel.nearest_direction(single, cluster.mean32, cluster.start_dirs)
        solved = kernel.solve(
            single, start, cluster.starts, cluster.inverses, cluster.columns32, self._bound
        )
        which = np.flatnonzero(solved.status == programs.ACCEPTED)
        good = kernel.confirmed(lifted, solved, which, cluster.columns, cluster.noise, self._limit)
        return which[good], solved.basis[which[good]]


def in_order(work: Callable[[S], T], items: Iterable[S], threads: int) -> Iterator[tuple[S, T]]:
    """Work on items in threads, a few ahead of what is taken; items and results in order."""
    if threads == 1:
        for item in items:
            yield item, work(item)
        return
    waiting: deque[tuple[S, Future[T]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
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
