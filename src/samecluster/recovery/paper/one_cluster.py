"""Learning one cluster up to an error: an ellipsoid that agrees with a random sample (PAC).

The paper's supplementary material, "Generalization error bounds": if m random points are enough,
every ellipsoid that agrees with the cluster on them is wrong on a share of at most ε of all points,
with probability at least 1 − δ. A low-stretch separator is such an ellipsoid, and the MVEE of the
sampled members is not. No margin and no number of clusters enter: only that some ellipsoid holds
the cluster and nothing else. Differences below the resolution (1e-9 of a column's range) carry no
meaning: a point that close to a flat ellipsoid's span counts as in it.

The paper leaves the constant of m open. Here m is the least number that the inequality behind it
allows (Blumer, Ehrenfeucht, Haussler, Warmuth 1989): with D = d(d+3)/2, the VC-dimension of
ellipsoids, the probability of a worse ellipsoid that agrees with the sample is at most

    2 · Σ_{i≤D} C(2m, i) · 2^(−εm/2)    for m ≥ 8/ε,

which the ε below meets for every m ≥ 2.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from samecluster._parameters import check_probability
from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry import tolerance
from samecluster.geometry.separator import Separator, low_stretch_separator
from samecluster.points.array import UnitScaling
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.placement import MAX_COMPARATORS


@dataclass(frozen=True, eq=False)
class LearnedCluster:
    """An ellipsoid that stands for a cluster, and how far it may be trusted.

    Attributes
    ----------
    separator : the ellipsoid, in scaled coordinates; use `contains` for points as they come
    error : with probability at least 1 − ``failure`` over the draw of the sample, at most this
        share of all points is judged wrongly. It is 1.0, and so says nothing, if no ellipsoid was
        found that agrees with the sample, or if the sample is small
    failure : the δ of that promise
    n_sample : the number of points in the sample, repeated ones included
    """

    separator: Separator
    error: float
    failure: float
    n_sample: int
    scaling: UnitScaling

    def contains(self, X: FloatArray) -> BoolArray:
        """Which points (n, d) are judged to be in the cluster."""
        return self.separator.contains(self.scaling.apply(np.asarray(X, dtype=np.float64)))


def error_bound(n_sample: int, dimension: int, failure: float) -> float:
    """The ε that a sample of this size promises: the least for which the inequality gives δ.

    Examples
    --------
    >>> round(error_bound(2000, dimension=2, failure=0.05), 3)
    0.058
    """
    if n_sample < 2:
        return 1.0
    vc_dimension = dimension * (dimension + 3) // 2
    ways = sum(math.comb(2 * n_sample, i) for i in range(vc_dimension + 1))
    return min(1.0, 2.0 / n_sample * (1.0 + math.log2(ways) - math.log2(failure)))


def sample_size(dimension: int, error: float, failure: float) -> int:
    """The least number of random points with ``error_bound`` at most ``error``.

    It grows like (d² ln(1/ε) + ln(1/δ))/ε, as the paper states.

    Examples
    --------
    >>> [sample_size(d, error=0.1, failure=0.05) for d in (1, 2, 4, 8)]
    [484, 1076, 2877, 8917]
    """
    _check(error, failure)
    enough = 2
    while error_bound(enough, dimension, failure) > error:
        enough *= 2
    # Rising with the number, so that it can be bisected.
    return bisect_left(range(enough), -error, key=lambda n: -error_bound(n, dimension, failure))


def fit_cluster(sample: FloatArray, inside: BoolArray, failure: float = 0.05) -> LearnedCluster:
    """The low-stretch separator of a labelled random sample, with the error that it promises.

    Parameters
    ----------
    sample : (m, d) points drawn independently, repeated ones included
    inside : (m,) booleans, which of them are in the cluster; at least one is
    failure : δ, between 0 and 1

    Examples
    --------
    >>> from samecluster.instances import make_ellipsoids
    >>> made = make_ellipsoids(n=5000, d=2, k=3, random_state=0)
    >>> learned = fit_cluster(made.X[:2000], made.labels[:2000] == 0)
    >>> wrong = np.mean(learned.contains(made.X[2000:]) != (made.labels[2000:] == 0))
    >>> round(learned.error, 3), bool(wrong < learned.error)
    (0.058, True)
    """
    _check(0.5, failure)
    inside = np.asarray(inside)
    if inside.shape != sample.shape[:1] or inside.dtype.kind != "b" or not inside.any():
        raise InvalidInputError(f"inside must be {len(sample)} booleans, one or more of them True")
    scaling = UnitScaling.of(sample)
    points = scaling.apply(sample)
    return _learned(points[inside], points[~inside], len(sample), failure, scaling)


def plan_cluster(
    X: FloatArray, member: int, error: float, failure: float, rng: np.random.Generator
) -> Plan[LearnedCluster]:
    """Learn the cluster of row ``member`` of X by one question about each point of a random sample.

    The number of questions does not depend on the number of points. Points that stay unsure are
    left out; the promise is then about points that get an answer.
    """
    draws = rng.integers(len(X), size=sample_size(X.shape[1], error, failure))
    found = yield from _compare(np.unique(draws), member)
    n_sample = int(np.isin(draws, list(found)).sum())
    # The member that was named is no random point, but agreeing with one more point does no harm.
    scaling = UnitScaling.of(X)
    points = scaling.apply(X[list(found)])
    inside = np.array(list(found.values()))
    return _learned(points[inside], points[~inside], n_sample, failure, scaling)


def _learned(
    members: FloatArray, others: FloatArray, n_sample: int, failure: float, scaling: UnitScaling
) -> LearnedCluster:
    separator = low_stretch_separator(members, others, thickness=tolerance.RESOLUTION)
    dimension = members.shape[1]
    error = error_bound(n_sample, dimension, failure) if separator.separates else 1.0
    return LearnedCluster(separator, error, failure, n_sample, scaling)


def _compare(items: IntArray, member: int) -> Plan[dict[int, bool]]:
    """Whether each item is in the member's cluster, for those that somebody is sure about."""
    found, members = {member: True}, [member]
    waiting = [item for item in items.tolist() if item != member]
    for attempt in range(MAX_COMPARATORS):
        if not waiting or attempt >= len(members):
            break
        verdicts = yield [Question(item, members[attempt]) for item in waiting]
        answers = list(zip(waiting, verdicts, strict=True))
        found |= {item: v is Verdict.SAME for item, v in answers if v is not Verdict.UNSURE}
        members += [item for item, v in answers if v is Verdict.SAME]
        waiting = [item for item, v in answers if v is Verdict.UNSURE]
    return found


def _check(error: float, failure: float) -> None:
    check_probability("error", error)
    check_probability("failure", failure)
