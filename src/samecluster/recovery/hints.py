"""Groups that a user believes in, to choose questions by. Never trusted for a label.

Hints (n,) have a number for each point, -1 where there is none. Wrong ones cost questions and
nothing else.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray, IntArray

_MOST_GROUPS = 50  # each costs a pass over the sample whenever the guide is fitted again


def hinted_components(points: FloatArray, hints: IntArray) -> IntArray | None:
    """Hint groups of points (m, d), numbered from 0; the others go with the nearest mean.

    None if there is no hint about any of the points. Only the largest groups count.
    """
    means = np.array([points[hints == group].mean(axis=0) for group in _groups(hints)])
    if not len(means):
        return None
    gaps = np.stack([np.sum((points - mean) ** 2, axis=1) for mean in means], axis=1)
    components: IntArray = gaps.argmin(axis=1).astype(np.int64)
    for number, group in enumerate(_groups(hints)):
        components[hints == group] = number
    return components


def one_of_each_hint(X: FloatArray, hints: IntArray) -> list[int]:
    """The point nearest the mean of each hint group, the largest groups first."""
    chosen = []
    for group in _groups(hints):
        rows = np.flatnonzero(hints == group)
        gaps = np.sum((X[rows] - X[rows].mean(axis=0)) ** 2, axis=1)
        chosen.append(int(rows[gaps.argmin()]))
    return chosen


def _groups(hints: IntArray) -> list[int]:
    """The hint groups with most points, the largest first."""
    groups, sizes = np.unique(hints[hints >= 0], return_counts=True)
    return [int(group) for group in groups[np.argsort(-sizes, kind="stable")][:_MOST_GROUPS]]
