"""Questions against labels that are proven: certify and RECUR on one instance."""

from __future__ import annotations

import functools

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from samecluster import How, recover
from samecluster.instances import make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.plots.style import LIGHT
from samecluster.recovery.labelling import Labelling

N, CLUSTERS, COLUMNS = 4000, 5, 4
_CALLED = {"certify": "certify", "recur": "RECUR, the paper's algorithm"}


@functools.cache
def curve(method: str) -> tuple[tuple[int, int], ...]:
    """Questions asked and labels known (asked or proven) after each batch of answers."""
    made = make_ellipsoids(n=N, d=COLUMNS, k=CLUSTERS, margin=1.0, random_state=0)
    known = [(0, 0)]

    def look(labelling: Labelling) -> None:
        now = labelling.recovery()
        known.append((now.n_questions, int(np.count_nonzero(now.how_codes >= How.PROVEN))))

    recover(
        made.X,
        LabelOracle(made.labels),
        n_clusters=CLUSTERS,
        margin=made.margin,
        method=method,
        random_state=0,
        on_progress=look,
    )
    return tuple(known)


def picture() -> Figure:
    figure = Figure(figsize=(7.6, 3.5))
    panel = figure.subplots()
    for method, colour in zip(_CALLED, LIGHT.clusters, strict=False):
        asked, known = (np.array(column) for column in zip(*curve(method), strict=True))
        # Nothing is known before the first question; a logarithmic axis has no 0.
        panel.step(np.maximum(asked, 0.5), known, where="post", color=colour, linewidth=2)
        panel.plot(asked[-1], N, "o", color=colour, markersize=6)
        panel.annotate(
            f"{_CALLED[method]}:\nall {N:,} after {asked[-1]:,} questions",
            (asked[-1], N),
            (0, 7),
            textcoords="offset points",
            ha="center",
            color=colour,
            fontweight="bold",
        )
    panel.set_xscale("log")
    panel.set(
        xlim=(1, 20_000), ylim=(0, 1.03 * N), xlabel="questions asked (each step is ten times more)"
    )
    panel.set_ylabel("labels proven or asked")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    panel.grid(axis="y")
    panel.set_axisbelow(True)
    return figure
