"""The picture of theory against practice: rounds, and questions as n, k and d grow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter, NullLocator

from samecluster.experiments.experiment import Row, mean_of, rows_where
from samecluster.experiments.plots.style import BOUND, GREY, LINES, legend_below
from samecluster.experiments.published import published_results
from samecluster.experiments.theory import DRAWN, ROUNDED


def picture(tables: Mapping[str, list[Row]]) -> Figure:
    growth = tables["theory_growth"]
    figure = Figure(figsize=(10, 8.6))
    (rounds, by_n), (by_k, by_d) = figure.subplots(2, 2)
    _rounds(rounds, tables["theory_rounds"])
    _growth(by_n, rows_where(growth, grows="n"), "n", "points n")
    _growth(by_k, rows_where(growth, grows="k"), "k", "clusters k")
    _growth(by_d, rows_where(growth, grows="d"), "d", "dimension d")
    _bound(by_n, rows_where(growth, grows="n"), "n")
    _bound(by_k, rows_where(growth, grows="k"), "k")
    _published(by_d)
    legend_below(figure, _handles(), 3)
    return figure


def _line(panel: Axes, rows: list[Row], algorithm: str, x: str, y: str) -> None:
    """The mean, and the least and most as a bar."""
    line, chosen = LINES[algorithm], rows_where(rows, algorithm=algorithm)
    if not chosen:
        return
    means = np.array([row[y] for row in chosen], dtype=float)
    most = np.array([row[f"most_{y}"] for row in chosen], dtype=float)
    least = np.array([row.get(f"least_{y}", row[y]) for row in chosen], dtype=float)
    panel.errorbar(
        [row[x] for row in chosen],
        means,
        yerr=[means - least, most - means],
        color=line.colour,
        marker=line.marker,
        markersize=9 if line.marker == "*" else 5,
        capsize=3,
        linewidth=1.5,
    )


def _rounds(panel: Axes, rows: list[Row]) -> None:
    for algorithm in ROUNDED:
        _line(panel, rows, algorithm, "epsilon", "rounds")
    bounds = rows_where(rows, algorithm=ROUNDED[0])
    panel.plot([row["epsilon"] for row in bounds], [row["bound"] for row in bounds], **BOUND)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.invert_xaxis()
    panel.set_xlabel("share ε of points without a label")
    panel.set_ylabel("rounds")
    panel.set_title(f"rounds until εn points are left, n={bounds[0]['n']:,}", loc="left")


def _growth(panel: Axes, rows: list[Row], x: str, xlabel: str) -> None:
    for algorithm in DRAWN:
        _line(panel, rows, algorithm, x, "questions")
    panel.set_xscale("log" if x != "d" else "linear")
    panel.set_yscale("log")
    panel.set_xlabel(xlabel)
    panel.set_ylabel("questions")
    fixed = ", ".join(f"{name}={rows[0][name]:,}" for name in ("n", "d", "k") if name != x)
    panel.set_title(f"questions, {fixed}", loc="left")
    if x != "n":
        values = sorted({row[x] for row in rows})
        panel.set_xticks(values, [str(value) for value in values])
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_minor_formatter(NullFormatter())


def _bound(panel: Axes, rows: list[Row], x: str) -> None:
    bounds = sorted({(row[x], row["bound"]) for row in rows})
    panel.plot(*zip(*bounds, strict=True), **BOUND)


def _published(panel: Axes) -> None:
    general = rows_where(published_results(), dataset="general", algorithm="recur-published")
    dimensions = sorted({row["d"] for row in general})
    means = [mean_of(rows_where(general, d=d), "questions") for d in dimensions]
    panel.plot(dimensions, means, color=GREY, marker="P", linewidth=1, markersize=6, zorder=1)


def _handles() -> list[Line2D]:
    return [
        *(
            Line2D([], [], color=LINES[a].colour, marker=LINES[a].marker, label=LINES[a].label)
            for a in DRAWN
        ),
        Line2D([], [], color=GREY, marker="P", linewidth=1, label="published by the authors"),
        Line2D([], [], label="bound: 8k ln(1/ε), k³ ln k ln n", **BOUND),
    ]
