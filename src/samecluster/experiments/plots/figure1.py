"""The picture of Figure 1: the true clusters, and what each algorithm makes of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from samecluster.experiments.experiment import Row, rows_where
from samecluster.experiments.figure1 import DRAWN
from samecluster.experiments.plots.style import BLACK, GREY, LINES, legend_below
from samecluster.plots.style import OKABE_ITO

_CLUSTERS = (OKABE_ITO["blue"], OKABE_ITO["orange"], OKABE_ITO["green"])


def picture(tables: Mapping[str, list[Row]]) -> Figure:
    points, asked = tables["figure1_points"], tables["figure1_asked"]
    figure = Figure(figsize=(9, 8.4))
    panels = figure.subplots(1 + len(DRAWN), 1, sharex=True, sharey=True)
    _scatter(panels[0], points, "true", "the true clusters")
    for panel, name in zip(panels[1:], DRAWN, strict=True):
        (run,) = rows_where(tables["figure1_runs"], layout="side by side", algorithm=name, run=0)
        title = f"{LINES[name].label}: {run['questions']:,} questions, error {run['error']:.1%}"
        _scatter(panel, points, name, title)
        where = rows_where(asked, algorithm=name)
        panel.plot(
            [at["x"] for at in where], [at["y"] for at in where], "x", color=BLACK, markersize=5
        )
    for panel in panels:
        panel.set_aspect("equal")
        panel.grid(visible=False)
        panel.set_ylabel("second column")
    panels[-1].set_xlabel("first column (both in the same unit)")
    legend_below(figure, _handles(), 5)
    return figure


def _scatter(panel: Axes, points: list[Row], column: str, title: str) -> None:
    labels = np.array([row[column] for row in points])
    places = np.array([[row["x"], row["y"]] for row in points])
    for label, colour in enumerate((*_CLUSTERS, GREY)):
        chosen = places[labels == (label if label < len(_CLUSTERS) else -1)]
        panel.scatter(chosen[:, 0], chosen[:, 1], s=4, color=colour, linewidths=0, rasterized=True)
    panel.set_title(title, loc="left", fontsize=10)


def _handles() -> list[Line2D]:
    dot = {"linestyle": "none", "marker": "o", "markersize": 6}
    named = [
        *((f"cluster {number}", colour) for number, colour in enumerate(_CLUSTERS, start=1)),
        ("no label", GREY),
    ]
    handles = [Line2D([], [], color=colour, label=label, **dot) for label, colour in named]  # type: ignore[arg-type]
    asked = Line2D([], [], color=BLACK, linestyle="none", marker="x", label="point in a question")
    return [*handles, asked]
