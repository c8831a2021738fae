"""What the model expects of an answer, corrected by how such answers turned out so far.

What it says of a point that was marked is far too good: it shares out among the other groups what
it gave to the wrong ones. And as long as groups are missing, it is sure of points that are in none.
Both show on the first sheets.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array, BoolArray, FloatArray
from samecluster.recovery.predict.odds import LearnedOdds, signs

# Before any answer the model is believed, within a factor e of the odds, marked before or not
_BELIEVED, _WITHIN = (0.0, 1.0, 0.0), (1.0, 0.3, 1.0)
_HALF_LIFE = 120.0  # answers, those of ten sheets: the model of then was another one
_REMEMBERED = 960  # answers: older ones weigh a two hundred and fiftieth at most


class Corrected:
    """Chances of one kind of answer: that a point is left on a sheet, or found in a choice.

    Examples
    --------
    >>> left = Corrected()
    >>> for _ in range(20):
    ...     left.heard(np.array([0.9, 0.9]), np.array([True, False]), np.array([False, True]))
    >>> marked_before, fresh = left.chances(np.array([0.9, 0.9]), np.array([True, False]))
    >>> bool(marked_before < 0.2), bool(fresh > 0.8)
    (True, True)
    """

    def __init__(self) -> None:
        self._signs = np.zeros((0, len(_BELIEVED)))
        self._came = np.zeros(0)
        self._odds = LearnedOdds(_BELIEVED, _WITHIN, _HALF_LIFE)

    def chances(self, said: Array, marked: BoolArray) -> FloatArray:
        """(m,) for points with the model's chances (m,), some of them ``marked`` (m,) before."""
        return self._odds.chances(signs(said, marked))

    def heard(self, said: Array, marked: BoolArray, came: BoolArray) -> None:
        """What came (m,) of it."""
        self._signs = np.concatenate([self._signs, signs(said, marked)])[-_REMEMBERED:]
        self._came = np.concatenate([self._came, came])[-_REMEMBERED:]
        self._odds.fit(self._signs, self._came)
