"""Where to ask: which points, and which clusters to compare a point with first.

Guesses only; a bad choice costs questions and never a label (docs/theory.md, section 6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.recovery.certify.guide.guide import UNCLAIMED, Guide
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.certify.sample import Sample

# Known members whose span is computed for each choice: d+1 would do if they were well spread.
_KNOWN_SHOWN = 400
# Squared length, in units of the group's own spread, up to which a point is in a span: far above
# rounding (1e-16), far below a direction that a person could see. 1e-9 to 1e-3 ask the same.
_SPANNED = 1e-6
# Open points whose gauges are computed: the largest of 400 is among the largest 1 % of all.
_GAUGED = 400
# Share of a group's points that are chosen from; of the rest some belong elsewhere. 0.9 and 1 ask
# up to 13 % more at margin 0.2 (500 points, d=3), and the same at margin 1.
_USUAL = 0.99
# Questions spent on a declared cluster that was not found; each is where nobody looked.
_LOOKED_FOR = 8
# From this number on, names of one point each amid other clusters are taken for noise, and not for
# clusters of which only one member was met.
_MANY_STRAYS = 6


class QuestionChooser:
    """Chooses up to ``batch`` points at a time, by what is known and what the guide believes.

    Points that span a group are chosen for a ``sheet`` of at most this size, all of one group.
    With a ``guessed`` margin a point that differs from all clusters with two asked members is
    taken for a stray, not for a cluster to be told apart.
    """

    def __init__(
        self,
        sample: Sample,
        guide: Guide,
        known: Knowledge,
        batch: int,
        guessed: bool,
        sheet: int = 1,
        compares_first: bool = False,
    ) -> None:
        self.sample, self.guide, self.known, self.names = sample, guide, known, known.names
        self.batch, self.guessed, self.sheet = batch, guessed, sheet
        self.compares_first = compares_first
        self.names.on_merge(self._merge)
        # The group that the latest points were chosen from.
        self._current: int | None = None
        # Groups of the guide that a name was given to without a question, and these names.
        self._claimed_components: set[int] = set()
        self._unasked_names: set[int] = set()
        # Names of one asked point each, near which another one was asked that belongs elsewhere.
        self._mixed_singletons: set[int] = set()
        guide.refit(*self._view())

    # -- what the guide believes -----------------------------------------------------------------

    def learn(self, placed: Mapping[int, int]) -> None:
        """Answers have put items into clusters."""
        for item, cluster in placed.items():
            at = int(self.sample.place[item])
            if at >= 0:
                self.guide.learn(at, cluster, *self._view())

    def _merge(self, kept: int, gone: int) -> None:
        self.guide.groups[self.guide.groups == gone] = kept
        self.guide.refit(*self._view())

    def _view(self) -> tuple[IntArray, BoolArray]:
        """What is known about the sample: labels (m,), and the names each point is outside of."""
        labels = self.known.closure.labels[self.sample.rows].astype(np.int64)
        return labels, self.known.outside[self.sample.rows]

    def guess(self, items: IntArray) -> IntArray:
        """The likely cluster of each item; what is not in the sample goes with the nearest."""
        at = self.sample.place[items]
        groups = np.where(at >= 0, self.guide.groups[at], UNCLAIMED)
        unclaimed = groups >= UNCLAIMED
        if unclaimed.any() and self.names.alive:
            groups[unclaimed] = self.known.closure.nearest(items[unclaimed])
        return groups

    def plausible(self, item: int) -> list[int]:
        """Clusters to compare an item with, the likeliest first; of strays only the nearest."""
        at = int(self.sample.place[item])
        norms = self.known.norms(item)
        if at >= 0 and self.guide.groups[at] < len(norms):
            norms[self.guide.groups[at]] = -1.0
        order = sorted(self.names.alive, key=lambda name: float(norms[name]))
        strays = [name for name in order if self.is_stray(name)]
        return [name for name in order if name not in strays[1:]]

    # -- names without a question, strays --------------------------------------------------------

    def may_name(self, item: int) -> bool:
        """Whether to name the item's cluster without asking: once for each component.

        If the name turns out to be one too many, a question between two groups will show it. Where
        ``compares_first``, that question comes before the group is spanned.
        """
        if self.compares_first and self.names.alive:
            return False
        group = int(self.guide.groups[self.sample.place[item]])
        enough = len(self.names.alive) == self.known.log.n_clusters
        if group < UNCLAIMED or group in self._claimed_components or enough:
            return False
        self._claimed_components.add(group)
        return True

    def note_unasked(self, name: int) -> None:
        """A point got a name without being compared with anything."""
        self._unasked_names.add(name)

    def note_placed(self, guessed: Sequence[int], found: Sequence[int]) -> None:
        """The clusters guessed for some items, and those that answers found (-1: none)."""
        for group, cluster in zip(guessed, found, strict=True):
            if cluster != group:
                self._mixed_singletons |= {n for n in (group, cluster) if self._is_single(n)}

    def is_stray(self, name: int) -> bool:
        """Whether a name is that of a single point which answers put outside other clusters."""
        return self._is_single(name) and name not in self._unasked_names

    def _is_single(self, name: int) -> bool:
        return self.guessed and self.names.is_single(name)

    # -- which points ----------------------------------------------------------------------------

    def spread(self, open_: IntArray) -> list[int]:
        """Spread open points of one group after the other; none where all groups are spanned."""
        in_sample = self.sample.place[open_]
        in_sample = in_sample[in_sample >= 0]
        chosen: list[int] = []
        for group in self._group_order(in_sample):
            mine = in_sample[self.guide.groups[in_sample] == group]
            chosen += self._spread_in(group, mine, max(self.batch, self.sheet) - len(chosen))
            if len(chosen) >= self.batch:
                break
        if chosen:
            self._current = int(self.guide.groups[chosen[0]])
        return [int(self.sample.rows[at]) for at in chosen]

    def _group_order(self, in_sample: IntArray) -> list[int]:
        """The current group, claimed groups by size, then the unclaimed one nearest to a claimed
        one."""
        groups = [int(g) for g in np.unique(self.guide.groups[in_sample])]
        mixed = {name for name in self._mixed_singletons if self._is_single(name)}
        if len(mixed) >= _MANY_STRAYS:
            groups = [group for group in groups if group not in mixed]
        claimed = [g for g in self.guide.alive() if g < UNCLAIMED]
        middle = self.sample.points.mean(axis=0)

        def rank(group: int) -> tuple[int, float]:
            if group == self._current:
                return 0, 0.0
            if group < UNCLAIMED:
                return 1, -float(np.count_nonzero(self.guide.groups == group))
            near = [self.guide.mean(other) for other in claimed] or [middle]
            mean = self.guide.mean(group)
            return 2, min(float(np.sum((mean - other) ** 2)) for other in near)

        return sorted(groups, key=rank)

    def _spread_in(self, group: int, candidates: IntArray, count: int) -> list[int]:
        """Candidates far off the span of the group's known members, one after the other.

        Not the farthest: a few points of other clusters in a large group would be the first.
        """
        lifted = self._lifted(group, candidates)
        away = np.sum(lifted**2, axis=1)
        usual = away <= np.quantile(away, _USUAL) if len(away) else away > 0
        if usual.any():
            candidates, lifted = candidates[usual], lifted[usual]
        known = np.flatnonzero(self.known.closure.labels[self.sample.rows] == group)
        if len(known):
            _, singular, rows = np.linalg.svd(
                self._lifted(group, known[-_KNOWN_SHOWN:]), full_matrices=False
            )
            rows = rows[singular > _SPANNED * singular[0]]
            lifted = lifted - (lifted @ rows.T) @ rows
        chosen: list[int] = []
        while len(chosen) < count and len(lifted):
            size = np.sum(lifted**2, axis=1)
            at = int(size.argmax())
            if size[at] < _SPANNED:
                break
            chosen.append(int(candidates[at]))
            direction = lifted[at] / np.sqrt(size[at])
            lifted = lifted - np.outer(lifted @ direction, direction)
        return chosen

    def _lifted(self, group: int, at: IntArray) -> FloatArray:
        whitened = self.guide.whiten(group, self.sample.points[at])
        return np.column_stack([whitened, np.ones(len(at))])

    def farthest(self, open_: IntArray) -> list[int]:
        """The open point that needs most to be reached, of the clusters with most of them.

        One per cluster: an answer about another point of the same one tells little more.
        """
        if not self.names.alive:
            return [int(open_[0])]
        closure = self.known.closure
        cluster = closure.nearest(open_)
        by_size = np.argsort(-np.bincount(cluster), kind="stable")[: max(self.batch, self.sheet)]
        found = []
        for largest in np.intersect1d(by_size, cluster).tolist():
            # `open_` is in random order, so its beginning is a fair sample.
            mine = open_[cluster == largest][:_GAUGED]
            gauges = closure.exclusion.gauges(closure.clusters[largest], mine)
            found.append(int(mine[gauges.argmax()]))
        return found

    def far_from_asked(self) -> list[int]:
        """Labelled points of the sample, each the farthest from all asked or chosen before it."""
        points = self.sample.points
        places = self.sample.place[list(self.names.name_of)]
        gaps = np.full(len(points), np.inf)
        found: list[int] = []
        for at in [*places[places >= 0].tolist(), *([-1] * _LOOKED_FOR)]:
            if at < 0:
                at = int(gaps.argmax())
                found.append(int(self.sample.rows[at]))
            gaps = np.minimum(gaps, np.sum((points - points[at]) ** 2, axis=1))
        labels, asked = self.known.closure.labels, self.names.name_of
        return [item for item in found if labels[item] >= 0 and item not in asked]
