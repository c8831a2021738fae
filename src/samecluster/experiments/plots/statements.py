"""The picture of the remaining statements: sampling, one cluster, five per cent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from samecluster.experiments.experiment import Row, rows_where
from samecluster.experiments.plots.style import BOUND, GREY, LINES, percent
from samecluster.experiments.statements import CONSTANTS
from samecluster.plots.style import OKABE_ITO

_COLOURS = [OKABE_ITO[name] for name in ("blue", "red", "green", "purple", "orange", "sky")]
_MARKERS = "osv^D*"


def picture(tables: Mapping[str, list[Row]]) -> Figure:
    figure = Figure(figsize=(13, 5.6))
    sampling, cluster, five = figure.subplots(1, 3)
    _sampling(sampling, tables["sampling"])
    _cluster(cluster, tables["one_cluster"])
    _five(five, tables["five_percent"])
    for panel in (sampling, cluster, five):
        # Below its panel, where it hides nothing.
        panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2, fontsize=9)
    return figure


def _sampling(panel: Axes, rows: list[Row]) -> None:
    for number, d in enumerate(sorted({row["d"] for row in rows})):
        for sizes, dashes in (("equal", "-"), ("halving", ":")):
            chosen = rows_where(rows, d=d, sizes=sizes)
            panel.plot(
                CONSTANTS,
                [min(row[f"b={b:g}"] for row in chosen) for b in CONSTANTS],
                color=_COLOURS[number],
                marker=_MARKERS[number],
                linestyle=dashes,
                label=f"d={d}, sizes {sizes}",
            )
    panel.plot([CONSTANTS[0], CONSTANTS[-1]], [0.5, 0.5], label="half of the time", **BOUND)
    panel.set_xscale("log")
    panel.set_xticks(CONSTANTS, [f"{b:g}" for b in CONSTANTS])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_ylim(-0.03, 1.05)
    panel.yaxis.set_major_formatter(percent(0))
    panel.set_xlabel("sample constant b")
    panel.set_ylabel("samples with |C ∩ E| ≥ n/4k, least over k")
    panel.set_title("a sample of b·d²·ln k points", loc="left")


def _cluster(panel: Axes, rows: list[Row]) -> None:
    shapes = sorted({(row["rank"], row["d"]) for row in rows})
    for number, (rank, d) in enumerate(shapes):
        chosen = rows_where(rows, rank=rank, d=d)
        margins = [row["margin"] for row in chosen]
        panel.plot(
            margins,
            [max(row["questions"], 0.5) for row in chosen],
            color=_COLOURS[number],
            marker=_MARKERS[number],
            # Hollow and of several sizes: lines meet where every point inside is asked about.
            markersize=12 - 2 * number,
            markerfacecolor="none",
            markeredgewidth=1.5,
            label=f"r={rank}, d={d}",
        )
        if rank == d:
            look: dict[str, Any] = BOUND | {"color": _COLOURS[number]}
            panel.plot(margins, [row["bound"] for row in chosen], **look)
    panel.plot([], [], label="bound, in the colour of r=d", **BOUND)
    most = max(row["inside"] for row in rows)
    panel.axhline(most, color=GREY, linestyle=":", zorder=1, label="points inside E, at most")
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.invert_xaxis()
    margins = sorted({row["margin"] for row in rows})
    panel.set_xticks(margins, [f"{margin:g}" for margin in margins])
    panel.xaxis.set_minor_locator(NullLocator())
    panel.set_xlabel("margin γ")
    panel.set_ylabel("questions for one cluster")
    panel.set_title("Theorem 2: learning C ∩ E", loc="left")


def _five(panel: Axes, rows: list[Row]) -> None:
    blue = LINES["recur-published"].colour
    dimensions = [row["d"] for row in rows]
    for column, label, look in (
        ("share", "RECUR, all questions", {"color": blue, "marker": "o"}),
        (
            "counted_share",
            "counted as published",
            {"color": blue, "marker": "o", "linestyle": ":", "markerfacecolor": "white"},
        ),
        ("published_share", "published", {"color": GREY, "marker": "P"}),
    ):
        known = [(d, row[column]) for d, row in zip(dimensions, rows, strict=True) if row[column]]
        if known:
            panel.plot(*zip(*known, strict=True), label=label, **look)  # type: ignore[arg-type]
    panel.plot([dimensions[0], dimensions[-1]], [0.03, 0.03], label="3 % of k·n", **BOUND)
    panel.set_xticks(dimensions)
    panel.set_ylim(bottom=0)
    panel.yaxis.set_major_formatter(percent(1))
    panel.set_xlabel("dimension d")
    panel.set_ylabel("questions, as a share of k·n")
    panel.set_title("questions until the error is ≤ 5 %", loc="left")
