"""Which points are drawn when there are too many to see."""

from __future__ import annotations

import numpy as np

from samecluster._typing import IntArray
from samecluster.recovery.result.result import Recovery

__all__ = ["drawn"]


def drawn(recovery: Recovery, at_most: int) -> IntArray:
    """Points to draw, about ``at_most``, the same ones every time.

    Every cluster and every way of knowing in it is there: groups share the room in proportion to
    the root of their size, so that the small ones are seen and the large ones look larger.
    """
    n = len(recovery.labels)
    if n <= at_most:
        return np.arange(n)
    kinds = recovery.labels * 8 + recovery.how_codes
    _, group, sizes = np.unique(kinds, return_inverse=True, return_counts=True)
    room = np.ceil(at_most * np.sqrt(sizes) / np.sqrt(sizes).sum())
    order = np.random.default_rng(0).permutation(n)
    order = order[np.argsort(group[order], kind="stable")]
    place_in_group = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[place_in_group < np.repeat(room, sizes)])
