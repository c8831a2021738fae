"""Groups that hang together by near neighbours: they follow rings, moons and spirals.

A mixture cuts a curved cluster into many pieces, each of which would be named and spanned. Points
that hang together in the graph of nearest neighbours are one group instead, whatever its shape.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray, IntArray

_NEIGHBOURS = 12  # of fewer, sparse clusters fall apart; of more, near ones hang together
_LEAST = 0.01  # share of the points; what hangs together in smaller numbers are strays
_MOST = 50  # groups; so many pieces are no clusters, and each costs questions


def connected_groups(points: FloatArray, n_clusters: int | None) -> IntArray | None:
    """Groups of points (m, d) that hang together, numbered from 0; -1 for strays.

    None if they do not tell: if all hang together, or fall apart, or in another number of groups
    than there are clusters.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    m = len(points)
    if m <= 2 * _NEIGHBOURS:
        return None
    _, near = cKDTree(points).query(points, _NEIGHBOURS + 1)
    rows = np.repeat(np.arange(m), _NEIGHBOURS + 1)
    graph = csr_array((np.ones(len(rows), np.int8), (rows, near.ravel())), shape=(m, m))
    _, groups = connected_components(graph, directed=True, connection="weak")
    sizes = np.bincount(groups)
    large = np.flatnonzero(sizes >= max(_LEAST * m, _NEIGHBOURS + 1))
    if not 2 <= len(large) <= _MOST or n_clusters not in (None, len(large)):
        return None
    number = np.full(len(sizes), -1, dtype=np.int64)
    number[large] = np.arange(len(large))
    return np.asarray(number[groups])
