"""How many questions are left: an interval that promises no more than is known.

Somebody who looks at a run at a moment that has nothing to do with its length sees a share u of its
questions asked that is uniform in (0, 1]. So with t asked, the number left, t(1/u - 1), lies
between t·a/(1-a) and t·(1-a)/a with the probability 1 - 2a, whatever the data, the answers and the
method are. Over all moments of any run the interval is right this often: no more is promised, and
it is wide because a new cluster may turn up at any time. `benchmarks/remaining.py` measures it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from samecluster.errors import InvalidInputError

__all__ = ["Remaining", "remaining_questions"]


class Remaining(NamedTuple):
    """From ``low`` to ``high`` questions are left."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low:,} to {self.high:,}"


def remaining_questions(
    n_asked: int, *, most: int | None = None, coverage: float = 0.8
) -> Remaining | None:
    """How many questions a run that is not done has left, if ``n_asked`` were asked.

    ``most`` is what a budget leaves. None before the first answer, when nothing can be said.

    >>> print(remaining_questions(18))
    2 to 162
    """
    if not 0.0 < coverage < 1.0:
        raise InvalidInputError(f"coverage must be between 0 and 1, got {coverage}")
    if n_asked < 1:
        return None
    tail = (1.0 - coverage) / 2.0
    # Rounding keeps t·9 from becoming one more by the last digit.
    low = math.floor(round(n_asked * tail / (1.0 - tail), 9))
    high = math.ceil(round(n_asked * (1.0 - tail) / tail, 9))
    low, high = max(1, low), max(1, high)
    return Remaining(low, high) if most is None else Remaining(min(low, most), min(high, most))
