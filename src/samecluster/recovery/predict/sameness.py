"""Whether two are in one group, before anybody is asked: P(same), learned from past answers.

The one place where questions about groups are valued, whatever their kind. A *fragment* is a point
that is being placed, or a group that may be part of another one. Its scores for the groups that it
may be in come from the regression without its own answers. It is in one of them, or in a group of
its own:

    P(same as g) = exp(β s_g) / (exp(ν) + Σ exp(β s))              for a point
    P(same as g) = exp(β s_g) / (exp(ν + κ + μ log m) + Σ exp(β s))   for a group of m asked members

exp(ν) is the number of groups that nobody has met yet, as the answers show it. A group was told
apart from the likeliest others when it was founded (κ), and one that was met often and never joined
is most likely another one (μ). All four are fitted to the answers so far, newer ones counting more.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray, IntArray

RATHER_NEW = 0.5
"""P(a group that nobody has met) from which on a point founds one."""

# Before any answer: log β, ν, κ and μ, and how far they may be off
_USUAL, _WITHIN = np.array([np.log(8.0), 1.5, 1.5, 1.0]), np.array([0.7, 0.7, 1.0, 0.5])
_HALF_LIFE = 100.0  # answers: the model of 100 answers ago was another one
_REMEMBERED = 400  # answers: older ones weigh a sixteenth at most
_STEPS = 2  # of Fisher scoring, from the last optimum; one answer moves it little
_LONGEST_STEP = 1.0


class Sameness:
    """P(same) of fragments and groups, and what the answers so far say about it."""

    def __init__(self) -> None:
        self._at = _USUAL.copy()
        self._seen: list[tuple[FloatArray, int, int, bool]] = []

    def chances(self, scores: FloatArray, members: IntArray) -> FloatArray:
        """(m, g) P(same) of fragments with scores (m, g); 0 where a score is −inf.

        ``members`` (m,) is the number of asked members, 0 for a point that is being placed.
        """
        return _chances(self._at, scores, members)

    def heard(self, scores: FloatArray, asked: int, same: bool, members: int = 0) -> None:
        """The answer about a fragment and the group with number ``asked`` among its scores."""
        self._seen.append((scores.copy(), asked, members, same))
        self._fit()

    def _fit(self) -> None:
        recent = self._seen[-_REMEMBERED:]
        rows = np.arange(len(recent))
        scores = np.full((len(recent), max(len(one[0]) for one in recent)), -np.inf)
        for row, one in enumerate(recent):
            scores[row, : len(one[0])] = one[0]
        asked = np.array([one[1] for one in recent])
        members = np.array([one[2] for one in recent])
        same = np.array([one[3] for one in recent])
        weights = 0.5 ** (rows[::-1] / _HALF_LIFE)
        finite = np.where(np.isfinite(scores), scores, 0.0)
        for _ in range(_STEPS):
            p = _chances(self._at, scores, members)
            beta, new = np.exp(self._at[0]), 1.0 - p.sum(axis=1)
            own = np.clip(p[rows, asked], 1e-6, 1.0 - 1e-6)
            # How log P(same) moves with log β, ν, κ and μ
            steeper = beta * (finite[rows, asked] - (p * finite).sum(axis=1))
            moves = np.column_stack([steeper, -new[:, None] * _signs(members)])
            odds = own / (1.0 - own)
            slope = moves.T @ (weights * np.where(same, 1.0, -odds))
            slope -= (self._at - _USUAL) / _WITHIN**2
            curve = (moves * (weights * odds)[:, None]).T @ moves + np.diag(1.0 / _WITHIN**2)
            step = np.linalg.solve(curve, slope)
            self._at = self._at + np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)


def expected_questions(same: FloatArray) -> FloatArray:
    """(m,) the expected number of questions until points with these P(same) (m, g) are placed.

    Groups are tried from the likeliest on, until a new group is likelier than all the others.
    """
    same = -np.sort(-same, axis=1)
    left = 1.0 - np.cumsum(same, axis=1) + same
    new = 1.0 - same.sum(axis=1, keepdims=True)
    return np.asarray(np.where(new < RATHER_NEW * left, left, 0.0).sum(axis=1))


def _chances(at: FloatArray, scores: FloatArray, members: IntArray) -> FloatArray:
    """(m, g) for fragments (m,) with scores (m, g), −inf where a group is not open."""
    raised = np.exp(at[0]) * scores
    new = _signs(members) @ at[1:]
    most = np.maximum(raised.max(axis=1, initial=-np.inf), new)[:, None]
    shares = np.exp(raised - most)
    return np.asarray(shares / (shares.sum(axis=1, keepdims=True) + np.exp(new[:, None] - most)))


def _signs(members: IntArray) -> FloatArray:
    """(m, 3) what ν, κ and μ are multiplied with."""
    return np.column_stack([np.ones(len(members)), members > 0, np.log(np.maximum(members, 1))])
