"""The proof of one label: the points that it rests on, and those that they rest on, to answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from docs.making.pictures.plane import CLUSTER, Array, dots, known_by_step, run, window
from samecluster.plots.style import LIGHT


def supports() -> dict[int, list[int]]:
    """For each proven item of the cluster the items that its record in the proof names."""
    _, found = run()
    assert found.proof is not None
    return {
        int(row[0]): [int(item) for item in row[1:] if item >= 0]
        for record in found.proof.records
        if record[0] == "in" and record[1] == CLUSTER
        for row in record[2]
    }


def chain(item: int) -> dict[int, list[int]]:
    """The item and all proven items that its proof rests on, each with its support."""
    of = supports()
    used: dict[int, list[int]] = {}
    todo = [item]
    while todo:
        one = todo.pop()
        if one in of and one not in used:
            used[one] = of[one]
            todo += of[one]
    return used


def picture() -> Figure:
    made, _ = run()
    own = np.flatnonzero(made.labels == CLUSTER)
    steps = known_by_step()
    item = int(steps[-1][-1])
    used = chain(item)
    colour = LIGHT.clusters[CLUSTER]
    figure = Figure(figsize=(7.6, 2.95))
    panel = figure.subplots()
    dots(panel, made.X[own], s=8, color=LIGHT.grid, zorder=0)
    for ends, last in _lines(used, item, made.X):
        panel.plot(
            *ends.T,
            color=LIGHT.ink if last else colour,
            linewidth=1.6 if last else 0.9,
            zorder=2 if last else 1,
        )
    proven = [one for one in used if one != item]
    dots(
        panel,
        made.X[proven],
        s=26,
        color=colour,
        zorder=3,
        label=f"proven before it ({len(proven)})",
    )
    dots(
        panel,
        made.X[steps[0]],
        s=60,
        marker="D",
        color=colour,
        edgecolors=LIGHT.ink,
        zorder=3,
        label="answers (3)",
    )
    dots(
        panel,
        made.X[item],
        s=70,
        color=LIGHT.paper,
        edgecolors=LIGHT.ink,
        linewidths=1.5,
        zorder=4,
        label=f"item {item}, proven last",
    )
    window(panel, made.X[own], 0.08)
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def _lines(used: dict[int, list[int]], item: int, X: Array) -> Iterator[tuple[Array, bool]]:
    for one, support in used.items():
        for other in support:
            yield X[[one, other]], one == item
