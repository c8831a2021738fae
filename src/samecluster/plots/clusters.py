"""The points in their best projections, coloured by cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from samecluster._typing import IntArray
from samecluster.plots.layout import drawn, outline, spread
from samecluster.plots.projection import View, best_views
from samecluster.plots.style import MARKS, Theme
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_MOST_DRAWN = 4000
"""Points: more overlap so much that the picture says no more, and the file grows."""
_MOST_OUTSTANDING = 400
"""More asked points than these get thin edges: thick ones would be all that one sees."""
_MANY_CLUSTERS = 12
"""With more clusters, thinner ellipses: each colour is there twice by then."""
_LONGEST_NAME = 24
"""Characters: a third of the width of a panel."""
_DASHES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)))
"""Colours come again after six clusters, and then with other dashes."""


def views_of(recovery: Recovery, columns: Sequence[str] | None) -> list[View]:
    if recovery.points.shape[1] == 1:
        return [_strips(recovery, columns)]
    return best_views(recovery.points, recovery.labels, columns)


def picture(
    recovery: Recovery, views: Sequence[View], names: Mapping[int, str], theme: Theme
) -> Figure:
    figure = Figure(figsize=(5.2 * len(views) + 0.6, 4.8))
    items = drawn(recovery, _MOST_DRAWN)
    for panel, view in zip(figure.subplots(1, len(views), squeeze=False)[0], views, strict=True):
        _points(panel, view, recovery, items, theme)
        if not view.is_map:
            _ellipses(panel, view, recovery.labels, theme)
        _labels(panel, view, recovery.labels, names, theme)
        _axes(panel, view)
    _legend(figure, recovery, len(items), theme)
    return figure


def _strips(recovery: Recovery, columns: Sequence[str] | None) -> View:
    """One column: a row for each cluster, points moved up and down at random to be seen."""
    # Numbers count up from the top; what has no label is below.
    order = np.where(recovery.labels >= 0, recovery.labels, np.iinfo(np.int64).max)
    rows = -np.unique(order, return_inverse=True)[1].astype(float)
    moved = np.random.default_rng(0).uniform(-0.25, 0.25, len(rows))
    name = "column 1" if columns is None else columns[0]
    return View("", recovery.points[:, 0], rows + moved, name, "", plain=True)


def _points(panel: Axes, view: View, recovery: Recovery, items: IntArray, theme: Theme) -> None:
    size = float(np.clip(24_000 / len(items), 5.0, 22.0))
    colours = np.array(theme.clusters)[recovery.labels % len(theme.clusters)]
    for how, mark in MARKS.items():
        chosen = items[recovery.how_codes[items] == how]
        colour = colours[chosen]
        look: dict[str, Any] = {"color": colour, "linewidths": 0.0}
        if not mark.filled:
            look = {"facecolors": "none", "edgecolors": colour, "linewidths": 0.7}
        elif mark.edge and len(chosen) <= _MOST_OUTSTANDING:
            look = {"color": colour, "edgecolors": theme.ink, "linewidths": 0.8}
        elif mark.edge:
            look = {"color": colour, "edgecolors": theme.ink, "linewidths": 0.25}
        elif mark.marker == "x":
            look = {"color": theme.quiet, "linewidths": 0.7}
        panel.scatter(
            view.x[chosen], view.y[chosen], s=size * mark.size, marker=mark.marker,
            rasterized=True, zorder=2 + how / 10, **look,
        )  # fmt: skip


def _ellipses(panel: Axes, view: View, labels: IntArray, theme: Theme) -> None:
    found = np.unique(labels[labels >= 0])
    crowded = len(found) > _MANY_CLUSTERS
    for label in found:
        turn, place = divmod(int(label), len(theme.clusters))
        panel.plot(
            *outline(np.column_stack([view.x, view.y])[labels == label]).T,
            color=theme.clusters[place],
            linestyle=_DASHES[turn % len(_DASHES)],
            linewidth=0.9 if crowded else 1.3,
            alpha=0.6 if crowded else 1.0,
            zorder=2.35,
        )


def _labels(
    panel: Axes, view: View, labels: IntArray, names: Mapping[int, str], theme: Theme
) -> None:
    """The number or name of each cluster at its middle, or as near as others let it."""
    found = [int(label) for label in np.unique(labels[labels >= 0])]
    panel.autoscale_view()
    # Everything is placed in shares of the panel, whose edges are fixed from here on.
    (left, right), (bottom, top) = panel.get_xlim(), panel.get_ylim()
    panel.set(xlim=(left, right), ylim=(bottom, top))
    corner, extent = np.array([left, bottom]), np.array([right - left, top - bottom])
    at = (np.column_stack([view.x, view.y]) - corner) / extent
    texts = [_shortened(names.get(label, str(label))) for label in found]
    sizes = np.array([[0.03 + 0.014 * len(text), 0.05] for text in texts]).reshape(-1, 2)
    middles = np.array([np.median(at[labels == label], axis=0) for label in found]).reshape(-1, 2)
    ranges = np.array([np.ptp(at[labels == label], axis=0) for label in found]).reshape(-1, 2)
    # A label larger than its cluster would hide it: it goes above.
    hiding = (ranges < 1.5 * sizes).all(axis=1)
    wanted = middles + np.outer(hiding, [0.0, 1.0]) * (ranges + sizes) / 2.0
    for text, label, middle, place in zip(
        texts, found, middles, spread(wanted, sizes), strict=True
    ):
        colour = theme.clusters[label % len(theme.clusters)]
        panel.annotate(
            text,
            corner + middle * extent,
            corner + place * extent,
            color=theme.ink,
            fontsize=10,
            fontweight="bold",
            ha="center",
            va="center",
            zorder=4,
            path_effects=[withStroke(linewidth=3, foreground=theme.paper)],
            arrowprops={"arrowstyle": "-", "color": colour, "shrinkA": 6, "shrinkB": 0},
        )


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def _axes(panel: Axes, view: View) -> None:
    beyond = f"{view.n_beyond:,} far beyond the others drawn on the edge" * bool(view.n_beyond)
    panel.set_title("; ".join(filter(None, (view.title, beyond))), loc="left", fontsize=10)
    panel.set_xlabel(view.x_label)
    panel.set_ylabel(view.y_label)
    if not view.plain:
        panel.set(xticks=[], yticks=[])
    elif not view.y_label:
        panel.set(yticks=[])


def _legend(figure: Figure, recovery: Recovery, n_drawn: int, theme: Theme) -> None:
    """The markers that occur, with how many labels each stands for."""
    handles = [
        _handle(how, f"{how.name.lower()} ({count:,})", theme)
        for how in reversed(MARKS)
        if (count := recovery.count(how))
    ]
    if n_drawn < len(recovery.labels):
        text = f"{n_drawn:,} of {len(recovery.labels):,} points are drawn"
        handles.append(Line2D([], [], linestyle="none", label=text))
    columns = 3 if len(figure.axes) == 1 or len(handles) > 5 else len(handles)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def _handle(how: How, label: str, theme: Theme) -> Line2D:
    mark = MARKS[how]
    colour = theme.quiet if how is How.UNASSIGNED else theme.clusters[0]
    return Line2D(
        [],
        [],
        linestyle="none",
        marker=mark.marker,
        markersize=5 * np.sqrt(mark.size),
        markerfacecolor=colour if mark.filled else "none",
        markeredgecolor=theme.ink if mark.edge else colour,
        label=label,
    )
