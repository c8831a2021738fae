"""From d columns to the plane: the directions in which clusters lie furthest apart, or a map.

Numbers only; nothing is drawn here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg
from scipy.spatial import KDTree

from samecluster._typing import FloatArray, IntArray
from samecluster.plots.neighbour_map import LARGEST, neighbour_map

_FEW_COLUMNS = 10
"""Of more columns, as pictures and texts have, two directions may show little: a map is tried."""
_MANY_ITEMS = 5
"""Items per column from which on directions that separate labels are not bound to be chance."""
_LEAST_MAPPED = 10
"""Items: fewer have no neighbourhoods."""
_OUTER, _ROOM = 0.005, 0.5
"""The share of items at each end that may be outliers, and how far beyond the others, in widths of
these, an item is drawn where it lies."""
_MOST_POINTS = 100_000
"""Directions are found from this many points; more would hardly turn them."""
_RIDGE = 1e-6
"""Variance, as a share of that of all points, that a flat cluster is taken to have across."""
_MOST_NAMED = 2
"""Columns that the label of an axis names: those that weigh most in its direction."""


@dataclass(frozen=True, eq=False)
class View:
    """A way to look at the points: two coordinates each, and what the axes are."""

    title: str
    x: FloatArray
    y: FloatArray
    x_label: str
    y_label: str
    plain: bool
    """Whether the axes are columns of the data, so that their numbers mean something."""
    n_beyond: int = 0
    """Items that lie far beyond the others, and are drawn on the edge."""

    @property
    def is_map(self) -> bool:
        """Whether only nearness means something, and no direction."""
        return not self.plain and not self.x_label


def best_views(
    X: FloatArray,
    labels: IntArray,
    columns: Sequence[str] | None = None,
    mapped: FloatArray | None = None,
) -> list[View]:
    """The two planes (for three columns or more) that show the clusters best, the better first.

    Two columns are shown as they are. Otherwise the first directions are those of Fisher's
    discriminant, in which cluster centres differ most for the spread within clusters; where there
    are more directions to fill than clusters tell, principal components follow. Of more than 10
    columns there is one map of neighbours (``mapped``, if it was made before) unless directions
    keep clusters better apart. Not for one column.
    """
    is_telling = not is_mappable(X) or len(X) >= _MANY_ITEMS * X.shape[1]
    views = _planes(X, labels, columns) if is_telling else []
    if is_mappable(X):
        at = neighbour_map(X) if mapped is None else mapped
        title = "items near each other are alike"
        on_map = View(title, at[:, 0], at[:, 1], "", "", plain=False)
        if not views or _purity(views[0], labels) <= _purity(on_map, labels):
            views = [on_map]
    return list(map(_without_outliers, views))


def is_mappable(X: FloatArray) -> bool:
    """Whether there are enough columns for a map, and neither too few nor too many items."""
    return X.shape[1] > _FEW_COLUMNS and _LEAST_MAPPED <= len(X) <= LARGEST


def _purity(view: View, labels: IntArray) -> float:
    """The share of labelled items whose nearest other one has their label."""
    known = np.flatnonzero(labels >= 0)
    if len(known) < 2:
        return 0.0
    at = np.column_stack([view.x, view.y])[known]
    _, found = KDTree(at).query(at, 2)
    return float(np.mean(labels[known[found[:, 1]]] == labels[known]))


def _planes(X: FloatArray, labels: IntArray, columns: Sequence[str] | None) -> list[View]:
    d = X.shape[1]
    names = [f"column {j + 1}" for j in range(d)] if columns is None else list(columns)
    if d == 2:
        return [View("", X[:, 0], X[:, 1], names[0], names[1], plain=True)]
    scaled = _scaled(X)
    directions, n_telling = _directions(scaled, labels, min(d, 4))
    at = scaled @ directions
    descriptions = [
        f"direction {j + 1}" + (_mostly(directions[:, j], names) if columns is not None else "")
        for j in range(directions.shape[1])
    ]
    second = (2, 3) if n_telling >= 4 else (0, 2)
    return [
        View(title, at[:, i], at[:, j], descriptions[i], descriptions[j], plain=False)
        for title, (i, j) in (("best projection", (0, 1)), ("second best projection", second))
    ]


def _without_outliers(view: View) -> View:
    """Few items far away must not shrink the rest: they go to the edge."""
    at = np.array([view.x, view.y])
    low, high = np.quantile(at, [_OUTER, 1 - _OUTER], axis=1)
    room = _ROOM * (high - low)
    # Where nearly all have one value, the others are what there is to see.
    room = np.where(room > 0, room, np.inf)
    kept = np.clip(at.T, low - room, high + room)
    n_beyond = int(np.count_nonzero((kept != at.T).any(axis=1)))
    return replace(view, x=kept[:, 0], y=kept[:, 1], n_beyond=n_beyond) if n_beyond else view


def _scaled(X: FloatArray) -> FloatArray:
    """Columns with mean 0 and deviation 1; those that are constant 0."""
    largest = np.abs(X).max(axis=0)
    safe = X / np.where(largest > 0, largest, 1.0)  # squares of huge numbers would overflow
    safe = safe - safe.mean(axis=0)
    deviation = safe.std(axis=0)
    varies = deviation > 1e-12
    return np.where(varies, safe / np.where(varies, deviation, 1.0), 0.0)


def _directions(X: FloatArray, labels: IntArray, count: int) -> tuple[FloatArray, int]:
    """Directions (d, count), and how many of them tell clusters apart."""
    step = -(-len(X) // _MOST_POINTS)
    X, labels = X[::step], labels[::step]
    telling = _discriminants(X, labels)[:, :count]
    basis, _ = np.linalg.qr(telling)
    rest = X - (X @ basis) @ basis.T
    _, components = np.linalg.eigh(rest.T @ rest)
    found = np.column_stack([telling, components[:, ::-1]])[:, :count]
    return found, telling.shape[1]


def _discriminants(X: FloatArray, labels: IntArray) -> FloatArray:
    """Fisher's directions (d, k−1), the best first; every cluster counts alike."""
    groups = [X[labels == label] for label in np.unique(labels[labels >= 0])]
    d = X.shape[1]
    if len(groups) < 2:
        return np.empty((d, 0))
    centres = np.array([group.mean(axis=0) for group in groups])
    offsets = centres - centres.mean(axis=0)
    within = np.mean(
        [(g - c).T @ (g - c) / len(g) for g, c in zip(groups, centres, strict=True)], axis=0
    )
    _, directions = linalg.eigh(offsets.T @ offsets, within + _RIDGE * np.eye(d))
    best = directions[:, ::-1][:, : len(groups) - 1]
    return np.asarray(best / np.linalg.norm(best, axis=0))


def _mostly(direction: FloatArray, names: Sequence[str]) -> str:
    """The columns that weigh most in a direction."""
    heaviest = np.argsort(-np.abs(direction))[:_MOST_NAMED]
    return ": mostly " + ", ".join(names[j] for j in heaviest)
