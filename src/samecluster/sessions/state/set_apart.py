"""Exceptions: items whose label is what their own answers say, whatever the rest implies."""

from __future__ import annotations

from dataclasses import replace

from samecluster.questions.pair import Verdict
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.state.state import State


def with_exceptions(recovery: Recovery, state: State) -> Recovery:
    """The recovery with exceptions labelled by "same" answers about them, or not at all."""
    row_of = state.items.row_of
    rows = {row_of[item]: -1 for item in state.exceptions if item in row_of}
    if not rows:
        return recovery
    for fact in state.book.facts_on_exceptions(state.counted):
        if fact.verdict is Verdict.SAME:
            one, two = (row_of[key] for key in fact.items)
            for item, comparator in ((one, two), (two, one)):
                if item in rows and comparator not in rows:
                    rows[item] = max(rows[item], int(recovery.labels[comparator]))
    labels, how = recovery.labels.copy(), recovery.how_codes.copy()
    for row, label in rows.items():
        labels[row] = label
        how[row] = How.UNASSIGNED if label < 0 else How.ASKED
    return replace(recovery, labels=labels, how_codes=how)
