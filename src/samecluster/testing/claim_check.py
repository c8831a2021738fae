"""Whether what a result claims is true, where the truth is known.

For each claim two things are decided: whether its premises held, and whether it was true. A claim
whose premises did not hold promises nothing. A margin is judged by `true_margin`, which gives a
lower bound with an ellipsoid that shows it; where neither that nor a clear miss decides, it is
undecided.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster._typing import BoolArray, FloatArray, IntArray
from samecluster.errors import InvalidInputError
from samecluster.geometry.margin import ClusterMargin, true_margin
from samecluster.questions.pair import Answer, Verdict
from samecluster.recovery.result.claims import Claim
from samecluster.recovery.result.clustering_error import clustering_error
from samecluster.recovery.result.how import How
from samecluster.recovery.result.premises import (
    AnswersRight,
    ClusterCount,
    MarginHolds,
    Premise,
    PreparedFeatures,
    SeparateClusters,
)

_ROUNDING = 1e-9  # what the floats of an ellipsoid may be wrong by; to the safe side
_CLEAR_MISS = 1e-3  # a lower bound on the margin that is below by this share is not a near miss


class Held(enum.Enum):
    """Whether premises held."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@dataclass(frozen=True, eq=False)
class JudgedClaim:
    """A claim against the truth.

    Attributes
    ----------
    claim : what was claimed
    premises : whether each of its premises held
    true : whether it was true; None for estimates, which one case does not refute
    actual : the true number where the claim has one
    """

    claim: Claim
    premises: tuple[Held, ...]
    true: bool | None
    actual: float | None = None

    @property
    def held(self) -> Held:
        """Whether its premises held, all of them."""
        return _all_held(self.premises)

    @property
    def is_false(self) -> bool:
        """Whether it was false although its premises held."""
        return self.held is Held.YES and self.true is False


def check_claims(
    result: Any, truth: Any, points: FloatArray | None = None
) -> tuple[JudgedClaim, ...]:
    """Judge each claim of a result.

    Parameters
    ----------
    result : a `samecluster.Recovery` or `samecluster.LargeRecovery`
    truth : (n,) the true cluster of each item, as integers; an item in none has one of its own
    points : (n, d) the data, where the result does not have it; without it margins are undecided

    Examples
    --------
    >>> from samecluster import recover
    >>> from samecluster.instances import make_ellipsoids
    >>> made = make_ellipsoids(n=200, d=2, k=3, random_state=0)
    >>> same = lambda i, j: made.labels[i] == made.labels[j]
    >>> found = recover(made.X, same, margin=1.0, random_state=0)
    >>> [(one.claim.kind, one.held.value, one.true) for one in check_claims(found, made.labels)]
    [('asked', 'yes', True), ('proven', 'yes', True)]
    """
    clusters = np.asarray(truth)
    if clusters.shape != result.labels.shape or clusters.dtype.kind not in "iu":
        raise InvalidInputError(
            f"truth must be {len(result.labels)} integers, one per item; got {clusters.dtype} of "
            f"shape {clusters.shape}"
        )
    X = getattr(result, "points", None) if points is None else points
    return tuple(_Judge(result, clusters, X).judgements())


class _Judge:
    """One result against the truth."""

    def __init__(self, result: Any, truth: IntArray, X: FloatArray | None) -> None:
        self.claims: tuple[Claim, ...] = result.claims
        self.labels, self.codes = np.asarray(result.labels), np.asarray(result.how_codes)
        self.answers: Sequence[Answer] = result.answers
        self.truth, self.X, self.lift = truth, X, getattr(result, "lift", None)
        self.cluster_of = _clusters_of(self.labels, self.codes == How.ASKED, truth)
        self._held: dict[Premise, Held] = {}

    def judgements(self) -> Iterator[JudgedClaim]:
        for claim in self.claims:
            held = tuple(self._premise(premise) for premise in claim.premises)
            yield JudgedClaim(claim, held, *self._verdict(claim))

    def _premise(self, premise: Premise) -> Held:
        if premise not in self._held:
            judge = _PREMISES.get(type(premise))
            self._held[premise] = Held.UNDECIDED if judge is None else judge(self, premise)
        return self._held[premise]

    def _verdict(self, claim: Claim) -> tuple[bool | None, float | None]:
        if claim.kind in ("asked", "proven", "inferred"):
            about = self.codes == How.ASKED
            about[claim.items] = True
            return self._are_right(about & (self.labels >= 0)), None
        if claim.kind == "unassigned":
            return bool((self.labels[claim.items] < 0).all()), len(claim.items)
        if claim.kind == "uncompared":
            return self._is_uncompared(claim), claim.number
        if claim.kind == "found":
            n_found = len(self.cluster_of)
            return n_found == claim.number, n_found
        n_wrong = self._n_wrong(claim.items)
        if claim.kind == "audit":
            assert claim.number is not None
            return n_wrong <= claim.number and self._is_within_gap(claim), n_wrong
        return None, n_wrong / max(len(claim.items), 1)

    def _are_right(self, about: BoolArray) -> bool:
        """Whether two of these items have one label exactly if they are in one cluster."""
        pairs = set(zip(self.labels[about].tolist(), self.truth[about].tolist(), strict=True))
        return len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)

    def _n_wrong(self, items: IntArray) -> int:
        """How many items are not in the cluster that their label stands for."""
        stands_for = [self.cluster_of[label] for label in self.labels[items].tolist()]
        return int(np.count_nonzero(self.truth[items] != np.array(stands_for)))

    def _is_within_gap(self, claim: Claim) -> bool:
        """Whether the error is as small as said if labels that nobody compared are one cluster."""
        gap, labelled = getattr(claim.report, "gap", None), self.labels >= 0
        if gap is None or not labelled.any():
            return True
        assert claim.number is not None
        error = clustering_error(self.labels[labelled], self.truth[labelled])
        return bool(round(error * int(labelled.sum())) <= claim.number + gap.n_more_wrong)

    def _is_uncompared(self, claim: Claim) -> bool:
        assert claim.separate is not None
        compared = {
            frozenset(self.labels[list(answer.question.pair)].tolist())
            for answer in self.answers
            if answer.verdict is Verdict.DIFFERENT
            and all(self.codes[item] >= How.INFERRED for item in answer.question.pair)
        }
        return not any(frozenset(pair) in compared for pair in claim.separate.pairs())

    def answers_right(self, _: AnswersRight) -> Held:
        for answer in self.answers:
            one, other = self.truth[list(answer.question.pair)]
            if answer.verdict is not Verdict.UNSURE and answer.verdict is not Verdict.of(
                bool(one == other)
            ):
                return Held.NO
        return Held.YES

    def cluster_count(self, premise: ClusterCount) -> Held:
        return Held.YES if len(np.unique(self.truth)) == premise.number else Held.NO

    def prepared(self, _: PreparedFeatures) -> Held:
        """The points that the margin is judged by are the prepared ones."""
        return Held.UNDECIDED if self.X is None else Held.YES

    def separate(self, premise: SeparateClusters) -> Held:
        known = self.cluster_of
        differ = (known[one] != known[other] for one, other in premise.pairs())
        return Held.YES if all(differ) else Held.NO

    def margin(self, premise: MarginHolds) -> Held:
        if self.X is None:
            return Held.UNDECIDED
        kept = np.setdiff1d(np.arange(len(self.truth)), premise.exceptions)
        points = self.X if self.lift is None else self.lift.apply(self.X)
        X, numbers = points[kept], np.unique(self.truth[kept], return_inverse=True)[1]
        return _all_held(
            _has_margin(X, numbers == shown.label, shown, premise)
            for shown in true_margin(X, numbers)
        )


def _clusters_of(labels: IntArray, asked: BoolArray, truth: IntArray) -> dict[int, int]:
    """The cluster that each label stands for: that of most asked members, or of most members."""
    found = {}
    for label in np.unique(labels[labels >= 0]).tolist():
        members = labels == label
        some = members & asked if (members & asked).any() else members
        names, counts = np.unique(truth[some], return_counts=True)
        found[label] = int(names[counts.argmax()])
    return found


def _has_margin(
    X: FloatArray, members: BoolArray, shown: ClusterMargin, premise: MarginHolds
) -> Held:
    """Whether a cluster has the margin at the resolution.

    Some W must have d_W ≤ 1 on the cluster, d_W² > 1+γ off it, and W_jj ≤ 1/τ_j². The ellipsoid
    that shows the largest margin is tried, made as sharp as the resolution allows.
    """
    wanted = 1.0 + premise.margin
    if members.all():
        return Held.YES
    with np.errstate(all="ignore"):
        squared = np.sum(((X - shown.centre) @ shown.factor.T) ** 2, axis=1)
        tau = np.array(premise.resolution or (0.0,))
        sharpness = float(np.max(np.sum(shown.factor**2, axis=0) * tau**2))
        largest = max(float(squared[members].max()), sharpness)
        nearest = float(squared[~members].min())
        if np.isfinite(nearest) and nearest > wanted * (1.0 + _ROUNDING) * largest:
            return Held.YES
    if shown.margin * (1.0 + _CLEAR_MISS) + _ROUNDING < premise.margin:
        return Held.NO
    return Held.UNDECIDED


def _all_held(found: Iterable[Held]) -> Held:
    seen = set(found)
    if Held.NO in seen:
        return Held.NO
    return Held.UNDECIDED if Held.UNDECIDED in seen else Held.YES


_PREMISES: dict[type[Premise], Callable[[_Judge, Any], Held]] = {
    AnswersRight: _Judge.answers_right,
    ClusterCount: _Judge.cluster_count,
    PreparedFeatures: _Judge.prepared,
    SeparateClusters: _Judge.separate,
    MarginHolds: _Judge.margin,
}
