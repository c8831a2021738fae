"""Labels for new rows, from what is known about old ones; each row stands by itself.

In the order of certainty: a row that is an old one has its label. A row in reach of known members
is proven or inferred, by the same rigorous check as old rows; never by what is left over, and never
by other new rows. The rest goes with the clouds of the old rows where these follow a margin, and
with its nearest neighbours otherwise; or with none if it lies beyond all groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from samecluster._resolution import resolution_of
from samecluster._typing import Array, BoolArray, FloatArray, IntArray
from samecluster.assignment.neighbours import LocalPlanes
from samecluster.assignment.result import Assignment
from samecluster.errors import InvalidInputError
from samecluster.geometry.reach.kernel import Kernel, compiled_programs
from samecluster.large.result import SampleRows
from samecluster.large.sweep import MANY_ROWS, PIECE, Sweep
from samecluster.lifts.lift import in_lift
from samecluster.recovery.certify.knowledge import Knowledge
from samecluster.recovery.predict.calibration import CLOUD_SHARPNESS, Calibration
from samecluster.recovery.predict.clouds import Clouds, beyond_all, edges_of
from samecluster.recovery.predict.similarity import FeatureMap
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_DIRECTIONS_OF = 4_000  # rows that the features' directions are found by
_FITTED = 20_000  # rows that clouds are fitted to
_LEARNT_FROM = 20_000  # old rows from which on it pays to learn which columns matter where
_MOSTLY = 0.5  # share of labels without a model from which on clouds stand for the clusters


class RowLabeller:
    """What labels new rows by a recovery; made once, used for any number of blocks."""

    def __init__(self, recovery: Recovery | SampleRows) -> None:
        self.old = recovery
        # Under a guessed margin, and by the word of a model, nothing is proven.
        self.guessed = recovery.search is not None or bool(recovery.models)
        self.clusters = np.unique(recovery.labels[recovery.labels >= 0])
        self._same = _SameRows(recovery.points)
        self._sweep, self._label_of = self._reach()
        lifted = in_lift(recovery.points, recovery.lift)
        some = np.random.default_rng(0).permutation(len(lifted))[:_DIRECTIONS_OF]
        self._features, points = FeatureMap.of(lifted, np.sort(some))
        self._model = self._fitted(points) if len(self.clusters) else None

    def assign(self, rows: Any) -> Assignment:
        """Labels for rows (m, d), in blocks."""
        X = checked_rows(rows, self.old.points.shape[1])
        m, k = len(X), len(self.clusters)
        labels, how = np.full(m, -1, dtype=np.int64), np.zeros(m, dtype=np.int8)
        chances, probability = np.zeros((m, k)), np.full(m, np.nan)
        refuted = np.zeros(m, dtype=np.bool_)
        for begin in range(0, m, PIECE):
            part = slice(begin, min(begin + PIECE, m))
            found = self._block(X[part])
            labels[part], how[part], probability[part], chances[part], refuted[part] = found
        return Assignment(
            labels,
            how,
            probability,
            chances,
            self.clusters,
            self.old.margin,
            self.guessed,
            np.flatnonzero(refuted),
            "" if self.old.lift is None else self.old.lift.said(),
        )

    def _block(self, X: FloatArray) -> tuple[IntArray, Array, FloatArray, FloatArray, BoolArray]:
        m, k = len(X), len(self.clusters)
        labels, how = np.full(m, -1, dtype=np.int64), np.zeros(m, dtype=np.int8)
        chances, probability = np.zeros((m, k)), np.full(m, np.nan)
        refuted = np.zeros(m, dtype=np.bool_)
        same = self._same.find(X)
        known = np.flatnonzero(same >= 0)
        labels[known], how[known] = self.old.labels[same[known]], self.old.how_codes[same[known]]
        if self.old.probability is not None:
            probability[known] = self.old.probability[same[known]]
        probability[known[how[known] == How.ASKED]] = 1.0
        left = np.flatnonzero(same < 0)
        if self._sweep is not None and len(left):
            names = self._sweep.decide(X, left).names
            second = self._sweep.second_reach(X[left], names)
            refuted[left] = second >= 0
            shown = (names >= 0) & (second < 0)
            labels[left[shown]] = self._label_of[names[shown]]
            how[left[shown]] = How.INFERRED if self.guessed else How.PROVEN
            left = left[~shown]
        if self._model is not None and len(left):
            found, beyond = self._model(self._features(in_lift(X[left], self.old.lift)))
            inside = left[~beyond]
            labels[inside] = self.clusters[found[~beyond].argmax(axis=1)]
            how[inside], chances[inside] = How.PREDICTED, found[~beyond]
            probability[inside] = found[~beyond].max(axis=1)
        sure = np.flatnonzero((labels >= 0) & (chances.sum(axis=1) == 0))
        column = np.searchsorted(self.clusters, labels[sure])
        certain = np.nan_to_num(probability[sure], nan=1.0)
        chances[sure, column] = certain
        return labels, how, probability, chances, refuted

    def _reach(self) -> tuple[Sweep | None, IntArray]:
        """The known members of each cluster, ready to reach; labels of their names."""
        old = self.old
        known = old.how_codes >= How.INFERRED
        if old.margin is None or not known.any():
            return None, np.zeros(0, np.int64)
        tau = np.array(old.resolution) if old.proof is None else old.proof.resolution
        if not len(tau):
            tau = resolution_of(in_lift(old.points, old.lift))
        kernel = Kernel(compiled_programs)
        knowledge = Knowledge(old.points, old.margin, None, tau, kernel, 0, lift=old.lift)
        closure, label_of = knowledge.closure, []
        for label in np.unique(old.labels[known]).tolist():
            members = np.flatnonzero(known & (old.labels == label))
            name = knowledge.found_cluster(int(members[0]))
            label_of.append(label)
            closure.join(name, members)
            closure.clusters[name].whiten()
            closure.join(name, members)
        # New rows are as many as they may be; what a row is told must not depend on their number.
        n_rows = max(len(old.points), MANY_ROWS * (len(old.points) >= _LEARNT_FROM))
        return Sweep(closure, n_rows, old.lift), np.array(label_of)

    def _fitted(self, points: FloatArray) -> Any:
        """What predicts: points in features to chances (m, k), and which are beyond all groups."""
        old = self.old
        if np.mean(old.how_codes > How.PREDICTED) >= _MOSTLY and old.margin is not None:
            return self._clouds(points, np.flatnonzero(old.how_codes > How.PREDICTED))
        rows = np.flatnonzero(old.labels >= 0)
        groups = np.searchsorted(self.clusters, old.labels[rows])
        sure = np.ones(len(rows))
        if old.probability is not None:
            sure = np.nan_to_num(old.probability[rows], nan=1.0)
        if len(rows) < 2:
            return None
        return LocalPlanes.fitted(points[rows], groups, sure, len(self.clusters)).chances

    def _clouds(self, points: FloatArray, known: IntArray) -> Any:
        old, k = self.old, len(self.clusters)
        some = np.sort(np.random.default_rng(0).permutation(known)[:_FITTED])
        groups = np.searchsorted(self.clusters, old.labels[some])
        clouds = Clouds(points[some], groups, k)
        trust = Calibration.fitted(clouds.scores(), groups, CLOUD_SHARPNESS)
        members = np.searchsorted(self.clusters, old.labels[known])
        edges = edges_of(clouds, points[known], members, old.margin or 0.0)
        light = clouds.frozen()

        def chances(new: FloatArray) -> tuple[FloatArray, BoolArray]:
            return trust.probabilities(light.scores_of(new)), beyond_all(light, edges, new)

        return chances


class _SameRows:
    """Finds rows that are old ones, value by value. Of copies the first counts."""

    def __init__(self, X: FloatArray) -> None:
        self._X = X
        keys = _keys(X)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def find(self, rows: FloatArray) -> IntArray:
        """(m,) the number of the old row that each is; -1 if it is none."""
        keys = _keys(rows)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found = np.where(self._keys[at] == keys, self._order[at], -1)
        hits = np.flatnonzero(found >= 0)
        differ = (self._X[found[hits]] != rows[hits]).any(axis=1)
        found[hits[differ]] = -1
        return np.asarray(found)


def _keys(X: FloatArray) -> Array:
    """A number per row that equal rows share, and hardly any others; −0 is 0."""
    bits = np.ascontiguousarray(X + 0.0).view(np.uint64)
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in range(X.shape[1]):
        keys ^= bits[:, column]
        keys *= np.uint64(0x9E3779B97F4A7C15)
        keys ^= keys >> np.uint64(29)
    return keys


def checked_rows(rows: Any, d: int) -> FloatArray:
    """New rows as (m, d) finite numbers; m may be 0."""
    try:
        X = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError("new rows must be numbers, as the old ones were") from None
    if X.ndim != 2:
        raise InvalidInputError(
            f"new rows must have two dimensions (rows are points), got shape {X.shape}; one row is "
            "rows.reshape(1, -1)"
        )
    if X.shape[1] != d:
        raise InvalidInputError(
            f"new rows must have {d} columns, as the old ones; got {X.shape[1]}"
        )
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0].tolist()
        raise InvalidInputError(
            f"new rows have {X[row, column]} at row {row}, column {column}; only finite numbers "
            "are allowed"
        )
    return np.ascontiguousarray(X)
