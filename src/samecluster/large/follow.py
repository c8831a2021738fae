"""Labels of all rows from those of a sample: what is in reach, what clouds suggest, what is open.

With a declared margin, rows in reach of the sample's clusters are proven, by the same rigorous
check as in the sample; what is out of reach stays open until somebody was asked. With a guessed
margin rows in reach are inferred; others go with the cloud that suits them, or with none if they
lie beyond all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from samecluster._typing import Array, FloatArray, IntArray
from samecluster.errors import RefutedError
from samecluster.large.other_rows import UNDECIDED, OtherRows, Write, refuted_by_row
from samecluster.large.replay import climb, replayed
from samecluster.large.sweep import Sweep
from samecluster.lifts.lift import ColumnMap, in_lift
from samecluster.points.survey import Survey
from samecluster.proof.log import ProofLog
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer
from samecluster.recovery.certify.closure import Closure
from samecluster.recovery.certify.plan import Certify, CertifyRun
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.predict.clouds import Clouds, beyond_all, edges_of
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How

# Rows that clouds are fitted to: a covariance has 36 numbers at d=8, which more rows hardly move.
_FITTED = 20_000
# Open rows among those that joined after which sweeping stops: another sweep costs as much as the
# first, and so many rows out of reach mean that a part of a cluster was not asked about yet.
_ENOUGH = 4_096


@dataclass(frozen=True, eq=False)
class LabelledSample:
    """Some rows of the data, in random order, and all that is known of them.

    Parameters
    ----------
    X : (m, d) the rows
    survey : of all the data, in lifted columns if there is a lift
    answers : about places in X, without contradictions
    labels, how : (m,) the cluster of each, -1 for none, and how it is known
    margin : what labels rest on; None if nothing follows from one
    exceptions : places whose answers do not count
    proof : the log of what is proven, where the margin was declared
    lift : the lift that the margin is one in
    """

    X: FloatArray
    survey: Survey
    answers: tuple[Answer, ...]
    labels: IntArray
    how: npt.NDArray[np.int8]
    margin: float | None
    exceptions: frozenset[int] = frozenset()
    proof: ProofLog | None = None
    lift: ColumnMap | None = None

    def closed(self, settings: Certify) -> Closure:
        """What the answers imply under a guessed margin, in the whole sample."""
        problem = Problem(
            X=self.X,
            n_clusters=None,
            margin=self.margin,
            rng=np.random.default_rng(0),
            answers=self.answers,
            guessed=True,
            exceptions=self.exceptions,
            survey=self.survey,
            lift=self.lift,
        )
        certify = CertifyRun(settings, problem, Labelling(problem, "certify", Ledger(self.answers)))
        certify.begin()
        climb(certify.known)
        return certify.known.closure

    def numbers(self, closure: Closure) -> npt.NDArray[np.int16]:
        """The label that the sample has for each name; -1 for names that are gone and for -1."""
        found = np.full(max(closure.alive, default=-1) + 2, -1, np.int16)
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
    """The rows outside a sample follow it: call `infer` or `prove` once.

    ``labels`` and ``how`` (m,) are those of the sample and of rows that joined it since; what is
    found about other rows is written into ``rest``.
    """

    def __init__(self, settings: Certify, sample: LabelledSample, rest: OtherRows) -> None:
        self._settings, self._sample, self._rest = settings, sample, rest
        self.labels, self.how = sample.labels, sample.how

    def infer(self, predict: bool = True) -> None:
        """One sweep: rows in reach are inferred, others predicted, or in none of the clusters."""
        sweep, numbers = None, np.zeros(0, np.int16)
        if self._sample.margin is not None:
            try:
                closure = self._sample.closed(self._settings)
                numbers = self._sample.numbers(closure)
                if closure.alive:
                    sweep = Sweep(closure, self._rest.points.n, self._sample.lift)
            except RefutedError:  # by answers that were given since: nothing follows from it
                pass
        shapes = CloudShapes.of(self._sample) if predict else None
        self._follow(LabelBlock(sweep, numbers, shapes))

    def prove(self, write_proof: Callable[[dict[str, Any]], Write] | None = None) -> OpenRows:
        """Sweep until each row is proven, or open; RefutedError if the margin does not allow it.

        ``write_proof`` is given the header of the proof of all rows, and returns what takes its
        records.
        """
        sample, rest, m = self._sample, self._rest, len(self._sample.X)
        assert sample.proof is not None, "certify writes a log, and only its samples are swept so"
        try:
            known = replayed(sample.proof, sample.X, sample.survey, self._settings)
            closure = known.closure
            if write_proof is not None:
                rest.write = write_proof(known.log.header())
            while closure.alive and len(points := rest.sweep(known)):
                known.extend(points)
                climb(known)
                if np.count_nonzero(closure.labels[m:] < 0) > _ENOUGH:
                    break
        except RefutedError as refuted:
            raise refuted_by_row(refuted, rest.rows) from None
        numbers = sample.numbers(closure)
        rest.relabel(numbers)
        self.labels = np.concatenate([sample.labels, numbers[closure.labels[m:]]])
        joined = np.where(self.labels[m:] >= 0, How.PROVEN, How.UNASSIGNED).astype(np.int8)
        self.how = np.concatenate([sample.how, joined])
        n_left = rest.points.n - m if rest.n_left is None else rest.n_left
        if ("count",) in sample.proof.records and not n_left and (closure.labels >= 0).all():
            known.count()
        rest.write_log(known)
        open_ = m + np.flatnonzero(self.labels[m:] < 0)
        return OpenRows(rest.rows[open_], np.asarray(known.points[open_]), n_left)

    def predict(self, open_: OpenRows) -> None:
        """Where no more questions may be asked: what `prove` left open goes with clouds."""
        shapes = CloudShapes.of(self._sample)
        places = np.flatnonzero(np.isin(self._rest.rows, open_.rows))
        self.labels[places] = shapes.predicted(open_.points)
        self.how[places] = np.where(self.labels[places] >= 0, How.PREDICTED, How.UNASSIGNED)
        if open_.n_more:
            self._follow(LabelBlock(None, np.zeros(0, np.int16), shapes))

    def _follow(self, work: LabelBlock) -> None:
        for rows, (names, how) in self._rest.worked_on(work):
            self._rest.names[rows], self._rest.how[rows] = names, how


@dataclass(frozen=True, eq=False)
class CloudShapes:
    """The clusters of the sample as clouds, and how far each goes."""

    names: IntArray
    clouds: Clouds
    scale: FloatArray
    edges: FloatArray
    lift: ColumnMap | None = None

    @classmethod
    def of(cls, sample: LabelledSample) -> CloudShapes:
        scale = np.where(sample.survey.extent > 0, sample.survey.extent, 1.0)
        known = np.flatnonzero(sample.labels >= 0)[:_FITTED]
        points = in_lift(sample.X[known], sample.lift) / scale
        names, groups = np.unique(sample.labels[known], return_inverse=True)
        clouds = Clouds(points, groups, len(names))
        edges = edges_of(clouds, points, groups, sample.margin or 0.0)
        return cls(names, clouds.frozen(), scale, edges, sample.lift)

    def predicted(self, rows: Array) -> IntArray:
        """The cluster of each row (p, d); -1 beyond all."""
        if not len(self.names):
            return np.full(len(rows), -1)
        points = in_lift(rows, self.lift) / self.scale
        best = self.names[self.clouds.scores_of(points).argmax(axis=1)]
        return np.asarray(np.where(beyond_all(self.clouds, self.edges, points), -1, best))


@dataclass(frozen=True, eq=False)
class LabelBlock:
    """The work on a block: infer what is in reach, predict the rest; names and how of open rows."""

    sweep: Sweep | None
    numbers: Array
    shapes: CloudShapes | None

    def __call__(self, block: Array, bits: Array) -> tuple[Array, Array]:
        which = np.flatnonzero(np.unpackbits(bits, count=len(block)))
        names = np.full(len(which), UNDECIDED, np.int16)
        how = np.full(len(which), How.UNASSIGNED, np.int8)
        if self.sweep is not None:
            found = self.sweep.decide(block, which).names
            names[found >= 0] = self.numbers[found[found >= 0]]
            how[names >= 0] = How.INFERRED
        if self.shapes is not None:
            open_ = np.flatnonzero(names < 0)
            names[open_] = self.shapes.predicted(block[which[open_]])
            how[open_] = np.where(names[open_] >= 0, How.PREDICTED, How.UNASSIGNED)
        return names, how
