"""Which point to ask about next.

The first few are spread over the data. Later ones remove most doubt per question; once little is
left, every other one is the point that fits its predicted group worst as a cloud, as long as clouds
describe the answers. Some are drawn at random, so that it is known what nobody looked for.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from samecluster._typing import Array, BoolArray, IntArray
from samecluster.recovery.predict.calibration import Calibration
from samecluster.recovery.predict.certainty import DRAWN_EVERY
from samecluster.recovery.predict.choice.spread import FirstPoints
from samecluster.recovery.predict.core_model import CoreModel
from samecluster.recovery.predict.core_set import ModelledRows
from samecluster.recovery.predict.gaussian_process import NOISE, GaussianProcess

# Spread points before doubt steers, and how many candidates for each; chosen by benchmarks/predict
_START, _START_CANDIDATES = 12, 1000
# Points with most doubt around them, of which those are tried that questions place soonest; fewer
# where rows have to be solved for
_DOUBTFUL, _CANDIDATES, _SOLVED_FOR = 200, 30, 4
# Doubt below which every other point is a misfit: before, points that fit nowhere teach nothing
_MISFITS_BELOW = 0.05
_BEYOND_DOUBT = 0.999  # probability of its own group above which no point is a misfit
_WORTH_HEARING = 0.05  # how much worse clouds may be and still point at misfits
# For choosing questions only: sharper than calibrated, so that near ties count most
_STEERING_SHARPNESS = 12.0


class PointChoice:
    """Chooses rows of a model; those marked in ``first`` (n,) before others, if in doubt.

    Attributes
    ----------
    drawn : rows that were drawn at random
    """

    def __init__(
        self,
        rows: ModelledRows,
        core: CoreModel,
        rng: np.random.Generator,
        first: BoolArray | None = None,
    ) -> None:
        self._rows, self._core, self._rng, self._wanted = rows, core, rng, first
        self._first = None if rows.are_few else FirstPoints(rows.points, rng)
        self._turn = 0
        self.drawn: set[int] = set()

    @property
    def is_starting(self) -> bool:
        """Whether the first points, spread over the data, are still to come."""
        to_come = self._first is not None and bool(self._first.left)
        return to_come or len(self._core.asked) < min(_START, len(self._rows.core))

    @property
    def _is_spreading(self) -> bool:
        return self._core.n_groups < 2 or self.is_starting

    def learned(self, item: int) -> None:
        """A row got a name."""
        if self._first is not None:
            self._pass_over([item])
            self._first.learned(self._core.regression.targets)

    def next_item(self, skip: Collection[int], under_way: Collection[int] = ()) -> int | None:
        """The row whose answer would teach most; None if all are known or skipped.

        Rows whose answers are ``under_way`` are passed over, and what they will explain counts as
        explained.
        """
        open_ = self._open((*skip, *under_way))
        candidates = np.flatnonzero(open_)
        if not len(candidates):
            return None
        self._pass_over(skip)
        if self._is_spreading:
            unexplained = self._unexplained(under_way)
            return int(self._rows.core[self._most_spread(candidates, open_, unexplained)])
        self._turn += 1
        candidates = self._wanted_of(candidates)
        at = self._misfit(candidates)
        if at is None:
            at = self._most_telling(candidates, open_ * self._unexplained(under_way))
        return int(self._rows.core[at])

    def next_or_drawn_item(self, skip: Collection[int], under_way: Collection[int]) -> int | None:
        """The same, but every eighth is drawn at random, and must be asked about."""
        if self._is_spreading or (self._turn + 1) % DRAWN_EVERY:
            return self.next_item(skip, under_way)
        self._turn += 1
        candidates = np.flatnonzero(self._open((*skip, *under_way)))
        if not len(candidates):
            return None
        item = int(self._rng.choice(self._rows.rows_of(candidates)))
        self.drawn.add(item)
        return item

    def drawn_items(self, count: int, skip: Collection[int]) -> list[int]:
        """Rows drawn at random among those that nobody was asked about."""
        rows = self._rows.rows_of(np.flatnonzero(self._open(skip)))
        chosen = self._rng.choice(rows, size=min(count, len(rows)), replace=False)
        items = [int(item) for item in chosen]
        self.drawn.update(items)
        return items

    def spread_items(self, count: int, skip: Collection[int]) -> list[int]:
        """So many of the first points at once, each as if those before it were known."""
        if self._first is not None:
            self._pass_over(skip)
            chosen = self._first.left
        else:
            chosen = self._spread_by_gain(count, skip)
        return [int(self._rows.core[at]) for at in chosen[:count]]

    def _open(self, skip: Collection[int]) -> BoolArray:
        return self._rows.open_places(self._core.asked, skip)

    def _pass_over(self, skip: Collection[int]) -> None:
        if self._first is not None:
            self._first.pass_over(self._rows.places_of(skip))

    def _wanted_of(self, candidates: IntArray) -> IntArray:
        """Those that come before others, if any of them is in doubt."""
        if self._wanted is None:
            return candidates
        doubtful = self._core.chances()[candidates].max(axis=1) < _BEYOND_DOUBT
        wanted = candidates[doubtful & self._wanted[self._rows.core[candidates]]]
        return wanted if len(wanted) else candidates

    def _unexplained(self, under_way: Collection[int]) -> Array:
        """(m,) the share of each point's variance that is left once some points are known."""
        at, regression = np.array(self._rows.places_of(under_way)), self._core.regression
        if not len(at):
            return np.ones(len(self._rows.core), dtype=np.float32)
        covariance = regression.covariance(at)
        own = np.maximum(covariance[np.arange(len(at)), at], 0.0) + NOISE
        known = covariance**2 / np.outer(own, np.maximum(regression.variance, NOISE))
        return np.asarray(np.prod(1.0 - np.minimum(known, 1.0), axis=0))

    # -- spread over the data --------------------------------------------------------------------

    def _most_spread(self, candidates: IntArray, open_: BoolArray, unexplained: Array) -> int:
        if self._first is None:
            return self._most_gain(self._core.regression, candidates, unexplained)
        spread = [at for at in self._first.left if open_[at]]
        return spread[0] if spread else int(self._rng.choice(candidates))

    def _most_gain(self, regression: GaussianProcess, candidates: IntArray, weights: Array) -> int:
        """Of some candidates that whose answer would explain most of all points, weighted."""
        count = min(_START_CANDIDATES, 2 * len(candidates) // 3 + 1)
        some = self._rng.choice(candidates, size=count, replace=False)
        return int(some[regression.gain(some, weights).argmax()])

    def _spread_by_gain(self, count: int, skip: Collection[int]) -> list[int]:
        n, regression = len(self._rows.core), self._core.regression
        scratch = GaussianProcess(regression.similarity, n, 1)
        for at in self._core.asked:
            scratch.learn(at, 0)
        chosen: list[int] = []
        while len(chosen) < count:
            open_ = self._rows.open_places(scratch.asked, skip)
            if not open_.any():
                break
            chosen.append(self._most_gain(scratch, np.flatnonzero(open_), np.ones(n)))
            scratch.learn(chosen[-1], 0)
        return chosen

    # -- by doubt --------------------------------------------------------------------------------

    def _most_telling(self, candidates: IntArray, open_: Array) -> int:
        """The point whose answer removes most doubt per question, of the share that is open.

        Points that nearly every group might have, or none, take many questions and tell little
        about others, so that doubt alone is a bad guide.
        """
        regression, graph = self._core.regression, self._rows.graph
        chances = Calibration(_STEERING_SHARPNESS, 0.0).probabilities(regression.mean)
        doubt = (open_ * (1.0 - chances.max(axis=1))).astype(np.float32)
        near = (doubt * graph.around(doubt))[candidates]
        order = np.argsort(-near, kind="stable")[:_DOUBTFUL]
        ease = 1.0 / self._core.questions_to_place(candidates[order])
        tried = _CANDIDATES if graph.is_dense else _SOLVED_FOR
        best = np.argsort(-near[order] * ease, kind="stable")[:tried]
        some = candidates[order[best]]
        return int(some[(regression.gain(some, doubt) * ease[best]).argmax()])

    def _misfit(self, candidates: IntArray) -> int | None:
        """Every other time, where little is in doubt: the point that fits its group worst."""
        core = self._core
        if self._turn % 2 or core.doubt > _MISFITS_BELOW:
            return None
        if core.error_of_clouds() > core.error_with(core.regression.alike) + _WORTH_HEARING:
            return None
        chances = Calibration(1.0, 0.0).probabilities(core.clouds()[candidates])
        own = chances[np.arange(len(candidates)), core.labels()[candidates]]
        if own.min() >= _BEYOND_DOUBT:
            return None
        at = int(candidates[own.argmin()])
        core.misfits.add(at)
        return at
