"""What lies around a cluster: which points may be in its reach, and which may come into it.

Guesses and cheap bounds that spare gauge programs; nothing here proves a label. Numbers may
overflow: NaN compares as large, so that a point is then not taken for one in reach.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach.kernel import CHUNK
from samecluster.geometry.reach.members import MemberColumns

_ROWS = 2048  # points per product with slabs or witnesses, so that it stays in the cache
_ROOM = 1 + 1e-5  # slabs are in single precision, which is off by less
# Single precision has 24 bits: witnesses are believed only this far from the bound, relatively.
_WITNESS_ROOM = 1e-4
_TRIED = 3  # non-members per item; each costs a program


class SlabFilter:
    """Open points around a cluster, each with a slab that last ruled it out.

    Slabs only widen while members join, so most points stay ruled out by the same one.
    """

    def __init__(self, X: Array, points: Array, cluster: MemberColumns, bound: float) -> None:
        self.X, self.points, self.bound = X, points, bound
        self.own = np.full(len(points), -1, np.int32)
        self.whitening = None
        self._lift(cluster)

    def _lift(self, cluster: MemberColumns) -> None:
        self.whitening = cluster.whitening.T
        self.lifted = np.empty((len(self.points), cluster.D), np.float32)
        for begin in range(0, len(self.points), CHUNK):
            part = self.points[begin : begin + CHUNK]
            self.lifted[begin : begin + CHUNK] = cluster.whitening.lift(self.X[part])

    def survivors(self, cluster: MemberColumns, excluded: Array) -> Array:
        """Points that are not ``excluded`` (n,) and that no slab rules out, deepest first."""
        if self.whitening is not cluster.whitening.T:
            self._lift(cluster)
        bound = np.float32(self.bound * _ROOM)
        slabs = cluster.slabs.rows()
        todo = np.flatnonzero(~excluded[self.points])
        had = self.own[todo] >= 0
        mine = todo[had]
        along = np.einsum("pr,pr->p", self.lifted[mine], slabs[self.own[mine]])
        held = np.abs(along) > bound
        todo = np.concatenate([todo[~had], mine[~held]])
        self.own[todo], score = _strongest((self.lifted[part] for part in _blocks(todo)), slabs)
        inside = score <= bound
        return np.asarray(self.points[todo[inside][np.argsort(score[inside], kind="stable")]])

    def candidates(self, cluster: MemberColumns, labels: Array) -> Array:
        """Points without a label (n,) that no slab and no kept witness rules out, deepest first."""
        freed = cluster.witnesses.broken(self.bound)
        freed = freed[np.sort(np.unique(freed, return_index=True)[1])]
        excluded = labels >= 0
        excluded[cluster.witnesses.rejected] = True
        excluded[freed] = True
        new = self.survivors(cluster, excluded)
        return np.concatenate([freed[labels[freed] < 0], new])


def not_ruled_out(cluster: MemberColumns, points: Array, known: int, bound: float) -> Array:
    """The points that no witness found since ``known`` rules out; the others keep theirs."""
    witnesses = cluster.witnesses
    held = np.flatnonzero(witnesses.value[known:] > bound) + known
    if not len(held):
        return points
    lifted = (cluster.whitening.lift32(cluster.X[part]) for part in _blocks(points))
    at, value = _strongest(lifted, witnesses.pi[held])
    over = value > bound * (1 + _WITNESS_ROOM)
    witnesses.keep(points[over], witnesses.pi[held[at[over]]], value[over])
    return np.asarray(points[~over])


def _blocks(points: Array) -> list[Array]:
    return [points[begin : begin + _ROWS] for begin in range(0, len(points), _ROWS)]


def _strongest(blocks: Iterable[Array], witnesses: Array) -> tuple[Array, Array]:
    """Which of the witnesses (w, D) rules out most each lifted point (D,), and its value there."""
    which, best = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
    for lifted in blocks:
        values = np.abs(lifted @ witnesses.T)
        at = values.argmax(axis=1)
        which.append(at)
        best.append(values[np.arange(len(at)), at])
    return np.concatenate(which), np.concatenate(best)


def likely_reached(items: Array, others: Array, mean: Array) -> Array:
    """For each item (m, d) the others (p, d) that it would most likely bring into reach.

    Near in the coordinates in which the cluster, stretched to hold the item, is round.
    """
    d = len(mean)
    u, v = (items - mean).astype(np.float32), (others - mean).astype(np.float32)
    size = np.sum(u**2, axis=1)[:, None]
    off = u @ v.T
    gap = np.sum(v**2, axis=1) - 2 * off
    off -= size
    off *= np.sqrt((d + 2) / (1 + (d + 2) * size))
    off *= off
    gap -= off
    few = min(_TRIED, gap.shape[1])
    near = np.argpartition(gap, few - 1, axis=1)[:, :few]
    order = np.argsort(np.take_along_axis(gap, near, axis=1), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(near, order, axis=1))
