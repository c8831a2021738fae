"""The run in the plane that most pictures show, and what they have in common."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from scipy.spatial import ConvexHull

from samecluster import Recovery, recover
from samecluster.instances import Instance, make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.plots.style import LIGHT

Array = npt.NDArray[np.float64]

MARGIN = 0.5
CLUSTER = 1
"""The cluster that is looked at closely."""


@functools.cache
def run() -> tuple[Instance, Recovery]:
    """450 points in three ellipses, recovered exactly with six questions."""
    made = make_ellipsoids(n=450, d=2, k=3, margin=MARGIN, condition=12, random_state=7)
    found = recover(made.X, LabelOracle(made.labels), n_clusters=3, margin=MARGIN, random_state=0)
    return made, found


def known_by_step() -> list[npt.NDArray[np.int64]]:
    """Items known to be in the cluster: those asked, then with each run of `in` records more."""
    _, found = run()
    assert found.proof is not None
    asked = np.flatnonzero((found.labels == CLUSTER) & (found.how == "asked"))
    steps = [asked]
    for record in found.proof.records:
        if record[0] == "in" and record[1] == CLUSTER:
            steps.append(np.concatenate([steps[-1], record[2][:, 0]]))
    return steps


def reach_outline(members: Array, margin: float) -> Array:
    """The corners of K + β(K − K), K the hull of members (m, 2): all that these prove."""
    corners = members[ConvexHull(members).vertices]
    beta = (np.sqrt(1.0 + margin) - 1.0) / 2.0
    moved = corners[:, None, None] + beta * (corners[:, None] - corners)
    sums = moved.reshape(-1, 2)
    outline = sums[ConvexHull(sums).vertices]
    return np.concatenate([outline, outline[:1]])


def around(points: Array, scale: float = 1.0) -> Array:
    """The ellipse of a cluster of the instance as a closed line, or a multiple of it."""
    made, _ = run()
    ellipsoid = made.ellipsoids[CLUSTER]
    angle = np.linspace(0.0, 2.0 * np.pi, 181)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    farthest = float(ellipsoid.norms(points).max())
    return np.asarray(
        ellipsoid.centre + scale * farthest * (circle * ellipsoid.lengths) @ ellipsoid.axes.T
    )


def dots(panel: Axes, points: Array, **look: Any) -> None:
    """Points (n, 2), or one point, without an edge unless the look has one."""
    x, y = np.atleast_2d(points).T
    panel.scatter(x, y, **{"linewidths": 0.0 if "edgecolors" not in look else 1.0, **look})


def window(panel: Axes, points: Array, room: float) -> None:
    """Show the points and some room around them, true to scale and without numbers."""
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2.0, (high - low) / 2.0 * (1.0 + room)
    panel.set(
        xlim=(middle[0] - half[0], middle[0] + half[0]),
        ylim=(middle[1] - half[1], middle[1] + half[1]),
        xticks=[],
        yticks=[],
    )
    panel.set_aspect("equal")
    for spine in panel.spines.values():
        spine.set_visible(True)
        spine.set_color(LIGHT.grid)
