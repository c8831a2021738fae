"""Pictures in a page: inlined, one for light and one for dark."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from samecluster.plots import MISSING, can_draw, cluster_figures, picture_svg, plot_progress
from samecluster.recovery.result.result import Recovery
from samecluster.reports.markup import Markup, tag

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def cluster_picture(
    recovery: Recovery, columns: Sequence[str] | None, names: Mapping[int, str]
) -> Markup:
    return _picture(
        "Points coloured by cluster; markers say how labels are known.",
        lambda: cluster_figures(recovery, columns, names),
    )


def progress_picture(recovery: Recovery) -> Markup:
    return _picture(
        "Labels known against questions asked.",
        lambda: [plot_progress(recovery, dark=dark) for dark in (False, True)],
    )


def _picture(description: str, draw: Callable[[], Sequence[Figure]]) -> Markup:
    if not can_draw():
        return tag("p", f"Not drawn: {MISSING}", class_="quiet")
    light, dark = (_address(picture_svg(figure)) for figure in draw())
    return tag(
        "picture",
        tag("source", srcset=dark, media="(prefers-color-scheme: dark)"),
        tag("img", src=light, alt=description),
    )


def _address(svg: str) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
