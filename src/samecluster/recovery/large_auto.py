"""Without a margin, on data that is not in memory: the sample is recovered, the rest follows it.

On the sample everything is as in memory: a margin is guessed and lowered to what the answers allow,
and what it does not infer is predicted. Then one sweep: rows in reach of the sample's clusters are
inferred, others go with the cloud that suits them, or with none if they lie beyond all. No question
is about the rest, so a cluster that the sample does not hold is not found; an audit would tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.points.working import over_blocks
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer
from samecluster.questions.run import Plan
from samecluster.recovery.auto import Auto
from samecluster.recovery.certify import Asking, Certify
from samecluster.recovery.large import UNDECIDED, Progress, Rest, by_row
from samecluster.recovery.problem import Labelling, Problem
from samecluster.recovery.quadratic import Clouds
from samecluster.recovery.result import How, MarginSearch
from samecluster.recovery.sweep import Sweep, open_bits

__all__ = ["LargeAuto"]

_FITTED = 20_000
_PREDICTED = 1 << 14  # added to the name of a cluster that a row was only predicted to be in
_SHAPED = 4  # members a direction, from which on a cluster's edge is known


class LargeAuto:
    """Recover a sample without a margin, then label the rest; questions are about rows."""

    def __init__(self, settings: Certify, problem: Problem, rest: Rest) -> None:
        self._settings, self._problem, self._rest = settings, problem, rest
        self._ledger = Ledger(problem.answers)
        self._labelling = Labelling(problem, "certify", self._ledger)

    @property
    def search(self) -> MarginSearch | None:
        return self._labelling.search

    def play(self) -> Plan[None]:
        plan = Auto(self._settings).plan(self._problem, self._labelling)
        yield from by_row(plan, self._rest, self._hear)
        self._label_rest()

    def _hear(self, answer: Answer) -> None:
        self._ledger.record(answer)

    def _label_rest(self) -> None:
        rest, done = self._rest, 0
        sweep = self._inferring()
        work = _Following(sweep, self._numbers, _Shapes.of(self._problem, self._labelling))
        for count, names in over_blocks(
            rest.points, work, self._open_bits, rest.block, rest.threads
        ):
            if names is not None:
                rows = done + np.flatnonzero(rest.names[done : done + count] == UNDECIDED)
                rest.names[rows] = names
            done += count
            rest.on_progress(Progress("sweep", done, rest.points.n, 0, rest.block))
        rest.points.check_unchanged()
        rest.n_sweeps += 1

    def _open_bits(self, begin: int, end: int) -> Array | None:
        return open_bits(self._rest.names[begin:end] == UNDECIDED)

    def _inferring(self) -> Sweep | None:
        """The sample's clusters closed under the guessed margin, if there is one of use."""
        labelling = self._labelling
        self._numbers = np.zeros(0, np.int16)
        margin = None if labelling.search is None else labelling.search.margin
        if margin is None:
            return None
        problem = replace(
            self._problem,
            margin=margin,
            rng=np.random.default_rng(0),
            answers=labelling.answers,
            guessed=True,
            exceptions=frozenset(labelling.exceptions),
        )
        asking = Asking(self._settings, problem, Labelling(problem, "certify", self._ledger))
        try:
            asking.begin()
            while asking.known.climb():
                pass
        except RefutedError:  # by answers that were given since: nothing follows from this margin
            return None
        closure = asking.known.closure
        self._numbers = np.full(len(closure.clusters), -1, np.int16)
        for name in closure.alive:
            self._numbers[name] = labelling.labels[closure.clusters[name].asked[0]]
        return Sweep(closure, self._rest.points.n) if closure.alive else None

    def point(self, row: int) -> FloatArray | None:
        """The coordinates of a row of the sample; None of another."""
        at = np.flatnonzero(self._rest.rows == row)
        return np.asarray(self._problem.X[at[0]]) if len(at) else None

    def result(self, begin: int, end: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """Clusters and how they are known, of rows from ``begin`` to before ``end``."""
        names = np.array(self._rest.names[begin:end], dtype=np.int32)
        how = np.where(names >= 0, How.INFERRED, How.UNASSIGNED).astype(np.int8)
        how[names >= _PREDICTED] = How.PREDICTED
        labels = np.where(names >= 0, names % _PREDICTED, -1).astype(np.int32)
        mine = np.flatnonzero((self._rest.rows >= begin) & (self._rest.rows < end))
        at = self._rest.rows[mine] - begin
        labels[at], how[at] = self._labelling.labels[mine], self._labelling.how[mine]
        return labels, how


@dataclass(frozen=True, eq=False)
class _Shapes:
    """The clusters of the sample as clouds, and how far each goes."""

    names: IntArray
    clouds: Clouds
    scale: FloatArray
    edges: FloatArray

    @classmethod
    def of(cls, problem: Problem, labelling: Labelling) -> _Shapes:
        assert problem.survey is not None
        scale = np.where(problem.survey.extent > 0, problem.survey.extent, 1.0)
        known = np.flatnonzero(labelling.labels >= 0)[:_FITTED]
        points = problem.X[known] / scale
        names, groups = np.unique(labelling.labels[known], return_inverse=True)
        clouds = Clouds(points, groups, len(names))
        margin = labelling.search.margin if labelling.search and labelling.search.margin else 0.0
        edges = np.full(len(names), np.inf)
        for group in range(len(names)):
            own = points[groups == group]
            if len(own) >= _SHAPED * (points.shape[1] + 1):
                edges[group] = (1 + margin) * clouds.squares(own, group).max()
        # A worker elsewhere does not need what they were fitted to.
        clouds.points, clouds.groups, clouds.inside = points[:0], groups[:0], clouds.inside[:0]
        return cls(names, clouds, scale, edges)

    def predicted(self, rows: Array) -> IntArray:
        """The cluster of each row (p, d); -1 beyond all."""
        if not len(self.names):
            return np.full(len(rows), -1)
        points = rows / self.scale
        best = self.names[self.clouds.scores_of(points).argmax(axis=1)]
        away = [self.clouds.squares(points, group) > edge for group, edge in enumerate(self.edges)]
        return np.asarray(np.where(np.all(away, axis=0), -1, best))


@dataclass(frozen=True, eq=False)
class _Following:
    """The work on a block: infer what is in reach, predict the rest."""

    sweep: Sweep | None
    numbers: Array
    shapes: _Shapes

    def __call__(self, block: Array, bits: Array) -> Array:
        rows = block[np.flatnonzero(np.unpackbits(bits, count=len(block)))]
        names = np.full(len(rows), UNDECIDED, np.int16)
        if self.sweep is not None:
            found = self.sweep.decide(rows).names
            names[found >= 0] = self.numbers[found[found >= 0]]
        open_ = np.flatnonzero(names < 0)
        guessed = self.shapes.predicted(rows[open_])
        names[open_] = np.where(guessed >= 0, guessed + _PREDICTED, UNDECIDED)
        return names
