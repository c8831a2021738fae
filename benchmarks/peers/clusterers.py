"""Clustering tools: two that ask about pairs, and two that ask nothing.

Columns are brought to unit variance for all of them: they go by distances, and the made instances
have columns of very different scales.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from benchmarks.peers.counting import CountingOracle, Trace
from benchmarks.peers.instances import Case

BUDGETS = (100, 300, 1000, 3000)


def gaussian_mixture(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """Full covariances, the best of 10 starts; k is given."""
    del oracle
    mixture = GaussianMixture(case.n_clusters, n_init=10, random_state=seed)
    trace.note(mixture.fit_predict(StandardScaler().fit_transform(case.X)))


def k_means(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """The best of 10 starts; k is given."""
    del oracle
    means = KMeans(case.n_clusters, n_init=10, random_state=seed)
    trace.note(means.fit_predict(StandardScaler().fit_transform(case.X)))


class _Querier:
    """What COBRAS asks; it also shows its clusterings here whenever one is complete."""

    def __init__(self, oracle: CountingOracle, trace: Trace) -> None:
        self._oracle, self._trace = oracle, trace

    def query_points(self, i: int, j: int) -> bool:
        return self._oracle.same(i, j)

    def continue_cluster_process(self) -> bool:
        return True

    def update_clustering(self, clustering: Any) -> None:
        self._trace.note(clustering.construct_cluster_labeling())


def cobras(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """COBRAS with k-means, its variant for points; it takes neither k nor any other setting."""
    # cobras-ts was written for a NumPy that still had this name for Python's int.
    vars(np)["int"] = int
    from cobras_ts.cobras_kmeans import COBRAS_kmeans  # type: ignore[import-not-found]

    np.random.seed(seed)  # noqa: NPY002 - the tool draws from the global state
    tool = COBRAS_kmeans(
        StandardScaler().fit_transform(case.X),
        _Querier(oracle, trace),
        oracle.limit,
        store_intermediate_results=False,
    )
    trace.note(tool.cluster().construct_cluster_labeling())


def explore_consolidate(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """ExploreConsolidate for the pairs and PCKMeans for the labels, both as they come; k is given.

    It needs a budget beforehand, so it runs anew for each.
    """
    from active_semi_clustering.active.pairwise_constraints import (  # type: ignore[import-not-found]
        ExploreConsolidate,
    )

    X = StandardScaler().fit_transform(case.X)
    for budget in BUDGETS:
        counted = CountingOracle(case.labels, oracle.limit)
        trace.restart(counted)
        np.random.seed(seed)  # noqa: NPY002 - the tool draws from the global state
        active = ExploreConsolidate(n_clusters=case.n_clusters)
        active.fit(X, oracle=_Budgeted(counted, budget))
        labels = _pc_k_means(X, case.n_clusters, active.pairwise_constraints_)
        trace.note(labels)
        trace.at(budget, labels)


class _Budgeted:
    """The oracle as ExploreConsolidate wants it: with a budget and an exception of its package."""

    def __init__(self, oracle: CountingOracle, budget: int) -> None:
        self._oracle, self.max_queries_cnt = oracle, budget

    def query(self, i: int, j: int) -> bool:
        from active_semi_clustering.active.pairwise_constraints.example_oracle import (  # type: ignore[import-not-found]
            MaximumQueriesExceeded,
        )

        if self._oracle.n_questions == self.max_queries_cnt:
            raise MaximumQueriesExceeded
        return self._oracle.same(i, j)


def _pc_k_means(X: Any, k: int, constraints: tuple[Any, Any]) -> Any:
    from active_semi_clustering.exceptions import (  # type: ignore[import-not-found]
        EmptyClustersException,
    )
    from active_semi_clustering.semi_supervised.pairwise_constraints import (  # type: ignore[import-not-found]
        PCKMeans,
    )

    # The tool's own way with an empty cluster is to begin again with other random draws.
    while True:
        try:
            return PCKMeans(n_clusters=k).fit(X, ml=constraints[0], cl=constraints[1]).labels_
        except EmptyClustersException:
            continue
