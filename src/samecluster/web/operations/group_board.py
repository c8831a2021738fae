"""The groups as people look at them: typical members, those in doubt, and pages of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from samecluster._typing import IntArray
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.web.snapshot import SessionSummary
from samecluster.web.views import Views

_TYPICAL = _DOUBTFUL = 4
"""Members of a group that its card shows: as many as are recognised at a glance."""
_MOST_COMPARED = 48
"""Groups, the oldest, by which telling columns are found."""
_SURE = 0.9
"""A predicted label below this is in doubt."""


class GroupBoard:
    """What is shown of groups."""

    def __init__(self, views: Views) -> None:
        self._views = views

    def page(self, offset: int, limit: int, summary: SessionSummary) -> dict[str, Any]:
        """Some of the groups, the largest first."""
        recovery = summary.recovery
        if recovery is None:
            return {"groups": [], "differs": [], "total": 0}
        numbers = sorted(summary.anchors)
        size_of = Counter(recovery.labels.tolist())
        numbers.sort(key=lambda number: -size_of[number])
        chosen = numbers[offset : offset + limit]
        typical = [self._typical(number, summary, recovery) for number in chosen]
        return {
            "groups": [
                self._card(number, rows, summary, recovery)
                for number, rows in zip(chosen, typical, strict=True)
            ],
            "differs": self._telling(chosen, summary, recovery),
            "total": len(numbers),
        }

    def members(
        self, number: int, offset: int, limit: int, how: str | None, summary: SessionSummary
    ) -> dict[str, Any] | None:
        """A page of the members of a group, the doubtful first; None if there is no such group.

        The reference, which they are to be compared with, is not among them.
        """
        now, recovery = summary.cluster(number), summary.recovery
        if now is None or recovery is None:
            return None
        reference = self._typical(now, summary, recovery)[0]
        rows = np.flatnonzero(recovery.labels == now)
        chosen = rows[rows != reference]
        if how is not None:
            chosen = chosen[recovery.how_codes[chosen] == How[how.upper()]]
        page = _doubtful_first(chosen, recovery)[offset : offset + limit].tolist()
        group = summary.counted_group(now, recovery)
        del group["aliases"]
        return {
            **group,
            "reference": self._views.item(reference),
            "differs": self._telling(sorted(summary.anchors)[:_MOST_COMPARED], summary, recovery),
            "members": [self._member(row, recovery) for row in page],
            "total": len(chosen),
        }

    def _telling(
        self, numbers: Sequence[int], summary: SessionSummary, recovery: Recovery
    ) -> list[str]:
        """Columns in which groups differ: they say where an item belongs, those in which the
        members of one group differ do not."""
        rows = [self._typical(number, summary, recovery)[0] for number in numbers]
        return self._views.differing(rows) if rows else []

    def _card(
        self, number: int, typical: list[int], summary: SessionSummary, recovery: Recovery
    ) -> dict[str, Any]:
        rows = np.flatnonzero(recovery.labels == number)
        doubtful = rows[_is_doubtful(rows, recovery)]
        first = _doubtful_first(doubtful, recovery)[:_DOUBTFUL].tolist()
        return {
            **summary.counted_group(number, recovery),
            "n_doubtful": len(doubtful),
            "typical": [self._views.item(row) for row in typical],
            "doubtful": [self._member(row, recovery) for row in first],
        }

    def _typical(self, number: int, summary: SessionSummary, recovery: Recovery) -> list[int]:
        """Asked members nearest to the middle of their group, then others; at least the anchor."""
        anchor = self._views.row(summary.anchors[number])
        rows = np.flatnonzero(recovery.labels == number)
        if not len(rows):
            return [anchor]
        points = recovery.points[rows]
        away = np.sum((points - points.mean(axis=0)) ** 2, axis=1)
        is_asked = recovery.how_codes[rows] == How.ASKED
        order = np.lexsort((away, ~is_asked))
        found: list[int] = rows[order[:_TYPICAL]].tolist()
        if is_asked.any():
            return found
        return [anchor, *(row for row in found if row != anchor)][:_TYPICAL]

    def _member(self, row: int, recovery: Recovery) -> dict[str, Any]:
        sure = None if recovery.probability is None else float(recovery.probability[row])
        return {
            "item": self._views.item(row),
            "how": How(recovery.how_codes[row]).name.lower(),
            "probability": None if sure is None or np.isnan(sure) else sure,
        }


def _is_doubtful(rows: IntArray, recovery: Recovery) -> Any:
    if recovery.probability is None:
        return np.zeros(len(rows), dtype=np.bool_)
    # NaN, where nothing is said, is no doubt.
    low = recovery.probability[rows] < _SURE
    return low & (recovery.how_codes[rows] == How.PREDICTED)


def _doubtful_first(rows: IntArray, recovery: Recovery) -> IntArray:
    """By how they are known, the least sure first, and the least probable first among these."""
    sure = np.zeros(len(rows)) if recovery.probability is None else recovery.probability[rows]
    return rows[np.lexsort((np.nan_to_num(sure), recovery.how_codes[rows]))]
