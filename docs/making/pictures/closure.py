"""Closure: what is proven proves more, until the whole cluster is known."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from docs.making.pictures.plane import (
    CLUSTER,
    MARGIN,
    dots,
    known_by_step,
    reach_outline,
    run,
    window,
)
from samecluster.plots.style import LIGHT


def picture() -> Figure:
    made, _ = run()
    own = np.flatnonzero(made.labels == CLUSTER)
    steps = known_by_step()
    shown = [0, 1, 2, len(steps) - 1]
    colour = LIGHT.clusters[CLUSTER]
    farthest = reach_outline(made.X[own], MARGIN)
    figure = Figure(figsize=(8.4, 3.35))
    for panel, step in zip(figure.subplots(2, 2).ravel(), shown, strict=True):
        known = made.X[steps[step]]
        open_ = np.setdiff1d(own, steps[step])
        outline = reach_outline(known, MARGIN)
        panel.fill(*outline.T, color=colour, alpha=0.16, linewidth=0)
        panel.plot(*outline.T, color=colour, linewidth=1.2)
        dots(panel, made.X[open_], s=10, facecolors="none", edgecolors=LIGHT.quiet, linewidths=0.7)
        dots(panel, known, s=9, color=colour)
        dots(panel, made.X[steps[0]], s=42, marker="D", color=colour, edgecolors=LIGHT.ink)
        panel.set_title(_title(step, len(known), len(own)), loc="left", fontsize=10)
        window(panel, np.concatenate([made.X[own], farthest]), 0.04)
    return figure


def _title(step: int, n_known: int, n_own: int) -> str:
    if step == 0:
        return f"{n_known} of {n_own} known by answers, and their reach"
    return f"after {step} {'step' if step == 1 else 'steps'}: {n_known} known"
