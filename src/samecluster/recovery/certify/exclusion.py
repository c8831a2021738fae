"""What a cluster reaches whatever its labels say, and what it would reach with one more member.

The second is single exclusion: an item that would bring a known non-member into reach is not a
member (docs/theory.md, section 4, record `out`). Nothing here changes a cluster or a label.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array
from samecluster.geometry.reach import checks, linear_programs
from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.members import MemberColumns
from samecluster.geometry.reach.programs import row_scaled_inverse, spread_basis
from samecluster.recovery.certify.prefilter import likely_reached
from samecluster.recovery.certify.reachability import QUIET

_NO_BOUND = 1e30
_TINY = 1e-300  # a cluster of one point has no radius


class Exclusion:
    """Programs against a cluster's columns, for one margin. Items are rows of ``cluster.X``."""

    def __init__(self, kernel: Kernel, margin: float) -> None:
        self.kernel = kernel
        self.bound = float(np.sqrt(1.0 + margin))
        self.limit = checks.limit_for(margin)

    @QUIET
    def reached(self, cluster: MemberColumns, items: Array) -> Array:
        """Those of the items that the cluster reaches now, whatever their label."""
        whitening = cluster.whitening
        lifted = whitening.lift(cluster.X[items])
        near = np.flatnonzero(cluster.slabs.inside(lifted.astype(np.float32), self.bound))
        if not len(near):
            return items[:0]
        noise, columns = whitening.noise_of(cluster.X[items[near]]), cluster.columns
        basis, targets = cluster.programs.bases[0], lifted[near]
        shown, _ = self._shown(basis, targets, cluster.solving, columns, noise)
        return np.asarray(items[near[shown]])

    @QUIET
    def reached_with(
        self, cluster: MemberColumns, item: int, others: Array
    ) -> tuple[int, Array] | None:
        """One of the others that the cluster would reach if the item were a member.

        Returns it with the columns that show it, or None.
        """
        whitening = cluster.whitening
        own = whitening.lift(cluster.X[[item]])
        solving, columns = (np.vstack([c, own]) for c in (cluster.solving, cluster.columns))
        targets = whitening.lift(cluster.X[others])
        noise = whitening.noise_of(cluster.X[others], cluster.X[[item]])
        shown, bases = self._shown(spread_basis(solving), targets, solving, columns, noise)
        if not len(shown):
            return None
        names = np.append(cluster.ids, item)
        return int(others[shown[0]]), names[bases[0]]

    def _shown(
        self, basis: Array, targets: Array, solving: Array, columns: Array, noise: Array
    ) -> tuple[Array, Array]:
        """The places of the targets that are certainly in reach, and the columns that show it."""
        solved = _solve_from(basis, targets, solving, self.bound, self.limit)
        good = checks.confirmed(targets, solved.basis, solved.inverse, columns, noise, self.limit)
        shown = np.flatnonzero((solved.status == linear_programs.ACCEPTED) & good)
        return shown, solved.basis[shown]

    @QUIET
    def shown_outside(
        self, cluster: MemberColumns, items: Array, others: Array
    ) -> tuple[Array, Array, Array]:
        """Which of many items cannot be members, since that would bring a non-member into reach.

        ``others`` are known non-members; for each item the few likeliest are tried. Returns the
        items, the non-member that shows each, and the columns (the item itself among them).
        """
        X, whitening = cluster.X, cluster.whitening
        lifted, outer = whitening.lift(X[items]), whitening.lift(X[others])
        likely = likely_reached(lifted[:, :-1], outer[:, :-1], whitening.mean)
        found: list[tuple[Array, Array, Array]] = []
        todo = np.arange(len(items))
        for tried in likely.T:
            targets, private = outer[tried[todo]], lifted[todo]
            single, own = targets.astype(np.float32), private.astype(np.float32)
            _, solved = cluster.programs.solved(self.kernel, single, self.bound, private=own)
            which = np.flatnonzero(solved.status == linear_programs.ACCEPTED)
            noise = whitening.noise_of(X[others[tried[todo]]], X[items[todo]])
            good = self.kernel.confirmed(
                targets, solved, which, cluster.columns, noise, self.limit, private
            )
            which = which[good]
            basis = solved.basis[which]
            own = basis == len(cluster.ids)
            names = cluster.ids[np.where(own, 0, basis)]
            names = np.where(own, items[todo[which]][:, None], names)
            found.append((items[todo[which]], others[tried[todo[which]]], names))
            todo = np.delete(todo, which)
        shown, by, columns = (np.concatenate(part) for part in zip(*found, strict=True))
        return shown, by, columns

    @QUIET
    def gauges(self, cluster: MemberColumns, items: Array) -> Array:
        """The gauge of each item against the cluster's columns, in double precision."""
        lifted = cluster.whitening.lift(cluster.X[items])
        return _solve_from(cluster.programs.bases[0], lifted, cluster.solving, _NO_BOUND, 0.0).total

    @QUIET
    def norm(self, cluster: MemberColumns, item: int) -> float:
        """How far an item lies from the middle of a cluster, in units of the cluster's radius."""
        offset = cluster.whitening.from_mean(cluster.X[[item]])[0]
        return float(np.linalg.norm(offset)) / max(cluster.radius, _TINY)


def _solve_from(
    basis: Array, targets: Array, columns: Array, bound: float, stop: float
) -> linear_programs.ProgramSolutions:
    """Programs in double precision that all begin at one basis."""
    inverse = row_scaled_inverse(columns[basis].T)
    start = np.zeros(len(targets), dtype=np.int64)
    return linear_programs.solve(targets, start, basis[None], inverse[None], columns, bound, stop)
