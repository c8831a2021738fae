"""In which order points are looked at, and how many at a time.

Prefixes of one random permutation, each about four times the one before: what a small level proves
is not tested again, and what a large one leaves open is little.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import IntArray

__all__ = ["LARGEST_LEVEL", "first_rows", "level_sizes"]

LARGEST_LEVEL = 200_000
"""More points than this are not looked at before a question is asked."""

_FIRST_LEVEL = 4096
_LARGE_FIRST_LEVEL = 8192
_LARGE_DIMENSION = 7
_GROWTH = 4
_PERMUTED = 1 << 25


def level_sizes(n: int, d: int) -> list[int]:
    """Sizes of the levels of n points in d columns, the last one n."""
    sizes = [min(_FIRST_LEVEL if d < _LARGE_DIMENSION else _LARGE_FIRST_LEVEL, n)]
    while sizes[-1] < n:
        bigger = sizes[-1] * _GROWTH
        sizes.append(n if bigger * 2 > n else bigger)
    return sizes


def first_rows(n: int, count: int, seed: int) -> IntArray:
    """The first ``count`` rows of a random permutation of n.

    A permutation of more than 2^25 rows takes more memory than all else; a sample without
    repetition is drawn then.
    """
    rng = np.random.default_rng(seed)
    if n <= _PERMUTED:
        return rng.permutation(n)[:count]
    return rng.choice(n, size=count, replace=False)
