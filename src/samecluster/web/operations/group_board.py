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
    """What is shown of the groups of a summary."""

    def __init__(self, views: Views, summary: SessionSummary) -> None:
        self._views, self._summary, self._recovery = views, summary, summary.recovery

    def page(self, offset: int, limit: int) -> dict[str, Any]:
        """Some of the groups, the largest first."""
        numbers = sorted(self._summary.anchors)
        size_of = Counter(self._recovery.labels.tolist())
        numbers.sort(key=lambda number: -size_of[number])
        chosen = numbers[offset : offset + limit]
        return {
            "groups": [self._card(number) for number in chosen],
            "differs": self._telling(chosen),
            "total": len(numbers),
        }

    def members(
        self, number: int, offset: int, limit: int, how: str | None
    ) -> dict[str, Any] | None:
        """A page of the members of a group, the doubtful first; None if there is no such group.

        The reference, which they are to be compared with, is not among them.
        """
        now, recovery = self._summary.cluster(number), self._recovery
        if now is None:
            return None
        reference = self._typical(now)[0]
        rows = np.flatnonzero(recovery.labels == now)
        chosen = rows[rows != reference]
        if how is not None:
            chosen = chosen[recovery.how_codes[chosen] == How[how.upper()]]
        page = _doubtful_first(chosen, recovery)[offset : offset + limit].tolist()
        group = self._summary.counted_group(now)
        del group["aliases"]
        return {
            **group,
            "reference": self._views.item(reference),
            "differs": self._telling(sorted(self._summary.anchors)[:_MOST_COMPARED]),
            "members": [self._member(row) for row in page],
            "total": len(chosen),
        }

    def _telling(self, numbers: Sequence[int]) -> list[str]:
        """Columns in which groups differ: they say where an item belongs, those in which the
        members of one group differ do not."""
        rows = [self._typical(number)[0] for number in numbers]
        return self._views.differing(rows) if rows else []

    def _card(self, number: int) -> dict[str, Any]:
        recovery = self._recovery
        rows = np.flatnonzero(recovery.labels == number)
        doubtful = rows[_is_doubtful(rows, recovery)]
        first = _doubtful_first(doubtful, recovery)[:_DOUBTFUL].tolist()
        return {
            **self._summary.counted_group(number),
            "n_doubtful": len(doubtful),
            "typical": [self._views.item(row) for row in self._typical(number)],
            "doubtful": [self._member(row) for row in first],
        }

    def _typical(self, number: int) -> list[int]:
        """Asked members nearest to the middle of their group, then others; at least the anchor."""
        recovery, anchor = self._recovery, self._views.row(self._summary.anchors[number])
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

    def _member(self, row: int) -> dict[str, Any]:
        recovery = self._recovery
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
