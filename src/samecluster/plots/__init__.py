"""Pictures of a recovery, with matplotlib (the extra ``samecluster[plots]``).

matplotlib is imported only to draw. Pictures show where points lie: who sees one learns
coordinates.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from samecluster.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from samecluster.recovery.result.result import Recovery

__all__ = [
    "MISSING",
    "can_draw",
    "cluster_figures",
    "picture_svg",
    "plot_clusters",
    "plot_progress",
]

MISSING = "pictures need matplotlib: pip install samecluster[plots]"


def can_draw() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def plot_clusters(
    recovery: Recovery,
    *,
    columns: Sequence[str] | None = None,
    names: Mapping[int, str] | None = None,
    dark: bool = False,
) -> Figure:
    """The points in the two projections that show their clusters best.

    Colours are clusters, with their number (or name) beside them and an ellipse around them.
    Markers tell asked, proven, inferred and predicted labels apart. Of many points some are drawn;
    ellipses hold all.

    Parameters
    ----------
    recovery : what to draw
    columns : names of the columns, for the axes
    names : names of clusters, by label
    dark : for a dark page

    Examples
    --------
    >>> from samecluster import recover
    >>> from samecluster.instances import make_ellipsoids
    >>> made = make_ellipsoids(n=200, d=2, k=3, random_state=0)
    >>> found = recover(made.X, lambda i, j: made.labels[i] == made.labels[j],
    ...                 n_clusters=3, margin=made.margin, random_state=0)
    >>> figure = plot_clusters(found)
    >>> figure.savefig("clusters.png")  # doctest: +SKIP
    """
    if columns is not None and len(columns) != recovery.points.shape[1]:
        raise InvalidInputError(
            f"columns must name all {recovery.points.shape[1]} columns, got {len(columns)} names"
        )
    return cluster_figures(recovery, columns, names or {}, (dark,))[0]


def cluster_figures(
    recovery: Recovery,
    columns: Sequence[str] | None,
    names: Mapping[int, str],
    dark: Sequence[bool] = (False, True),
) -> list[Figure]:
    """`plot_clusters` for light and dark pages; where the points go is worked out once."""
    needs_matplotlib()
    from samecluster.plots import clusters, style

    views, figures = clusters.views_of(recovery, columns), []
    for theme in (style.DARK if one else style.LIGHT for one in dark):
        with style.applied(theme):
            figures.append(clusters.picture(recovery, views, names, theme))
    return figures


def plot_progress(recovery: Recovery, *, dark: bool = False) -> Figure:
    """Labels known against questions asked, by how they are known at the end."""
    needs_matplotlib()
    from samecluster.plots import progress, style

    theme = style.DARK if dark else style.LIGHT
    with style.applied(theme):
        return progress.picture(recovery, theme)


def picture_svg(figure: Figure) -> str:
    """A figure as an SVG element for a page, with no link to anything outside."""
    from samecluster.plots import style

    return style.as_svg(figure)


def needs_matplotlib() -> None:
    """InvalidInputError that says what to install unless there is what draws."""
    if not can_draw():
        raise InvalidInputError(MISSING)
