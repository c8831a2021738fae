"""A model of the clusters from the answers so far: labels with probabilities, and where to ask.

Knows nothing of questions or of who asks: it is told that a point got a name in `ClusterNames`, or
that a point is not in a group. What it says is never trusted for more than a prediction.

Every so often it looks for a better model: regression on the similarities of `similarity`, also on
data whitened by what was predicted, or clouds; the one with the smallest leave-one-out error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.calibration import CLOUD_SHARPNESS, SHARPNESS, Calibration
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.core_set import core_of, extended
from samecluster.recovery.predict.gaussian_process import GaussianProcess, left_out
from samecluster.recovery.predict.similarity import Similarity, features, graph_similarity, whitened

_LARGEST_DENSE = 4000  # points with a dense similarity, 64 MB in single precision
# Answers before models are compared, and by how much they grow before they are compared again
_FIRST_LOOK, _NEXT_LOOK = 15, 1.5
# Spread points before doubt steers, and how many candidates for each; chosen by benchmarks/predict
_START, _START_CANDIDATES = 12, 1000
_TWINS = 0.5  # P(same) of groups with members that are all but copies; a guess to choose by
_FEW = 6  # asked points; with fewer the calibration has nothing to hold on to
# Points with the smallest gap whose gain is computed; chosen by benchmarks/predict
_CANDIDATES = 30
# Share of points whose predicted group is used for whitening; chosen by benchmarks/predict
_TRUSTED = 0.7
_STAYING = 0.005  # leave-one-out error by which another model must be better: one answer in 200
_GRAPH = 0.005  # bonus of graph models, from the first trials of docs/prediction.md
_CLOUDS = 0.01  # leave-one-out error by which clouds must be better before they are heard
_WORTH_HEARING = 0.05  # how much worse clouds may be and still point at misfits
_BEYOND_DOUBT = 0.999  # probability of its own group above which no point is a misfit
# For choosing questions only: sharper than calibrated, so that near ties count most
_STEERING_SHARPNESS = 12.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """Group (n,) of each point, and the probability (n,) that it is right; 1.0 for known ones."""

    groups: IntArray
    probability: FloatArray


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
        some = np.sort(rng.permutation(len(X))[:_LARGEST_DENSE])
        self._all = features(X, some)
        wanted = np.asarray(include, dtype=np.int64)
        self.core, self._at = core_of(self._all, _LARGEST_DENSE, rng, wanted)
        self._points = self._all[self.core]
        self._plain = graph_similarity(self._points)
        self._outside: dict[int, set[int]] = {}
        self._model = GaussianProcess(Similarity("graph", self._plain, None), len(self.core))
        self._by_clouds = False
        # Worked out when wanted, and good until something is told.
        self._cloud_table: FloatArray | None = None
        self._chance_table: FloatArray | None = None
        self._next_look = float(_FIRST_LOOK)
        self._turn = 0
        self._misfits: set[int] = set()

    @property
    def model(self) -> str:
        """The name of the model in use."""
        return "clouds" if self._by_clouds else self._model.similarity.name

    @property
    def is_whole(self) -> bool:
        """Whether every point, or a copy of it, is in the core."""
        return bool((self._at >= 0).all())

    @property
    def is_starting(self) -> bool:
        """Whether the first points, spread over the data, are still to come."""
        return len(self._model.asked) < min(_START, len(self.core))

    @property
    def knows_little(self) -> bool:
        """Whether too few points were asked for probabilities to mean anything."""
        return len(self._model.asked) < min(_FEW, len(self.core))

    @property
    def expected_error(self) -> float:
        """The share of points of the core whose label is expected to be wrong."""
        doubt = 1.0 - self._chances().max(axis=1)
        doubt[self._model.asked] = 0.0
        return float(doubt.mean())

    # -- what is told ----------------------------------------------------------------------------

    def learn(self, item: int) -> None:
        """A point got a name, perhaps a new one."""
        column = self._column(self._names.name_of[item])
        if column == self._model.targets.shape[1]:
            self._model.add_group()
        if self._at[item] >= 0:
            self._model.learn(int(self._at[item]), column)
        self._forget()
        if len(self._model.asked) >= self._next_look and len(self._names.alive) > 1:
            self._next_look = len(self._model.asked) * _NEXT_LOOK
            self._look_for_a_better_model()

    def _column(self, group: int) -> int:
        """The regression has a column for each name that is alive, in their order."""
        return self._names.alive.index(group)

    def _merge(self, kept: int, gone: int) -> None:
        self._model.merge(self._column(kept), self._column(gone))
        for groups in self._outside.values():
            if gone in groups:
                groups.remove(gone)
                groups.add(kept)
        self._forget()

    def rule_out(self, item: int, group: int) -> None:
        """A point is known not to be in a group."""
        self._outside.setdefault(item, set()).add(group)

    def outside(self, item: int) -> set[int]:
        """The groups that a point is known not to be in."""
        return set(self._outside.get(item, ()))

    def _forget(self) -> None:
        self._cloud_table, self._chance_table = None, None

    # -- what it says ----------------------------------------------------------------------------

    def order(self, item: int) -> list[tuple[int, float]]:
        """Groups with their scores for a point of the core, the likeliest first.

        Scores are about 1 for a group that is certain, and about 0 for one that is out of sight.
        """
        scores = self._model.mean[self._at[item]]
        alive = self._names.alive
        return [(alive[g], float(scores[g])) for g in np.argsort(-scores, kind="stable")]

    def alike(self, items: Sequence[int], others: Sequence[int]) -> FloatArray:
        """(len(items), len(others)) how similar points of the core are to others of the core."""
        return self._model.similarity.between(self._at[list(items)], self._at[list(others)])

    def sizes(self) -> dict[int, float]:
        """The number of points of the core that are expected in each group."""
        return dict(zip(self._names.alive, self._chances().sum(axis=0).tolist(), strict=True))

    def same_groups(self) -> FloatArray:
        """(k, k) a guess of P(same) of two groups, symmetric, from how alike their members are."""
        members, model = self._names.members, self._model
        at = [self._at[members[group]] for group in self._names.alive]
        asked = np.concatenate(at)
        alike = model.similarity.between(asked, asked)
        starts = np.cumsum([0, *map(len, at)])[:-1]
        largest = np.maximum.reduceat(np.maximum.reduceat(alike, starts, axis=0), starts, axis=1)
        return np.clip(_TWINS * largest.astype(np.float64), 0.0, 1.0)

    def unseen(self) -> float | None:
        """Not known to this model."""
        return None

    def spread_items(self, count: int, skip: Collection[int]) -> list[int]:
        """Points of the core that explain most of all others, one after the other."""
        chosen: list[int] = []
        scratch = GaussianProcess(self._model.similarity, len(self.core), 1)
        for at in self._model.asked:
            scratch.learn(at, 0)
        for _ in range(count):
            open_ = np.ones(len(self.core), dtype=np.bool_)
            open_[scratch.asked] = False
            open_[self._at[[i for i in skip if self._at[i] >= 0]]] = False
            if not open_.any():
                break
            scratch.learn(self._most_spread(np.flatnonzero(open_), scratch), 0)
            chosen.append(int(self.core[scratch.asked[-1]]))
        return chosen

    def chances(self) -> FloatArray:
        """(n, k) probabilities of the groups for all rows."""
        chances = self._chances()
        if self.is_whole:
            chances = chances[self._at]
        else:
            chances = extended(self._all, self.core, chances.argmax(axis=1), chances)
        for item, groups in self._outside.items():
            if item not in self._names.name_of:
                _drop(chances[item], [self._column(group) for group in groups])
        return chances

    def prediction(self) -> Prediction:
        """Group and probability for every point of the data; at least one must be known."""
        chances = self.chances()
        best = chances.argmax(axis=1)
        found = np.array(self._names.alive)[best]
        probability = chances[np.arange(len(best)), best]
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

    def _trusted(self, scores: FloatArray, untold: FloatArray, usual: float) -> FloatArray:
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
        if self._cloud_table is None:
            self._cloud_table = Clouds(
                self._points, self._labels(), len(self._names.alive)
            ).scores()
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
        if len(self._names.alive) < 2 or self.is_starting:
            return int(self.core[self._most_spread(candidates)])
        self._turn += 1
        at = self._worst_fit(candidates) if self._turn % 2 == 0 else None
        if at is None:
            at = self._most_telling(candidates, open_)
        else:
            self._misfits.add(at)
        return int(self.core[at])

    def _most_spread(self, candidates: IntArray, of: GaussianProcess | None = None) -> int:
        count = min(_START_CANDIDATES, 2 * len(candidates) // 3 + 1)
        some = self._rng.choice(candidates, size=count, replace=False)
        model = self._model if of is None else of
        return int(some[model.gain(some, np.ones(len(self.core))).argmax()])

    def _most_telling(self, candidates: IntArray, open_: BoolArray) -> int:
        two = np.partition(self._model.mean[candidates], -2, axis=1)[:, -2:]
        close = candidates[np.argsort(two[:, 1] - two[:, 0], kind="stable")[:_CANDIDATES]]
        chances = Calibration(_STEERING_SHARPNESS, 0.0).probabilities(self._model.mean)
        doubt = np.where(open_, 1.0 - chances.max(axis=1), 0.0)
        return int(close[self._model.gain(close, doubt).argmax()])

    def _worst_fit(self, candidates: IntArray) -> int | None:
        scores = self._cloud_scores()
        if self._cloud_error(scores) > self._error(self._model.similarity) + _WORTH_HEARING:
            return None
        chances = Calibration(1.0, 0.0).probabilities(scores[candidates])
        own = chances[np.arange(len(candidates)), self._labels()[candidates]]
        return int(candidates[own.argmin()]) if own.min() < _BEYOND_DOUBT else None

    # -- which model -----------------------------------------------------------------------------

    def _look_for_a_better_model(self) -> None:
        labels = self._labels()
        sure = self._chances().max(axis=1)
        round_ = whitened(self._points, labels, sure >= np.quantile(sure, 1.0 - _TRUSTED))
        graph = graph_similarity(round_)
        offered = [
            Similarity("graph", self._plain, None),
            Similarity("rbf", None, self._points),
            Similarity("mean", self._plain, self._points),
            Similarity("whitened graph", graph, None),
            Similarity("whitened rbf", None, round_),
            Similarity("whitened mean", graph, round_),
        ]
        best = min(offered, key=self._handicapped_error)
        self._by_clouds = self._cloud_error(self._cloud_scores()) + _CLOUDS < self._error(best)
        self._model = GaussianProcess.fitted(
            best, len(self.core), self._model.asked, self._model.targets
        )
        self._forget()

    def _handicapped_error(self, similarity: Similarity) -> float:
        """Leave-one-out error; graphs and what is in use must be beaten by a little."""
        staying = similarity.name == self._model.similarity.name
        graph_only = similarity.points is None
        return self._error(similarity) - _STAYING * staying - _GRAPH * graph_only

    def _error(self, similarity: Similarity) -> float:
        asked, targets = self._model.asked, self._model.targets
        found = left_out(similarity, asked, targets).argmax(axis=1)
        return float(np.mean(found != targets.argmax(axis=1)))

    def _cloud_error(self, scores: FloatArray) -> float:
        found = scores[self._model.asked].argmax(axis=1)
        return float(np.mean(found != self._model.targets.argmax(axis=1)))


def _drop(chances: FloatArray, columns: list[int]) -> None:
    """Share out among the other groups what a point (k,) has in groups that are ruled out."""
    total, left = chances.sum(), np.delete(chances, columns).sum()
    if left > 0:
        chances[columns] = 0.0
        chances *= total / left
