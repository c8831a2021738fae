"""A model of the clusters from the answers so far: labels with probabilities, and where to ask.

Knows nothing of questions or of who asks: it is told that a point got a name in `ClusterNames`, or
that a point is not in a group. What it says is never trusted for more than a prediction.

Whoever chooses questions needs of it only what `GroupModel` names; either side can be changed
alone. `core_set` says which rows are modelled, `core_model` what is known of these, and `choice`
which of them to ask about and by which similarity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from samecluster._extras import has_faiss
from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.choice.point_choice import PointChoice
from samecluster.recovery.predict.choice.similarity_choice import SimilarityChoice
from samecluster.recovery.predict.core_model import CoreModel
from samecluster.recovery.predict.core_set import ModelledRows
from samecluster.recovery.predict.similarity import Similarity

_FEW = 6  # asked points; with fewer the calibration has nothing to hold on to


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

    ``include`` are rows that must be modelled; only what is known about the core of `ModelledRows`
    teaches the model. Rows marked in ``first`` (n,) are asked about before others, if in doubt.

    Attributes
    ----------
    rows : which rows are modelled
    core : what is known of these
    points : which of them to ask about

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
        self._names = names
        names.on_merge(self._merge)
        self.rows = ModelledRows(X, rng, include)
        self.core = CoreModel(self.rows, names)
        self.points = PointChoice(self.rows, self.core, rng, first)
        self._similarity = SimilarityChoice(self.rows, self.core, rng)
        # What the regression and clouds say of points whose answers have come and are not taken in.
        self._foretold: dict[int, tuple[FloatArray, FloatArray]] = {}

    @property
    def is_starting(self) -> bool:
        """Whether the first points, spread over the data, are still to come."""
        return self.points.is_starting

    @property
    def knows_little(self) -> bool:
        """Whether too few points were asked for probabilities to mean anything."""
        return len(self.core.asked) < min(_FEW, len(self.rows.core))

    @property
    def expected_error(self) -> float:
        """The share of modelled points whose label is expected to be wrong, among known groups."""
        doubts = 1.0 - self.core.right(self.core.chances())
        return self.rows.share_unasked(self.core.asked, doubts)

    @property
    def n_records(self) -> int:
        """Answers that what was said before can be compared with."""
        return len(self.core.track)

    def unseen(self) -> float | None:
        """At most this share of the rows is in groups that nobody has met, at 95 %.

        None as long as no row was drawn at random. The others of a cell with an asked row are not
        drawn any more, and count as if they were in such groups.
        """
        share, asked = self.core.track.unseen(), self.core.asked
        if share is None:
            return None
        if self.rows.sizes is None:
            return share * (1.0 - len(set(asked)) / len(self.rows.core))
        return min(share + self.rows.share_beside(asked), 1.0)

    # -- what is told ----------------------------------------------------------------------------

    def learn(self, item: int) -> None:
        """A point got a name, perhaps a new one."""
        self._record(item)
        self.core.learn(item)
        self.points.learned(item)
        if self.is_starting:
            return
        if not self.rows.has_graph:
            if not self.rows.are_whole and has_faiss():
                self.core.become_cells()
            self.core.use(Similarity(self.rows.graph, None))
        self._similarity.learned()

    def foretell(self, items: Iterable[int]) -> None:
        """Keep what is said of points whose answers came together, before any of them is learned.

        Each is taken as it was when it was shown. Those that are not where they were predicted may
        wait for their group for long, and count from now on; so do those that nobody was sure of.
        """
        if self.core.n_groups < 2:
            return
        for item in items:
            at = int(self.rows.place[item])
            if at >= 0 and at not in self.core.asked:
                self._note_said(item)
                self._foretold[item] = self.core.by_regression()[at], self.core.clouds()[at]

    def _record(self, item: int) -> None:
        """Keep what was said of a point before its answer; misfits do not count."""
        at, core = int(self.rows.place[item]), self.core
        column = core.column_of(self._names.name_of[item])
        if item in self._foretold:
            regression, clouds = self._foretold.pop(item)
        elif at < 0 or at in core.asked or at in core.misfits or core.n_groups < 2:
            return
        else:
            self._note_said(item)
            if column == core.n_groups:
                return
            regression, clouds = core.by_regression()[at], core.clouds()[at]
        if column < len(regression):
            core.second.note(float(regression[column]), clouds, column)

    def _note_said(self, item: int) -> None:
        chances, track = self.core.chances()[self.rows.place[item]], self.core.track
        # Not by the row of the core: of copies it may be another that was asked about.
        predicted = self._names.representative(self._names.alive[int(chances.argmax())])
        if predicted != item and item not in track:
            track.note(item, predicted, float(chances.max()), item in self.points.drawn)

    def _merge(self, kept: int, gone: int) -> None:
        self.core.merge(kept, gone)
        self._foretold.clear()

    def end_of_known_answers(self) -> None:
        """What was learned so far are answers from before this run."""
        self.core.track.end_of_known_answers()

    def rule_out(self, item: int, group: int) -> None:
        """A point is known not to be in a group."""
        self.core.outside.setdefault(item, set()).add(group)
        self._foretold.pop(item, None)

    def outside(self, item: int) -> set[int]:
        """The groups that a point is known not to be in."""
        return set(self.core.outside.get(item, ()))

    # -- what it says ----------------------------------------------------------------------------

    def candidates(self, item: int, outside: Collection[int]) -> tuple[list[int], FloatArray]:
        """Groups that a point may be in, and their scores, the likeliest first."""
        return self.core.candidates(int(self.rows.place[item]), outside)

    def same_groups(self) -> FloatArray:
        """(k, k) P(same) of two groups, symmetric; 0 where it is known."""
        return self.core.same_groups()

    def alike(self, items: Sequence[int], others: Sequence[int]) -> FloatArray:
        """(len(items), len(others)) how similar points of the core are to others of the core."""
        place = self.rows.place
        return self.core.regression.similarity.between(place[list(items)], place[list(others)])

    def sizes(self) -> dict[int, float]:
        """The number of points of the core that are expected in each group."""
        sizes = self.core.chances().sum(axis=0).tolist()
        return dict(zip(self._names.alive, sizes, strict=True))

    def chances(self) -> FloatArray:
        """(n, k) probabilities of the groups for all rows."""
        chances = self.rows.extended(self.core.chances())
        for item, groups in self.core.outside.items():
            if item not in self._names.name_of:
                _drop(chances[item], [self.core.column_of(group) for group in groups])
        return chances

    def prediction(self, chances: FloatArray | None = None) -> Prediction:
        """Group and probability for every point of the data; at least one must be known.

        By `chances`, or what somebody who knows more has made of them; -1 where none is left.
        """
        chances = self.chances() if chances is None else chances
        best = chances.argmax(axis=1)
        found = np.where(chances.max(axis=1) > 0, np.array(self._names.alive)[best], -1)
        probability = self.core.right(chances)
        for item, group in self._names.name_of.items():
            found[item], probability[item] = group, 1.0
        return Prediction(found, probability)

    # -- where to ask ----------------------------------------------------------------------------

    def next_item(self, skip: Collection[int]) -> int | None:
        """The row whose answer would teach most; None if all are known or skipped."""
        return self.points.next_item(skip)

    def drawn_items(self, count: int, skip: Collection[int]) -> list[int]:
        """Rows drawn at random among those that nobody was asked about."""
        return self.points.drawn_items(count, skip)


def _drop(chances: FloatArray, columns: list[int]) -> None:
    """Share out among the other groups what a point (k,) has in groups that are ruled out."""
    total, left = chances.sum(), np.delete(chances, columns).sum()
    if left > 0:
        chances[columns] = 0.0
        chances *= total / left
