"""Deduction before asking: what else follows, and which question would teach most.

Where the reach of the known members stalls, single exclusion over many points and the complete
test still decide points without a question, and the ellipsoids that remain possible tell where an
answer rules out most of them (theory, section 6). The work is counted, not timed: the same data
and seed give the same questions on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from samecluster._typing import IntArray
from samecluster.geometry.reach.kernel import compiled_decisions
from samecluster.geometry.reach.programs import spread_basis
from samecluster.geometry.semidefinite.certificates import exact_certificate
from samecluster.geometry.semidefinite.solver import Feasibility, round_coordinates
from samecluster.recovery.certify.complete_test import CompleteTest, EllipsoidPool, lifted, weighted
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.certify.reachability import QUIET

# The work per question, which takes about a second (docs/decisions/0007).
_SWEPT = 1200  # items per cluster and sweep, those first that are outside most other clusters
_SWEPT_AGAINST = 1500  # non-members per cluster and sweep, at random
_SWEEPS = 2  # what the first sweep shows outside is a non-member in the second
_FEW = 30  # items shown outside; after fewer there is no other sweep
_LOOKED_AT = 1500  # open points among which to look for one to test, or to ask about
_FRONT = 10_000  # non-members of a complete test: the nearest; farther ones hardly ever matter
_TESTS = 60  # complete tests
_TURN = 6  # tests of one cluster and side before the next has its turn
_KEPT = 100  # ellipsoids per cluster, those that keep most open
_NEAREST = 12  # non-members that a test of two names begins with; it adds what it needs
_WORTH = 0.01  # share of the open points that must be labelled to deduce again before asking
_LONGEST_SKIP = 7  # questions; 1, 3, 7 after deductions that labelled nothing
_SPANS = 1e-7  # smallest singular value, relatively: below it ellipsoids are not determined


class Deduction:
    """Conclusions from all that is known.

    ``guess`` gives the likely cluster of items. ``compiled`` tests are used where they are wanted
    and installed. Unless ``exhaustive``, a deduction that labelled nothing is not tried again for
    a few questions.
    """

    def __init__(
        self,
        known: Knowledge,
        guess: Callable[[IntArray], IntArray],
        compiled: bool,
        exhaustive: bool,
        seed: int,
    ) -> None:
        self.known, self.guess = known, guess
        self.exhaustive, self._may_compile = exhaustive, compiled
        self._last_skip = self._rounds_to_skip = 0
        self.rng = np.random.default_rng(seed)
        self.possible: dict[int, EllipsoidPool] = {}

    @cached_property
    def compiled(self) -> Any:
        """The compiled complete test, or None; loaded by the first deduction, not before."""
        return compiled_decisions() if self._may_compile else None

    @property
    def _tests(self) -> int:
        # A test costs about ten times as much in NumPy.
        return _TESTS // 3 if self.compiled is None else _TESTS

    @QUIET
    def conclude(self, open_: IntArray) -> bool:
        """Deduce labels of open points. True if enough were labelled to deduce again before
        asking."""
        if self._rounds_to_skip:
            self._rounds_to_skip -= 1
            return False
        labels = self.known.closure.labels
        self._sweep(open_)
        self._test(open_[labels[open_] < 0])
        gain = float((labels[open_] >= 0).mean())
        if self.exhaustive:
            return gain > 0
        self._last_skip = 0 if gain > 0 else min(2 * self._last_skip + 1, _LONGEST_SKIP)
        self._rounds_to_skip = self._last_skip
        return gain > _WORTH

    @QUIET
    def best(self, open_: IntArray, count: int) -> list[int]:
        """The open points whose likely answers rule out most of what is still possible."""
        items = open_[:_LOOKED_AT]
        guess = self.guess(items)
        score = np.zeros(len(items))
        for c, possible in self._ready().items():
            if not len(possible.factors):
                continue
            mine, outside = guess == c, self.known.outside[items, c]
            depth, other = possible.cuts(items, mine)
            other &= ~outside[:, None]
            # Every open fact counts one, shared among the ellipsoids that keep it open.
            share = (other / np.maximum(other.sum(axis=1), 1)[:, None]).sum(axis=0)
            score += np.where((mine | ~outside)[:, None], depth, 0.0) @ share
            if len(share) > _KEPT:
                possible.keep(np.sort(np.argsort(-share, kind="stable")[:_KEPT]))
        order = np.argsort(-score, kind="stable")[:count]
        return [int(items[at]) for at in order if score[at] > 0]

    @QUIET
    def tell_apart(self, a: int, b: int) -> bool:
        """Whether a certificate shows that two names cannot be one cluster; it is logged.

        As one cluster they would hold all members of both, and nothing that is outside of either.
        """
        closure = self.known.closure
        members = np.concatenate([closure.clusters[a].members, closure.clusters[b].members])
        others = np.union1d(self.known.outsiders(a), self.known.outsiders(b))
        others = others[~np.isin(closure.labels[others], (a, b))]
        if not len(others) or len(members) <= closure.X.shape[1]:
            return False
        inner = lifted(closure.X[members])
        rounding = round_coordinates(inner)
        if rounding is None:
            return False
        image = inner @ rounding[0]
        away = np.sum((lifted(closure.X[others]) @ rounding[0]) ** 2, axis=1)
        others = others[np.argsort(away, kind="stable")[:_FRONT]]
        outer = lifted(closure.X[others])
        far = np.argsort(-np.sum(image**2, axis=1), kind="stable")[: inner.shape[1]]
        columns = members[np.union1d(spread_basis(image), far)].tolist()
        non_members = others[:_NEAREST].tolist()
        trial = CompleteTest(members, inner, others, outer, 1.0 + self.known.log.margin)
        found = trial.run(columns, non_members, self.compiled)
        if found is None or found.verdict is not Feasibility.INFEASIBLE:
            return False
        certificate = exact_certificate(found.lam, found.mu, *trial.rows, self.known.log.margin)
        if certificate is None:
            return False
        self.known.take_difference(
            a, b, weighted(columns, certificate.lam), weighted(non_members, certificate.mu)
        )
        return True

    def _sweep(self, open_: IntArray) -> None:
        """Single exclusion of many points from the clusters that they are not likely to be in."""
        known = self.known
        for _ in range(_SWEEPS):
            open_ = open_[known.closure.labels[open_] < 0]
            guess, shown = self.guess(open_), 0
            for c in self._spanned():
                items = open_[(guess != c) & ~known.outside[open_, c]]
                others = known.outsiders(c)
                if not len(items) or not len(others):
                    continue
                rank = self.rng.random(len(items)) * 1.5 - known.outside[items].sum(axis=1)
                items = items[np.argsort(rank, kind="stable")[:_SWEPT]]
                others = others[self.rng.permutation(len(others))[:_SWEPT_AGAINST]]
                shown += known.exclude_many(c, items, others)
            known.eliminate(open_)
            known.close()
            if shown < _FEW:
                break

    def _test(self, open_: IntArray) -> None:
        """The complete test on points that nothing shows undecided yet, in turns."""
        done, unclear = 0, set[tuple[int, int, bool]]()
        while done < self._tests:
            before, certificates = done, 0
            open_ = open_[self.known.closure.labels[open_] < 0]
            if not len(open_):
                return
            guess = self.guess(open_)
            for c, possible in self._ready().items():
                for inside in (False, True):
                    region = open_[(guess != c) if inside else (guess == c)]
                    for _ in range(_TURN):
                        region = self._still_open(region, c)
                        todo = possible.undecided(region[:_LOOKED_AT], inside)
                        todo = np.array(
                            [i for i in todo.tolist() if (c, i, inside) not in unclear], dtype=int
                        )
                        if not len(todo) or done >= self._tests:
                            break
                        item = int(self.rng.choice(todo))
                        shown = possible.test(item, inside, region)
                        done += 1
                        if shown is not None:
                            unclear.add((c, item, inside))
                            certificates += len(shown) > 0
            if certificates:
                self.known.eliminate(open_)
                self.known.close()
            if done == before:
                return

    def _still_open(self, items: IntArray, cluster: int) -> IntArray:
        known = self.known
        open_ = (known.closure.labels[items] < 0) & ~known.outside[items, cluster]
        return np.asarray(items[open_])

    def _spanned(self) -> list[int]:
        """The clusters whose known members span all dimensions: nothing follows before."""
        found = []
        for c in self.known.alive:
            cluster = self.known.closure.clusters[c]
            columns = cluster.columns[cluster.D - 1 :]
            if len(columns) >= cluster.D and np.isfinite(columns).all():
                spread = np.linalg.svd(columns, compute_uv=False)
                if spread[-1] > _SPANS * spread[0]:
                    found.append(c)
        return found

    def _ready(self) -> dict[int, EllipsoidPool]:
        """The ellipsoids of the clusters that can be tested, true to what is known now."""
        ready = {}
        for c in self._spanned():
            others = self.known.outsiders(c)
            if len(others):
                possible = self.possible.setdefault(c, EllipsoidPool(self.known, c, self.compiled))
                possible.refresh(self._front(c, others))
                ready[c] = possible
        return ready

    def _front(self, c: int, others: IntArray) -> IntArray:
        """The non-members that matter: the nearest in the cluster's own coordinates."""
        if len(others) <= _FRONT:
            return others
        closure = self.known.closure
        z = closure.clusters[c].whitening.from_mean(closure.X[others])
        near = np.argpartition(np.sum(z**2, axis=1), _FRONT)[:_FRONT]
        return others[np.sort(near)]
