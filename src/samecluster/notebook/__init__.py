"""The labelling page inside a notebook: the same looks, keys and session file, and no server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samecluster._extras import needs_widget

if TYPE_CHECKING:
    from samecluster.notebook.widget import AskWidget

__all__ = ["ask"]


def ask(
    frame: Any,
    session: str | Path = "notebook.samecluster",
    *,
    id_column: str | None = None,
    show: Sequence[str] = (),
    who: str | None = None,
    image_column: str | None = None,
    looks: str = "auto",
    **options: Any,
) -> AskWidget:
    """Ask about the rows of a data frame in a notebook (the extra ``samecluster[notebook]``).

    Show the widget that it returns as the last line of a cell, and answer. ``widget.recovery`` has
    what is known at any moment, ``widget.to_frame()`` as columns for the frame.

    Parameters
    ----------
    frame : pandas, polars, pyarrow, or a mapping of columns; columns are prepared as by
        `samecluster label`, missing cells filled with the median
    session : the file that answers are kept in; the same file goes on with them
    id_column : a column by which rows are known
    show : columns to show of items; a selection of all if empty
    who : the name of the person
    image_column : a column with paths of pictures in or below the folder of the notebook, to show;
        found by itself if all its cells end like pictures
    looks : "auto", or "pairs" to be asked about two items at a time only
    options : others of `samecluster label`, by the names of `samecluster.workspace.request.Request`

    Examples
    --------
    >>> import pandas as pd, samecluster
    >>> frame = pd.read_csv("shells.csv")  # doctest: +SKIP
    >>> widget = samecluster.ask(frame)  # doctest: +SKIP
    >>> widget.to_frame()  # doctest: +SKIP
    """
    needs_widget()
    from samecluster.notebook.widget import AskWidget, FrameRequest
    from samecluster.workspace.open import open_session

    path = Path(session)
    said = {"missing_cells": None if path.exists() else "median", **options}
    request = FrameRequest(
        "frame", path, who=who, id_column=id_column, looks=looks, frame=frame, **said
    )
    return AskWidget(open_session(request), frame, tuple(show), who, image_column)
