"""The ellipse around the points of a cluster, as a line to draw."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from samecluster._typing import FloatArray
from samecluster.geometry.mvee import enclosing_ellipsoid

__all__ = ["outline"]

_CORNERS = 128  # to the eye, a smooth line
_FEW = 1_000  # points; of more, only the corners of their hull are looked at


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
