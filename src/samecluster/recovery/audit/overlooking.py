"""How much is overlooked on sheets: what decoys say, and what it does to the bound of an audit.

Who goes through twelve cells may overlook a wrong one. Let q be a number such that a wrong label is
overlooked with a chance of at most q whenever it is shown, and a decoy with one of at least q: that
wrong labels are no easier to overlook than decoys is what has to be assumed. Claim: with W wrong
labels in a round and confidence 1 − δ, no pair (W, q) that is the truth is ever excluded.

A pair (W, q) is excluded once E(v)·D(q) ≥ 10/(9δc). Here E is the round's E of `evidence.py`, c its
capital, D the same for a coin that falls on "overlooked" with a chance of at least q (all decoys of
all rounds), and v the number of labels that are surely noticed among W, but for a chance η.

*Proof.* Give each wrong label a random number in [0, 1] and call it sure if that is at most 1 − q:
such a label is noticed whenever it is shown. The number V of sure ones is at least v with chance
1 − η, by the choice of v, and does not depend on the order of the draws. Given V, the checks that
sure labels fail are draws from an urn with V failures; further failures only make E smaller (fact 2
of `evidence.py`). So c·E(V)·D(q) is a supermartingale that starts at 1, as draws move the one
factor and decoys the other, and the end of a round only makes it smaller (`audit.py`). By Ville's
inequality it ever reaches 10/(9δ) with chance at most 0.9·δ. And E(v) ≤ E(V) where it excludes
anything, because it rises from the likeliest number on. The η of round r is 0.1·δ/2^r. ∎

The bound is the largest W that some q is left for. Let x = W − v be the number of labels that may
be overlooked; the least q with which so many may be is that of Clopper and Pearson. So it is enough
to go through x: E falls with x and D rises. That takes the place of U/(1 − q⁺) with two confidences
that add up, and needs fewer decoys: evidence about both multiplies.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from samecluster._typing import FloatArray
from samecluster.recovery.audit.evidence import Coin, Evidence

_TELLING = 0.1  # the share of overlooked decoys that matters: a bound of 0.9 % becomes 1 %
_OF_COINS = 0.1  # of δ, for more sure labels to be overlooked than v says


class Overlooking:
    """What decoys say. ``per_check`` decoys are expected with each check that is still to come."""

    def __init__(self, delta: float, per_check: float) -> None:
        self._delta, self._per_check = delta, per_check
        self._evidence = Coin(_TELLING)
        self.n_decoys = self.n_overlooked = 0

    def note(self, n_decoys: int, n_overlooked: int) -> None:
        """So many decoys were shown in all, and so many of them overlooked."""
        self.n_decoys, self.n_overlooked = n_decoys, n_overlooked

    def details(self) -> dict[str, Any]:
        """What an `AuditReport` says about decoys."""
        return {
            "n_decoys": self.n_decoys,
            "n_overlooked": self.n_overlooked,
            "overlooked_at_most": self.at_most(),
        }

    def at_most(self) -> float:
        """q⁺, at the confidence of the audit by itself: the share that is overlooked, at most."""
        low, high = 0.0, 1.0
        while high - low > 1e-4:
            middle = (low + high) / 2.0
            if self._evidence.excludes(middle, self.n_decoys, self.n_overlooked, self._delta):
                high = middle
            else:
                low = middle
        return high

    def excludes(
        self,
        urn: Evidence,
        wrong: int,
        draws: int,
        failures: int,
        level: float,
        n_round: int,
        ahead: int = 0,
    ) -> bool:
        """Whether ``wrong`` labels and more are excluded, however many of them are overlooked.

        ``ahead`` of the draws are still to come, with decoys that are all found.
        """
        if draws == 0:
            return False
        needed = -math.log(level * (1.0 - _OF_COINS)) + urn.rounding(draws)
        n_decoys = self.n_decoys + int(ahead * self._per_check)
        if n_decoys == 0:
            return False
        least = max(urn.likeliest(draws, failures), 0.0)
        # From one number of overlooked labels to the next: the first q, the last v.
        numbers = _numbers(wrong)
        shares = self._least_shares(numbers[:-1], wrong, n_round)
        left = np.maximum(wrong - (numbers[1:] - 1.0), least)
        told = urn.log_strengths(left, draws, failures) + self._decoys_against(shares, n_decoys)
        return bool(wrong > least and (told >= needed).all())

    def _least_shares(self, numbers: FloatArray, wrong: int, n_round: int) -> FloatArray:
        """The least q with which so many of the wrong labels may be overlooked."""
        from scipy.special import betaincinv  # slow to load, and no first question needs it

        eta = self._delta * _OF_COINS / 2.0**n_round
        some = np.maximum(numbers, 1.0)
        return np.where(numbers > 0, betaincinv(some, wrong - some + 1.0, eta), 0.0)

    def _decoys_against(self, shares: FloatArray, n_decoys: int) -> FloatArray:
        """log D of shares or anything above; a share of 1 is out of question once one was found."""
        likeliest = self._evidence.likeliest(n_decoys, self.n_overlooked)
        at = np.clip(np.maximum(shares, likeliest), 0.0, 1.0)
        logs = self._evidence.log_strengths(at, n_decoys, self.n_overlooked)
        return np.asarray(logs - self._evidence.rounding(n_decoys))


def _numbers(wrong: int) -> FloatArray:
    """0, 1, 2, … up to ``wrong`` + 1, with growing steps where there are many."""
    small = np.arange(min(wrong + 1, 64), dtype=np.float64)
    large = np.unique(np.round(np.geomspace(64, wrong + 1, 64))) if wrong >= 64 else small[:0]
    return np.unique(np.concatenate([small, large, [wrong + 1.0]]))
