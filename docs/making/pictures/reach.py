"""The reach of three known members: all that they prove, and how they prove one point."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from docs.making.pictures.plane import (
    CLUSTER,
    MARGIN,
    Array,
    dots,
    known_by_step,
    reach_outline,
    run,
    window,
)
from samecluster.plots.style import LIGHT


def weights_of(item: int, members: Array) -> Array:
    """The weights with which three members (3, 2) combine to an item; they add up to 1."""
    made, _ = run()
    lifted = np.column_stack([members, np.ones(len(members))])
    return np.asarray(np.linalg.solve(lifted.T, np.append(made.X[item], 1.0)))


def picture() -> Figure:
    made, _ = run()
    asked = known_by_step()[0]
    known = made.X[asked]
    own = np.flatnonzero(made.labels == CLUSTER)
    sizes = np.array([np.abs(weights_of(int(item), known)).sum() for item in own])
    reached = sizes <= np.sqrt(1.0 + MARGIN)
    colour = LIGHT.clusters[CLUSTER]
    figure = Figure(figsize=(7.6, 3.05))
    panel = figure.subplots()
    outline = reach_outline(known, MARGIN)
    panel.fill(*outline.T, color=colour, alpha=0.16, linewidth=0)
    panel.plot(*outline.T, color=colour, linewidth=1.4, label="their reach")
    panel.plot(
        *known[[0, 1, 2, 0]].T, color=LIGHT.quiet, linewidth=1.0, linestyle=":", label="their hull"
    )
    dots(
        panel,
        made.X[own[~reached]],
        s=16,
        facecolors="none",
        edgecolors=LIGHT.quiet,
        linewidths=0.8,
        label=f"not decided yet ({np.count_nonzero(~reached)})",
    )
    dots(
        panel,
        made.X[own[reached]],
        s=13,
        color=colour,
        label=f"in reach, so proven ({np.count_nonzero(reached) - 3})",
    )
    dots(
        panel,
        known,
        s=60,
        marker="D",
        color=colour,
        edgecolors=LIGHT.ink,
        label="three known members",
    )
    farthest = own[reached][sizes[reached].argmax()]
    _explain(panel, int(farthest), known)
    window(panel, np.concatenate([made.X[own], outline]), 0.05)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _explain(panel: Axes, item: int, known: Array) -> None:
    """The weights on the lines from an item to the members that prove it."""
    made, _ = run()
    at = made.X[item]
    for member, weight in zip(known, weights_of(item, known), strict=True):
        panel.plot(*np.array([at, member]).T, color=LIGHT.ink, linewidth=0.9, zorder=1)
        panel.annotate(
            f"{weight:+.2f}".replace("-", "−"),
            at + 0.62 * (member - at),
            fontsize=10,
            ha="center",
            va="center",
            bbox={"boxstyle": "round,pad=0.15", "facecolor": LIGHT.paper, "edgecolor": "none"},
        )
    dots(panel, at, s=130, color=LIGHT.paper, edgecolors=LIGHT.ink, linewidths=1.5, zorder=4)
    panel.annotate("y", at, fontsize=10, ha="center", va="center", zorder=5)
