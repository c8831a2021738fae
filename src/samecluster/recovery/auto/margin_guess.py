"""Which margin is tried where nobody declared one, in which lift, and whether proofs pay there."""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.lifts.lift import ColumnMap, in_lift
from samecluster.points.array import unit_scaled
from samecluster.recovery.auto.lift_choice import first_lift, next_lift
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import MarginSearch

TRIES = 12
"""Refutations: 0.6^8 (`_STEP`) is below `_USELESS` already; the others are for exceptions."""

# The margin of the paper's instances; a guess that is too large is refuted cheaply (decision 10)
_OPTIMISTIC = 1.0
# Proofs at γ=0.05, d=4 take about 250 questions already (benchmarks/questions)
_USELESS = 0.02
# Margin below which a lift is tried where one may be: proofs at γ=0.2, d=4 take 33 questions
_LIFTED_BELOW = 0.2
# A margin equal to the largest allowed one is refuted by definition (theory, section 7)
_BELOW = 0.95
# At most this share of a refuted margin is tried next, so that TRIES steps reach _USELESS
_STEP = 0.6
# Proofs are tried where spanning all groups takes at most 1 question in 50 points (decision 10)
_LABELS_A_QUESTION = 50
# Questions in all that may pass without a label that follows from each, and beyond the rank if that
# is more: one group is spanned by then, and labels follow if the margin is of use
_UNPAID, _UNPAID_BEYOND_RANK = 20, 4
# Rows by which the rank is told: 2,000 are far more than columns, and an SVD of them is quick
_RANK_ROWS = 2000
_FLAT = 1e-9  # singular values below this share of the largest are rounding, not a direction


class MarginGuess:
    """The margin that is tried now; where labels are drawn anew, it goes on from the last one.

    Attributes
    ----------
    margin : None once none is left that is of use
    refuted : margins in this lift that the answers do not allow
    lift : the lift that all of them are margins in; None for the columns as they are
    n_questions : what the search has cost so far, beside inference
    """

    def __init__(self, problem: Problem, labelling: Labelling, lifts: bool, seed: int) -> None:
        self._problem, self._labelling = problem, labelling
        self._lifts, self._seed = lifts, seed
        before = labelling.search
        if before is None:
            first = first_lift(problem.X, problem.n_clusters, seed) if lifts else None
            lift, margin = first or (problem.lift, _OPTIMISTIC)
            before = MarginSearch(margin, (), 0, lift)
        self.refuted, self.n_questions, self._n_before = list(before.refuted), before.n_questions, 0
        self._begin(before.lift, before.margin)

    def _begin(self, lift: ColumnMap | None, margin: float | None) -> None:
        self.lift, self._rank = lift, _rank(self._problem.X, self._seed, lift)
        self.margin = margin if self.proofs_may_pay() else None

    def note(self) -> None:
        """Write on the labelling what was found out so far."""
        refuted = tuple(self.refuted)
        self._labelling.search = MarginSearch(self.margin, refuted, self.n_questions, self.lift)

    def proofs_may_pay(self, n_groups: int = 2) -> bool:
        """Whether spanning so many clusters would take few questions for the labels it gives."""
        return _LABELS_A_QUESTION * n_groups * (self._rank + 1) <= len(self._problem.X)

    def proofs_pay(self) -> bool:
        """Whether labels follow from the questions asked in this lift, but for a few of these."""
        followed = int(np.count_nonzero(self._labelling.how == How.INFERRED))
        allowed = max(_UNPAID, self._rank + _UNPAID_BEYOND_RANK)
        return self._labelling.n_questions - self._n_before - followed <= allowed

    def lower(self, largest: float) -> None:
        """The margin is refuted; ``largest`` is what the answers allow."""
        assert self.margin is not None
        if self.margin not in self.refuted:
            self.refuted.append(self.margin)
        # What is allowed was looked for among few points: closures of all reach farther.
        lower = min(_BELOW * largest, _STEP * self.margin)
        least = _LIFTED_BELOW if self._lifts and self.lift is None else _USELESS
        self.margin = lower if lower >= least and len(self.refuted) < TRIES else None

    def lift_higher(self) -> None:
        """Begin again in the next lift, if there may be one and proofs in it may pay."""
        lift = next_lift(self._problem.X, self.lift) if self._lifts else None
        if lift is not None and self.proofs_may_pay():
            self.refuted, self._n_before = [], self._labelling.n_questions
            self._labelling.note_exceptions(self._problem.exceptions)
            self._begin(lift, _OPTIMISTIC)


def _rank(X: FloatArray, seed: int, lift: ColumnMap | None) -> int:
    """The number of directions in which the (lifted) points vary, by a sample of them."""
    rows: IntArray = np.random.default_rng(seed).permutation(len(X))[:_RANK_ROWS]
    points = unit_scaled(in_lift(X[rows], lift))
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return int(np.count_nonzero(spread > _FLAT * max(float(spread[0]), 1e-300)))
