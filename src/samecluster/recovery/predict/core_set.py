"""More rows than can be compared: which of them are modelled, and what those say of the others.

With a library for neighbours of many rows all are in the graph, and neighbours are modelled
together as cells of it (`GraphCells`). Without it, and until there is a graph, a sample is modelled
and the others go with the nearest of it. Memory and time never grow with n².
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.recovery.distances import nearest, nearest_of_many
from samecluster.recovery.predict.calibration import CLOUD_SHARPNESS, SHARPNESS, Calibration
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.graph import NEIGHBOURS, Graph, edge_weights
from samecluster.recovery.predict.similarity import features, whitened

_LARGEST = 50_000  # rows whose neighbours are found by comparing all pairs
_DIRECTIONS_OF = 4000  # rows whose principal directions are taken
# Points that are modelled of more than the largest number: with 10⁶ rows the nearest of the core
# are found in about as long as the graph of 50,000 rows takes
_CORE = 5000
# Share of the core that keeps the proportions of groups; the rest finds small ones that lie apart
_AT_RANDOM = 0.75
# Rows from which far ones are chosen: distances to the core of all rows would cost a pass over n
_DRAWN_FROM = 8 * _CORE
_NEIGHBOURS = 5  # of the core that speak for a point outside; chosen by benchmarks/predict
# By how much clouds must be better: a tie goes to the votes, which assume less
_NEIGHBOURS_FIRST = 0.002
# Decimal digits after which equal rows agree: single precision of features of mean square 1
_DIGITS = 7
_COPY = 1e-12  # squared, in features of mean square 1
# Cells of the graph of all rows: an answer is followed by as much work as with so many rows
_CELLS = 20_000


class ModelledRows:
    """Which rows are modelled, the *core*, and what the core says of all.

    Up to 50,000 rows all are, copies once. Of more a core of 5,000 is, and cells of the graph of
    all once `become_cells` was called. Rows to ``include`` are in the core.

    Attributes
    ----------
    core : (m,) the rows that are modelled
    place : (n,) the place of each row in the core; −1 where it has none
    points : (m, r) features of the core, in single precision
    sizes : (m,) the number of rows of each cell; None as long as there are no cells
    """

    def __init__(self, X: FloatArray, rng: np.random.Generator, include: Sequence[int]) -> None:
        self._rng = rng
        some = np.sort(rng.permutation(len(X))[:_DIRECTIONS_OF])
        self._features = features(X, some)
        self._include = np.asarray(include, dtype=np.int64)
        self.core, self.place = core_of(self._features, _LARGEST, rng, self._include)
        self.points = self._features[self.core].astype(np.float32)
        self.sizes: IntArray | None = None
        self._cells: GraphCells | None = None
        self._graph: Graph | None = None

    @property
    def graph(self) -> Graph:
        """The neighbour graph of the core, made when it is wanted for the first time."""
        if self._graph is None:
            self._graph = Graph(self.points)
        return self._graph

    @property
    def has_graph(self) -> bool:
        return self._graph is not None

    @property
    def are_few(self) -> bool:
        """Whether all similarities of the core are worked out at once."""
        return len(self.core) <= Graph.LARGEST_DENSE

    @property
    def are_whole(self) -> bool:
        """Whether every row, or a copy of it, is in the core."""
        return bool((self.place >= 0).all())

    @property
    def follow_at_once(self) -> bool:
        """Whether all rows are predicted after every answer: of very many that takes too long."""
        return len(self.place) <= _LARGEST

    def become_cells(self, asked: Sequence[int]) -> list[int]:
        """From a sample to cells of the graph of all rows; the new places of asked points."""
        rows = self.core[asked]
        included = np.concatenate([self.core[self.place[self._include]], rows])
        cells = GraphCells.of(self._features.astype(np.float32), self._rng, included)
        self.core, self.place = cells.core, cells.place
        self.points = self._features[self.core].astype(np.float32)
        self._features = self._features[:0]  # cells know all rows
        self.sizes = np.bincount(self.place, minlength=len(self.core))
        self._graph, self._cells = Graph(self.points, cells.links), cells
        return [int(at) for at in self.place[rows]]

    def places_of(self, items: Iterable[int]) -> list[int]:
        """Of those that have one."""
        return [int(self.place[item]) for item in items if self.place[item] >= 0]

    def rows_of(self, places: IntArray) -> IntArray:
        """The rows at some places: of cells all, so that each is as likely to be drawn."""
        if self.sizes is None:
            return self.core[places]
        among = np.zeros(len(self.core), dtype=np.bool_)
        among[places] = True
        return np.flatnonzero(among[self.place])

    def open_places(self, asked: Sequence[int], skip: Iterable[int]) -> BoolArray:
        """(m,) the points of the core that are neither asked nor among the rows to skip."""
        open_ = np.ones(len(self.core), dtype=np.bool_)
        open_[asked] = False
        open_[self.places_of(skip)] = False
        return open_

    def share_unasked(self, asked: Sequence[int], doubts: FloatArray) -> float:
        """The mean of doubts (m,) over all rows but the asked ones, which have none."""
        if self.sizes is None:
            doubts = doubts.copy()
            doubts[asked] = 0.0
            return float(doubts.mean())
        return float(doubts @ self._n_unasked(asked) / len(self.place))

    def share_beside(self, asked: Sequence[int]) -> float:
        """The share of rows that are in a cell with an asked one and were not asked themselves."""
        if self.sizes is None:
            return 0.0
        return float(self._n_unasked(asked)[np.unique(asked)].sum() / len(self.place))

    def _n_unasked(self, asked: Sequence[int]) -> IntArray:
        """(m,) how many rows of each cell nobody was asked about."""
        assert self.sizes is not None
        return self.sizes - np.bincount(asked, minlength=len(self.core))

    def extended(self, chances: FloatArray) -> FloatArray:
        """(n, k) probabilities for all rows from those (m, k) of the core."""
        if self._cells is not None:
            return self._cells.extended(chances)
        if self.are_whole:
            return chances[self.place]
        return extended(self._features, self.core, chances.argmax(axis=1), chances)


def core_of(
    points: FloatArray, largest: int, rng: np.random.Generator, include: IntArray
) -> tuple[IntArray, IntArray]:
    """The rows to model, in order, and each row's place among them: −1 where it has none.

    All if there are at most ``largest``, otherwise 5,000, three quarters of them at random and the
    others far from those, so that a small cluster that lies apart is in the core too. Rows to
    ``include`` come on top. Copies are modelled once.
    """
    n = len(points)
    rows = np.arange(n) if n <= largest else np.union1d(_scattered(points, rng), include)
    first, copy_of = _distinct(points[rows])
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = copy_of
    return rows[first], place


def _distinct(points: FloatArray) -> tuple[IntArray, IntArray]:
    """The first row of all that are equal, in order, and which of these each row is."""
    # Features of equal rows may differ in the last bits.
    _, first, copy_of = np.unique(
        points.round(_DIGITS), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    return first[order], np.argsort(order)[copy_of.ravel()]


@dataclass(frozen=True, eq=False)
class GraphCells:
    """All rows, as cells of their neighbour graph: each row is with one that it can walk to.

    Attributes
    ----------
    core : (m,) the row that stands for each cell
    place : (n,) the cell of each row
    links : sparse (m, m), the weight of the edges between the rows of two cells
    """

    core: IntArray
    place: Array
    links: Any
    _copy_of: IntArray
    _mixture: Any

    @classmethod
    def of(cls, points: Array, rng: np.random.Generator, include: IntArray) -> GraphCells:
        """Cells of points (n, r); rows to ``include`` stand for cells of their own."""
        from scipy import sparse  # slow to load, and no first question needs it

        first, copy_of = _distinct(points)
        numbers, squares = nearest_of_many(points[first], NEIGHBOURS)
        seeds, cell = _grown(numbers, rng, np.unique(copy_of[include]))
        weights = edge_weights(numbers, squares)
        n, m = len(first), len(seeds)
        beyond = cell[numbers]
        rows = np.repeat(cell, NEIGHBOURS)
        links = sparse.csr_array((weights.ravel(), (rows, beyond.ravel())), shape=(m, m))
        links = links + links.T
        links.setdiag(0.0)
        links.eliminate_zeros()
        # What is said of a row is a mean over its own cell and those of its neighbours.
        shares = np.column_stack([np.ones(n, dtype=np.float32), weights])
        shares /= shares.sum(axis=1, keepdims=True)
        cells = np.column_stack([cell, beyond])
        bounds = np.arange(0, shares.size + 1, shares.shape[1])
        mixture = sparse.csr_array((shares.ravel(), cells.ravel(), bounds), shape=(n, m))
        return cls(first[seeds], cell[copy_of], links.tocsr(), copy_of, mixture)

    def extended(self, chances: FloatArray) -> FloatArray:
        """(n, k) probabilities for all rows from those (m, k) of cells."""
        return np.asarray((self._mixture @ chances.astype(np.float32))[self._copy_of])


def _grown(numbers: Array, rng: np.random.Generator, include: IntArray) -> tuple[IntArray, Array]:
    """Rows that cells grow from, and the cell of each of n rows, by neighbours (n, c), near first.

    Most are drawn at random, so that cells are as dense as the rows. A row joins the cell of the
    nearest neighbour that has one; where no row of a part of the graph has one, some are drawn.
    """
    n = len(numbers)
    cell = np.full(n, -1, dtype=np.int32)
    drawn = rng.choice(n, size=min(n, _CELLS), replace=False)
    seeds = np.union1d(drawn, include)
    cell[seeds] = np.arange(len(seeds))
    while len(open_ := np.flatnonzero(cell < 0)):
        around = cell[numbers[open_]]
        nearest_one = (around >= 0).argmax(axis=1)
        found = around[np.arange(len(open_)), nearest_one]
        if (found < 0).all():
            more = rng.choice(open_, size=1 + len(open_) * _CELLS // n, replace=False)
            cell[more] = np.arange(len(seeds), len(seeds) + len(more))
            seeds = np.concatenate([seeds, more])
        else:
            cell[open_] = found
    return seeds, cell


def _scattered(points: FloatArray, rng: np.random.Generator) -> IntArray:
    drawn = rng.choice(len(points), size=min(len(points), _DRAWN_FROM), replace=False)
    usual, others = np.split(drawn, [int(_AT_RANDOM * _CORE)])
    away = nearest(points[others], points[usual], 1)[1][:, 0]
    away[away < _COPY] = 0.0
    count = min(_CORE - len(usual), int(np.count_nonzero(away)))
    if not count:
        return np.asarray(usual)
    chosen = rng.choice(others, size=count, replace=False, p=away / away.sum())
    return np.concatenate([usual, chosen])


def extended(
    points: FloatArray, core: IntArray, labels: IntArray, chances: FloatArray
) -> FloatArray:
    """(n, k) probabilities for all points (n, r) from those of the core.

    Parameters
    ----------
    points : (n, r) features
    core : (m,) rows
    labels : (m,) group of each point of the core, from 0 to k−1
    chances : (m, k) probabilities of the groups

    The others go with the nearest five of the core, plain or whitened, or with the clouds:
    whichever is right most often about points of the core that are left out.
    """
    n, k = len(points), chances.shape[1]
    targets = np.eye(k)[labels]
    certain = chances[np.arange(len(core)), labels]
    rest = np.setdiff1d(np.arange(n), core)
    spaces = [points, _whitened_by(points, core, labels)]
    votes = [_Votes(space[core], space[core], own=True).of(targets) for space in spaces]
    better = int(np.argmin([_error(vote, labels) for vote in votes]))
    nearby = _Votes(spaces[better][rest], spaces[better][core])
    clouds = Clouds(points[core], labels, k)
    if _error(clouds.scores(), labels) + _NEIGHBOURS_FIRST < _error(votes[better], labels):
        trust = Calibration.fitted(clouds.scores(), labels, CLOUD_SHARPNESS)
        agreeing = trust.probabilities(clouds.scores_of(points[rest]))
    else:
        trust = Calibration.fitted(votes[better], labels, SHARPNESS)
        agreeing = trust.probabilities(nearby.of(targets))
    found = np.zeros((n, k))
    found[core] = chances
    # To be right, a point must agree with the core around it, and the core must be right there.
    found[rest] = agreeing * nearby.of(certain[:, None])
    found[rest[nearby.copies]] = chances[nearby.closest[nearby.copies]]
    return found


class _Votes:
    """Weighted means over the nearest five of the core, each with weight 1 / distance².

    ``copies`` are the points that stand in the core already, as its ``closest`` member.
    """

    def __init__(self, points: FloatArray, core: FloatArray, own: bool = False) -> None:
        count = min(_NEIGHBOURS, len(core) - own)
        self._numbers, squares = nearest(points, core, count, own)
        self.closest, self.copies = self._numbers[:, 0], squares[:, 0] < _COPY
        weights = 1.0 / np.maximum(squares, _COPY)
        self._weights = weights / weights.sum(axis=1, keepdims=True)

    def of(self, values: FloatArray) -> FloatArray:
        """(n, k) from values (m, k) of the core."""
        found = np.zeros((len(self._numbers), values.shape[1]))
        for rank in range(self._numbers.shape[1]):
            found += self._weights[:, [rank]] * values[self._numbers[:, rank]]
        return found


def _whitened_by(points: FloatArray, core: IntArray, labels: IntArray) -> FloatArray:
    groups, trusted = np.zeros(len(points), dtype=np.int64), np.zeros(len(points), dtype=np.bool_)
    groups[core], trusted[core] = labels, True
    return whitened(points, groups, trusted)


def _error(scores: FloatArray, labels: IntArray) -> float:
    return float(np.mean(scores.argmax(axis=1) != labels))
