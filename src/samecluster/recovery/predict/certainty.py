"""How far predictions can be believed: from what was said before each answer, and from random asks.

What the model says of a point just before its group is asked for is kept, and so is the group. The
odds of being right are fitted to these records, newer ones counting more, and hold for all points
that were not asked. The first point of a group counts as wrong: nobody could have foretold it.

Points are asked about where answers teach, so they say nothing about groups that nobody has met.
About every eighth point is drawn at random instead; how many of these were the first of their
group bounds the share of points in groups without an asked one, as an audit would.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from samecluster._typing import Array, FloatArray
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.odds import LearnedOdds, log_odds

_UNSEEN_CONFIDENCE = 0.95  # of the bound on groups that nobody has met
_HALF_LIFE = 60.0  # answers: the model of 60 answers ago was another one
# Before any record the model is believed, within a factor e of the odds
_BELIEVED, _WITHIN = (0.0, 1.0), (1.0, 0.3)
_SUREST = 1e-4  # no probability is nearer to 0 or 1: a few hundred answers cannot tell more


class _Record(NamedTuple):
    """Before an answer: a member of the group that was predicted, and the chance it was given."""

    item: int
    predicted: int
    chance: float
    at_random: bool


class Track:
    """The records of one run, judged by what is known now: groups may have merged since."""

    def __init__(self, names: ClusterNames) -> None:
        self._names = names
        self._records: list[_Record] = []

    def note(self, item: int, predicted: int, chance: float, at_random: bool) -> None:
        """What was said of an item just before its answer."""
        self._records.append(_Record(item, predicted, chance, at_random))

    def __len__(self) -> int:
        return len(self._records)

    def calibrated(self, chances: Array) -> FloatArray:
        """The odds of being right for points whose predicted group has these chances (n,)."""
        odds = LearnedOdds(_BELIEVED, _WITHIN, _HALF_LIFE)
        name_of = self._names.name_of
        if self._records:
            right = [name_of[one.item] == name_of[one.predicted] for one in self._records]
            odds.fit(_signs([one.chance for one in self._records]), np.array(right, dtype=float))
        return odds.chances(_signs(chances))

    def unseen(self) -> float | None:
        """At most this share of the points that were not asked is in groups without an asked one.

        The share only falls as groups are met, so that counting all random asks is on the safe
        side. None if there was no random ask.
        """
        from scipy.special import betaincinv  # slow to load, and no first question needs it

        drawn = [one.item for one in self._records if one.at_random]
        if not drawn:
            return None
        place = {item: at for at, item in enumerate(self._names.name_of)}
        first = {
            name: min(place[i] for i in self._names.members[name]) for name in self._names.alive
        }
        new = sum(place[item] == first[self._names.name_of[item]] for item in drawn)
        if new == len(drawn):
            return 1.0
        return float(betaincinv(new + 1, len(drawn) - new, _UNSEEN_CONFIDENCE))


def _signs(chances: Array | list[float]) -> FloatArray:
    odds = log_odds(np.asarray(chances), _SUREST)
    return np.column_stack([np.ones(len(odds)), odds])
