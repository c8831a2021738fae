"""The tables of a report: clusters, answers, and items if they are to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.recovery.result.sentences import count
from samecluster.reports.markup import Markup, tag

_MOST_CLUSTERS, _MOST_ANSWERS = 200, 1000  # rows of a table that a browser still scrolls well


def cluster_table(recovery: Recovery, names: Mapping[int, str]) -> Markup:
    """Size of each cluster, the largest first, and how many of its labels are known how."""
    hows = [how for how in reversed(How) if how and recovery.count(how)]
    found, sizes = np.unique(recovery.labels[recovery.labels >= 0], return_counts=True)
    known = {
        how: np.bincount(
            np.searchsorted(found, recovery.labels[recovery.how_codes == how]), minlength=len(found)
        )
        for how in hows
    }
    order = np.argsort(-sizes, kind="stable")
    rows = [
        [
            tag("th", names.get(int(found[place]), f"cluster {found[place]}"), scope="row"),
            _number(sizes[place]),
            *(_number(known[how][place]) for how in hows),
        ]
        for place in order[:_MOST_CLUSTERS]
    ]
    if rest := order[_MOST_CLUSTERS:].tolist():
        name = f"{count(len(rest), 'smaller cluster')} together"
        sums = [sizes[rest].sum(), *(known[how][rest].sum() for how in hows)]
        rows.append([tag("th", name, scope="row"), *map(_number, sums)])
    return _table(["cluster", "points", *(how.name.lower() for how in hows)], rows, numbers=True)


def answer_table(recovery: Recovery) -> Markup:
    """All answers in order, by row numbers; of very many the first."""
    rows = [
        [
            _number(answer.question.item),
            _number(answer.question.comparator),
            tag("td", answer.verdict.value),
            tag("td", answer.who or ""),
        ]
        for answer in recovery.answers[:_MOST_ANSWERS]
    ]
    total = len(recovery.answers)
    shown = f"The first {_MOST_ANSWERS:,} of {count(total, 'answer')}" if total > len(rows) else (
        f"All {count(total, 'answer')} that labels rest on"
    )  # fmt: skip
    return tag(
        "details",
        tag("summary", f"{shown}, by row number from 0"),
        _table(["row", "compared with", "verdict", "by"], rows),
    )


def item_table(recovery: Recovery, items: Mapping[int, Mapping[str, Any]]) -> Markup:
    """The given rows with their fields, their cluster and how it is known."""
    columns = list(dict.fromkeys(name for fields in items.values() for name in fields))
    rows = [
        [
            _number(row),
            tag("td", "" if recovery.labels[row] < 0 else str(recovery.labels[row])),
            tag("td", str(recovery.how[row])),
            *(tag("td", str(fields.get(name, ""))) for name in columns),
        ]
        for row, fields in items.items()
    ]
    return _table(["row", "cluster", "how", *columns], rows)


def _number(value: Any) -> Markup:
    return tag("td", f"{int(value):,}", class_="number")


def _table(
    headings: Sequence[str], rows: Iterable[Iterable[Markup]], *, numbers: bool = False
) -> Markup:
    """``numbers``: all columns but the first hold numbers."""
    head = [
        tag("th", heading, scope="col", class_="number" if numbers and place else "text")
        for place, heading in enumerate(headings)
    ]
    body = [tag("tr", *row) for row in rows]
    return tag(
        "div", tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body)), class_="scroll"
    )
