"""A model of the clusters from the answers so far: labels with probabilities, and where to ask.

Knows nothing of questions or of who asks: it is told that a point got a name in `ClusterNames`, or
that a point is not in a group. What it says is never trusted for more than a prediction.

Whoever chooses questions needs of it only what `GroupModel` names; either side can be changed
alone. Every so often the model looks for a better one: regression on the similarities of
`similarity`, also on data whitened by what was predicted; the one with the smallest leave-one-out
error. Clouds are a second opinion, heard as far as they were right before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from samecluster._extras import has_faiss
from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.calibration import SHARPNESS, Calibration
from samecluster.recovery.predict.certainty import DRAWN_EVERY, SecondOpinion, Track
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.core_set import GraphCells, core_of, extended
from samecluster.recovery.predict.gaussian_process import NOISE, GaussianProcess, left_out
from samecluster.recovery.predict.graph import Graph
from samecluster.recovery.predict.sameness import Sameness, expected_questions
from samecluster.recovery.predict.similarity import Similarity, features, whitened
from samecluster.recovery.predict.spread import middles_of_cells

_LARGEST = 50_000  # points whose neighbours are found by comparing all pairs
_DIRECTIONS_OF = 4000  # rows whose principal directions are taken
# Answers before models are compared, and by how much they grow before they are compared again
_FIRST_LOOK, _NEXT_LOOK = 15, 1.5
# Spread points before doubt steers, and how many candidates for each; chosen by benchmarks/predict
_START, _START_CANDIDATES = 12, 1000
_FEW = 6  # asked points; with fewer the calibration has nothing to hold on to
# Points with most doubt around them, of which those are tried that questions place soonest; fewer
# where rows have to be solved for
_DOUBTFUL, _CANDIDATES, _SOLVED_FOR = 200, 30, 4
# Share of points whose predicted group is used for whitening; chosen by benchmarks/predict
_TRUSTED = 0.7
_COMPARED_ON = 2000  # points besides the asked ones on which models of large data are compared
_STAYING = 0.005  # leave-one-out error by which another model must be better: one answer in 200
_GRAPH = 0.005  # bonus of graph models, from the first trials of docs/prediction.md
_CLOUDS_EVERY = 5  # answers: clouds of thousands of points hardly move with one
# Doubt below which every other point is a misfit: before, points that fit nowhere teach nothing
_MISFITS_BELOW = 0.05
_BEYOND_DOUBT = 0.999  # probability of its own group above which no point is a misfit
_WORTH_HEARING = 0.05  # how much worse clouds may be and still point at misfits
# For choosing questions only: sharper than calibrated, so that near ties count most
_STEERING_SHARPNESS = 12.0


@dataclass(frozen=True, eq=False)
class Prediction:
    """Group (n,) of each point, and the probability (n,) that it is right; 1.0 for known ones."""

    groups: IntArray
    probability: FloatArray


class GroupModel(Protocol):
    """All that choosing questions needs of a model. Groups are names that are alive, in order."""

    def chances(self) -> Array:
        """(n, k) probabilities of the groups for all rows."""
        ...

    def alike(self, items: Sequence[int], others: Sequence[int]) -> FloatArray:
        """(len(items), len(others)) how alike items are, about 1 for an item with itself."""
        ...

    def same_groups(self) -> FloatArray:
        """(k, k) P(same) of two groups, symmetric; 0 where it is known."""
        ...

    def sizes(self) -> dict[int, float]:
        """The expected number of rows in each group."""
        ...

    def unseen(self) -> float | None:
        """At most this share of the rows is in groups that nobody has met; None if not known."""
        ...

    def next_item(self, skip: Collection[int]) -> int | None:
        """The row whose answer would teach most; None if all are known or skipped."""
        ...


class Predictor:
    """What the known points say about the others.

    Up to 50,000 points are all modelled, copies once. Of more, a core of 5,000 is, and the others
    go with it; after the first answers cells of the graph of all, if faiss is installed.
    ``include`` are rows that must be in the core; only what is known about the core
    teaches the model. Rows marked in ``first`` (n,) are asked about before others, if in doubt.

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
        first: BoolArray | None = None,
    ) -> None:
        self._rng, self._wanted = rng, first
        self._names = names
        names.on_merge(self._merge)
        some = np.sort(rng.permutation(len(X))[:_DIRECTIONS_OF])
        self._all = features(X, some)
        wanted = self._include = np.asarray(include, dtype=np.int64)
        self.core, self._at = core_of(self._all, _LARGEST, rng, wanted)
        self._cells: GraphCells | None = None
        self._sizes: IntArray | None = None
        self._points = self._all[self.core].astype(np.float32)
        self.sameness = Sameness()
        self._outside: dict[int, set[int]] = {}
        self._plain: Graph | None = None
        self._start: list[int] = []
        start = Similarity(None, self._points)
        self._starts_by_cells = len(self.core) > Graph.LARGEST_DENSE
        if not self._starts_by_cells:
            start = Similarity(self.graph, None)
        else:  # the first questions come before the graph is there
            self._start = middles_of_cells(self._points, rng)
        self._n_start = len(self._start)
        self._model = GaussianProcess(start, len(self.core))
        self._kind = ("graph", False)
        # Worked out when wanted, and good until something is told.
        self._cloud_table: FloatArray | None = None
        self._clouds_at = 0
        self._chance_table: FloatArray | None = None
        self._regression_table: FloatArray | None = None
        self._join_table: FloatArray | None = None
        self._usual_score: float | None = None
        self._alone_table: FloatArray | None = None  # the same before what is known
        self._next_look = float(_FIRST_LOOK)
        self._turn = 0
        self._misfits: set[int] = set()
        self._drawn: set[int] = set()
        # What the regression and clouds say of points whose answers have come and are not taken in.
        self._foretold: dict[int, tuple[FloatArray, FloatArray]] = {}
        self._track = Track(names, self._outside)
        self._second = SecondOpinion()

    @property
    def model(self) -> str:
        """The name of the model in use."""
        kind, white = self._kind
        return "clouds" if self._second.weight > 0.5 else f"{'whitened ' * white}{kind}"

    @property
    def graph(self) -> Graph:
        """The neighbour graph of all points, made when it is wanted for the first time."""
        if self._plain is None:
            self._plain = Graph(self._points)
        return self._plain

    @property
    def is_whole(self) -> bool:
        """Whether every point, or a copy of it, is in the core."""
        return bool((self._at >= 0).all())

    @property
    def follows_at_once(self) -> bool:
        """Whether all rows are predicted after every answer: of very many that takes too long."""
        return len(self._at) <= _LARGEST

    @property
    def is_starting(self) -> bool:
        """Whether the first points, spread over the data, are still to come."""
        return bool(self._start) or len(self._model.asked) < min(_START, len(self.core))

    @property
    def knows_little(self) -> bool:
        """Whether too few points were asked for probabilities to mean anything."""
        return len(self._model.asked) < min(_FEW, len(self.core))

    @property
    def doubt(self) -> float:
        """The share of modelled points that are in another known group, if all were hard ones.

        For choosing questions: they are about points that are in doubt.
        """
        doubt = 1.0 - self._track.calibrated(self._chances().max(axis=1), picked=True)
        doubt[self._model.asked] = 0.0
        return float(doubt.mean())

    @property
    def expected_error(self) -> float:
        """The share of modelled points whose label is expected to be wrong, among known groups."""
        doubt = 1.0 - self._right(self._chances())
        if self._sizes is not None:
            return float(doubt @ self._n_unasked(self._sizes) / len(self._at))
        doubt[self._model.asked] = 0.0
        return float(doubt.mean())

    def _n_unasked(self, sizes: IntArray) -> IntArray:
        """(m,) how many rows of each cell nobody was asked about."""
        return sizes - np.bincount(self._model.asked, minlength=len(sizes))

    def _right(self, chances: FloatArray) -> FloatArray:
        """(m,) P(right) of the likeliest group of points with these chances (m, k).

        A group that is part of a larger one has the wrong name, however sure its members are.
        """
        sizes = self._chances().sum(axis=0)
        smaller = sizes[:, None] < sizes
        own_name = np.prod(np.where(smaller, 1.0 - self.same_groups(), 1.0), axis=1)
        best = chances.argmax(axis=1)
        return np.asarray(self._track.calibrated(chances.max(axis=1)) * own_name[best])

    @property
    def n_records(self) -> int:
        """Answers that what was said before can be compared with."""
        return len(self._track)

    def unseen(self) -> float | None:
        """At most this share of the rows is in groups that nobody has met, at 95 %.

        None as long as no row was drawn at random. The others of a cell with an asked row are not
        drawn any more, and count as if they were in such groups.
        """
        share, asked = self._track.unseen(), self._model.asked
        if share is None or self._sizes is None:
            return None if share is None else share * (1.0 - len(set(asked)) / len(self.core))
        passed_over = self._n_unasked(self._sizes)[np.unique(asked)].sum() / len(self._at)
        return min(share + float(passed_over), 1.0)

    # -- what is told ----------------------------------------------------------------------------

    def learn(self, item: int) -> None:
        """A point got a name, perhaps a new one."""
        self._record(item)
        column = self._column(self._names.name_of[item])
        if column == self._model.targets.shape[1]:
            self._model.add_group()
        if self._at[item] >= 0:
            self._model.learn(int(self._at[item]), column)
            self._pass_over_start([item])
        if not self._wants_more_spread():
            self._start = []
        self._forget()
        if self._plain is None and not self.is_starting:
            if not self.is_whole and has_faiss():
                self._model_all_rows()
            self._use(Similarity(self.graph, None))
        look = len(self._model.asked) >= self._next_look and not self.is_starting
        if look and len(self._names.alive) > 1:
            self._next_look = len(self._model.asked) * _NEXT_LOOK
            self._look_for_a_better_model()

    def _model_all_rows(self) -> None:
        """From a sample to cells of the graph of all rows, once the first answers are there."""
        asked = self.core[self._model.asked]
        included = np.concatenate([self.core[self._at[self._include]], asked])
        cells = GraphCells.of(self._all.astype(np.float32), self._rng, included)
        self.core, self._at = cells.core, cells.place
        self._all, self._points = self._all[:0], self._all[self.core].astype(np.float32)
        self._sizes = np.bincount(self._at, minlength=len(self.core))
        self._plain = Graph(self._points, cells.links)
        self._model.asked = self._at[asked].tolist()
        self._misfits.clear()
        self._cloud_table = None  # that of the sample
        self._cells = cells

    def foretell(self, items: Iterable[int]) -> None:
        """Keep what is said of points whose answers came together, before any of them is learned.

        Each is taken as it was when it was shown. Those that are not where they were predicted may
        wait for their group for long, and count from now on; so do those that nobody was sure of.
        """
        if self._model.targets.shape[1] < 2:
            return
        for item in items:
            at = self._at[item]
            if at >= 0 and at not in self._model.asked:
                self._note_said(item)
                assert self._regression_table is not None
                self._foretold[item] = self._regression_table[at], self._cloud_scores()[at]

    def _record(self, item: int) -> None:
        """Keep what was said of a point before its answer.

        Misfits do not count: they are picked because they are likely to be wrong, whatever is said.
        """
        at, k = self._at[item], self._model.targets.shape[1]
        column = self._column(self._names.name_of[item])
        if item in self._foretold:
            regression, clouds = self._foretold.pop(item)
        elif at < 0 or at in self._model.asked or at in self._misfits or k < 2:
            return
        else:
            self._note_said(item)
            if column == k:
                return
            assert self._regression_table is not None
            regression, clouds = self._regression_table[at], self._cloud_scores()[at]
        if column < len(regression):
            self._second.note(float(regression[column]), clouds, column)

    def _note_said(self, item: int) -> None:
        chances = self._chances()[self._at[item]]
        # Not by the row of the core: of copies it may be another that was asked about.
        predicted = self._names.representative(self._names.alive[int(chances.argmax())])
        if predicted != item and item not in self._track:
            self._track.note(item, predicted, float(chances.max()), item in self._drawn)

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
        self._foretold.clear()
        self._forget()

    def end_of_known_answers(self) -> None:
        """What was learned so far are answers from before this run."""
        self._track.end_of_known_answers()

    def rule_out(self, item: int, group: int) -> None:
        """A point is known not to be in a group."""
        self._outside.setdefault(item, set()).add(group)
        self._foretold.pop(item, None)

    def outside(self, item: int) -> set[int]:
        """The groups that a point is known not to be in."""
        return set(self._outside.get(item, ()))

    def told_apart(self) -> None:
        """Two groups are known to be different."""
        self._join_table = None

    def _forget(self) -> None:
        self._chance_table, self._usual_score = None, None
        self._join_table, self._alone_table = None, None
        # Groups that appeared since have no column in it.
        k = self._model.targets.shape[1]
        if self._cloud_table is not None and self._cloud_table.shape[1] != k:
            self._cloud_table = None

    # -- what it says ----------------------------------------------------------------------------

    def candidates(self, item: int, outside: Collection[int]) -> tuple[list[int], FloatArray]:
        """Groups that a point may be in, and their scores, the likeliest first."""
        alive = self._names.alive
        at = self._at[item]
        scores = self._scale() * self._model.mean[at].astype(np.float64)
        if self._second.weight:  # what clouds find as likely as their best gets the best score
            chances = self._chances()[at]
            likely = np.maximum(scores, max(scores.max(), 0.0) * chances / chances.max())
            scores += self._second.weight * (likely - scores)
        order = [g for g in np.argsort(-scores, kind="stable") if alive[g] not in outside]
        return [alive[g] for g in order], scores[order]

    def _scale(self) -> float:
        """With few answers all scores are small, and what counts is their proportion."""
        if self._usual_score is None:
            self._usual_score = float(self._model.mean.max(axis=1, initial=0.0).mean())
        return 1.0 / max(self._usual_score, 0.1)

    def joins(self) -> tuple[FloatArray, IntArray]:
        """(k, k) scores of groups for others that they may be part of, −inf where that is known.

        And the number (k,) of asked members of each.
        """
        if self._join_table is None:
            if self._alone_table is None:
                self._alone_table = self._scale() * self._model.without_own_group()
            found = self._alone_table.copy()
            found[self._names.parted()] = -np.inf
            np.fill_diagonal(found, -np.inf)
            self._join_table = found
        members = np.maximum(self._model.targets.sum(axis=0).astype(np.int64), 1)
        return self._join_table, members

    def same_groups(self) -> FloatArray:
        """(k, k) P(same) of two groups, symmetric; 0 where it is known.

        Of two groups that with fewer asked members may be a part of the other.
        """
        scores, members = self.joins()
        if not len(members):
            return np.zeros((0, 0))
        same = self.sameness.chances(scores, members)
        fewer = members[:, None] < members
        return np.where(fewer, same, np.where(fewer.T, same.T, np.maximum(same, same.T)))

    def alike(self, items: Sequence[int], others: Sequence[int]) -> FloatArray:
        """(len(items), len(others)) how similar points of the core are to others of the core."""
        return self._model.similarity.between(self._at[list(items)], self._at[list(others)])

    def sizes(self) -> dict[int, float]:
        """The number of points of the core that are expected in each group."""
        return dict(zip(self._names.alive, self._chances().sum(axis=0).tolist(), strict=True))

    def chances(self) -> FloatArray:
        """(n, k) probabilities of the groups for all rows."""
        chances = self._chances()
        if self._cells is not None:
            chances = self._cells.extended(chances)
        elif self.is_whole:
            chances = chances[self._at]
        else:
            chances = extended(self._all, self.core, chances.argmax(axis=1), chances)
        for item, groups in self._outside.items():
            if item not in self._names.name_of:
                _drop(chances[item], [self._column(group) for group in groups])
        return chances

    def prediction(self, chances: FloatArray | None = None) -> Prediction:
        """Group and probability for every point of the data; at least one must be known.

        By `chances`, or what somebody who knows more has made of them; -1 where none is left.
        """
        chances = self.chances() if chances is None else chances
        best = chances.argmax(axis=1)
        found = np.where(chances.max(axis=1) > 0, np.array(self._names.alive)[best], -1)
        probability = self._right(chances)
        for item, group in self._names.name_of.items():
            found[item], probability[item] = group, 1.0
        return Prediction(found, probability)

    def _chances(self) -> FloatArray:
        """(m, k) probabilities for the core, of two opinions."""
        if self._chance_table is None:
            found = self._regression_table = self._by_regression()
            if weight := self._second.weight:
                clouds = self._second.calibration.probabilities(self._cloud_scores())
                found = (1.0 - weight) * found + weight * clouds
            self._chance_table = found
        return self._chance_table

    def _by_regression(self) -> FloatArray:
        """(m, k) probabilities, calibrated on asked points scored before they were told.

        By what was said just before each answer, not what is said with an answer left out: points
        are asked about where the model is in doubt, and the doubt is then gone. Misfits do not
        count: they were picked for another reason than their score, and are wrong more often than
        others of the same score.
        """
        truth = self._model.targets.argmax(axis=1)
        fair = np.array([at not in self._misfits for at in self._model.asked], dtype=np.bool_)
        # Nobody can foretell the first member of a group.
        fair[np.unique(truth, return_index=True)[1]] = False
        usual = SHARPNESS * self._scale()
        fitted = Calibration.fitted(self._model.ahead[fair], truth[fair], usual)
        return fitted.probabilities(self._model.mean)

    def _labels(self) -> IntArray:
        """(m,) the likeliest group of each point of the core by the regression, as column."""
        labels = self._model.mean.argmax(axis=1)
        labels[self._model.asked] = self._model.targets.argmax(axis=1)
        return np.asarray(labels)

    def _cloud_scores(self) -> FloatArray:
        stale = len(self._model.asked) - self._clouds_at >= self._clouds_every
        if self._cloud_table is None or stale:
            k = self._model.targets.shape[1]
            self._cloud_table = Clouds(self._points.astype(np.float64), self._labels(), k).scores()
            self._clouds_at = len(self._model.asked)
        return self._cloud_table

    @property
    def _clouds_every(self) -> int:
        return 1 if len(self.core) <= Graph.LARGEST_DENSE else _CLOUDS_EVERY

    # -- where to ask ----------------------------------------------------------------------------

    def next_item(self, skip: Collection[int], under_way: Collection[int] = ()) -> int | None:
        """The point of the core whose answer would teach most; None if all are known or skipped.

        Points whose answers are ``under_way`` are passed over, and what they will explain counts
        as explained.

        The first few are spread over the data. Later ones remove most doubt per question; once
        little is left, every other one is the point that fits its predicted group worst as a
        cloud, as long as clouds describe the answers.
        """
        open_ = self._open((*skip, *under_way))
        candidates = np.flatnonzero(open_)
        if not len(candidates):
            return None
        self._pass_over_start(skip)
        if self._is_spreading:
            weights = self._unexplained(under_way)
            return int(self.core[self._most_spread(candidates, open_, weights=weights)])
        self._turn += 1
        if self._wanted is not None:
            doubtful = self._chances()[candidates].max(axis=1) < _BEYOND_DOUBT
            wanted = candidates[doubtful & self._wanted[self.core[candidates]]]
            candidates = wanted if len(wanted) else candidates
        fits = self._turn % 2 or self.doubt > _MISFITS_BELOW
        at = None if fits else self._worst_fit(candidates)
        if at is None:
            at = self._most_telling(candidates, open_ * self._unexplained(under_way))
        else:
            self._misfits.add(at)
        return int(self.core[at])

    def next_or_drawn_item(self, skip: Collection[int], under_way: Collection[int]) -> int | None:
        """The same, but every eighth is drawn at random, and must be asked about."""
        if self._is_spreading or (self._turn + 1) % DRAWN_EVERY:
            return self.next_item(skip, under_way)
        self._turn += 1
        candidates = np.flatnonzero(self._open((*skip, *under_way)))
        if not len(candidates):
            return None
        item = int(self._rng.choice(self._rows_of(candidates)))
        self._drawn.add(item)
        return item

    @property
    def _is_spreading(self) -> bool:
        return len(self._names.alive) < 2 or self.is_starting

    def drawn_items(self, count: int, skip: Collection[int]) -> list[int]:
        """Points of the core drawn at random among those that nobody was asked about."""
        rows = self._rows_of(np.flatnonzero(self._open(skip)))
        chosen = self._rng.choice(rows, size=min(count, len(rows)), replace=False)
        items = [int(item) for item in chosen]
        self._drawn.update(items)
        return items

    def _rows_of(self, candidates: IntArray) -> IntArray:
        """The rows of points of the core to draw from: of cells all, so that each is as likely."""
        if self._cells is None:
            return self.core[candidates]
        among = np.zeros(len(self.core), dtype=np.bool_)
        among[candidates] = True
        return np.flatnonzero(among[self._at])

    def _open(self, skip: Iterable[int]) -> BoolArray:
        """(core,) the points that nobody was asked about and that are not skipped."""
        open_ = np.ones(len(self.core), dtype=np.bool_)
        open_[self._model.asked] = False
        open_[self._at[[item for item in skip if self._at[item] >= 0]]] = False
        return open_

    def _unexplained(self, under_way: Collection[int]) -> Array:
        """(core,) the share of each point's variance that is left once some points are known."""
        at = self._at[list(under_way)]
        at = at[at >= 0]
        left = np.ones(len(self.core), dtype=np.float32)
        if len(at):
            covariance = self._model.covariance(at)
            own = np.maximum(covariance[np.arange(len(at)), at], 0.0) + NOISE
            known = covariance**2 / np.outer(own, np.maximum(self._model.variance, NOISE))
            left = np.prod(1.0 - np.minimum(known, 1.0), axis=0)
        return left

    def _wants_more_spread(self) -> bool:
        """Whether more of the first points are worth asking about.

        As many points as they are may have been asked for another reason, such as an attempt at
        proofs. If most of them are alone in their groups, there are many groups to be met.
        """
        n_asked = len(self._model.asked)
        alone = int(np.count_nonzero(self._model.targets.sum(axis=0) == 1))
        return n_asked < self._n_start or (2 * alone > n_asked and n_asked < 2 * self._n_start)

    def _pass_over_start(self, items: Iterable[int]) -> None:
        """Points that are known, or that nobody can place, are not to come any more."""
        if self._start:
            gone = {int(self._at[item]) for item in items}
            self._start = [at for at in self._start if at not in gone]

    def spread_items(self, count: int, skip: Collection[int]) -> list[int]:
        """So many of the first points at once, each as if those before it were known."""
        taken = [int(self._at[item]) for item in skip if self._at[item] >= 0]
        self._pass_over_start(skip)
        left = list(self._start)
        if not self._starts_by_cells:
            scratch = GaussianProcess(self._model.similarity, len(self.core), 1)
            for at in self._model.asked:
                scratch.learn(at, 0)
            while len(left) < count:
                open_ = np.ones(len(self.core), dtype=np.bool_)
                open_[[*taken, *scratch.asked]] = False
                if not open_.any():
                    break
                left.append(self._most_spread(np.flatnonzero(open_), open_, scratch))
                scratch.learn(left[-1], 0)
        return [int(self.core[at]) for at in left[:count]]

    def _most_spread(
        self,
        candidates: IntArray,
        open_: BoolArray,
        of: GaussianProcess | None = None,
        weights: Array | None = None,
    ) -> int:
        if self._starts_by_cells:
            spread = [at for at in self._start if open_[at]]
            return spread[0] if spread else int(self._rng.choice(candidates))
        count = min(_START_CANDIDATES, 2 * len(candidates) // 3 + 1)
        some = self._rng.choice(candidates, size=count, replace=False)
        model = self._model if of is None else of
        weights = np.ones(len(self.core)) if weights is None else weights
        return int(some[model.gain(some, weights).argmax()])

    def _most_telling(self, candidates: IntArray, open_: Array) -> int:
        """The point whose answer removes most doubt per question, of the share that is open.

        Points that nearly every group might have, or none, take many questions and tell little
        about others, so that doubt alone is a bad guide.
        """
        chances = Calibration(_STEERING_SHARPNESS, 0.0).probabilities(self._model.mean)
        doubt = (open_ * (1.0 - chances.max(axis=1))).astype(np.float32)
        near = (doubt * self.graph.around(doubt))[candidates]
        order = np.argsort(-near, kind="stable")[:_DOUBTFUL]
        ease = 1.0 / self._questions_to_place(candidates[order])
        tried = _CANDIDATES if self.graph.is_dense else _SOLVED_FOR
        best = np.argsort(-near[order] * ease, kind="stable")[:tried]
        some = candidates[order[best]]
        return int(some[(self._model.gain(some, doubt) * ease[best]).argmax()])

    def _questions_to_place(self, at: IntArray) -> FloatArray:
        """(m,) the expected number of questions until points of the core are placed."""
        scores = self._scale() * self._model.mean[at].astype(np.float64)
        for row, one in enumerate(self.core[at].tolist()):
            scores[row, [self._column(group) for group in self.outside(one)]] = -np.inf
        same = self.sameness.chances(scores, np.zeros(len(at), dtype=np.int64))
        return np.asarray(np.maximum(expected_questions(same), 1.0))

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
        asked, part = np.array(self._model.asked), np.arange(len(self.core))
        if not self.graph.is_dense:
            part = np.union1d(asked, self._rng.permutation(len(self.core))[:_COMPARED_ON])
        labels, sure = self._labels(), self._chances().max(axis=1)
        trusted = sure >= np.quantile(sure, 1.0 - _TRUSTED)
        round_ = whitened(self._points.astype(np.float64), labels, trusted).astype(np.float32)
        errors, graphs = {}, {}
        for white, points in ((False, self._points), (True, round_)):
            known = self.graph.is_dense and not white
            graphs[white] = self.graph if known else Graph(points[part])
            for kind in Similarity.kinds:
                offered = Similarity.of(kind, graphs[white], points[part])
                at = np.searchsorted(part, asked)
                bonus = _STAYING * ((kind, white) == self._kind) + _GRAPH * (kind == "graph")
                errors[kind, white] = self._error(offered.among(at)) - bonus
        self._kind = kind, white = min(errors, key=errors.__getitem__)
        points = round_ if white else self._points
        if not white or kind == "rbf":
            chosen = self.graph
        else:
            chosen = graphs[white] if self.graph.is_dense else Graph(points)
        self._use(Similarity.of(kind, chosen, points))

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
