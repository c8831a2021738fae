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
    numbered = r"\b([Ii]tem) (\d+)"
    return re.sub(
        numbered,
        lambda found: f"{found[1]} {views.title(int(found[2]))}",
        recovery.explain(row),
    )


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
