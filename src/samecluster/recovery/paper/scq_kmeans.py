"""SCQ-k-means (Ashtiani, Kushagra and Ben-David 2016), the paper's baseline.

For each cluster in turn: draw 10·k of the points that are left and find their clusters, take the
mean of the largest group as centre, sort the points by their distance from it, and find the radius
by binary search. Exact for well separated spheres; on other shapes its labels are guesses, and the
points that no sphere takes in stay unassigned.

Binary search alone, about centres that are known, is the subject of the paper's Lemma 11.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samecluster._parameters import check_at_least
from samecluster._typing import FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry import tolerance
from samecluster.points.array import unit_scaled
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.placement import Placement
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery


@dataclass(frozen=True)
class ScqKMeans:
    """Settings of SCQ-k-means: ``whiten`` gives all columns unit variance and no correlation.

    ``sample_size`` points are drawn for each cluster, 10·k if it is None.
    """

    whiten: bool = False
    sample_size: int | None = None

    name = "scq-k-means"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        points = _whitened(problem.X) if self.whiten else problem.X
        k = problem.known_n_clusters(self.name)
        size = 10 * k if self.sample_size is None else self.sample_size
        check_at_least("sample_size", size, 1)
        placing = Placement(k)
        for _ in range(k):
            left = labelling.unlabelled()
            if not len(left):
                break
            drawn = problem.rng.choice(left, size=min(size, len(left)), replace=False)
            found = np.array((yield from placing.place(drawn.tolist())))
            if (found < 0).all():
                continue
            cluster = int(np.argmax(np.bincount(found[found >= 0])))
            centre = points[drawn[found == cluster]].mean(axis=0)
            ball = yield from _ball(points, left, centre, placing.names.representative(cluster))
            _mark(labelling, ball, drawn, found, cluster)
            labelling.close_round()
        return labelling.recovery()


@dataclass(frozen=True, eq=False)
class KnownCentres:
    """Binary search for the radius of each cluster about its centre, one a row of ``centres``.

    ``members`` names an item of each cluster to compare with; by default the nearest to its centre.
    With κ the largest ratio of two eigenvalues of a cluster's W, margins of at least κ − 1 about
    the centres make the labels right (paper's Lemma 11): for members x and others y
    |y−c|²/|x−c|² > (1+γ)/κ ≥ 1, so that the nearest points are the cluster. Nothing checks that,
    and below that margin the labels can be far off.

    Examples
    --------
    >>> from samecluster import recover
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> search = KnownCentres(np.array([[1.0], [8.0]]))
    >>> found = recover(X, lambda i, j: (i < 3) == (j < 3), margin=1.0, method=search)
    >>> found.labels.tolist(), found.n_questions
    ([0, 0, 0, 1, 1, 1], 5)
    """

    centres: FloatArray
    members: Sequence[int] | None = None

    name = "known-centres"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        centres = np.asarray(self.centres, dtype=np.float64)
        if centres.ndim != 2 or centres.shape[1:] != problem.X.shape[1:]:
            raise InvalidInputError(
                f"centres must be (k, {problem.X.shape[1]}), one a row, got {centres.shape}"
            )
        if problem.n_clusters not in (None, len(centres)):
            raise InvalidInputError(
                f"centres must be one a cluster, got {len(centres)} for {problem.n_clusters}"
            )
        if self.members is not None and len(self.members) != len(centres):
            raise InvalidInputError(
                f"members must be one a centre, got {len(self.members)} for {len(centres)}"
            )
        for cluster, centre in enumerate(centres):
            left = labelling.unlabelled()
            if not len(left):
                break
            nearest = int(left[np.argmin(np.linalg.norm(problem.X[left] - centre, axis=1))])
            member = nearest if self.members is None else self.members[cluster]
            ball = yield from _ball(problem.X, left, centre, member)
            labelling.mark(ball, cluster, How.PREDICTED)
            labelling.close_round()
        return labelling.recovery()


def _ball(
    points: FloatArray, left: IntArray, centre: FloatArray, representative: int
) -> Plan[IntArray]:
    """The nearest points to the centre up to where binary search puts the cluster's edge."""
    near_first = left[np.argsort(np.linalg.norm(points[left] - centre, axis=1), kind="stable")]
    inside, outside = 0, len(near_first)
    while inside < outside:
        middle = (inside + outside) // 2
        verdict = Verdict.SAME
        if near_first[middle] != representative:
            (verdict,) = yield [Question(int(near_first[middle]), representative)]
        if verdict is Verdict.SAME:
            inside = middle + 1
        else:
            outside = middle
    return near_first[:inside]


def _mark(
    labelling: Labelling, ball: IntArray, drawn: IntArray, found: IntArray, cluster: int
) -> None:
    """Label the ball; the baseline trusts it more than its own answers, as published."""
    labelling.mark(ball, cluster, How.PREDICTED)
    asked = np.intersect1d(ball, drawn[found == cluster])
    labelling.mark(asked, cluster, How.ASKED)
    labelling.ground = How.PREDICTED


def _whitened(X: FloatArray) -> FloatArray:
    scaled = unit_scaled(X)
    offsets = scaled - scaled.mean(axis=0)
    _, singular, directions = np.linalg.svd(offsets, full_matrices=False)
    kept = singular > tolerance.ROUNDING_NOISE * max(float(singular[0]), 1.0) * len(X)
    return np.asarray(offsets @ (directions[kept].T / singular[kept]))
