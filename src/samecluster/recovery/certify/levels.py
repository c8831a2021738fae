"""In which order points are looked at, and how many at a time.

Prefixes of one random permutation, each about four times the one before: what a small level proves
is not tested again, and what a large one leaves open is little.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import IntArray

LARGEST_LEVEL = 200_000
"""More points than this are not looked at before a question is asked: closing 200,000 took 0.2 s
compiled (d=4, five clusters), and NumPy takes several times as long, about as long as an answer."""

# Points of the first level: closed in 0.03 s (d=4), so that nobody waits for the next question.
# In many columns a cluster needs more points before its members reach each other.
_FIRST_LEVEL = 4096
_LARGE_FIRST_LEVEL = 8192
_LARGE_DIMENSION = 7
_GROWTH = 4  # all levels below the last one together have a third of its points
_PERMUTED = 1 << 21  # rows; a permutation of them takes 0.1 s, and of a billion a minute


def level_sizes(n: int, d: int) -> list[int]:
    """Sizes of the levels of n points in d columns, the last one n."""
    sizes = [min(_FIRST_LEVEL if d < _LARGE_DIMENSION else _LARGE_FIRST_LEVEL, n)]
    while sizes[-1] < n:
        bigger = sizes[-1] * _GROWTH
        sizes.append(n if bigger * 2 > n else bigger)
    return sizes


def sample_seed(rng: np.random.Generator) -> int:
    """The seed of `first_rows`: the first number that a run draws from its generator.

    Certify in memory, `recover_large` and sessions on blocks take it from a generator in the same
    state, and so look at the same rows and ask the same questions.
    """
    return int(rng.integers(2**31))


def first_rows(n: int, count: int, seed: int) -> IntArray:
    """The first ``count`` rows of a random permutation of n.

    Of very many rows the beginning is drawn first: where no more is needed, no time goes into a
    permutation of all.
    """
    rng = np.random.default_rng(seed)
    if n <= _PERMUTED:
        return rng.permutation(n)[:count]
    first = rng.choice(n, size=LARGEST_LEVEL, replace=False)
    if count <= len(first):
        return first[:count]
    others = np.ones(n, bool)
    others[first] = False
    return np.concatenate([first, rng.permutation(np.flatnonzero(others))])[:count]
