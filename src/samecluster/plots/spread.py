"""Placing labels so that each can be read."""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray

__all__ = ["spread"]

_GRID = np.linspace(0.0, 1.0, 61)
_ANYWHERE = np.stack(np.meshgrid(_GRID, _GRID), axis=2).reshape(-1, 2)


def spread(wanted: FloatArray, sizes: FloatArray) -> FloatArray:
    """Centres (k, 2) of boxes of ``sizes`` (k, 2) in the unit square, none of which covers another.

    Each box in turn gets the place that it wants, or the nearest one that is free. Where there is
    no room it stays.

    >>> spread(np.array([[0.5, 0.5], [0.5, 0.5]]), np.full((2, 2), 0.1)).round(1).tolist()
    [[0.5, 0.5], [0.5, 0.4]]
    """
    at = np.empty_like(wanted)
    for number, (place, size) in enumerate(zip(wanted, sizes, strict=True)):
        places = np.clip(np.vstack([place, _ANYWHERE]), size / 2.0, 1.0 - size / 2.0)
        apart = np.abs(places[:, None] - at[:number]) - (size + sizes[:number]) / 2.0
        free = (apart >= 0.0).any(axis=2).all(axis=1)
        distance = np.linalg.norm(places - place, axis=1)
        at[number] = places[np.where(free, distance, distance + 2.0).argmin()]
    return at
