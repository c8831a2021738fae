"""How many looks data like this takes: played on groups that only the numbers suggest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from samecluster._typing import FloatArray
from samecluster.api import recover
from samecluster.oracles import LabelOracle

_ROWS = 400  # more rows take longer to play than anybody waits, and hardly more questions
_GROUPS = 8  # where the number is not declared
_MOST = 500


def rehearsed_looks(X: FloatArray, parameters: Mapping[str, Any]) -> tuple[int, int]:
    """Looks until the groups of k-means are found again, and items on one of them, on average.

    A rough guide, known in a moment.
    """
    from sklearn.cluster import KMeans

    rows = np.random.default_rng(0).permutation(len(X))[:_ROWS]
    points = X[rows]
    k = min(parameters.get("n_clusters") or _GROUPS, len(np.unique(points, axis=0)))
    if k < 2:
        return len(X) - 1, 2
    groups = KMeans(k, n_init=1, random_state=0).fit_predict(points)
    played = recover(
        points,
        LabelOracle(groups),
        max_questions=_MOST,
        looks="auto" if parameters.get("looks") else "pairs",
        random_state=0,
    )
    return played.n_looks, round(played.n_shown / max(played.n_looks, 1))
