"""What is drawn of many points, the ellipses around clusters, and labels that can all be read.

Numbers only; nothing is drawn here.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from samecluster._typing import FloatArray, IntArray
from samecluster.geometry.mvee import enclosing_ellipsoid
from samecluster.recovery.result.result import Recovery

_CORNERS = 128  # to the eye, a smooth line
_FEW = 1_000  # points; of more, only the corners of their hull are looked at
_GRID = np.linspace(0.0, 1.0, 61)
_ANYWHERE = np.stack(np.meshgrid(_GRID, _GRID), axis=2).reshape(-1, 2)


def drawn(recovery: Recovery, at_most: int) -> IntArray:
    """Points to draw, about ``at_most``, the same ones every time.

    Every cluster and every way of knowing in it is there: groups share the room in proportion to
    the root of their size, so that the small ones are seen and the large ones look larger.
    """
    n = len(recovery.labels)
    if n <= at_most:
        return np.arange(n)
    kinds = recovery.labels * 8 + recovery.how_codes
    _, group, sizes = np.unique(kinds, return_inverse=True, return_counts=True)
    room = np.ceil(at_most * np.sqrt(sizes) / np.sqrt(sizes).sum())
    order = np.random.default_rng(0).permutation(n)
    order = order[np.argsort(group[order], kind="stable")]
    place_in_group = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place_in_group < np.repeat(room, sizes)])


def outline(points: FloatArray) -> FloatArray:
    """The smallest ellipse around points (n, 2) as a closed line (m, 2).

    Points on one line give that line twice; a single place gives the place.
    """
    # Units of the two axes may differ by many orders of magnitude.
    low, high = points.min(axis=0), points.max(axis=0)
    scale = np.where(high > low, high - low, 1.0)
    ellipsoid = enclosing_ellipsoid(_corners((points - low) / scale), epsilon=1e-2).ellipsoid
    angle = np.linspace(0.0, 2.0 * np.pi, _CORNERS + 1)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])[:, : ellipsoid.rank]
    line = ellipsoid.centre + (circle * ellipsoid.lengths) @ ellipsoid.axes.T
    return np.asarray(line * scale + low)


def _corners(points: FloatArray) -> FloatArray:
    """The points that matter, if there are too many to look at each."""
    if len(points) <= _FEW:
        return points
    try:
        chosen = ConvexHull(points).vertices
    except QhullError:  # all on one line, so that its ends are extreme in both columns
        chosen = np.concatenate([points.argmin(axis=0), points.argmax(axis=0)])
    return np.asarray(points[chosen])


def spread(wanted: FloatArray, sizes: FloatArray) -> FloatArray:
    """Centres (k, 2) of boxes of ``sizes`` (k, 2) in the unit square, none of which covers another.

    Each box in turn gets the place that it wants, or the nearest one that is free. Where there is
    no room it stays.

    >>> spread(np.array([[0.5, 0.5], [0.5, 0.5]]), np.full((2, 2), 0.1)).round(1).tolist()
    [[0.5, 0.5], [0.5, 0.4]]
    """
    at = np.empty_like(wanted)
    for number, (place, size) in enumerate(zip(wanted, sizes, strict=True)):
        places = np.clip(np.vstack([place, _ANYWHERE]), size / 2.0, 1.0 - size / 2.0)
        apart = np.abs(places[:, None] - at[:number]) - (size + sizes[:number]) / 2.0
        free = (apart >= 0.0).any(axis=2).all(axis=1)
        distance = np.linalg.norm(places - place, axis=1)
        at[number] = places[np.where(free, distance, distance + 2.0).argmin()]
    return at
