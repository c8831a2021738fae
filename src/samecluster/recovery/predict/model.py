"""A model of the clusters from the answers so far: labels with probabilities, and where to ask.

Knows nothing of questions or of who asks: it is told that a point got a name in `ClusterNames`, or
that a point is not in a group. What it says is never trusted for more than a prediction.

Every so often it looks for a better model: regression on the similarities of `similarity`, also on
data whitened by what was predicted, or clouds; the one with the smallest leave-one-out error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.calibration import CLOUD_SHARPNESS, SHARPNESS, Calibration
from samecluster.recovery.predict.certainty import Track
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.core_set import core_of, extended
from samecluster.recovery.predict.gaussian_process import GaussianProcess, left_out
from samecluster.recovery.predict.graph import Graph
from samecluster.recovery.predict.sameness import Sameness
from samecluster.recovery.predict.similarity import Similarity, features, whitened
from samecluster.recovery.predict.spread import middles_of_cells

__all__ = ["Prediction", "Predictor"]

_LARGEST = 50_000  # points whose neighbours are found by comparing all pairs
# Answers before models are compared, and by how much they grow before they are compared again
_FIRST_LOOK, _NEXT_LOOK = 15, 1.5
_DIRECTIONS_OF = 4000  # rows whose principal directions are taken
_FEW = 6  # asked points; with fewer the calibration has nothing to hold on to
_WEIGHED = 12  # of these, how many are weighed by what their answers explain
_CANDIDATES = 200  # points with the smallest gap, of which the one with most doubt around is asked
# Share of points whose predicted group is used for whitening; chosen by benchmarks/predict
_TRUSTED = 0.7
_COMPARED_ON = 2000  # points besides the asked ones on which models are compared
_STAYING = 0.005  # leave-one-out error by which another model must be better: one answer in 200
_GRAPH = 0.005  # bonus of graph models, from the first trials of docs/prediction.md
_CLOUDS_EVERY = 5  # answers: clouds of thousands of points hardly move with one
_CLOUDS = 0.01  # leave-one-out error by which clouds must be better before they are heard
_WORTH_HEARING = 0.05  # how much worse clouds may be and still point at misfits
_AT_RANDOM = 8  # every so manieth point is drawn at random (`certainty`)
_BEYOND_DOUBT = 0.999  # probability of its own group above which no point is a misfit
# For choosing questions only: sharper than calibrated, so that near ties count most
_STEERING_SHARPNESS = 12.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """Group (n,) of each point, and the probability (n,) that it is right; 1.0 for known ones."""

    groups: IntArray
    probability: FloatArray


class Candidate(NamedTuple):
    """A group that a point may be in, P(same), and what that rests on."""

    group: int
    same: float
    signs: FloatArray


class Predictor:
    """What the known points say about the others.

    Up to 4,000 points are all modelled, copies once. Of more, a core of 2,000 is, and the others
    go with it. ``include`` are rows that must be in the core; only what is known about the core
    teaches the model.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
    >>> names = ClusterNames()
    >>> model = Predictor(X, names, np.random.default_rng(0))
    >>> for item in (5, 0):
    ...     first = names.found(item)
    ...     model.learn(item)
    >>> model.prediction().groups.tolist()
    [1, 1, 1, 0, 0, 0]
    """

    def __init__(
        self,
        X: FloatArray,
        names: ClusterNames,
        rng: np.random.Generator,
        include: Sequence[int] = (),
    ) -> None:
        self._rng = rng
        self._names = names
        names.on_merge(self._merge)
        some = np.sort(rng.permutation(len(X))[:_DIRECTIONS_OF])
        self._all = features(X, some)
        wanted = np.asarray(include, dtype=np.int64)
        self.core, self._at = core_of(self._all, _LARGEST, rng, wanted)
        self._points = self._all[self.core].astype(np.float32)
        self._start = middles_of_cells(self._points, rng)
        self._plain: Graph | None = None  # the first questions come before it is there
        self.sameness = Sameness()
        self._outside: dict[int, set[int]] = {}
        self._model = GaussianProcess(Similarity(None, self._points), len(self.core))
        self._kind = ("graph", False)
        self._by_clouds = False
        # Worked out when wanted, and good until something is told.
        self._cloud_table: FloatArray | None = None
        self._clouds_at = 0
        self._chance_table: FloatArray | None = None
        self._next_look = float(_FIRST_LOOK)
        self._turn = 0
        self._misfits: set[int] = set()
        self.track = Track(names)
        self._drawn: set[int] = set()  # points that were drawn at random

    @property
    def model(self) -> str:
        """The name of the model in use."""
        kind, white = self._kind
        return "clouds" if self._by_clouds else f"{'whitened ' * white}{kind}"

    @property
    def is_whole(self) -> bool:
        """Whether every point, or a copy of it, is in the core."""
        return bool((self._at >= 0).all())

    @property
    def is_starting(self) -> bool:
        """Whether the first points, spread over the data, are still to come."""
        return len(self._model.asked) < len(self._start)

    @property
    def n_start(self) -> int:
        """How many points are spread over the data before others are asked about."""
        return len(self._start)

    @property
    def knows_little(self) -> bool:
        """Whether too few points were asked for probabilities to mean anything."""
        return len(self._model.asked) < min(_FEW, len(self.core))

    @property
    def expected_error(self) -> float:
        """The share of all labels that is expected to be wrong among known groups.

        1 as long as there are too few answers to say.
        """
        known = len(set(self._at[list(self._names.name_of)].tolist()))
        if known == len(self.core):
            return 0.0
        if not self.track.tells:
            return 1.0
        doubt = 1.0 - self._right(self._chances())
        doubt[self._model.asked] = 0.0
        return float(doubt.mean())

    @property
    def unseen(self) -> float | None:
        """At most this share of the points is in groups that nobody has met, at 95 %."""
        share = self.track.unseen()
        return None if share is None else share * (1.0 - len(self._model.asked) / len(self.core))

    def _right(self, chances: FloatArray) -> FloatArray:
        """The probability that the likeliest group is right, for points with these chances (·, k).

        A group that is part of a larger one has the wrong name, however sure its members are.
        """
        same, _ = self.join_chances()
        sizes = self._chances().sum(axis=0)
        own = np.prod(np.where(sizes[:, None] < sizes, 1.0 - same, 1.0), axis=1)
        right = self.track.calibrated(chances.max(axis=1))
        return np.asarray(right * own[chances.argmax(axis=1)])

    # -- what is told ----------------------------------------------------------------------------

    def learn(self, item: int) -> None:
        """A point got a name, perhaps a new one."""
        if item in self._drawn or len(self._names.alive) > 1:
            self._record(item)
        column = self._column(self._names.name_of[item])
        if column == self._model.targets.shape[1]:
            self._model.add_group()
        if self._at[item] >= 0:
            self._model.learn(int(self._at[item]), column)
        if self._plain is None and not self.is_starting:
            self._use(Similarity(self.graph, None))
        self._forget()
        if (
            len(self._model.asked) >= self._next_look
            and len(self._names.alive) > 1
            and not self.is_starting
        ):
            self._next_look = len(self._model.asked) * _NEXT_LOOK
            self._look_for_a_better_model()

    def _record(self, item: int) -> None:
        """Keep what was said before the answer."""
        at, groups = self._at[item], self._model.targets.argmax(axis=1)
        if at < 0 or at in self._model.asked or not len(groups):
            return
        chances = self._chances()[at]
        said = self._model.asked[int(np.flatnonzero(groups == chances.argmax())[0])]
        predicted = int(self.core[said])
        self.track.note(item, predicted, float(chances.max()), item in self._drawn)

    def _column(self, group: int) -> int:
        """The regression has a column for each name that is alive, in their order."""
        return self._names.alive.index(group)

    def _merge(self, kept: int, gone: int) -> None:
        self._model.merge(self._column(kept), self._column(gone))
        for groups in self._outside.values():
            if gone in groups:
                groups.remove(gone)
                groups.add(kept)
        self._cloud_table = None
        self._forget()

    def rule_out(self, item: int, group: int) -> None:
        """A point is known not to be in a group."""
        self._outside.setdefault(item, set()).add(group)

    def outside(self, item: int) -> set[int]:
        """The groups that a point is known not to be in."""
        return set(self._outside.get(item, ()))

    def _forget(self) -> None:
        self._chance_table = None
        if (
            self._cloud_table is not None
            and self._cloud_table.shape[1] != self._model.targets.shape[1]
        ):
            self._cloud_table = None

    # -- what it says ----------------------------------------------------------------------------

    def same_chances(self, item: int, outside: Collection[int]) -> list[Candidate]:
        """Groups that a point of the core may be in, the likeliest first.

        Groups that it is ``outside`` of are left out.
        """
        at, alive = self._at[item], self._names.alive
        left = np.array([g for g, name in enumerate(alive) if name not in outside], dtype=int)
        if not len(left):
            return []
        chances = self._chances()[at, left].astype(np.float64)
        signs = self.sameness.signs_of_placing(chances / chances.sum(), len(outside))
        same = self.sameness.placing.chances(signs)
        order = np.lexsort((-self._model.mean[at, left], -chances))
        return [Candidate(alive[left[g]], float(same[g]), signs[g]) for g in order]

    def join_chances(self) -> tuple[FloatArray, FloatArray]:
        """(k, k) P(same) of groups, 0 where it is known, and (k, k, 4) what that rests on."""
        alive, groups = self._names.alive, self._model.targets.argmax(axis=1)
        k = len(alive)
        order = np.argsort(groups, kind="stable")
        starts = np.searchsorted(groups[order], np.arange(k))
        sorted_ = self._model.alike[np.ix_(order, order)]
        affinity = np.maximum.reduceat(np.maximum.reduceat(sorted_, starts, axis=0), starts, axis=1)
        different = self._names.are_different
        open_ = np.array([[a != b and not different(a, b) for b in alive] for a in alive])
        sizes = np.bincount(groups, minlength=k)
        signs = self.sameness.signs_of_joining(affinity, sizes, open_)
        return np.where(open_, self.sameness.joining.chances(signs), 0.0), signs

    def groups(self) -> IntArray:
        """(m,) the likeliest group of each point of the core, as place among those alive."""
        return np.asarray(self._chances().argmax(axis=1))

    def gained(self, before: IntArray) -> float:
        """How many more labels are right than with other ``groups`` (m,), by these chances."""
        chances, rows = self._chances(), np.arange(len(before))
        return float(np.sum(chances.max(axis=1) - chances[rows, before]))

    def alike(self, items: Sequence[int], others: Sequence[int]) -> FloatArray:
        """(len(items), len(others)) how similar points of the core are to others of the core."""
        return self._model.similarity.between(self._at[list(items)], self._at[list(others)])

    def sizes(self) -> dict[int, float]:
        """The number of points of the core that are expected in each group."""
        return dict(zip(self._names.alive, self._chances().sum(axis=0).tolist(), strict=True))

    def prediction(self) -> Prediction:
        """Group and probability for every point of the data; at least one must be known."""
        chances = self._chances()
        if self.is_whole:
            chances = chances[self._at]
        else:
            chances = extended(self._all, self.core, chances.argmax(axis=1), chances)
        for item, groups in self._outside.items():
            if item not in self._names.name_of:
                _drop(chances[item], [self._column(group) for group in groups])
        found = np.array(self._names.alive)[chances.argmax(axis=1)]
        probability = self._right(chances)
        for item, group in self._names.name_of.items():
            found[item], probability[item] = group, 1.0
        return Prediction(found, probability)

    def _chances(self) -> FloatArray:
        """(m, k) probabilities for the core; of two opinions the mean."""
        if self._chance_table is None:
            # With few answers all scores are small, and what counts is their proportion.
            usual = SHARPNESS / max(float(self._model.mean.max(axis=1).mean()), 0.1)
            found = self._trusted(self._model.mean, self._model.ahead, usual)
            if self._by_clouds:
                scores = self._cloud_scores()
                clouds = self._trusted(scores, scores[self._model.asked], CLOUD_SHARPNESS)
                found = (found + clouds) / 2.0
            self._chance_table = found
        return self._chance_table

    def _trusted(self, scores: Array, untold: FloatArray, usual: float) -> FloatArray:
        """Probabilities from scores, calibrated on asked points scored before they were told.

        For the regression that is what it said just before each answer, not what it says with an
        answer left out: points are asked about where it is in doubt, and the doubt is then gone.
        Misfits do not count: they were picked for another reason than their score, and are wrong
        more often than others of the same score.
        """
        truth = self._model.targets.argmax(axis=1)
        fair = np.array([at not in self._misfits for at in self._model.asked], dtype=np.bool_)
        # Nobody can foretell the first member of a group.
        fair[np.unique(truth, return_index=True)[1]] = False
        return Calibration.fitted(untold[fair], truth[fair], usual).probabilities(scores)

    def _labels(self) -> IntArray:
        """(m,) the likeliest group of each point of the core by the regression, as column."""
        labels = self._model.mean.argmax(axis=1)
        labels[self._model.asked] = self._model.targets.argmax(axis=1)
        return np.asarray(labels)

    def _cloud_scores(self) -> FloatArray:
        stale = len(self._model.asked) - self._clouds_at >= _CLOUDS_EVERY
        if self._cloud_table is None or stale:
            k = self._model.targets.shape[1]
            self._cloud_table = Clouds(self._points.astype(np.float64), self._labels(), k).scores()
            self._clouds_at = len(self._model.asked)
        return self._cloud_table

    # -- where to ask ----------------------------------------------------------------------------

    def next_item(self, skip: Iterable[int]) -> int | None:
        """The point of the core whose answer would teach most; None if all are known or skipped.

        The first few are spread over the data. Later ones are, in turn, the point whose answer
        removes most doubt of those that the regression is least sure about, and the point that
        fits its predicted group worst as a cloud, as long as clouds describe the answers.
        """
        open_ = np.ones(len(self.core), dtype=np.bool_)
        open_[self._model.asked] = False
        open_[self._at[[i for i in skip if self._at[i] >= 0]]] = False
        candidates = np.flatnonzero(open_)
        if not len(candidates):
            return None
        first = [at for at in self._start if open_[at]]
        if first and (len(self._names.alive) < 2 or self.is_starting):
            return int(self.core[first[0]])
        self._turn += 1
        if self._turn % _AT_RANDOM == 0:
            item = int(self.core[self._rng.choice(candidates)])
            self._drawn.add(item)
            return item
        at = self._worst_fit(candidates) if self._turn % 2 == 0 else None
        if at is None:
            at = self._most_telling(candidates, open_)
        else:
            self._misfits.add(at)
        return int(self.core[at])

    def _most_telling(self, candidates: IntArray, open_: BoolArray) -> int:
        mean = self._model.mean
        if mean.shape[1] < 2:
            return int(self._rng.choice(candidates))
        two = np.partition(mean[candidates], -2, axis=1)[:, -2:]
        close = candidates[np.argsort(two[:, 1] - two[:, 0], kind="stable")[:_CANDIDATES]]
        chances = Calibration(_STEERING_SHARPNESS, 0.0).probabilities(mean)
        doubt = np.where(open_, 1.0 - chances.max(axis=1), 0.0)
        around = self.graph.around(doubt)
        most = close[np.argsort(-(doubt * around)[close], kind="stable")[:_WEIGHED]]
        weights = doubt.astype(np.float32)
        return int(most[np.argmax([self._model.gain(int(at), weights) for at in most])])

    @property
    def graph(self) -> Graph:
        if self._plain is None:
            self._plain = Graph(self._points)
        return self._plain

    def _worst_fit(self, candidates: IntArray) -> int | None:
        scores = self._cloud_scores()
        if self._cloud_error(scores) > self._error(self._model.alike) + _WORTH_HEARING:
            return None
        chances = Calibration(1.0, 0.0).probabilities(scores[candidates])
        own = chances[np.arange(len(candidates)), self._labels()[candidates]]
        return int(candidates[own.argmin()]) if own.min() < _BEYOND_DOUBT else None

    # -- which model -----------------------------------------------------------------------------

    def _look_for_a_better_model(self) -> None:
        """Compare models by leaving answers out, on a part of the points if there are many."""
        asked = np.array(self._model.asked)
        labels, sure = self._labels(), self._chances().max(axis=1)
        trusted = sure >= np.quantile(sure, 1.0 - _TRUSTED)
        part = np.union1d(asked, self._rng.permutation(len(self.core))[:_COMPARED_ON])
        at = np.searchsorted(part, asked)
        round_ = whitened(self._points.astype(np.float64), labels, trusted).astype(np.float32)
        errors = {}
        for white, points in ((False, self._points), (True, round_)):
            graph = Graph(points[part])
            for kind in Similarity.kinds:
                offered = Similarity.of(kind, graph, points[part])
                bonus = _STAYING * ((kind, white) == self._kind) + _GRAPH * (kind == "graph")
                errors[kind, white] = self._error(offered.between(at, at)) - bonus
        self._kind = kind, white = min(errors, key=errors.__getitem__)
        clouds = self._cloud_error(self._cloud_scores())
        points = round_ if white else self._points
        # Of a plain model there is a graph already, and rbf needs none.
        graph_of = self.graph if not white or kind == "rbf" else Graph(points)
        self._use(Similarity.of(kind, graph_of, points))
        self._by_clouds = clouds + _CLOUDS < self._error(self._model.alike)

    def _use(self, similarity: Similarity) -> None:
        self._model = GaussianProcess.fitted(
            similarity, len(self.core), self._model.asked, self._model.targets
        )
        self._forget()

    def _error(self, alike: FloatArray) -> float:
        """Leave-one-out error of the regression with these similarities of the asked points."""
        targets = self._model.targets
        return float(np.mean(left_out(alike, targets).argmax(axis=1) != targets.argmax(axis=1)))

    def _cloud_error(self, scores: FloatArray) -> float:
        found = scores[self._model.asked].argmax(axis=1)
        return float(np.mean(found != self._model.targets.argmax(axis=1)))


def _drop(chances: FloatArray, columns: list[int]) -> None:
    """Share out among the other groups what a point (k,) has in groups that are ruled out."""
    total, left = chances.sum(), np.delete(chances, columns).sum()
    if left > 0:
        chances[columns] = 0.0
        chances *= total / left
