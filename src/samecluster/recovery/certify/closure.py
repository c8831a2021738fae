"""Closure: every unlabelled point that a cluster's known members reach joins them, and so on.

Coordinates are scaled so that a column spans about one unit (or, where a few values are far from
all others, these others do), by powers of two only: what is proven in them is proven in the user's
own. Every label is logged with the columns that prove it, which
are members asked or logged before: the log is a proof in the order in which it is written.
"""

from __future__ import annotations

import numpy as np

from samecluster._resolution import column_range, usual_range
from samecluster._typing import Array, FloatArray, IntArray
from samecluster.geometry.reach.kernel import CHUNK, Kernel
from samecluster.geometry.reach.members import MemberColumns
from samecluster.points.survey import Survey
from samecluster.proof.log import ProofLog
from samecluster.recovery.certify.exclusion import Exclusion
from samecluster.recovery.certify.levels import first_rows, level_sizes
from samecluster.recovery.certify.prefilter import SlabFilter, not_ruled_out
from samecluster.recovery.certify.reachability import QUIET, ReachResult, ReachTest

_SAMPLE = 256  # points by which a cluster's progress is judged, to within 3 %
_FEW = 256  # rejected points whose witnesses are tried on all members: one product
_MOST_TRIED = 200 * _FEW  # members up to which that product takes less time than a sweep
# Share of tested points from which a cluster proves most of what is near it: it has not stalled,
# and the witnesses of the few others would rule out too little to be worth a product.
_MOSTLY_ACCEPTED = 0.8
_HARDLY_ACCEPTED = 0.3  # share below which far points wait for the next pass, once the hull grew
_GREW = 0.5  # share of new columns that is growth
_PRUNED_FROM = 256  # columns; fewer are no burden
_PRUNED_GROWTH = 2.5  # times the columns left by the last pruning: each column is pruned O(1) times
_CLAMP = 1e-5
_THICKNESS = 2.0**-30  # of a column whose resolution is 0, in programs that only propose
# Powers of two up to this size: they are floats themselves, and so are products with far values.
_LARGEST_EXPONENT = 1000


class Closure:
    """Labels that follow from the asked members; see the module's text.

    ``ask(point, cluster)`` adds a fact; ``close(level)`` closes the first ``level`` points of one
    random permutation. With a ``survey`` X is a sample of more data, and in random order already.
    """

    def __init__(
        self,
        X: FloatArray,
        margin: float,
        tau: FloatArray,
        log: ProofLog,
        kernel: Kernel,
        seed: int,
        survey: Survey | None = None,
    ) -> None:
        self.sampled, survey = survey is not None, survey or Survey.of(X)
        usual = usual_range(X, survey.low, survey.high)
        unit = survey.extent if usual is None else column_range(*usual)
        self.exponent = _exponent(unit, np.maximum(np.abs(survey.low), np.abs(survey.high)))
        self._usual = None if usual is None else np.ldexp(usual, -self.exponent)
        self.X = np.ldexp(X, -self.exponent)
        self.tau = np.ldexp(tau, -self.exponent)
        self._thickness = _THICKNESS * np.where(unit > 0, np.ldexp(unit, -self.exponent), 1.0)
        self.margin = margin
        self.log = log
        self._box = np.ldexp([survey.low, survey.high], -self.exponent)
        self.reach, self.exclusion = ReachTest(kernel, margin), Exclusion(kernel, margin)
        self.bound, self.limit = self.reach.bound, self.reach.limit
        if self.sampled:
            self.order = np.arange(len(X), dtype=np.int32)
        else:
            self.order = first_rows(len(X), len(X), seed).astype(np.int32)
        self.level_sizes = [s for s in level_sizes(survey.n, X.shape[1]) if s < len(X)] + [len(X)]
        self.labels = np.full(len(X), -1, np.int32)
        self.clusters: dict[int, MemberColumns] = {}
        self.closed_at: dict[int, tuple[int, int]] = {}
        self.kernel = kernel

    @property
    def alive(self) -> list[int]:
        """The names that stand for a cluster."""
        return list(self.clusters)

    def set_apart(self, points: Array) -> None:
        """Points that are in no cluster whatever the margin says: they are never looked at."""
        self.order = self.order[~np.isin(self.order, points)]

    def extend(self, points: FloatArray) -> None:
        """More points of the data that X is a sample of: a level of their own, above the others."""
        new = np.arange(len(self.X), len(self.X) + len(points), dtype=np.int32)
        self.order = np.concatenate([self.order, new])
        self.X = np.concatenate([self.X, np.ldexp(points, -self.exponent)])
        for cluster in self.clusters.values():
            cluster.rebase(self.X)
        self.labels = np.concatenate([self.labels, np.full(len(points), -1, np.int32)])
        self.level_sizes.append(len(self.X))

    @QUIET
    def ask(self, point: int, cluster: int) -> None:
        """A point is known to be in a cluster, not by reach (a new one if the number is new)."""
        self.labels[point] = cluster
        if cluster not in self.clusters:
            first = self.X[point]
            box = np.abs(self._box - first).max(axis=0)
            near = None if self._usual is None else np.abs(self._usual - first).max(axis=0)
            self.clusters[cluster] = MemberColumns(
                self.X, self.tau, point, box, self._thickness, near
            )
        else:
            self.clusters[cluster].ask(point)

    @QUIET
    def merge(self, kept: int, gone: int) -> None:
        """Two names turned out to be one cluster: the first one stays."""
        self.labels[self.labels == gone] = kept
        self.clusters[kept].absorb(self.clusters.pop(gone))

    @QUIET
    def close(self, level: int) -> None:
        """Close a level: sweep each cluster, nearest points first, until nothing is added."""
        for c in self.alive:
            # Nothing new can follow where neither members nor points have come.
            if self.closed_at.get(c) != (level, self.clusters[c].added):
                self._close_one(c, self._open(level))
                self.closed_at[c] = (level, self.clusters[c].added)

    @QUIET
    def climb(self, level: int) -> None:
        """First time at a level: every open point is tested against its nearest cluster, then
        what is left against all. A cluster that closed the level below just sweeps; one that
        stalled there grows from its middle."""
        for c in self.alive:
            self.clusters[c].prune()
            self.clusters[c].whiten()
        open_ = self._open(level)
        near = self.nearest(open_)
        for c in self.alive:
            mine = open_[near == c]
            if self._stalled(c, mine):
                self._close_one(c, mine)
                continue
            last = level == len(self.X) and not self.sampled
            self.clusters[c].programs.deepen(self.kernel, self.bound)
            self._sweep(c, mine[_SAMPLE:], learn=not last)
            if last and (self.labels[mine] < 0).any():
                self._learn_all(c, mine[self.labels[mine] == c])
        if (self.labels[open_] < 0).any():
            self.close(level)

    def _stalled(self, c: int, points: Array) -> bool:
        """Whether a cluster proves only part of the points near it, by a small sample."""
        sample = points[:_SAMPLE]
        return bool(len(sample)) and self._test(c, sample, True) < _MOSTLY_ACCEPTED

    def _learn_all(self, c: int, points: Array) -> None:
        """The extremes of points accepted without learning; only needed if some were not."""
        cluster = self.clusters[c]
        for begin in range(0, len(points), CHUNK):
            part = points[begin : begin + CHUNK]
            new = cluster.slabs.extremes(part, cluster.whitening.lift32(self.X[part]))
            if len(new):
                cluster.append(new)

    def _open(self, level: int) -> Array:
        prefix = self.order[:level]
        return prefix[self.labels[prefix] < 0]

    def _close_one(self, c: int, points: Array) -> None:
        """Passes over the open points, those deepest in the reach first, until one adds nothing."""
        cluster = self.clusters[c]
        around = SlabFilter(self.X, points, cluster, self.bound)
        while True:
            todo = around.candidates(cluster, self.labels)
            before = cluster.added
            self._grow(c, todo)
            if cluster.added == before and not self._generate(c):
                return

    def _generate(self, c: int) -> bool:
        """Members that break a witness though no direction made them columns; whether any did.

        Tried on the few rejected points nearest to acceptance when the columns add nothing more;
        for them it makes closure complete in all members, not only in the columns.
        """
        cluster, witnesses = self.clusters[c], self.clusters[c].witnesses
        open_ = np.flatnonzero(self.labels[witnesses.rejected] < 0)
        open_ = open_[np.argsort(witnesses.value[open_])[:_FEW]]
        if not len(open_):
            return False
        members = np.flatnonzero(self.labels == c)
        if len(members) > _MOST_TRIED:
            return False
        pi, top = witnesses.pi[open_], np.zeros(len(open_), np.float32)
        at = np.zeros(len(open_), int)
        for begin in range(0, len(members), CHUNK):
            part = cluster.whitening.lift32(self.X[members[begin : begin + CHUNK]])
            values = np.abs(part @ pi.T)
            where = values.argmax(axis=0)
            best = values[where, np.arange(len(where))]
            at = np.where(best > top, begin + where, at)
            top = np.maximum(best, top)
        breaks = witnesses.value[open_] / top <= self.bound
        new = np.setdiff1d(members[at[breaks]], cluster.ids)
        if len(new):
            cluster.append(new)
        return bool(len(new))

    def _grow(self, c: int, points: Array) -> None:
        """Test points in order, in chunks that double while most are accepted.

        The witnesses of a chunk are tried on all points behind it, which saves most programs that
        would reject. The pass is cut short when the hull has grown much and hardly any point is
        accepted any more: the farther points are better tested in the next.
        """
        if not len(points):
            return
        cluster = self.clusters[c]
        chunk, before, size = self.kernel.chunk, cluster.added, len(cluster.ids)
        while len(points):
            known = len(cluster.witnesses.rejected)
            share = self._test(c, points[:chunk], True)
            points = points[chunk:]
            if share > _MOSTLY_ACCEPTED:
                chunk = min(2 * chunk, CHUNK)
                continue
            if share < _HARDLY_ACCEPTED and cluster.added - before > _GREW * size:
                return
            if len(points):
                points = not_ruled_out(cluster, points, known, self.bound)

    def _sweep(self, c: int, points: Array, learn: bool) -> None:
        """Test points in the order given, in chunks that double: the first teach the starts."""
        begin, chunk = 0, _SAMPLE
        while begin < len(points):
            part = points[begin : begin + chunk]
            begin += chunk
            chunk = min(2 * chunk, CHUNK)
            self._test(c, part, learn)

    def _test(self, c: int, points: Array, learn: bool) -> float:
        """One batch of programs: label and log what is proven, keep witnesses of the rest."""
        found = self.reach.run(self.clusters[c], points)
        if learn:  # else a sweep from deep starts
            self.clusters[c].programs.learn(found.start, found.solved)
        self._accept(c, points, found, learn)
        self._reject(c, points, found)
        return len(found.accepted) / len(points)

    def _accept(self, c: int, points: Array, found: ReachResult, learn: bool) -> None:
        cluster, which = self.clusters[c], found.accepted
        if not len(which):
            return
        self.labels[points[which]] = c
        self.log.add_inside(c, points[which], cluster.ids[found.solved.basis[which]])
        if learn:
            new = cluster.slabs.extremes(points[which], found.lifted[which])
            if len(new):
                cluster.append(new)
            if len(cluster.ids) > max(_PRUNED_FROM, _PRUNED_GROWTH * cluster.pruned):
                cluster.prune()

    def _reject(self, c: int, points: Array, found: ReachResult) -> None:
        """Keep the witnesses. The value is clamped above the bound, or a point at the bound would
        be tested for ever: only a column that really breaks the witness frees it."""
        left = np.ones(len(points), bool)
        left[found.accepted] = False
        pi = found.solved.pi[left]
        value = np.einsum("pr,pr->p", found.lifted[left], pi)
        least = np.float32(self.bound * (1 + _CLAMP))
        self.clusters[c].witnesses.keep(points[left], pi, np.maximum(np.abs(value), least))

    @QUIET
    def join(self, c: int, points: Array) -> None:
        """Points that are known to be in a cluster otherwise than by its reach."""
        self.labels[points] = c
        self._learn_all(c, points)

    @QUIET
    def refine(self, factor: int) -> None:
        """More columns for each cluster: a small margin needs them."""
        for c in self.alive:
            self.clusters[c].refine(factor)
            self._learn_all(c, np.flatnonzero(self.labels == c))

    @QUIET
    def nearest(self, items: Array) -> Array:
        """The cluster in whose own coordinates each item is most central."""
        alive = [self.clusters[c] for c in self.alive]
        return np.array(self.alive)[self.kernel.nearest_cluster(self.X, items, alive)]


def _exponent(unit: FloatArray, largest: FloatArray) -> IntArray:
    """The power of two to divide each column by: its unit, unless that makes numbers overflow."""
    exponent = np.where(unit > 0, np.frexp(unit)[1], 0)
    least = np.maximum(np.frexp(largest)[1] - _LARGEST_EXPONENT, -_LARGEST_EXPONENT)
    return np.asarray(np.clip(exponent, least, _LARGEST_EXPONENT))
