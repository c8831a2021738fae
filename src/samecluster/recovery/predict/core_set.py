"""More rows than can be compared: which of them are modelled, and what those say of the others.

Memory and time grow with n times the size of the core, never with n².
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.recovery.predict.calibration import CLOUD_SHARPNESS, SHARPNESS, Calibration
from samecluster.recovery.predict.clouds import Clouds
from samecluster.recovery.predict.graph import nearest
from samecluster.recovery.predict.similarity import whitened

# Points that are modelled of more than the largest number: with 10⁶ rows the nearest of the core
# are found in about as long as the graph of 50,000 rows takes
_CORE = 5000
# Share of the core that keeps the proportions of groups; the rest finds small ones that lie apart
_AT_RANDOM = 0.75
# Rows from which far ones are chosen: distances to the core of all rows would cost a pass over n
_DRAWN_FROM = 8 * _CORE
_NEIGHBOURS = 5  # of the core that speak for a point outside; chosen by benchmarks/predict
# By how much clouds must be better: a tie goes to the votes, which assume less
_NEIGHBOURS_FIRST = 0.002
# Decimal digits after which equal rows agree: single precision of features of mean square 1
_DIGITS = 7
_COPY = 1e-12  # squared, in features of mean square 1


def core_of(
    points: FloatArray, largest: int, rng: np.random.Generator, include: IntArray
) -> tuple[IntArray, IntArray]:
    """The rows to model, in order, and each row's place among them: −1 where it has none.

    All if there are at most ``largest``, otherwise 5,000, three quarters of them at random and the
    others far from those, so that a small cluster that lies apart is in the core too. Rows to
    ``include`` come on top. Copies are modelled once.
    """
    n = len(points)
    rows = np.arange(n) if n <= largest else np.union1d(_scattered(points, rng), include)
    # Features of equal rows may differ in the last bits.
    _, first, copy_of = np.unique(
        points[rows].round(_DIGITS), axis=0, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    place = np.full(n, -1, dtype=np.int64)
    place[rows] = np.argsort(order)[copy_of.ravel()]
    return rows[first[order]], place


def _scattered(points: FloatArray, rng: np.random.Generator) -> IntArray:
    drawn = rng.choice(len(points), size=min(len(points), _DRAWN_FROM), replace=False)
    usual, others = np.split(drawn, [int(_AT_RANDOM * _CORE)])
    away = nearest(points[others], points[usual], 1)[1][:, 0]
    away[away < _COPY] = 0.0
    count = min(_CORE - len(usual), int(np.count_nonzero(away)))
    if not count:
        return np.asarray(usual)
    chosen = rng.choice(others, size=count, replace=False, p=away / away.sum())
    return np.concatenate([usual, chosen])


def extended(
    points: FloatArray, core: IntArray, labels: IntArray, chances: FloatArray
) -> FloatArray:
    """(n, k) probabilities for all points (n, r) from those of the core.

    Parameters
    ----------
    points : (n, r) features
    core : (m,) rows
    labels : (m,) group of each point of the core, from 0 to k−1
    chances : (m, k) probabilities of the groups

    The others go with the nearest five of the core, plain or whitened, or with the clouds:
    whichever is right most often about points of the core that are left out.
    """
    n, k = len(points), chances.shape[1]
    targets = np.eye(k)[labels]
    certain = chances[np.arange(len(core)), labels]
    rest = np.setdiff1d(np.arange(n), core)
    spaces = [points, _whitened_by(points, core, labels)]
    votes = [_Votes(space[core], space[core], own=True).of(targets) for space in spaces]
    better = int(np.argmin([_error(vote, labels) for vote in votes]))
    nearby = _Votes(spaces[better][rest], spaces[better][core])
    clouds = Clouds(points[core], labels, k)
    if _error(clouds.scores(), labels) + _NEIGHBOURS_FIRST < _error(votes[better], labels):
        trust = Calibration.fitted(clouds.scores(), labels, CLOUD_SHARPNESS)
        agreeing = trust.probabilities(clouds.scores_of(points[rest]))
    else:
        trust = Calibration.fitted(votes[better], labels, SHARPNESS)
        agreeing = trust.probabilities(nearby.of(targets))
    found = np.zeros((n, k))
    found[core] = chances
    # To be right, a point must agree with the core around it, and the core must be right there.
    found[rest] = agreeing * nearby.of(certain[:, None])
    found[rest[nearby.copies]] = chances[nearby.closest[nearby.copies]]
    return found


class _Votes:
    """Weighted means over the nearest five of the core, each with weight 1 / distance².

    ``copies`` are the points that stand in the core already, as its ``closest`` member.
    """

    def __init__(self, points: FloatArray, core: FloatArray, own: bool = False) -> None:
        count = min(_NEIGHBOURS, len(core) - own)
        self._numbers, squares = nearest(points, core, count, own)
        self.closest, self.copies = self._numbers[:, 0], squares[:, 0] < _COPY
        weights = 1.0 / np.maximum(squares, _COPY)
        self._weights = weights / weights.sum(axis=1, keepdims=True)

    def of(self, values: FloatArray) -> FloatArray:
        """(n, k) from values (m, k) of the core."""
        found = np.zeros((len(self._numbers), values.shape[1]))
        for rank in range(self._numbers.shape[1]):
            found += self._weights[:, [rank]] * values[self._numbers[:, rank]]
        return found


def _whitened_by(points: FloatArray, core: IntArray, labels: IntArray) -> FloatArray:
    groups, trusted = np.zeros(len(points), dtype=np.int64), np.zeros(len(points), dtype=np.bool_)
    groups[core], trusted[core] = labels, True
    return whitened(points, groups, trusted)


def _error(scores: FloatArray, labels: IntArray) -> float:
    return float(np.mean(scores.argmax(axis=1) != labels))
