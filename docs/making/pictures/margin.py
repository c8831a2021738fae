"""The margin: no other point within √(1+γ) times the cluster's own ellipse."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from docs.making.pictures.plane import CLUSTER, MARGIN, around, dots, run, window
from samecluster.plots.style import LIGHT


def picture() -> Figure:
    made, _ = run()
    figure = Figure(figsize=(5.6, 6.0))
    panel = figure.subplots()
    for label, colour in zip(range(made.n_clusters), LIGHT.clusters, strict=False):
        dots(panel, made.X[made.labels == label], s=9, color=colour)
    own = made.X[made.labels == CLUSTER]
    colour = LIGHT.clusters[CLUSTER]
    edge = np.sqrt(1.0 + MARGIN)
    panel.fill(*around(own, edge).T, color=colour, alpha=0.13, linewidth=0, zorder=0)
    panel.plot(*around(own).T, color=colour, linewidth=1.6, label="the cluster's own ellipse")
    panel.plot(
        *around(own, edge).T,
        color=colour,
        linestyle="--",
        linewidth=1.6,
        label=f"the same, √(1+γ) = {edge:.2f} times as large (γ = {MARGIN:g}): no other point",
    )
    window(panel, np.concatenate([made.X, around(own, edge)]), 0.04)
    figure.legend(loc="outside lower center", ncols=1)
    return figure
