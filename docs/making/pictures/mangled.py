"""Shells of three species, as k-means groups them and as a few answers do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans

from docs.making.pictures.plane import dots
from samecluster import clustering_error, recover
from samecluster.oracles import LabelOracle
from samecluster.plots.style import LIGHT

_SHELLS = Path(__file__).parents[3] / "examples" / "shells.csv"


def picture() -> Figure:
    X = np.loadtxt(_SHELLS, delimiter=",", skiprows=1, usecols=(1, 2, 3))
    species = np.loadtxt(_SHELLS, delimiter=",", skiprows=1, usecols=4, dtype=str)
    standardised = (X - X.mean(axis=0)) / X.std(axis=0)
    guessed = KMeans(n_clusters=3, n_init=10, random_state=0).fit(standardised).labels_
    found = recover(X, LabelOracle(species), n_clusters=3, margin=1.0, random_state=0)
    titles = (
        f"k-means: {clustering_error(guessed, species):.0%} wrong",
        f"certify: {clustering_error(found.labels, species):.0%} wrong, "
        f"{found.n_questions} questions",
    )
    figure = Figure(figsize=(8.4, 3.8))
    panels = figure.subplots(1, 2, sharey=True)
    for panel, labels, title in zip(panels, (guessed, found.labels), titles, strict=True):
        for label in range(3):
            dots(
                panel,
                X[labels == label, :2],
                s=5,
                color=LIGHT.clusters[label],
                rasterized=True,
            )
        panel.set_title(title, loc="left", fontsize=11)
        panel.set_xlabel("length in mm")
    panels[0].set_ylabel("mass in mg")
    return figure
