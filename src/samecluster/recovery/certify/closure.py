"""Closure: every unlabelled point that a cluster's known members reach joins them, and so on.

Coordinates are scaled so that a column spans about one unit, by powers of two only: what is proven
in them is proven in the user's own. Every label is logged with the columns that prove it, which
are members asked or logged before: the log is a proof in the order in which it is written.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array, FloatArray
from samecluster.geometry.reach import linear_programs
from samecluster.geometry.reach.kernel import CHUNK, Kernel
from samecluster.geometry.reach.members import MemberColumns, spread_basis
from samecluster.points.survey import Survey
from samecluster.proof.log import ProofLog
from samecluster.recovery.certify.levels import first_rows, level_sizes
from samecluster.recovery.certify.prefilter import SlabFilter, likely_reached

__all__ = ["Closure"]

_ROWS = 512
_SAMPLE = 256
_FEW = 256
# Off the span of a thin cluster single precision overflows. What is not a number is never taken
# For small: such points are not accepted, or are decided in double precision and rationals.
_QUIET = np.errstate(over="ignore", invalid="ignore", divide="ignore")


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
        extent = survey.extent
        self.exponent = np.where(extent > 0, np.frexp(extent)[1], 0)
        self.X = np.ldexp(X, -self.exponent)
        self.tau = np.ldexp(tau, -self.exponent)
        self.margin = margin
        self.log = log
        self.box_low = np.ldexp(survey.low, -self.exponent)
        self.box_high = np.ldexp(survey.high, -self.exponent)
        self.bound = float(np.sqrt(1.0 + margin))
        self.limit = linear_programs.limit_for(margin)
        if self.sampled:
            self.order = np.arange(len(X), dtype=np.int32)
        else:
            self.order = first_rows(len(X), len(X), seed).astype(np.int32)
        self._sizes = [s for s in level_sizes(survey.n, X.shape[1]) if s < len(X)] + [len(X)]
        self.labels = np.full(len(X), -1, np.int16)
        self.clusters: list[MemberColumns] = []
        self.alive: list[int] = []
        self.closed_at: dict[int, tuple[int, int]] = {}
        self.kernel = kernel
        self.exact_checks = 0

    def set_apart(self, points: Array) -> None:
        """Points that are in no cluster whatever the margin says: they are never looked at."""
        self.order = self.order[~np.isin(self.order, points)]

    def levels(self) -> list[int]:
        return self._sizes

    def extend(self, points: FloatArray) -> None:
        """More points of the data that X is a sample of: a level of their own, above the others."""
        new = np.arange(len(self.X), len(self.X) + len(points), dtype=np.int32)
        self.order = np.concatenate([self.order, new])
        self.X = np.concatenate([self.X, np.ldexp(points, -self.exponent)])
        for cluster in self.clusters:
            cluster.X = self.X
        self.labels = np.concatenate([self.labels, np.full(len(points), -1, np.int16)])
        self._sizes.append(len(self.X))

    @_QUIET
    def ask(self, point: int, cluster: int) -> None:
        """The answers put a point into a cluster (a new one if the number is new)."""
        self.labels[point] = cluster
        if cluster == len(self.clusters):
            first = self.X[point]
            box = np.maximum(self.box_high - first, first - self.box_low)
            self.clusters.append(MemberColumns(self.X, self.tau, point, box))
            self.alive.append(cluster)
        else:
            self.clusters[cluster].ask(point)

    @_QUIET
    def merge(self, kept: int, gone: int) -> None:
        """Two names turned out to be one cluster: the first one stays."""
        self.alive.remove(gone)
        self.labels[self.labels == gone] = kept
        cluster, other = self.clusters[kept], self.clusters[gone]
        cluster.asked += other.asked
        cluster.append(np.setdiff1d(other.members, cluster.members))
        cluster.whiten()

    @_QUIET
    def close(self, level: int) -> None:
        """Close a level: sweep each cluster, nearest points first, until nothing is added."""
        for c in self.alive:
            # Nothing new can follow where neither members nor points have come.
            if self.closed_at.get(c) != (level, self.clusters[c].added):
                self._close_one(c, self._open(level))
                self.closed_at[c] = (level, self.clusters[c].added)

    @_QUIET
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
            self.clusters[c].deep_starts(self.kernel, self.bound)
            self._sweep(c, mine[_SAMPLE:], learn=not last)
            if last and (self.labels[mine] < 0).any():
                self._learn_all(c, mine[self.labels[mine] == c])
        if (self.labels[open_] < 0).any():
            self.close(level)

    def _stalled(self, c: int, points: Array) -> bool:
        """Whether a cluster proves only part of the points near it, by a small sample."""
        sample = points[:_SAMPLE]
        return bool(len(sample)) and self._test(c, sample, True) < 0.8

    def _learn_all(self, c: int, points: Array) -> None:
        """The extremes of points accepted without learning; only needed if some were not."""
        for begin in range(0, len(points), CHUNK):
            part = points[begin : begin + CHUNK]
            new = self.clusters[c].extremes(
                part, self.clusters[c].lift(self.X[part]).astype(np.float32)
            )
            if len(new):
                self.clusters[c].append(new)

    def _open(self, level: int) -> Array:
        prefix = self.order[:level]
        return prefix[self.labels[prefix] < 0]

    def _close_one(self, c: int, points: Array) -> None:
        """Passes over the open points, those deepest in the reach first, until one adds nothing."""
        cluster = self.clusters[c]
        around = SlabFilter(self.X, points, cluster, self.bound)
        while True:
            todo = self._candidates(cluster, around)
            before = cluster.added
            self._grow(c, todo)
            if cluster.added == before and not self._generate(c):
                return

    def _generate(self, c: int) -> bool:
        """Members that break a witness though no direction made them columns; whether any did.

        Tried on the few rejected points nearest to acceptance when the columns add nothing more;
        for them it makes closure complete in all members, not only in the columns.
        """
        cluster = self.clusters[c]
        open_ = np.flatnonzero(self.labels[cluster.rejected] < 0)
        open_ = open_[np.argsort(cluster.value[open_])[:_FEW]]
        if not len(open_):
            return False
        members = np.flatnonzero(self.labels == c)
        if len(members) > 200 * _FEW:
            return False
        pi, top, at = cluster.pi[open_], np.zeros(len(open_), np.float32), np.zeros(len(open_), int)
        for begin in range(0, len(members), CHUNK):
            part = cluster.lift(self.X[members[begin : begin + CHUNK]]).astype(np.float32)
            values = np.abs(part @ pi.T)
            where = values.argmax(axis=0)
            best = values[where, np.arange(len(where))]
            at = np.where(best > top, begin + where, at)
            top = np.maximum(best, top)
        breaks = cluster.value[open_] / top <= self.bound
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
            known = len(cluster.rejected)
            share = self._test(c, points[:chunk], True)
            points = points[chunk:]
            if share > 0.8:
                chunk = min(2 * chunk, CHUNK)
                continue
            if share < 0.3 and cluster.added - before > 0.5 * size:
                return
            if len(points):
                points = self._ruled_out(cluster, points, known)

    def _ruled_out(self, cluster: MemberColumns, points: Array, known: int) -> Array:
        """The points that no witness found since ``known`` rules out; the others keep theirs."""
        held = np.flatnonzero(cluster.value[known:] > self.bound) + known
        if not len(held):
            return points
        pi = cluster.pi[held]
        out, best = [], []
        for begin in range(0, len(points), 4 * _ROWS):
            lifted = cluster.lift(self.X[points[begin : begin + 4 * _ROWS]]).astype(np.float32)
            values = np.abs(lifted @ pi.T)
            at = values.argmax(axis=1)
            best.append(values[np.arange(len(at)), at])
            out.append(held[at])
        value, at = np.concatenate(best), np.concatenate(out)
        over = value > self.bound * (1 + 1e-4)
        cluster.keep(points[over], cluster.pi[at[over]], value[over])
        return points[~over]

    def _candidates(self, cluster: MemberColumns, around: SlabFilter) -> Array:
        """Open points that no slab and no kept witness rules out, deepest first."""
        freed = cluster.broken(self.bound)
        freed = freed[np.sort(np.unique(freed, return_index=True)[1])]
        ruled = self.labels >= 0
        ruled[cluster.rejected] = True
        ruled[freed] = True
        new = around.inside(cluster, ruled)
        return np.concatenate([freed[self.labels[freed] < 0], new])

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
        cluster = self.clusters[c]
        lifted = cluster.lift(self.X[points])
        single = lifted.astype(np.float32)
        start = self.kernel.nearest_direction(single, cluster.mean32, cluster.start_dirs)
        solved = self.kernel.solve(
            single, start, cluster.starts, cluster.inverses, cluster.columns32, self.bound
        )
        which = np.flatnonzero(solved.status == linear_programs.ACCEPTED)
        good = self.kernel.confirmed(
            lifted, solved, which, cluster.columns, cluster.noise, self.limit
        )
        unsure = np.concatenate(
            [which[~good], np.flatnonzero(solved.status == linear_programs.UNSURE)]
        )
        which = which[good]
        if len(unsure):
            which = np.sort(
                np.concatenate([which, self._decide(c, points, lifted, solved, unsure)])
            )
        if learn:  # else a sweep from deep starts
            cluster.learn_starts(start, solved)
        self._accept(c, points, single, solved, which, learn)
        self._reject(c, points, single, solved, which)
        return len(which) / len(points)

    def _decide(
        self,
        c: int,
        points: Array,
        lifted: Array,
        solved: linear_programs.ProgramSolutions,
        unsure: Array,
    ) -> Array:
        """Double precision where single could not decide, and rationals where that cannot."""
        cluster = self.clusters[c]
        bases = _independent(cluster.columns, solved.basis[unsure])
        inverses = np.linalg.inv(cluster.columns[bases].transpose(0, 2, 1))
        again = linear_programs.solve(
            lifted[unsure],
            np.arange(len(unsure)),
            bases,
            inverses,
            cluster.columns,
            self.bound,
            self.bound * (1 - 1e-12),
        )
        good = linear_programs.confirmed(
            lifted[unsure], again.basis, again.inverse, cluster.columns, cluster.noise, self.limit
        )
        close = ~good & (again.total <= self.bound * (1 + 1e-9))
        for i in np.flatnonzero(close):
            self.exact_checks += 1
            good[i] = self._exact(c, points[unsure[i]], again.basis[i])
        solved.basis[unsure], solved.inverse[unsure] = again.basis, again.inverse
        solved.pi[unsure], solved.total[unsure] = again.pi, again.total
        return unsure[good]

    def _exact(self, c: int, point: int, basis: Array) -> bool:
        ids = self.clusters[c].ids[basis]
        taus = [(-1 - int(j), float(self.tau[-1 - j])) for j in ids[ids < 0]]
        return linear_programs.exactly(self.X[point], self.X[ids[ids >= 0]], taus, self.margin)

    def _accept(
        self,
        c: int,
        points: Array,
        single: Array,
        solved: linear_programs.ProgramSolutions,
        which: Array,
        learn: bool,
    ) -> None:
        cluster = self.clusters[c]
        if not len(which):
            return
        self.labels[points[which]] = c
        self.log.add_inside(c, points[which], cluster.ids[solved.basis[which]])
        if learn:
            new = cluster.extremes(points[which], single[which])
            if len(new):
                cluster.append(new)
            if len(cluster.ids) > max(256, 2.5 * cluster.pruned):
                cluster.prune()

    def _reject(
        self,
        c: int,
        points: Array,
        single: Array,
        solved: linear_programs.ProgramSolutions,
        accepted: Array,
    ) -> None:
        """Keep the witnesses. The value is clamped above the bound, or a point at the bound would
        be tested for ever: only a column that really breaks the witness frees it."""
        cluster = self.clusters[c]
        left = np.ones(len(points), bool)
        left[accepted] = False
        value = np.einsum("pr,pr->p", single[left], solved.pi[left])
        cluster.keep(
            points[left],
            solved.pi[left],
            np.maximum(np.abs(value), np.float32(self.bound * (1 + 1e-5))),
        )

    @_QUIET
    def reached_with(self, item: int, c: int, others: Array) -> tuple[int, Array] | None:
        """One of the others that the cluster would reach if the item were a member.

        Returns it with the columns that show it, or None.
        """
        cluster = self.clusters[c]
        columns = np.vstack([cluster.columns, cluster.lift(self.X[[item]])])
        targets = cluster.lift(self.X[others])
        solved = _solve_from(spread_basis(columns), targets, columns, self.bound, self.limit)
        good = linear_programs.confirmed(
            targets, solved.basis, solved.inverse, columns, cluster.noise, self.limit
        )
        shown = np.flatnonzero((solved.status == linear_programs.ACCEPTED) & good)
        if not len(shown):
            return None
        names = np.append(cluster.ids, item)
        return int(others[shown[0]]), names[solved.basis[shown[0]]]

    @_QUIET
    def shown_outside(self, c: int, items: Array, others: Array) -> tuple[Array, Array, Array]:
        """Which of many items cannot be members, since that would bring a non-member into reach.

        ``others`` are known non-members; for each item the few likeliest are tried. Returns the
        items, the non-member that shows each, and the columns (the item itself among them).
        """
        cluster = self.clusters[c]
        lifted, outer = cluster.lift(self.X[items]), cluster.lift(self.X[others])
        likely = likely_reached(lifted[:, :-1], outer[:, :-1], cluster.mean)
        found: list[tuple[Array, Array, Array]] = []
        todo = np.arange(len(items))
        for tried in likely.T:
            targets, private = outer[tried[todo]], lifted[todo]
            single = targets.astype(np.float32)
            start = self.kernel.nearest_direction(single, cluster.mean32, cluster.start_dirs)
            solved = self.kernel.solve(
                single,
                start,
                cluster.starts,
                cluster.inverses,
                cluster.columns32,
                self.bound,
                private=private.astype(np.float32),
            )
            which = np.flatnonzero(solved.status == linear_programs.ACCEPTED)
            which = which[
                self.kernel.confirmed(
                    targets, solved, which, cluster.columns, cluster.noise, self.limit, private
                )
            ]
            basis = solved.basis[which]
            own = basis == len(cluster.ids)
            names = cluster.ids[np.where(own, 0, basis)]
            names = np.where(own, items[todo[which]][:, None], names)
            found.append((items[todo[which]], others[tried[todo[which]]], names))
            todo = np.delete(todo, which)
        shown, by, columns = (np.concatenate(part) for part in zip(*found, strict=True))
        return shown, by, columns

    @_QUIET
    def join(self, c: int, points: Array) -> None:
        """Points that are known to be in a cluster otherwise than by its reach."""
        self.labels[points] = c
        self._learn_all(c, points)

    @_QUIET
    def refine(self, factor: int) -> None:
        """More columns for each cluster: a small margin needs them."""
        for c in self.alive:
            self.clusters[c].refine(factor)
            self._learn_all(c, np.flatnonzero(self.labels == c))

    @_QUIET
    def reached(self, c: int, items: Array) -> Array:
        """Those of the items that the cluster reaches now, whatever their label."""
        cluster = self.clusters[c]
        lifted = cluster.lift(self.X[items])
        near = np.flatnonzero(cluster.score(lifted.astype(np.float32)) <= self.bound * (1 + 1e-5))
        if not len(near):
            return items[:0]
        targets, columns = lifted[near], cluster.columns
        solved = _solve_from(cluster.starts[0], targets, columns, self.bound, self.limit)
        good = linear_programs.confirmed(
            targets, solved.basis, solved.inverse, columns, cluster.noise, self.limit
        )
        return np.asarray(items[near[(solved.status == linear_programs.ACCEPTED) & good]])

    def norm(self, item: int, c: int) -> float:
        """How far an item lies from the middle of a cluster, in units of the cluster's radius."""
        cluster = self.clusters[c]
        offset = cluster.lift(self.X[[item]])[0, :-1] - cluster.mean
        return float(np.linalg.norm(offset)) / max(cluster.radius, 1e-300)

    @_QUIET
    def nearest(self, items: Array) -> Array:
        """The cluster in whose own coordinates each item is most central."""
        alive = [self.clusters[c] for c in self.alive]
        return np.array(self.alive)[self.kernel.nearest_cluster(self.X, items, alive)]

    @_QUIET
    def gauges(self, c: int, items: Array) -> Array:
        """The gauge of each item against a cluster's columns, in double precision."""
        cluster = self.clusters[c]
        lifted = cluster.lift(self.X[items])
        return _solve_from(cluster.starts[0], lifted, cluster.columns, 1e30, 0.0).total


def _solve_from(
    basis: Array, targets: Array, columns: Array, bound: float, stop: float
) -> linear_programs.ProgramSolutions:
    """Programs in double precision that all begin at one basis."""
    inverse = np.linalg.inv(columns[basis].T)
    start = np.zeros(len(targets), dtype=np.int64)
    return linear_programs.solve(targets, start, basis[None], inverse[None], columns, bound, stop)


def _independent(columns: Array, bases: Array) -> Array:
    """The bases, with those that single precision left nearly singular replaced by a spread one."""
    sizes = np.abs(np.linalg.det(columns[bases]))
    out = bases.copy()
    out[~(sizes > 1e-250)] = spread_basis(columns)
    return out
