"""How many questions are left: an interval that is right about four times in five.

What is left depends on the stage of a run: proving under a declared margin, inferring under a
guessed one, or predicting. In each, both ends are products of powers of two numbers: of questions
asked, and of items without a label, or how far the expected error is above the goal of prediction.
The exponents are quantile regressions (10 % and 90 %; of prediction 5 % and 95 %, as sets differ
more than moments) on runs over sixteen families of data, made and real. `benchmarks/remaining.py`
fits them, and prints how often they are right about a family that they were not fitted to.

Prediction on large data has no expected error to go by. Then all that is known is the number t of
questions asked: seen at a moment that has nothing to do with its length, a run has from t/9 to 9t
left in four cases of five, whatever the data, the answers and the method are.

Checks of an audit come on top. Their number is known if none fails and none is answered by what is
known already; most runs need from 0.7 to 1.3 times as many.
"""

from __future__ import annotations

import enum
import math
from typing import NamedTuple

import numpy as np

from samecluster._typing import FloatArray
from samecluster.recovery.audit.plan import audit_price
from samecluster.recovery.auto.whole_run import prediction_goal
from samecluster.recovery.result.claims import Certainty, Claim
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

CONFIDENCE = 0.8
"""How often what follows is inside the interval."""

_OF_CHECKS = (0.7, 1.3)  # most audits need this share of the checks forecast: benchmarks/remaining
_LEAST = 0.01  # labels that may be wrong where none is to be: no logarithm of nothing
_NEAR_THE_GOAL = 0.5  # expected error over goal below which a run may end with any answer


class Stage(enum.Enum):
    """What a run does now."""

    PROVING = "proving"
    INFERRING = "inferring"
    PREDICTING = "predicting"
    UNKNOWN = "unknown"


EXPONENTS = {
    Stage.PROVING: ((-1.45, 0.512, 0.36), (1.447, 0.401, 0.303)),
    Stage.INFERRING: ((0.752, 0.065, 0.285), (2.839, 0.042, 0.144)),
    Stage.PREDICTING: ((-0.389, 0.309, 0.687), (1.69, 0.493, 0.553)),
    Stage.UNKNOWN: ((-math.log(9.0), 1.0, 0.0), (math.log(9.0), 1.0, 0.0)),
}
"""For the lower and the upper end, one for each of `signs`."""


class Remaining(NamedTuple):
    """From ``low`` to ``high`` questions are left."""

    low: int
    high: int

    @property
    def claim(self) -> Claim:
        """The same as a claim."""
        interval = (self.low, self.high)
        return Claim("forecast", Certainty.ESTIMATED, confidence=CONFIDENCE, interval=interval)


def remaining_questions(
    known: Recovery,
    n_asked: int,
    *,
    most: int | None = None,
    audit: tuple[float, float] | None = None,
    expected_error: float | None = None,
) -> Remaining | None:
    """How many questions a run that is not done has left, with 80 % confidence.

    Parameters
    ----------
    known : what is known now
    n_asked : questions so far; None is returned before the first, when nothing can be said
    most : what a budget leaves
    audit : the error and confidence that an audit is to show in the end
    expected_error : the share of wrong labels at which prediction is to stop, if one was set

    Examples
    --------
    >>> from samecluster import start
    >>> from samecluster.instances import make_ellipsoids
    >>> made = make_ellipsoids(n=600, d=2, k=3, random_state=0)
    >>> run = start(made.X, random_state=0)
    >>> for _ in range(8):
    ...     i, j = run.pending[0].pair
    ...     run.tell(run.pending[0], same=bool(made.labels[i] == made.labels[j]))
    >>> left = remaining_questions(run.snapshot(), run.n_questions)
    >>> left.low <= left.high
    True
    """
    if n_asked < 1:
        return None
    goal = prediction_goal(audit) if expected_error is None else expected_error
    low, high = (0.0, 0.0) if known.audit is not None else _to_label(known, n_asked, goal)
    checks = 0 if audit is None else _checks(known, *audit)
    fewest, many = (share * checks for share in _OF_CHECKS)
    left = max(1, math.floor(low + fewest)), max(1, math.ceil(high + many))
    return Remaining(*(end if most is None else min(end, most) for end in left))


def stage_of(known: Recovery) -> Stage:
    """The stage that a run is in, by what it has noted."""
    if known.margin is not None:
        return Stage.PROVING if known.search is None else Stage.INFERRING
    return Stage.UNKNOWN if known.probability is None else Stage.PREDICTING


def signs(known: Recovery, n_asked: int, goal: float | None = None) -> FloatArray:
    """What the number of questions left is told from, as logarithms: (3,), the first is 1.

    ``goal`` is the expected error at which prediction stops.
    """
    last = math.log1p(known.count(How.UNASSIGNED))
    if stage_of(known) is Stage.PREDICTING:
        assert known.probability is not None
        predicted = known.how_codes == How.PREDICTED
        wrong = float(np.sum(1.0 - known.probability[predicted]))
        allowed = (prediction_goal(None) if goal is None else goal) * len(known.labels)
        last = math.log(max(wrong / max(allowed, _LEAST), _NEAR_THE_GOAL))
    return np.array([1.0, math.log(n_asked), last])


def _to_label(known: Recovery, n_asked: int, goal: float) -> tuple[float, float]:
    at = signs(known, n_asked, goal)
    n = len(known.labels)
    no_pair_twice = max(1.0, n * (n - 1) / 2.0 - n_asked)
    low, high = (
        min(math.exp(float(at @ exponents)), no_pair_twice)
        for exponents in EXPONENTS[stage_of(known)]
    )
    return low, max(low, high)


def _checks(known: Recovery, error: float, confidence: float) -> int:
    """How many checks an audit still takes if none fails."""
    if known.audit is not None:
        return known.audit.n_more or 0
    n_unasked = len(known.labels) - known.count(How.ASKED)
    return audit_price(n_unasked, error, confidence, pairs=True)
