"""Rows of data in blocks that become items of a session beside those that were drawn."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from samecluster._typing import IntArray
from samecluster.large.follow import OpenRows
from samecluster.large.sweep import PIECE
from samecluster.points.survey import surveyed
from samecluster.workspace.in_blocks.sample import joined
from samecluster.workspace.open import OpenSession


def taken_in(opened: OpenSession, to_ask: OpenRows, who: str | None) -> OpenSession:
    """The session with more rows as items."""
    data = joined(opened.data, to_ask.rows, to_ask.points)
    opened.session.update(data.keys, data.X, preparation=data.preparation.to_json(), who=who)
    return replace(opened, data=data)


def with_rows(opened: OpenSession, rows: IntArray, who: str | None) -> OpenSession:
    """The session with these rows of the data among its items; one pass if some are new."""
    blocks = opened.block_data
    new = np.setdiff1d(rows, blocks.rows)
    if not len(new):
        return opened
    _, points = surveyed(blocks.points, new, PIECE, False, threads=os.cpu_count() or 1)
    return taken_in(opened, OpenRows(new, points, 0), who)
