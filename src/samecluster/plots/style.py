"""What all pictures share: colours that colour-blind people can tell apart, light and dark."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from samecluster.recovery.result.how import How

OKABE_ITO = {
    "orange": "#E69F00",
    "sky": "#56B4E9",
    "green": "#009E73",
    "blue": "#0072B2",
    "red": "#D55E00",
    "purple": "#CC79A7",
}
"""The palette of Okabe and Ito, which holds for the common kinds of colour blindness."""


@dataclass(frozen=True)
class Theme:
    """Colours of everything that is not a cluster, and those of clusters in turn."""

    paper: str
    ink: str
    quiet: str
    grid: str
    clusters: tuple[str, ...]


_TURN = ("blue", "orange", "green", "purple", "sky", "red")
LIGHT = Theme("#ffffff", "#1a1a1a", "#767676", "#e3e3e3", tuple(OKABE_ITO[name] for name in _TURN))
# Blue is too dark for a dark paper, so there it is lighter, away from the sky.
DARK = Theme("#16181c", "#ececec", "#9a9a9a", "#33373d", ("#4A90D9", *LIGHT.clusters[1:]))


@dataclass(frozen=True)
class Mark:
    """How a way of knowing is drawn: never told apart by colour alone."""

    marker: str
    filled: bool
    edge: bool = False
    size: float = 1.0


MARKS = {
    How.UNASSIGNED: Mark("x", filled=True),
    How.PREDICTED: Mark("o", filled=False),
    How.INFERRED: Mark("^", filled=True),
    How.PROVEN: Mark("o", filled=True, size=0.8),
    How.ASKED: Mark("D", filled=True, edge=True, size=2.0),
}
"""In the order in which they are drawn: what is known best lies on top."""


@contextlib.contextmanager
def applied(theme: Theme) -> Iterator[None]:
    settings: dict[Any, Any] = {
        "axes.edgecolor": theme.quiet,
        "axes.facecolor": theme.paper,
        "axes.labelcolor": theme.ink,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "figure.constrained_layout.use": True,
        "figure.facecolor": theme.paper,
        "font.size": 10,
        "grid.color": theme.grid,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "text.color": theme.ink,
        "xtick.color": theme.quiet,
        "ytick.color": theme.quiet,
        # Names of columns and clusters are text, never formulas.
        "text.parse_math": False,
    }
    with mpl.rc_context(settings):
        yield


def as_svg(figure: Figure) -> str:
    """A figure as an SVG element to be put into a page; what is rasterised is inside it."""
    file = io.StringIO()
    # The same picture gives the same text, and its words stay words.
    with mpl.rc_context({"svg.hashsalt": "samecluster", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", metadata={"Date": None}, dpi=150)
    return re.sub(r"^.*?(?=<svg)", "", file.getvalue(), count=1, flags=re.DOTALL)
