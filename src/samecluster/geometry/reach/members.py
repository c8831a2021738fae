"""The reach of a cluster's known members: gauge, support and witness of points against them.

A point y is in the reach of members S if y = Σ w x + Σ v_j τ_j e_j with Σ w = 1 and
Σ|w| + Σ|v| ≤ √(1+γ); then every cluster of margin γ (at resolution τ) that holds S holds y. The
least such sum is the *gauge* of y, the columns that attain it its *support*, and the dual of that
linear program a *witness* that y is out of reach. See docs/theory.md.
"""

from __future__ import annotations

import copy

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach.programs import GaugePrograms
from samecluster.geometry.reach.slabs import MemberSlabs
from samecluster.geometry.reach.whitening import Whitening
from samecluster.geometry.reach.witnesses import Witnesses

# Not tuned: 3 to 30 give the same questions on 16 golden runs, in the same time up to a tenth.
_FAR_OUT = 8.0  # an asked point this many times as far as usual changes the coordinates


class MemberColumns:
    """Members of one cluster as columns of a gauge program, in whitened coordinates.

    ``ids`` are the columns: -1-j for the tau-columns, then members, append-only. The parts follow
    as members join: ``whitening`` has the coordinates, ``slabs`` which members are outermost,
    ``programs`` the columns in single precision and where to begin, ``witnesses`` who is out of
    reach.

    Where τ_j is 0 its column is the zero vector in ``columns``, so that no check confirms a basis
    with it. Programs are solved with the ``thickness`` in its place (``solving``): a basis always
    exists, and what it proposes is checked.
    """

    def __init__(
        self,
        X: Array,
        tau: Array,
        first: int,
        box: Array,
        thickness: Array | None = None,
        near: Array | None = None,
    ) -> None:
        d = X.shape[1]
        self.X, self.tau, self.D = X, tau, d + 1
        self._thickness = tau if thickness is None else np.where(tau > 0.0, tau, thickness)
        self.ids = np.concatenate([-1 - np.arange(d), [first]]).astype(np.int32)
        self.asked = [first]
        self.pruned = self.added = 0
        self.whitening = Whitening(X[first].copy(), tau, box, near)
        self.slabs, self.programs = MemberSlabs(d), GaugePrograms(d)
        self.whiten()

    @property
    def members(self) -> Array:
        return self.ids[self.D - 1 :]

    @property
    def solving(self) -> Array:
        """The columns in double precision that programs are solved with."""
        return np.concatenate([self._steps, self.columns[self.D - 1 :]])

    def ask(self, point: int) -> None:
        """A point known by answers joins; the coordinates follow if it sticks out of them."""
        self.asked.append(point)
        self.append(np.array([point]))
        far = np.abs(self.columns[-1, :-1]).max() > _FAR_OUT
        if far or len(self.asked) <= self.D:
            self.whiten()

    def absorb(self, other: MemberColumns) -> None:
        """Take in the members of another cluster, which turned out to be this one."""
        self.asked += other.asked
        self.append(np.setdiff1d(other.members, self.members))
        self.whiten()

    def rebase(self, X: Array) -> None:
        """The data has grown: X (n, d) begins with the rows that were there before."""
        self.X = X

    def refine(self, factor: int) -> None:
        """Look along more directions; the members have to be shown again."""
        self.slabs = MemberSlabs(self.D - 1, factor)
        self.whiten()

    def for_worker(self) -> MemberColumns:
        """A copy that decides points elsewhere: with the columns, without the data behind them."""
        light = copy.copy(self)
        light.X, light.slabs = self.X[:0], copy.copy(self.slabs)
        light.slabs.buffer = self.slabs.buffer[:0]
        return light

    def whiten(self) -> None:
        """Choose coordinates by the members known now. Witnesses and starts are given up."""
        self.whitening.fit(self.X[self.members], self._thickness)
        self.columns = self.whitening.lift_axes(self.tau)
        self._steps = self.whitening.lift_axes(self._thickness)
        self.slabs.begin(self._steps[:, :-1].astype(np.float32))
        self.witnesses = Witnesses(self.D)
        self.radius = 0.0
        self._extend(self.members)
        self.programs.restart(self.solving, self.whitening.mean32)

    def append(self, points: Array) -> None:
        """Add columns."""
        self.ids = np.concatenate([self.ids, points.astype(np.int32)])
        self.added += len(points)
        new = self._extend(points)
        self.programs.append(new)
        self.witnesses.await_columns(new)

    def _extend(self, points: Array) -> Array:
        """Columns of new members, which are returned in single precision."""
        x = self.X[points]
        new = self.whitening.lift(x)
        single = new.astype(np.float32)
        self.whitening.cover(x)
        self.slabs.widen(single[:, :-1], len(self.columns))
        self.columns = np.concatenate([self.columns, new])
        away = single[:, :-1] - self.whitening.mean32
        self.radius = max(self.radius, float(np.sqrt(np.einsum("pi,pi->p", away, away).max())))
        return single

    def prune(self) -> None:
        """Keep the columns that are extreme now, and the asked ones.

        While a hull grows, columns that were extreme end up inside it, and partial pricing would
        keep picking them. Witnesses stay valid; old bases are given up for a spread one.
        """
        d = self.D - 1
        keep = np.zeros(len(self.ids), bool)
        keep[self.slabs.owner] = True
        keep[d:] |= np.isin(self.members, self.asked)
        shuffled = np.random.default_rng(0).permutation(np.flatnonzero(keep))
        keep = np.concatenate([np.arange(d), shuffled])
        position = np.empty(len(self.ids), np.int64)
        position[keep] = np.arange(len(keep))
        self.slabs.owner = position[self.slabs.owner]
        self.ids, self.columns = self.ids[keep], self.columns[keep]
        self.programs.restart(self.solving, self.whitening.mean32)
        self.pruned = len(keep)
