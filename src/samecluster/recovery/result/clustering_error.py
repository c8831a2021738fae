"""How far a clustering is from the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from samecluster.errors import InvalidInputError


def clustering_error(labels: Any, truth: Any) -> float:
    """The share of points on the wrong side of the best matching of clusters (the paper's △).

    The numbers of clusters may differ. A negative label means unassigned and counts as wrong.

    Examples
    --------
    >>> clustering_error([1, 1, 0, 0], [0, 0, 1, 2])
    0.25
    """
    from scipy.optimize import linear_sum_assignment  # slow to load, and no first question needs it

    found, true = np.asarray(labels), np.asarray(truth)
    if found.shape != true.shape or found.ndim != 1:
        raise InvalidInputError(
            f"labels and truth must be two lists of the same length, "
            f"got shapes {found.shape} and {true.shape}"
        )
    if len(found) == 0:
        return 0.0
    assigned = found >= 0
    if not assigned.any():
        return 1.0
    _, rows = np.unique(found[assigned], return_inverse=True)
    values, columns = np.unique(true, return_inverse=True)
    table = np.zeros((int(rows.max()) + 1, len(values)), dtype=np.int64)
    np.add.at(table, (rows, columns[assigned]), 1)
    matched = table[linear_sum_assignment(table, maximize=True)].sum()
    return 1.0 - float(matched) / len(true)
