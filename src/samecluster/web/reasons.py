"""Why an item is where it is, in words that name items as people do."""

from __future__ import annotations

import re

from samecluster.recovery.result import How, Recovery
from samecluster.web.views import Views

__all__ = ["why"]


def why(recovery: Recovery, row: int, views: Views) -> str:
    """The reason for a label: the answers about the item, or the proof."""
    if recovery.how_codes[row] == How.ASKED:
        return _by_answers(recovery, row, views)
    return re.sub(
        r"\b([Ii])tem (\d+)",
        lambda found: _named(found[1], int(found[2]), views),
        _told(recovery, row),
    )


def _told(recovery: Recovery, row: int) -> str:
    return recovery.explain(row)


def _named(first: str, row: int, views: Views) -> str:
    title = views.title(row)
    return f"{'Item' if first == 'I' else 'item'} {title}"


def _by_answers(recovery: Recovery, row: int, views: Views) -> str:
    said = []
    for answer in recovery.answers:
        one, two = answer.question.item, answer.question.comparator
        if row in (one, two):
            said.append(f"{answer.verdict.value} as {views.title(two if one == row else one)}")
    where = f"{views.title(row)} is in cluster {recovery.labels[row]}"
    return (
        f"{where} by answers: {', '.join(said)}." if said else f"{where}: it is the first member."
    )
