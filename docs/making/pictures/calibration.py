"""What runs of `make bench-real` said of their error, and what it was."""

from __future__ import annotations

from itertools import cycle

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from benchmarks.real.tables import read, said_and_true
from samecluster.plots.style import LIGHT

_LEAST = 0.0003  # shares below are drawn there: a logarithmic axis has no 0
_MOST = 1.0


def picture() -> Figure:
    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    panel = figure.subplots()
    both = np.array([_LEAST, _MOST])
    panel.fill_between(both, both / 2, both * 2, color="#dddddd", linewidth=0)
    panel.plot(both, both, color="#999999", linewidth=1)
    found: dict[str, list[tuple[float, float]]] = {}
    for name, said, true in said_and_true(read()):
        found.setdefault(name, []).append((max(said, _LEAST), max(true, _LEAST)))
    looks = zip(cycle(LIGHT.clusters), cycle("osD^vP*X<>ph1"), strict=False)
    for (name, points), (colour, shape) in zip(found.items(), looks, strict=False):
        across, up = zip(*points, strict=True)
        panel.plot(across, up, shape, color=colour, markersize=6, label=name)
    panel.set(xscale="log", yscale="log", xlim=both, ylim=both)
    panel.set(xlabel="share of wrong labels that was said", ylabel="true share")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    figure.legend(loc="outside right center", frameon=False)
    return figure
