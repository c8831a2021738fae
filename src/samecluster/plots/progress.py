"""Labels known against questions asked."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from samecluster._typing import FloatArray, IntArray
from samecluster.plots.style import Theme
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery

_HATCHES = {How.ASKED: "", How.PROVEN: "", How.INFERRED: "////"}


def picture(recovery: Recovery, theme: Theme) -> Figure:
    """Areas for labels that were asked, proven or inferred, and a line for all that there were.

    A model may change its mind, so that predicted labels belong to no round: they are what lies
    between the areas and the line.
    """
    figure = Figure(figsize=(7.2, 3.6))
    panel = figure.subplots()
    asked = _questions(recovery)
    below = np.zeros(len(asked), dtype=np.int64)
    for (how, hatch), colour in zip(_HATCHES.items(), theme.clusters, strict=False):
        if count := recovery.count(how):
            above = below + _known(recovery, how)
            panel.fill_between(
                asked,
                below,
                above,
                step="post",
                facecolor=colour,
                edgecolor=theme.paper,  # of the hatching
                linewidth=0,
                hatch=hatch,
                label=f"{how.name.lower()} ({count:,})",
            )
            below = above
    all_labels = "with predicted" if recovery.count(How.PREDICTED) else "all labels"
    panel.step(
        asked, _labelled(recovery), where="post", color=theme.ink, linewidth=1.4, label=all_labels
    )
    _axes(panel, asked[-1], len(recovery.labels))
    figure.legend(loc="outside lower center", ncols=4)
    return figure


def _questions(recovery: Recovery) -> FloatArray:
    """Questions asked: none, after each round, now, and a little later, so that now is seen."""
    by_round = [0, *(finished.n_questions for finished in recovery.rounds)]
    now = recovery.n_questions
    return np.array([*np.cumsum(by_round), now, 1.05 * max(now, 1)])


def _known(recovery: Recovery, how: How) -> IntArray:
    """How many labels of a kind there were at each of these moments."""
    rounds = recovery.round_of[recovery.how_codes == how]
    by_round = np.cumsum(np.bincount(rounds, minlength=len(recovery.rounds) + 1))
    return np.concatenate([[0], by_round, by_round[-1:]])


def _labelled(recovery: Recovery) -> list[int]:
    now = int(np.count_nonzero(recovery.how_codes))
    return [0, *(finished.n_labelled for finished in recovery.rounds), now, now]


def _axes(panel: Axes, end: float, n: int) -> None:
    panel.set_xlim(0, end)
    panel.set_ylim(0, 1.04 * n)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    panel.set_xlabel("questions asked")
    panel.set_ylabel(f"labels, of {n:,} points")
    panel.grid(axis="y")
    panel.set_axisbelow(True)
