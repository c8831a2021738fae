"""How far predictions can be believed: from what was said before each answer, and from random asks.

What the model says of a point just before its group is asked for is kept, and so is the group. The
odds of being right are fitted to these records, newer ones counting more. Points that are picked
because they are in doubt are wrong more often than others of which the same was said: by how much
is fitted, too, with the points drawn at random to compare with, and taken out for all points that
were not asked. The first point of a group counts as wrong: nobody could have foretold it.

Points are asked about where answers teach, so they say nothing about groups that nobody has met.
About every eighth point is drawn at random instead; how many of these were the first of their
group bounds the share of points in groups without an asked one, as an audit would.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from samecluster._typing import Array, FloatArray
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.predict.calibration import CLOUD_SHARPNESS, Calibration
from samecluster.recovery.predict.odds import LearnedOdds, signs

DRAWN_EVERY = 8
"""Of this many points that prediction asks about one is drawn at random."""

_UNSEEN_CONFIDENCE = 0.95  # of the bound on groups that nobody has met
_HALF_LIFE = 60.0  # answers: the model of 60 answers ago was another one
# Before any record the model is believed about points that are picked, within a factor e of the
# odds; those of others are thought to be e times better. With 1.6 times, what was said of
# optdigits, penbased and breast cancer after 200 questions was 2 to 4 times the true error.
_BELIEVED, _WITHIN = (1.0, 1.0, -1.0), (1.0, 0.3, 1.0)
_ENOUGH_DRAWN = 5.0  # random asks from which on points that were not picked are judged apart
_FEWEST_OPINIONS = 10  # before a second opinion is heard
_REMEMBERED = 200  # opinions: older ones weigh a tenth at most
_FOR, _AGAINST = 1.0, 3.0  # answers by which a second opinion is right, and wrong, before any
_ROUNDS = 30  # of the iteration for its weight, which moves little after ten


class _Record(NamedTuple):
    """Before an answer: a member of the group that was predicted, and the chance it was given."""

    item: int
    predicted: int
    chance: float
    at_random: bool


class Track:
    """The records of one run, judged by what is known now: groups may have merged since.

    ``outside`` has the groups that items are known not to be in. An item that waits for its group
    outside of the one that was predicted was wrong there; of one that nobody was sure about it is
    not known.
    """

    def __init__(self, names: ClusterNames, outside: Mapping[int, Collection[int]]) -> None:
        self._names, self._outside = names, outside
        self._records: dict[int, _Record] = {}  # by item, in the order of the answers
        self._n_before = 0

    def note(self, item: int, predicted: int, chance: float, at_random: bool) -> None:
        """What was said of an item just before its answer."""
        self._records[item] = _Record(item, predicted, chance, at_random)

    def __contains__(self, item: int) -> bool:
        """Whether there is a record of an item."""
        return item in self._records

    def end_of_known_answers(self) -> None:
        """The records so far are of answers that were there before this run.

        Which of them were drawn at random is forgotten; as many as usual are thought to be.
        """
        self._n_before = len(self)

    def __len__(self) -> int:
        return len(self._answered())

    def _answered(self) -> list[_Record]:
        """The records of which it is known whether they were right."""
        name_of = self._names.name_of
        return [
            one
            for one in self._records.values()
            if one.item in name_of or name_of[one.predicted] in self._outside.get(one.item, ())
        ]

    def calibrated(self, chances: Array, picked: bool = False) -> FloatArray:
        """The odds of being right for points whose predicted group has these chances (n,).

        ``picked``: if they were points that are asked about because they are in doubt. Without
        random asks nobody knows how far others differ from those, and all count as such.
        """
        odds = LearnedOdds(_BELIEVED, _WITHIN, _HALF_LIFE)
        name_of, records = self._names.name_of, self._answered()
        drawn = np.array([one.at_random for one in records], dtype=np.bool_)
        if records:
            right = [name_of.get(one.item) == name_of[one.predicted] for one in records]
            said = np.array([one.chance for one in records])
            odds.fit(signs(said, ~drawn), np.array(right, dtype=float))
        n_drawn = float(drawn.sum()) + self._n_before / DRAWN_EVERY
        like_picked = 1.0 if picked else _ENOUGH_DRAWN / (_ENOUGH_DRAWN + n_drawn)
        return odds.chances(signs(chances, np.full(len(chances), like_picked)))

    def unseen(self) -> float | None:
        """At most this share of the points that were not asked is in groups without an asked one.

        The share only falls as groups are met, so that counting all random asks is on the safe
        side, and so is counting what has no group yet as if it were in none that is known. None if
        there was no random ask.
        """
        from scipy.special import betaincinv  # slow to load, and no first question needs it

        drawn = [one.item for one in self._records.values() if one.at_random]
        if not drawn:
            return None
        place = {item: at for at, item in enumerate(self._names.name_of)}
        first = {
            name: min(place[i] for i in self._names.members[name]) for name in self._names.alive
        }
        name_of = self._names.name_of
        new = sum(i not in name_of or place[i] == first[name_of[i]] for i in drawn)
        if new == len(drawn):
            return 1.0
        return float(betaincinv(new + 1, len(drawn) - new, _UNSEEN_CONFIDENCE))


class SecondOpinion:
    """How far clouds are heard beside the regression: by what both said before each answer.

    Leaving answers out would be in favour of clouds, which are fitted to labels that the regression
    spread from these very answers.

    Attributes
    ----------
    weight : the share of the clouds in what is said
    calibration : from log likelihoods of clouds to probabilities
    """

    def __init__(self) -> None:
        self.weight = 0.0
        self.calibration = Calibration(CLOUD_SHARPNESS, 0.0)
        self._seen: list[tuple[float, FloatArray, int]] = []

    def note(self, chance: float, scores: FloatArray, group: int) -> None:
        """A point is in ``group``, which the regression gave a chance, and clouds scores (k,)."""
        self._seen.append((chance, scores.copy(), group))
        if len(self._seen) >= _FEWEST_OPINIONS:
            self._weigh()

    def _weigh(self) -> None:
        """The weight of a mixture of both that makes the answers likeliest, newer ones first."""
        recent = self._seen[-_REMEMBERED:]
        rows, truth = np.arange(len(recent)), np.array([one[2] for one in recent])
        scores = np.full((len(recent), max(len(one[1]) for one in recent)), -np.inf)
        for row, one in enumerate(recent):
            scores[row, : len(one[1])] = one[1]
        self.calibration = Calibration.fitted(scores, truth, CLOUD_SHARPNESS)
        by_clouds = self.calibration.probabilities(scores)[rows, truth]
        by_regression = np.array([one[0] for one in recent])
        counted = 0.5 ** (rows[::-1] / _HALF_LIFE)
        weight = 0.5
        for _ in range(_ROUNDS):
            share = weight * by_clouds / (weight * by_clouds + (1.0 - weight) * by_regression)
            weight = (float(counted @ share) + _FOR) / (float(counted.sum()) + _FOR + _AGAINST)
        self.weight = weight
