"""Clusterings whose clusters come with their own distances, to check margins exactly."""

from __future__ import annotations

from dataclasses import dataclass

from samecluster._typing import FloatArray, IntArray
from samecluster.geometry.metric import LatentMetric


@dataclass(frozen=True, eq=False)
class LatentInstance:
    """Points with their true clustering; ``metrics[j]`` is the (W, c) of cluster j."""

    X: FloatArray
    labels: IntArray
    margin: float
    metrics: tuple[LatentMetric, ...]

    @property
    def n_clusters(self) -> int:
        return len(self.metrics)

    def margin_holds(self) -> bool:
        """Whether every cluster has the margin by its own (W, c), in exact arithmetic."""
        return all(
            metric.has_margin(self.X, self.labels == j, self.margin)
            for j, metric in enumerate(self.metrics)
        )
