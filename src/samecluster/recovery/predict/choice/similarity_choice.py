"""Which similarity the regression goes by: the one with the smallest leave-one-out error.

That of the graph, of distances or the mean of both (`Similarity.kinds`), each also on data whitened
by what is predicted. Compared every so often, as answers come.
"""

from __future__ import annotations

import numpy as np

from samecluster.recovery.predict.core_model import CoreModel
from samecluster.recovery.predict.core_set import ModelledRows
from samecluster.recovery.predict.graph import Graph
from samecluster.recovery.predict.similarity import Similarity, whitened

# Answers before models are compared, and by how much they grow before they are compared again
_FIRST, _GROWTH = 15, 1.5
# Share of points whose predicted group is used for whitening; chosen by benchmarks/predict
_TRUSTED = 0.7
_COMPARED_ON = 2000  # points besides the asked ones on which models of large data are compared
_STAYING = 0.005  # leave-one-out error by which another model must be better: one answer in 200
_GRAPH = 0.005  # bonus of graph models, from the first trials of docs/prediction.md


class SimilarityChoice:
    """Looks for a better similarity of a model whenever enough answers came since the last time."""

    def __init__(self, rows: ModelledRows, core: CoreModel, rng: np.random.Generator) -> None:
        self._rows, self._core, self._rng = rows, core, rng
        self._kind, self._is_white = "graph", False
        self._next = float(_FIRST)

    def learned(self) -> None:
        """One more answer."""
        if len(self._core.asked) >= self._next and self._core.n_groups > 1:
            self._next = len(self._core.asked) * _GROWTH
            self._core.use(self._best())

    def _best(self) -> Similarity:
        """The best by leaving answers out, on a part of the points if there are many."""
        rows, core = self._rows, self._core
        asked, part = np.array(core.asked), np.arange(len(rows.core))
        if not rows.graph.is_dense:
            part = np.union1d(asked, self._rng.permutation(len(rows.core))[:_COMPARED_ON])
        labels, sure = core.labels(), core.chances().max(axis=1)
        trusted = sure >= np.quantile(sure, 1.0 - _TRUSTED)
        round_ = whitened(rows.points.astype(np.float64), labels, trusted).astype(np.float32)
        errors, graphs = {}, {}
        for white, points in ((False, rows.points), (True, round_)):
            known = rows.graph.is_dense and not white
            graphs[white] = rows.graph if known else Graph(points[part])
            for kind in Similarity.kinds:
                offered = Similarity.of(kind, graphs[white], points[part])
                among = offered.among(np.searchsorted(part, asked))
                stays = (kind, white) == (self._kind, self._is_white)
                bonus = _STAYING * stays + _GRAPH * (kind == "graph")
                errors[kind, white] = core.error_with(among) - bonus
        self._kind, self._is_white = kind, white = min(errors, key=errors.__getitem__)
        points = round_ if white else rows.points
        if not white or kind == "rbf":
            return Similarity.of(kind, rows.graph, points)
        return Similarity.of(kind, graphs[white] if rows.graph.is_dense else Graph(points), points)
