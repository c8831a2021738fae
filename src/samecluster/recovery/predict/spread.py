"""The first points to ask about, spread over the data: the middles of cells, the largest first.

They are found from a sample in a moment, before there is a graph of neighbours.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import Array
from samecluster.recovery.distances import squared_distances

_FEWEST, _MOST = 12, 60  # cells; between them the cube root of n, which spreads as n grows
_SAMPLE = 4000  # rows that cells are made of: 60 cells of 60 are enough to tell a middle
_ROUNDS = 10  # of moving the middles; later ones hardly move


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
