"""What all pictures share: colours that colour-blind people can tell apart, and how to save."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from samecluster._files import written_file
from samecluster.plots.style import OKABE_ITO

BLACK, GREY = "#000000", "#8c8c8c"
BOUND: dict[str, Any] = {"color": BLACK, "linestyle": "--", "linewidth": 1.2}
"""How lines are drawn that the paper promises and nobody measured."""


@dataclass(frozen=True)
class Line:
    """How an algorithm is drawn: never told apart by colour alone."""

    label: str
    colour: str
    marker: str


LINES = {
    "recur-published": Line("RECUR, published settings, γ=10 fed", OKABE_ITO["blue"], "o"),
    "recur-told-1": Line("RECUR, published settings, γ=1 fed", OKABE_ITO["red"], "D"),
    "recur": Line("RECUR, guaranteed", OKABE_ITO["purple"], "s"),
    "recur-batches": Line("RECUR", OKABE_ITO["blue"], "o"),
    "recur-plain": Line("RECUR, guaranteed, no expansion", OKABE_ITO["sky"], "v"),
    "scq": Line("SCQ-k-means", OKABE_ITO["red"], "D"),
    "scq-whitened": Line("SCQ-k-means, whitened", OKABE_ITO["orange"], "^"),
    "certify": Line("certify", OKABE_ITO["green"], "*"),
}

_SETTINGS: dict[Any, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.size": 10,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    # The same picture gives the same file.
    "svg.hashsalt": "samecluster",
}


@contextlib.contextmanager
def applied() -> Iterator[None]:
    with mpl.rc_context(_SETTINGS):
        yield


def legend_below(figure: Figure, handles: list[Any], columns: int) -> None:
    """One legend under all panels, where it hides nothing."""
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)


def percent(places: int) -> FuncFormatter:
    return FuncFormatter(lambda value, _: f"{100 * value:.{places}f} %")


def save(figure: Figure, stem: Path) -> list[Path]:
    paths = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    for path in paths:
        # Without a date, so that the same tables give the same file.
        metadata = {"Date": None} if path.suffix == ".svg" else None
        with written_file(path, lambda _: True) as partial:
            figure.savefig(partial, format=path.suffix[1:], metadata=metadata)
    return paths
