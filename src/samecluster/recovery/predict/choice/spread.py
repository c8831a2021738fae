"""The first points to ask about, spread over the data: the middles of cells, the largest first.

They are found from a sample in a moment, before there is a graph of neighbours.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from samecluster._typing import Array, FloatArray
from samecluster.recovery.distances import squared_distances

_FEWEST, _MOST = 12, 60  # cells; between them the cube root of n, which spreads as n grows
_SAMPLE = 4000  # rows that cells are made of: 60 cells of 60 are enough to tell a middle
_ROUNDS = 10  # of moving the middles; later ones hardly move


class FirstPoints:
    """Points of a core of many that are still to be asked about before doubt steers.

    Attributes
    ----------
    left : their places in the core, in order
    """

    def __init__(self, points: Array, rng: np.random.Generator) -> None:
        self.left = middles_of_cells(points, rng)
        self._count = len(self.left)

    def pass_over(self, places: Collection[int]) -> None:
        """Points that are known, or that nobody can place, are not to come any more."""
        self.left = [at for at in self.left if at not in places]

    def learned(self, targets: FloatArray) -> None:
        """The groups (m, k) of all asked points: whether more of the first are worth asking about.

        As many points as they are may have been asked for another reason, such as an attempt at
        proofs. If most of them are alone in their groups, there are many groups to be met.
        """
        n_asked = len(targets)
        alone = int(np.count_nonzero(targets.sum(axis=0) == 1))
        if n_asked >= self._count and not (2 * alone > n_asked and n_asked < 2 * self._count):
            self.left = []


def middles_of_cells(points: Array, rng: np.random.Generator) -> list[int]:
    """Rows of points (n, r), one for each cell of k-means, those of large cells first."""
    n = len(points)
    count = min(n, max(_FEWEST, min(_MOST, round(n ** (1.0 / 3.0)))))
    rows = np.sort(rng.permutation(n)[:_SAMPLE])
    some = points[rows]
    centres = some[_far_apart(some, count, rng)]
    for _ in range(_ROUNDS):
        away = squared_distances(some, centres)
        cells = away.argmin(axis=1)
        for cell in np.unique(cells):
            centres[cell] = some[cells == cell].mean(axis=0)
    away = squared_distances(some, centres)
    sizes = np.bincount(away.argmin(axis=1), minlength=count)
    order = np.argsort(-sizes, kind="stable")
    return list(dict.fromkeys(int(rows[away[:, cell].argmin()]) for cell in order))


def _far_apart(points: Array, count: int, rng: np.random.Generator) -> list[int]:
    """Rows drawn one by one, each with a chance that grows with its distance from the others."""
    chosen = [int(rng.integers(len(points)))]
    away = squared_distances(points, points[chosen])[:, 0].astype(np.float64)
    while len(chosen) < count and away.sum() > 0:
        chosen.append(int(rng.choice(len(points), p=away / away.sum())))
        away = np.minimum(away, squared_distances(points, points[chosen[-1:]])[:, 0])
    return chosen
