"""Which lift to try where nobody declared one: the lowest degree that may have a margin.

Groups that hang together in the data suggest a degree before the first question. That is a guess:
it chooses where to begin, and what follows is inferred under a lift and a margin that nobody
vouches for.
"""

from __future__ import annotations

import numpy as np

from samecluster._typing import FloatArray
from samecluster.errors import GeometryError
from samecluster.geometry.margin import true_margin
from samecluster.lifts.lift import ColumnMap, in_lift
from samecluster.lifts.polynomial import Polynomial, PolynomialColumns
from samecluster.points.array import unit_scaled
from samecluster.recovery.certify.guide.connected_groups import connected_groups

_HIGHEST = 3  # degree; quartic columns are very many, and few shapes need them
_LOOKED_AT = 16_384  # rows that hang together or not; of fewer, shells in d=4 are one group
_MEASURED = 1_000  # rows whose margin is computed, before the first question
_MOST_COLUMNS = 20  # of which a margin is computed: more would keep people waiting
_OF_USE = 0.2  # a margin that guessed groups must have in a lift to begin there
_KEPT, _ENOUGH = 0.8, 2.0  # share of their margin to begin with; larger ones hardly save a question


def first_lift(X: FloatArray, n_clusters: int | None, seed: int) -> tuple[ColumnMap, float] | None:
    """A lift of X (n, d) and a margin to begin with: of the lowest degree in which groups that hang
    together have a margin. None if that is 1, or cannot be told."""
    rows = np.random.default_rng(seed).permutation(len(X))[:_LOOKED_AT]
    points = X[rows]
    groups = connected_groups(unit_scaled(points), n_clusters)
    if groups is None:
        return None
    known = np.flatnonzero(groups >= 0)[:_MEASURED]
    for degree in range(1, _HIGHEST + 1):
        lift = _of_degree(degree, X)
        lifted = in_lift(points[known], lift)
        if lifted.shape[1] > _MOST_COLUMNS:
            break
        try:
            margins = [one.margin for one in true_margin(lifted, groups[known])]
        except GeometryError:
            break
        if min(margins) > _OF_USE:
            return None if lift is None else (lift, min(_KEPT * min(margins), _ENOUGH))
    return None


def next_lift(X: FloatArray, lift: ColumnMap | None) -> ColumnMap | None:
    """The one to try after this one, which is None for the columns as they are; None at the end."""
    degree = lift.degree if isinstance(lift, PolynomialColumns) else 1
    varies = bool((X[0] != X).any())
    return _of_degree(degree + 1, X) if degree < _HIGHEST and varies else None


def _of_degree(degree: int, X: FloatArray) -> ColumnMap | None:
    return None if degree == 1 else Polynomial(degree).fitted(X.min(axis=0), X.max(axis=0))
