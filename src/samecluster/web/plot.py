"""The scatter plot: a fixed sample of points in the plane that shows the groups best."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster._typing import FloatArray, IntArray
from samecluster.plots.projection import View, best_views
from samecluster.web.snapshot import SessionSummary
from samecluster.web.views import Views

MOST_POINTS = 20_000


@dataclass(frozen=True, eq=False)
class _DrawnPlot:
    version: int
    view: View
    clusters: frozenset[int]


class Plot:
    """Points to draw. The plane changes only when the set of clusters does: eyes can follow."""

    def __init__(self, X: FloatArray, columns: tuple[str, ...], views: Views) -> None:
        self._X, self._columns, self._views = X, columns, views
        self._rows = _chosen(len(X))
        self._drawn: _DrawnPlot | None = None
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
            "x": _rounded(drawn.view.x[self._rows]),
            "y": _rounded(drawn.view.y[self._rows]),
            "items": [self._views.key(row) for row in self._rows.tolist()],
            "titles": [self._views.title(row) for row in self._rows.tolist()],
        }

    def labels(self, summary: SessionSummary) -> dict[str, Any]:
        version = self.version_for(summary)
        if summary.recovery is None:
            nothing = len(self._rows)
            return {"version": version, "labels": [-1] * nothing, "how": [0] * nothing}
        labels, how = summary.recovery.labels, summary.recovery.how_codes
        return {
            "version": version,
            "labels": labels[self._rows].tolist(),
            "how": how[self._rows].tolist(),
        }

    def _current(self, summary: SessionSummary) -> _DrawnPlot:
        with self._drawing:
            version = self.version_for(summary)
            if self._drawn is None or self._drawn.version != version:
                view = _view(self._X, summary, self._columns)
                self._drawn = _DrawnPlot(version, view, frozenset(summary.anchors))
            return self._drawn


def _view(X: FloatArray, summary: SessionSummary, columns: tuple[str, ...]) -> View:
    recovery = summary.recovery
    labels = np.full(len(X), -1) if recovery is None else recovery.labels
    if X.shape[1] == 1:
        # One column: points on a line would hide each other.
        spread = np.random.default_rng(0).uniform(size=len(X))
        return View("", X[:, 0], spread, columns[0] if columns else "column 1", "", plain=True)
    return best_views(X, labels, columns if len(columns) == X.shape[1] else None)[0]


def _chosen(n: int) -> IntArray:
    if n <= MOST_POINTS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_POINTS, replace=False))


def _rounded(values: FloatArray) -> list[float]:
    """Five digits are more than a screen shows, and a third of the bytes."""
    spread = float(np.ptp(values)) or 1.0
    digits = max(0, 5 - int(np.floor(np.log10(spread))))
    return np.round(values, min(digits, 300)).tolist()  # type: ignore[no-any-return]
