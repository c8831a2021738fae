"""What one cluster may still be: the complete test, and ellipsoids that pass it.

An ellipsoid is *possible* for a cluster if it holds all known members and has the margin to all
known non-members. It shows which open points may be in the cluster and which may be outside, so
that only the others need a test; and a question is good if its answer rules many of them out.
Nothing here is trusted for a label but certificates that hold without rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.geometry.reach.programs import spread_basis
from samecluster.geometry.semidefinite.certificates import (
    exact_certificate,
    holds_for_each,
    shown,
    widened,
)
from samecluster.geometry.semidefinite.solver import Decision, Feasibility, decide
from samecluster.recovery.certify.knowledge import Knowledge

_MOST_MEMBERS = 10_000  # from here on only the cluster's columns, which are its extremes
_ROUNDS = 25  # of extending working sets; of 5,600 tests none needed more than five
_ADDED = 4  # members and non-members per round, those that the ellipsoid gets most wrong
_BUSY = 60  # rows of each side that mattered before; D(D+1)/2 determine an ellipsoid
_NEAREST = 8  # non-members that a first test begins with
_POLISH = 6  # solver steps after it is decided, which make weights exact enough for a certificate
_ROOM = 1 + 1e-9  # what an ellipsoid shows is believed only beyond rounding
_FARTHEST = 1e6  # times the margin: a cluster without near non-members is not infinitely open
_TIGHT, _LOOSE = 1e-4, 1e-2  # share of the largest weight from which a row mattered


class EllipsoidPool:
    """Possible ellipsoids of one cluster.

    ``factors`` (p, D, D) are A with |A(x, 1)| ≤ 1 on members, up to the scale ``largest`` (p,);
    ``least`` (p,) is the smallest squared length of a known non-member.
    """

    def __init__(self, known: Knowledge, cluster: int, compiled: Any) -> None:
        self.known, self.cluster, self.compiled = known, cluster, compiled
        self.limit = 1.0 + known.log.margin
        D = known.closure.X.shape[1] + 1
        self.factors, self.largest, self.least = np.zeros((0, D, D)), np.zeros(0), np.zeros(0)
        # Members and non-members that mattered in earlier tests: most likely they will again.
        self._members: list[int] = []
        self._others: list[int] = []

    def refresh(self, front: IntArray) -> None:
        """Take in what is known now, with the non-members ``front``; drop what is not possible."""
        columns = np.flatnonzero(self.known.closure.labels == self.cluster)
        if len(columns) > _MOST_MEMBERS:
            columns = self.known.closure.clusters[self.cluster].members
        self.trial = CompleteTest(
            columns, self._rows(columns), front, self._rows(front), self.limit
        )
        self.largest = self.lengths(self.trial.inner).max(axis=0, initial=0.0)
        self.least = self.lengths(self.trial.outer).min(axis=0, initial=np.inf)
        self.keep(self.least > self.limit * self.largest * _ROOM)

    def keep(self, which: Array) -> None:
        self.factors, self.largest = self.factors[which], self.largest[which]
        self.least = self.least[which]

    def lengths(self, rows: FloatArray) -> FloatArray:
        """Squared length (m, p) of each row under each ellipsoid."""
        p, D = self.factors.shape[:2]
        images = (rows @ self.factors.reshape(p * D, D).T).reshape(len(rows), p, D)
        return np.asarray(np.einsum("mpi,mpi->mp", images, images))

    def undecided(self, items: IntArray, inside: bool) -> IntArray:
        """Items of which no ellipsoid shows that they may be inside (or outside)."""
        return items[~self.allowed(self.lengths(self._rows(items)), inside).any(axis=1)]

    def allowed(self, lengths: FloatArray, inside: bool) -> BoolArray:
        """Which ellipsoids stay possible with the item as a member (or as a non-member)."""
        if inside:
            return np.asarray(lengths * self.limit * _ROOM <= self.least)
        return np.asarray(lengths > self.limit * _ROOM * self.largest)

    def cuts(self, items: IntArray, inside: BoolArray) -> tuple[FloatArray, BoolArray]:
        """How deep each item's likely answer cuts each ellipsoid (1: rules it out, 2 at most), and
        which ellipsoids show that the other answer is possible."""
        lengths = self.lengths(self._rows(items))
        least = np.minimum(self.least, _FARTHEST * self.largest)
        with np.errstate(divide="ignore"):
            room = np.log(least / (self.limit * self.largest)) + 1e-6
            as_member, as_other = np.log(lengths / self.largest), np.log(least / lengths)
        depth = np.clip(np.where(inside[:, None], as_member, as_other) / room, 0.0, 2.0)
        other = np.where(inside[:, None], self.allowed(lengths, False), self.allowed(lengths, True))
        return np.asarray(depth), np.asarray(other)

    # -- the complete test -----------------------------------------------------------------------

    def test(self, item: int, inside: bool, region: IntArray) -> IntArray | None:
        """Whether the item can be inside (outside): None if an ellipsoid shows that it can.

        Otherwise those of the region that the same certificate shows not to be; none if unclear.
        They are written into the log and taken as known.
        """
        own = self._rows(np.array([item]))
        members, others = self._working_sets()
        found = self.trial.run(
            members, others, self.compiled, **{"inside" if inside else "outside": own}
        )
        if found is None:
            return np.zeros(0, dtype=np.int64)
        if found.verdict is Feasibility.INFEASIBLE:
            self._remember(found, members, others, _TIGHT)
            return self._conclude(found, members, others, item, inside, region)
        self._remember(found, members, others, _LOOSE)
        self.factors = np.concatenate([self.factors, found.factor[None]])
        self.largest = np.append(self.largest, _squares(self.trial.inner, found.factor).max())
        least = _squares(self.trial.outer, found.factor).min(initial=np.inf)
        self.least = np.append(self.least, least)
        return None

    def _working_sets(self) -> tuple[list[int], list[int]]:
        """Members and non-members to begin with, of those taken in when it was refreshed."""
        members = _present(self._members, self.trial.columns)[-_BUSY:]
        others = _present(self._others, self.trial.front)[-_BUSY:]
        cluster = self.known.closure.clusters[self.cluster]
        if len(members) < 2 * cluster.D:
            real = cluster.columns[cluster.D - 1 :]
            away = np.sum((real[:, :-1] - cluster.whitening.mean) ** 2, axis=1)
            far = np.argsort(-away)[: cluster.D]
            some = cluster.members[np.append(spread_basis(real), far)]
            members += _missing(some[np.isin(some, self.trial.columns)], members)
        if len(others) < _NEAREST and len(self.trial.front):
            z = cluster.whitening.from_mean(self.known.closure.X[self.trial.front])
            near = np.argsort(np.sum(z**2, axis=1))[:_NEAREST]
            others += _missing(self.trial.front[near], others)
        return members, others

    def _remember(
        self, found: Decision, members: list[int], others: list[int], share: float
    ) -> None:
        """The rows that carry weight come last: they are the first to be used again."""
        for kept, names, weights in (
            (self._members, members, found.lam),
            (self._others, others, found.mu),
        ):
            busy = [n for n, w in zip(names, weights, strict=False) if w > share * weights.max()]
            kept[:] = [n for n in kept if n not in set(busy)][-3 * _BUSY :] + busy

    def _conclude(
        self,
        found: Decision,
        members: list[int],
        others: list[int],
        item: int,
        inside: bool,
        region: IntArray,
    ) -> IntArray:
        """The items that the certificate shows to be outside (inside), logged and known."""
        P, N = self.trial.rows
        certificate = exact_certificate(found.lam, found.mu, P, N, self.known.log.margin)
        at = len(members) if inside else len(others)
        if certificate is None:
            return np.zeros(0, dtype=np.int64)
        side = certificate.lam if inside else certificate.mu
        if not side[at] > 0:
            # What was known before is impossible by itself.
            heaviest = int(np.argmax(certificate.mu[: len(others)]))
            raise self.known.refuted(others[heaviest], self.cluster)
        certificate = widened(certificate, self.known.log.margin, inside=not inside, at=at)
        items = np.append(region[region != item], item)
        rows = self._rows(items)
        are_shown = shown(certificate, P, N, at, rows, inside=not inside)
        are_shown[-1] = True
        items, rows = items[are_shown], rows[are_shown]
        items = items[holds_for_each(certificate, P, N, at, rows, inside=not inside)]
        if not len(items):
            return items
        # The item's own weight is the last of its side.
        columns = weighted(members, certificate.lam[: len(members)])
        non_members = weighted(others, certificate.mu[: len(others)])
        weight = float((certificate.lam if inside else certificate.mu)[at])
        self.known.take_weights(self.cluster, not inside, items, columns, non_members, weight)
        return items

    def _rows(self, items: Array) -> FloatArray:
        return lifted(self.known.closure.X[items])


class CompleteTest:
    """The complete test on all members and non-members, with few of them at a time.

    The program is solved for working sets; what the ellipsoid that it finds gets wrong is added,
    until the sets are shown impossible or an ellipsoid gets all right.
    """

    def __init__(
        self, columns: Array, inner: FloatArray, front: Array, outer: FloatArray, limit: float
    ) -> None:
        self.columns, self.inner, self.front, self.outer = columns, inner, front, outer
        self.limit = limit
        self.place_in = {int(name): at for at, name in enumerate(columns)}
        self.place_out = {int(name): at for at, name in enumerate(front)}

    def run(
        self,
        members: list[int],
        others: list[int],
        compiled: Any,
        inside: FloatArray | None = None,
        outside: FloatArray | None = None,
    ) -> Decision | None:
        """A decision that holds for all, or None if unclear; the working sets are extended.

        ``inside`` and ``outside`` (1, D) are a row supposed to be in, or out. ``rows`` are then
        the rows of the decision, that one last.
        """
        for _ in range(_ROUNDS):
            P = self.inner[[self.place_in[name] for name in members]]
            N = self.outer[[self.place_out[name] for name in others]]
            P = P if inside is None else np.vstack([P, inside])
            N = N if outside is None else np.vstack([N, outside])
            self.rows = P, N
            if not len(N):
                return None
            found = decide(P, N, self.limit, polish=_POLISH, compiled=compiled)
            if found.verdict is not Feasibility.FEASIBLE:
                return found if found.verdict is Feasibility.INFEASIBLE else None
            inner, outer = _squares(self.inner, found.factor), _squares(self.outer, found.factor)
            # A is scaled so that the rows given have the margin; the supposed one is among them.
            largest = max(1.0, float(inner.max()))
            least = min(found.rho, float(outer.min(initial=np.inf)))
            if least > self.limit * _ROOM * largest:
                return found
            before = len(members) + len(others)
            members += _missing(self.columns[np.argsort(-inner)[:_ADDED]], members)
            others += _missing(self.front[np.argsort(outer)[:_ADDED]], others)
            if len(members) + len(others) == before:
                return None
        return None


def lifted(points: FloatArray) -> FloatArray:
    """Points (m, d) as rows (x, 1)."""
    return np.column_stack([points, np.ones(len(points))])


def weighted(names: list[int], weights: Array) -> list[tuple[int, float]]:
    """The names that carry weight, with it."""
    return [(n, float(w)) for n, w in zip(names, weights, strict=True) if w > 0]


def _squares(rows: FloatArray, factor: FloatArray) -> FloatArray:
    return np.asarray(np.sum((rows @ factor.T) ** 2, axis=1))


def _present(names: list[int], among: Array) -> list[int]:
    there = np.isin(names, among)
    return [name for name, present in zip(names, there, strict=True) if present]


def _missing(names: Array, present: list[int]) -> list[int]:
    there = set(present)
    return [name for name in dict.fromkeys(int(n) for n in names) if name not in there]
