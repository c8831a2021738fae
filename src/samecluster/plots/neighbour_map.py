"""Many columns in one plane: a map on which items that are near each other were alike.

It begins at the spectral coordinates of the model's own graph of nearest neighbours, and then
follows the forces of t-SNE (van der Maaten and Hinton 2008): neighbours attract each other, all
repel all. The repulsion is a convolution on a grid, as in FIt-SNE (Linderman et al. 2019), so that
a step costs little more than the edges. No label enters: groups that show are in the data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft
from threadpoolctl import threadpool_limits

from samecluster._typing import FloatArray
from samecluster.recovery.distances import nearest
from samecluster.recovery.predict.graph import edges
from samecluster.recovery.predict.similarity import features

LARGEST = 100_000
"""Items up to which a map is made: beyond that finding neighbours takes longer than people wait."""
_LANDMARKS = 4000  # items that the map is made of; others go to where their neighbours are
_CELLS = (48, 96)  # of the grid, in each direction, for few points and for many
_FEW = 1000
_STEPS, _FIRST_STEPS = 200, 60
# Attraction as a multiple of t-SNE's own: strong first, so that groups find together; then a little
# more than 1, so that there is room between them
_PULL, _FIRST_PULL = 1.5, 12.0
_FOLLOWED = 3  # landmarks that say where another item lies


# Small products: see `points.block_work.on_one_thread`.
@threadpool_limits.wrap(limits=1, user_api="blas")  # type: ignore[untyped-decorator]
def neighbour_map(X: FloatArray) -> FloatArray:
    """(n, 2) places of the rows of X, the same at every call."""
    rng = np.random.default_rng(0)
    n = len(X)
    chosen = np.arange(n) if n <= _LANDMARKS else np.sort(rng.choice(n, _LANDMARKS, replace=False))
    points = features(X, chosen).astype(np.float32)
    places = _settled(edges(points[chosen]), rng)
    if len(chosen) == n:
        return places
    numbers, _ = nearest(points, points[chosen], _FOLLOWED)
    found = places[numbers].mean(axis=1)
    found[chosen] = places
    return np.asarray(found)


def _settled(graph: Any, rng: np.random.Generator) -> FloatArray:
    """Where the forces leave the points of a graph."""
    n = graph.shape[0]
    graph = graph.tocoo()
    pull = graph.data.astype(np.float64) / max(float(graph.data.sum()), 1e-12)
    one, two = graph.coords
    places, moved, gain = _spectral(graph, rng), np.zeros((n, 2)), np.ones((n, 2))
    rate = max(n / 12.0, 50.0)
    for step in range(_STEPS):
        first = step < _FIRST_STEPS
        apart = places[one] - places[two]
        held = pull / (1.0 + np.sum(apart**2, axis=1))
        towards = np.column_stack(
            [np.bincount(one, held * apart[:, axis], minlength=n) for axis in (0, 1)]
        )
        push = (_FIRST_PULL if first else _PULL) * towards - _repulsion(places)
        gain = np.maximum(np.where(push * moved < 0, gain + 0.2, gain * 0.8), 0.01)
        moved = (0.5 if first else 0.8) * moved - rate * gain * push
        places = places + moved
        places -= places.mean(axis=0)
    return np.asarray(places)


def _spectral(graph: Any, rng: np.random.Generator) -> FloatArray:
    """The second and third eigenvector, small, as t-SNE begins near zero."""
    from scipy.sparse.linalg import eigsh  # slow to load

    n = graph.shape[0]
    found = np.zeros((n, 2))
    if n > 4:
        _, vectors = eigsh(graph.astype(np.float64), k=3, which="LA", v0=np.ones(n), tol=1e-3)
        found = vectors[:, 1::-1] / max(float(vectors[:, :2].std()), 1e-12)
    return np.asarray(1e-2 * (found + 1e-2 * rng.standard_normal((n, 2))))


def _repulsion(places: FloatArray) -> FloatArray:
    """Σ (x−y)/(1+|x−y|²)² over all y, over Σ 1/(1+|x−y|²) over all pairs.

    A point is shared among the four corners of its cell; corners repel corners.
    """
    cells = _CELLS[len(places) > _FEW]
    low, size = places.min(axis=0), 2 * cells
    width = max(float(np.ptp(places, axis=0).max()), 1e-9) / (cells - 1.001)
    at = (places - low) / width
    cell = at.astype(np.int64)
    right, up = (at - cell).T
    corner = cell @ [cells, 1]
    corners = np.stack([corner, corner + 1, corner + cells, corner + cells + 1])
    shares = np.stack([(1 - right) * (1 - up), (1 - right) * up, right * (1 - up), right * up])
    amount = np.bincount(corners.ravel(), shares.ravel(), minlength=cells**2)
    steps = width * np.fft.fftfreq(size, 1 / size)
    kernel = 1.0 / (1.0 + steps[:, None] ** 2 + steps**2)
    forces = np.stack([kernel, kernel**2 * steps[:, None], kernel**2 * steps])
    charge = fft.rfft2(amount.reshape(cells, cells), (size, size))
    fields = fft.irfft2(charge * fft.rfft2(forces), (size, size))[:, :cells, :cells]
    felt = np.sum(fields.reshape(3, -1)[:, corners] * shares, axis=1)
    return np.asarray(felt[1:].T / max(float(felt[0].sum()) - len(places), 1e-9))
