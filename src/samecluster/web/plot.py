"""The scatter plot: a fixed sample of points in the plane that shows the groups best."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.plots.neighbour_map import neighbour_map
from samecluster.plots.projection import View, best_views, is_mappable
from samecluster.web.snapshot import SessionSummary
from samecluster.web.views import Views

MOST_POINTS = 20_000


@dataclass(frozen=True, eq=False)
class _DrawnPlot:
    version: int
    view: View
    clusters: frozenset[int]


class Plot:
    """Points to draw. The plane changes only when the set of clusters does."""

    def __init__(self, X: FloatArray, columns: tuple[str, ...], views: Views) -> None:
        self._rows = _chosen(len(X))
        self._X, self._columns, self._views = X[self._rows], columns, views
        self._drawn: _DrawnPlot | None = None
        self._map: FloatArray | None = None  # no label is in it: it is made once
        self._drawing = threading.Lock()

    def version_for(self, summary: SessionSummary) -> int:
        """The version that `points` would have: one more when clusters have come or gone."""
        drawn = self._drawn
        if drawn is None:
            return 0
        return drawn.version + (drawn.clusters != frozenset(summary.anchors))

    def points(self, summary: SessionSummary) -> dict[str, Any]:
        drawn = self._current(summary)
        return {
            **self.labels(summary),
            "version": drawn.version,
            "axes": [drawn.view.x_label, drawn.view.y_label],
            "n_beyond": drawn.view.n_beyond,
            "x": _rounded(drawn.view.x),
            "y": _rounded(drawn.view.y),
            "items": [self._views.key(row) for row in self._rows.tolist()],
            "titles": [self._views.title(row) for row in self._rows.tolist()],
        }

    def labels(self, summary: SessionSummary) -> dict[str, Any]:
        known = summary.recovery
        return {
            "version": self.version_for(summary),
            "labels": known.labels[self._rows].tolist(),
            "how": known.how_codes[self._rows].tolist(),
        }

    def _current(self, summary: SessionSummary) -> _DrawnPlot:
        with self._drawing:
            version = self.version_for(summary)
            if self._drawn is None or self._drawn.version != version:
                labels = np.array(self.labels(summary)["labels"])
                if self._map is None and is_mappable(self._X):
                    self._map = neighbour_map(self._X)
                view = _view(self._X, labels, self._columns, self._map)
                self._drawn = _DrawnPlot(version, view, frozenset(summary.anchors))
            return self._drawn


def _view(
    X: FloatArray, labels: IntArray, columns: tuple[str, ...], mapped: FloatArray | None
) -> View:
    if X.shape[1] == 1:
        # One column: points on a line would hide each other.
        spread = np.random.default_rng(0).uniform(size=len(X))
        return View("", X[:, 0], spread, columns[0] if columns else "column 1", "", plain=True)
    return best_views(X, labels, columns if len(columns) == X.shape[1] else None, mapped)[0]


def _chosen(n: int) -> IntArray:
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))


def _rounded(values: FloatArray) -> list[float]:
    """Five digits are more than a screen shows, and a third of the bytes."""
    spread = float(np.ptp(values)) or 1.0
    digits = max(0, 5 - int(np.floor(np.log10(spread))))
    return np.round(values, min(digits, 300)).tolist()  # type: ignore[no-any-return]
