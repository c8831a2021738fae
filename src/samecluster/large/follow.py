"""Labels of all rows from those of a sample: what is in reach, what clouds suggest, what is open.

With a declared margin, rows in reach of the sample's clusters are proven, by the same rigorous
check as in the sample; what is out of reach stays open until somebody was asked. With a guessed
margin rows in reach are inferred; others go with the cloud that suits them, or with none if they
lie beyond all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.large.other_rows import UNDECIDED, OtherRows
from samecluster.large.sweep import Sweep
from samecluster.points.survey import Survey
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer
from samecluster.recovery.certify.closure import Closure
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How

__all__ = ["LabelledSample", "OpenRows", "SampleLabels"]

_FITTED = 20_000
_PREDICTED = 1 << 14  # added to the label of a row that was only predicted to have it
_SHAPED = 4  # members a direction, from which on a cluster's edge is known
_ENOUGH = 4_096  # open rows after which questions teach more than another sweep
_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class LabelledSample:
    """Some rows of the data, in random order, and all that is known of them.

    Parameters
    ----------
    X : (m, d) the rows
    survey : of all the data
    answers : about places in X, without contradictions
    labels, how : (m,) the cluster of each, -1 for none, and how it is known
    margin : what labels rest on; None if nothing follows from one
    exceptions : places whose answers do not count
    """

    X: FloatArray
    survey: Survey
    answers: tuple[Answer, ...]
    labels: IntArray
    how: npt.NDArray[np.int8]
    margin: float | None
    exceptions: frozenset[int] = frozenset()

    def closed(self, settings: Certify, guessed: bool) -> CertifyRun:
        """What the answers imply under the margin, in the whole sample."""
        problem = Problem(
            X=self.X,
            n_clusters=None,
            margin=self.margin,
            rng=np.random.default_rng(0),
            answers=self.answers,
            guessed=guessed,
            exceptions=self.exceptions,
            survey=self.survey,
        )
        asking = CertifyRun(settings, problem, Labelling(problem, "certify", Ledger(self.answers)))
        asking.begin()
        _climb(asking)
        return asking

    def numbers(self, closure: Closure) -> npt.NDArray[np.int16]:
        """The label that the sample has for each name of a closure; -1 for names that are gone."""
        found = np.full(max(closure.alive, default=-1) + 1, -1, np.int16)
        for name in closure.alive:
            found[name] = self.labels[closure.clusters[name].asked[0]]
        return found


@dataclass(frozen=True, eq=False)
class OpenRows:
    """Rows that it takes questions to decide: some of them, their points, how many more."""

    rows: IntArray
    points: FloatArray
    n_more: int


class SampleLabels:
    """The rows outside a sample follow it: `infer` or `prove` once, then `result` for any rows."""

    def __init__(self, settings: Certify, sample: LabelledSample, rest: OtherRows) -> None:
        self._settings, self._sample, self._rest = settings, sample, rest
        # Beside the sample's own: of rows that a sweep could not decide by itself.
        self._labels, self._how = sample.labels, sample.how
        self._in_reach = How.INFERRED

    def infer(self, predict: bool = True) -> None:
        """One sweep: rows in reach are inferred, others predicted, or in none of the clusters."""
        sweep, numbers = None, np.zeros(0, np.int16)
        if self._sample.margin is not None:
            try:
                closure = self._sample.closed(self._settings, guessed=True).known.closure
                numbers = self._sample.numbers(closure)
                sweep = Sweep(closure, self._rest.points.n) if closure.alive else None
            except RefutedError:  # by answers that were given since: nothing follows from it
                pass
        shapes = CloudShapes.of(self._sample) if predict else None
        self._follow(LabelBlock(sweep, numbers, shapes))

    def prove(self) -> OpenRows:
        """Sweep until each row is proven, or open; RefutedError if the margin does not allow it."""
        sample, rest, m = self._sample, self._rest, len(self._sample.X)
        self._in_reach = How.PROVEN
        asking = sample.closed(self._settings, guessed=False)
        closure = asking.known.closure
        if not closure.alive:
            return OpenRows(np.zeros(0, np.int64), np.zeros((0, rest.points.d)), rest.points.n - m)
        numbers = sample.numbers(closure)
        self._share_members(closure, numbers)
        while len(points := rest.sweep(asking)):
            asking.extend(points)
            _climb(asking)
            if np.count_nonzero(closure.labels[m:] < 0) > _ENOUGH:
                break
        for begin in range(0, len(rest.names), _AT_ONCE):
            names = rest.names[begin : begin + _AT_ONCE]
            names[names >= 0] = numbers[names[names >= 0]]
        taken = closure.labels[m:]
        labels = np.where(taken >= 0, numbers[taken], -1)
        how = np.where(labels >= 0, How.PROVEN, How.UNASSIGNED).astype(np.int8)
        self._labels = np.concatenate([sample.labels, labels.astype(np.int64)])
        self._how = np.concatenate([sample.how, how])
        open_ = m + np.flatnonzero(labels < 0)
        return OpenRows(rest.rows[open_], np.asarray(asking.known.points[open_]), rest.n_left or 0)

    def predict(self, open_: OpenRows) -> None:
        """Where no more questions may be asked: what `prove` left open goes with clouds."""
        shapes = CloudShapes.of(self._sample)
        places = np.flatnonzero(np.isin(self._rest.rows, open_.rows))
        self._labels[places] = shapes.predicted(open_.points)
        self._how[places] = np.where(self._labels[places] >= 0, How.PREDICTED, How.UNASSIGNED)
        if open_.n_more:
            self._follow(LabelBlock(None, np.zeros(0, np.int16), shapes))

    def result(self, begin: int, end: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """Clusters and how they are known, of rows from ``begin`` to before ``end``."""
        rest = self._rest
        names = np.array(rest.names[begin:end], dtype=np.int32)
        how = np.where(names >= 0, self._in_reach, How.UNASSIGNED).astype(np.int8)
        how[names >= _PREDICTED] = How.PREDICTED
        labels = np.where(names >= 0, names % _PREDICTED, -1).astype(np.int32)
        mine = np.flatnonzero((rest.rows >= begin) & (rest.rows < end))
        at = rest.rows[mine] - begin
        labels[at], how[at] = self._labels[mine], self._how[mine]
        return labels, how

    def _share_members(self, closure: Closure, numbers: Array) -> None:
        """What the sample has proven otherwise than by reach extends the reach, too."""
        sample = self._sample
        proven = (sample.how == How.PROVEN) & (closure.labels[: len(sample.X)] < 0)
        for name in closure.alive:
            mine = np.flatnonzero(proven & (sample.labels == numbers[name]))
            if len(mine):
                closure.join(name, mine)
                proven[mine] = False

    def _follow(self, work: LabelBlock) -> None:
        for rows, names in self._rest.worked_on(work):
            self._rest.names[rows] = names


def _climb(asking: CertifyRun) -> None:
    """Close all levels that there are."""
    while asking.known.climb():
        pass


@dataclass(frozen=True, eq=False)
class CloudShapes:
    """The clusters of the sample as clouds, and how far each goes."""

    names: IntArray
    clouds: Clouds
    scale: FloatArray
    edges: FloatArray

    @classmethod
    def of(cls, sample: LabelledSample) -> CloudShapes:
        scale = np.where(sample.survey.extent > 0, sample.survey.extent, 1.0)
        known = np.flatnonzero(sample.labels >= 0)[:_FITTED]
        points = sample.X[known] / scale
        names, groups = np.unique(sample.labels[known], return_inverse=True)
        clouds = Clouds(points, groups, len(names))
        edges = np.full(len(names), np.inf)
        for group in range(len(names)):
            own = points[groups == group]
            if len(own) >= _SHAPED * (points.shape[1] + 1):
                edges[group] = (1 + (sample.margin or 0.0)) * clouds.squares(own, group).max()
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
class LabelBlock:
    """The work on a block: infer what is in reach, predict the rest."""

    sweep: Sweep | None
    numbers: Array
    shapes: CloudShapes | None

    def __call__(self, block: Array, bits: Array) -> Array:
        which = np.flatnonzero(np.unpackbits(bits, count=len(block)))
        names = np.full(len(which), UNDECIDED, np.int16)
        if self.sweep is not None:
            found = self.sweep.decide(block, which).names
            names[found >= 0] = self.numbers[found[found >= 0]]
        if self.shapes is not None:
            open_ = np.flatnonzero(names < 0)
            guessed = self.shapes.predicted(block[which[open_]])
            names[open_] = np.where(guessed >= 0, guessed + _PREDICTED, UNDECIDED)
        return names
