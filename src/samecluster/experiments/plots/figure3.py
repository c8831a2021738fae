"""The picture of Figure 3: error against questions, one panel a dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator

from samecluster._typing import FloatArray
from samecluster.experiments.experiment import Row, mean_of, rows_where
from samecluster.experiments.plots.style import GREY, LINES, legend_below
from samecluster.experiments.published import published_curves

_TICKS = {
    0.0: "0",
    1e-5: "0.001 %",
    1e-4: "0.01 %",
    1e-3: "0.1 %",
    1e-2: "1 %",
    0.1: "10 %",
    1.0: "100 %",
}
_FIRST_STEP = 1e-5
"""Errors below one point of 100,000 do not occur; the axis is linear from there to zero."""


def picture(tables: Mapping[str, list[Row]]) -> Figure:
    runs, curves = tables["figure3_runs"], tables["figure3_curves"]
    dimensions = sorted({row["d"] for row in runs})
    figure = Figure(figsize=(10, 8.6))
    panels = figure.subplots(-(-len(dimensions) // 2), 2, sharex=True, sharey=True, squeeze=False)
    for panel, d in zip(panels.flat, dimensions, strict=False):
        _published(panel, d)
        _recur(panel, rows_where(curves, d=d))
        for algorithm in ("scq", "scq-whitened", "certify"):
            _ends(panel, rows_where(runs, d=d, algorithm=algorithm), algorithm)
        panel.set_title(f"d = {d}", loc="left")
    for panel in panels[:, 0]:
        panel.set_ylabel("clustering error (share of points)")
    for panel in panels[-1]:
        panel.set_xlabel("questions")
    _axes(panels[0, 0])
    for panel in panels.flat[len(dimensions) :]:
        panel.set_visible(False)
    legend_below(figure, _handles(), 3)
    return figure


def steps(curves: Sequence[Sequence[tuple[float, float]]], at: FloatArray) -> FloatArray:
    """The error of each run (rows) after each number of questions; before its first round, 1."""
    errors = np.ones((len(curves), len(at)))
    for row, curve in zip(errors, curves, strict=True):
        for questions, error in curve:
            row[at >= questions] = error
    return errors


def _curves(rows: Sequence[Row], column: str = "questions") -> list[list[tuple[float, float]]]:
    return [
        [(row[column], row["error"]) for row in rows if row["run"] == run]
        for run in sorted({row["run"] for row in rows})
    ]


def _recur(panel: Axes, rows: list[Row]) -> None:
    line = LINES["recur-published"]
    asked = [row["questions"] for row in rows]
    at = np.geomspace(0.5 * min(asked), 1.1 * max(asked), 800)
    errors = steps(_curves(rows), at)
    panel.fill_between(
        at, errors.min(axis=0), errors.max(axis=0), color=line.colour, alpha=0.25, linewidth=0
    )
    panel.plot(at, errors.mean(axis=0), color=line.colour, linewidth=1.8)
    counted = steps(_curves(rows, "counted"), at).mean(axis=0)
    panel.plot(at, counted, color=line.colour, linewidth=1.2, linestyle=(0, (4, 2)))


def _published(panel: Axes, d: int) -> None:
    for curve in _curves(rows_where(published_curves(), d=d)):
        questions, errors = zip(*curve, strict=True)
        panel.step(questions, errors, where="post", color=GREY, linewidth=0.5, alpha=0.8)


def _ends(panel: Axes, rows: list[Row], algorithm: str) -> None:
    """Every run small, their mean large and on top."""
    look: dict[str, Any] = _look(algorithm) | {"clip_on": False, "zorder": 4}
    small = look | {"markersize": 4, "alpha": 0.6, "zorder": 3}
    panel.plot([row["questions"] for row in rows], [row["error"] for row in rows], **small)
    panel.plot([mean_of(rows, "questions")], [mean_of(rows, "error")], **look)


def _look(algorithm: str) -> dict[str, Any]:
    """Markers of SCQ-k-means may lie on one another: the one below is large and hollow."""
    line = LINES[algorithm]
    look: dict[str, Any] = {"marker": line.marker, "linestyle": "none", "color": line.colour}
    if algorithm == "scq":
        return look | {"markersize": 12, "markerfacecolor": "none", "markeredgewidth": 2}
    return look | {"markersize": 13 if algorithm == "certify" else 8}


def _axes(panel: Axes) -> None:
    panel.set_xscale("log")
    panel.set_yscale("symlog", linthresh=_FIRST_STEP, linscale=0.6)
    panel.set_ylim(-0.6 * _FIRST_STEP, 1.3)
    panel.set_yticks(list(_TICKS), list(_TICKS.values()))
    panel.yaxis.set_minor_locator(NullLocator())


def _handles() -> list[Line2D | Patch]:
    colour, dashes = LINES["recur-published"].colour, (0, (4, 2))
    return [
        Line2D([], [], color=colour, linewidth=1.8, label="RECUR, γ=10 fed: mean"),
        Patch(color=colour, alpha=0.25, linewidth=0, label="RECUR: least to largest"),
        Line2D([], [], color=colour, linestyle=dashes, label="RECUR, counted as published"),
        Line2D([], [], color=GREY, linewidth=0.7, label="published runs of RECUR"),
        *(
            Line2D([], [], label=f"{LINES[name].label} (mean large)", **_look(name))
            for name in ("scq", "scq-whitened", "certify")
        ),
    ]
