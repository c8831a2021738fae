"""The model of the rows that are modelled: what is known of them, and what follows of the others.

Regression on similarities gives each group a score; clouds are a second opinion, heard as far as
they were right before. Groups are columns here, in the order of the names that are alive.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.calibration import SHARPNESS, Calibration
from samecluster.recovery.predict.certainty import SecondOpinion, Track
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.core_set import ModelledRows
from samecluster.recovery.predict.gaussian_process import GaussianProcess, left_out
from samecluster.recovery.predict.sameness import Sameness, expected_questions
from samecluster.recovery.predict.similarity import Similarity

_CLOUDS_EVERY = 5  # answers: clouds of thousands of points hardly move with one


class CoreModel:
    """What answers say about the points of the core.

    Attributes
    ----------
    regression : scores of the groups
    second : how far clouds are heard
    sameness : P(same) from scores
    outside : the groups, by name, that items are known not to be in
    track : what was said before each answer
    misfits : points that were asked about because they fit their group worst. They count neither
        for calibration nor in ``track``: they are likely to be wrong, whatever is said of them
    """

    def __init__(self, rows: ModelledRows, names: ClusterNames) -> None:
        self._rows, self._names = rows, names
        # The first questions about many points come before the graph is there.
        by_graph = Similarity(rows.graph, None) if rows.are_few else None
        self.regression = GaussianProcess(by_graph or Similarity(None, rows.points), len(rows.core))
        self.second = SecondOpinion()
        self.sameness = Sameness()
        self.outside: dict[int, set[int]] = {}
        self.track = Track(names, self.outside)
        self.misfits: set[int] = set()
        # Worked out when wanted, and good until something is told.
        self._chances: FloatArray | None = None
        self._by_regression: FloatArray | None = None
        self._clouds: FloatArray | None = None
        self._clouds_at = 0
        self._scale: float | None = None
        self._joins: FloatArray | None = None
        self._scores_alone: FloatArray | None = None  # joins before what is known

    @property
    def asked(self) -> list[int]:
        """The points of the core whose group is known, in the order of the answers."""
        return self.regression.asked

    @property
    def n_groups(self) -> int:
        return int(self.regression.targets.shape[1])

    def column_of(self, group: int) -> int:
        return self._names.alive.index(group)

    # -- what is told ----------------------------------------------------------------------------

    def learn(self, item: int) -> None:
        """A row got a name, perhaps a new one; only those of the core teach."""
        column, at = self.column_of(self._names.name_of[item]), int(self._rows.place[item])
        if column == self.n_groups:
            self.regression.add_group()
        if at >= 0:
            self.regression.learn(at, column)
        self._forget()

    def merge(self, kept: int, gone: int) -> None:
        """Two names are those of one group."""
        self.regression.merge(self.column_of(kept), self.column_of(gone))
        for groups in self.outside.values():
            if gone in groups:
                groups.remove(gone)
                groups.add(kept)
        self._clouds = None
        self._forget()

    def told_apart(self) -> None:
        """Two groups are known to be different."""
        self._joins = None

    def become_cells(self) -> None:
        """The rows that are modelled change: from a sample to cells of the graph of all."""
        self.regression.asked = self._rows.become_cells(self.asked)
        self.misfits.clear()
        self._clouds = None  # those of the sample

    def use(self, similarity: Similarity) -> None:
        """All answers so far with another similarity."""
        self.regression = GaussianProcess.fitted(
            similarity, len(self._rows.core), self.asked, self.regression.targets
        )
        self._forget()

    def _forget(self) -> None:
        self._chances = self._by_regression = self._scale = None
        self._joins = self._scores_alone = None
        # Groups that appeared since have no column in it.
        if self._clouds is not None and self._clouds.shape[1] != self.n_groups:
            self._clouds = None

    # -- what it says ----------------------------------------------------------------------------

    def chances(self) -> FloatArray:
        """(m, k) probabilities, of two opinions."""
        if self._chances is None:
            self._chances = self.by_regression()
            if weight := self.second.weight:
                clouds = self.second.calibration.probabilities(self.clouds())
                self._chances = (1.0 - weight) * self._chances + weight * clouds
        return self._chances

    def by_regression(self) -> FloatArray:
        """(m, k) probabilities, calibrated on asked points scored before they were told.

        By what was said just before each answer, not what is said with an answer left out: points
        are asked about where the model is in doubt, and the doubt is then gone.
        """
        if self._by_regression is None:
            truth = self.regression.targets.argmax(axis=1)
            fair = np.array([at not in self.misfits for at in self.asked], dtype=np.bool_)
            # Nobody can foretell the first member of a group.
            fair[np.unique(truth, return_index=True)[1]] = False
            usual = SHARPNESS * self.scale
            fitted = Calibration.fitted(self.regression.ahead[fair], truth[fair], usual)
            self._by_regression = fitted.probabilities(self.regression.mean)
        return self._by_regression

    def clouds(self) -> FloatArray:
        """(m, k) log likelihoods of the groups as clouds; of many points only every few answers."""
        every = 1 if self._rows.are_few else _CLOUDS_EVERY
        if self._clouds is None or len(self.asked) - self._clouds_at >= every:
            points = self._rows.points.astype(np.float64)
            self._clouds = Clouds(points, self.labels(), self.n_groups).scores()
            self._clouds_at = len(self.asked)
        return self._clouds

    def labels(self) -> IntArray:
        """(m,) the likeliest group of each point by the regression."""
        labels = self.regression.mean.argmax(axis=1)
        labels[self.asked] = self.regression.targets.argmax(axis=1)
        return np.asarray(labels)

    @property
    def scale(self) -> float:
        """With few answers all scores are small, and what counts is their proportion."""
        if self._scale is None:
            usual = float(self.regression.mean.max(axis=1, initial=0.0).mean())
            self._scale = 1.0 / max(usual, 0.1)
        return self._scale

    def candidates(self, at: int, outside: Collection[int]) -> tuple[list[int], FloatArray]:
        """Groups, by name, that a point may be in, and their scores, the likeliest first."""
        alive = self._names.alive
        scores = self.scale * self.regression.mean[at].astype(np.float64)
        if self.second.weight:  # what clouds find as likely as their best gets the best score
            chances = self.chances()[at]
            likely = np.maximum(scores, max(scores.max(), 0.0) * chances / chances.max())
            scores += self.second.weight * (likely - scores)
        order = [g for g in np.argsort(-scores, kind="stable") if alive[g] not in outside]
        return [alive[g] for g in order], scores[order]

    def questions_to_place(self, at: IntArray) -> FloatArray:
        """(len(at),) the expected number of questions until points are placed."""
        scores = self.scale * self.regression.mean[at].astype(np.float64)
        for row, item in enumerate(self._rows.core[at].tolist()):
            ruled_out = self.outside.get(item, ())
            scores[row, [self.column_of(group) for group in ruled_out]] = -np.inf
        same = self.sameness.chances(scores, np.zeros(len(at), dtype=np.int64))
        return np.asarray(np.maximum(expected_questions(same), 1.0))

    def joins(self) -> tuple[FloatArray, IntArray]:
        """(k, k) scores of groups for others that they may be part of, −inf where that is known.

        And the number (k,) of asked members of each.
        """
        if self._joins is None:
            if self._scores_alone is None:
                self._scores_alone = self.scale * self.regression.without_own_group()
            self._joins = self._scores_alone.copy()
            self._joins[self._names.parted()] = -np.inf
            np.fill_diagonal(self._joins, -np.inf)
        members = np.maximum(self.regression.targets.sum(axis=0).astype(np.int64), 1)
        return self._joins, members

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

    # -- how far it can be believed --------------------------------------------------------------

    @property
    def doubt(self) -> float:
        """The share of points that are in another known group, if all were hard ones.

        For choosing questions: they are about points that are in doubt.
        """
        doubt = 1.0 - self.track.calibrated(self.chances().max(axis=1), picked=True)
        doubt[self.asked] = 0.0
        return float(doubt.mean())

    def right(self, chances: FloatArray) -> FloatArray:
        """(l,) P(right) of the likeliest group of points with these chances (l, k).

        A group that is part of a larger one has the wrong name, however sure its members are.
        """
        sizes = self.chances().sum(axis=0)
        smaller = sizes[:, None] < sizes
        own_name = np.prod(np.where(smaller, 1.0 - self.same_groups(), 1.0), axis=1)
        best = chances.argmax(axis=1)
        return np.asarray(self.track.calibrated(chances.max(axis=1)) * own_name[best])

    def error_with(self, alike: FloatArray) -> float:
        """Leave-one-out error of the regression with these similarities of the asked points."""
        targets = self.regression.targets
        return float(np.mean(left_out(alike, targets).argmax(axis=1) != targets.argmax(axis=1)))

    def error_of_clouds(self) -> float:
        """The share of asked points that are in another cloud."""
        found = self.clouds()[self.asked].argmax(axis=1)
        return float(np.mean(found != self.regression.targets.argmax(axis=1)))
