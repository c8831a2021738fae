"""Items, questions and groups as JSON for the page, and why an item has its label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from samecluster.errors import InvalidInputError
from samecluster.questions.look import CheckSheet, Choice, Sheet
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.question import SessionLook, SessionQuestion
from samecluster.tables.display import shown
from samecluster.tables.reading.images import is_image_folder
from samecluster.web.images import Images
from samecluster.web.snapshot import SessionSummary
from samecluster.workspace.open import OpenSession
from samecluster.workspace.pair_display import compared, differing

_CONTEXT = 6
"""Members of the comparator's group that are shown beside a question."""


class Views:
    """What people see of the data."""

    def __init__(self, opened: OpenSession, columns: Sequence[str], images: Images | None) -> None:
        self._opened, self._images = opened, images
        self._keys = opened.data.keys
        self._row_of = {key: row for row, key in enumerate(self._keys)}
        self._text = next((t for t in opened.options.texts if t in opened.table.columns), None)
        # The text and the id, which is the title, are shown apart.
        apart = (self._text, opened.options.id_column)
        self.columns = tuple(name for name in columns if name not in apart)

    @property
    def kind(self) -> str:
        if self._images is not None:
            return "image"
        return "text" if self._text is not None else "table"

    def row(self, key: str) -> int:
        """The row of an item; InvalidInputError if there is none of this key."""
        if key not in self._row_of:
            raise InvalidInputError(f"there is no item {key!r} in the data")
        return self._row_of[key]

    def key(self, row: int) -> str:
        return self._keys[row]

    def title(self, row: int) -> str:
        """What people call an item: its id, the name of its image, or the line it is on."""
        table, at = self._opened.table, self._opened.table_row(row)
        if self._opened.options.id_column is not None:
            return self._keys[row]
        return table.column("name").texts[at] if is_image_folder(table) else table.row_name(at)

    def item(self, row: int) -> dict[str, Any]:
        table, at = self._opened.table, self._opened.table_row(row)
        cells = [cell._asdict() for cell in shown(table, at, self.columns)]
        return {
            "key": self._keys[row],
            "title": self.title(row),
            "cells": cells,
            "text": None if self._text is None else table.column(self._text).texts[at],
            "image": None if self._images is None else self._images.address(row),
        }

    def question(self, asked: SessionQuestion, summary: SessionSummary) -> dict[str, Any]:
        number = summary.label(asked.rows[1])
        cells = compared(self._opened, asked.rows, self.columns)
        return {
            "id": asked.id,
            "item": self.item(asked.rows[0]),
            "comparator": self.item(asked.rows[1]),
            "differs": [cell.left.column for cell in cells if cell.differs],
            "cluster": summary.group(number),
            "context": self.members_like(number, asked.rows[0], summary, without=asked.rows),
            "before": None if asked.before is None else asked.before.value,
        }

    def look(self, asked: SessionQuestion | SessionLook, summary: SessionSummary) -> dict[str, Any]:
        """A pair, or a screen of several, as JSON; what does not apply is empty."""
        blank: dict[str, Any] = {
            "question": None,
            "item": None,
            "groups": [],
            "items": [],
            "references": [],
            "differs": [],
        }
        if isinstance(asked, SessionQuestion):
            question = self.question(asked, summary)
            return {**blank, "kind": "pair", "id": asked.id, "question": question, "before": None}
        look = asked.look
        told = {**blank, "kind": asked.body["kind"], "id": asked.id, "before": asked.before}
        told["differs"] = self.differing(look.shown)
        if isinstance(look, Choice):
            told["item"] = self.item(look.item)
            told["groups"] = [
                {
                    "cluster": summary.group(summary.label(rows[0])),
                    "members": [self.item(row) for row in rows],
                }
                for rows in look.groups
            ]
            return told
        if isinstance(look, Sheet):
            told["item"] = self.item(look.reference)
        if isinstance(look, CheckSheet):
            told["references"] = [self.item(reference) for _, reference in look.cells]
        return {**told, "items": [self.item(row) for row in look.items]}

    def members_like(
        self, number: int, row: int, summary: SessionSummary, without: Iterable[int] = ()
    ) -> list[dict[str, Any]]:
        """Up to 6 members of a group that are not predicted, those most like the item first."""
        if number < 0:
            return []
        labels, how = summary.recovery.labels, summary.recovery.how_codes
        inside = labels == number
        inside[list(without)] = False
        rows = np.flatnonzero(inside & (how == How.ASKED))
        if len(rows) < _CONTEXT:
            # Predicted members may be wrong, and would mislead.
            rows = np.flatnonzero(inside & (how > How.PREDICTED))
        points = summary.recovery.points
        gaps = np.sum((points[rows] - points[row]) ** 2, axis=1)
        nearest = rows[np.lexsort((gaps, -how[rows]))[:_CONTEXT]]
        return [self.item(member) for member in nearest.tolist()]

    def clusters(self, summary: SessionSummary) -> list[dict[str, Any]]:
        return [
            {**summary.counted_group(number), "anchor": anchor}
            for number, anchor in sorted(summary.anchors.items())
        ]

    def differing(self, rows: Sequence[int]) -> list[str]:
        """The columns in which some of these items differ much from the first."""
        return differing(self._opened, rows, self.columns)


def why(recovery: Recovery, row: int, views: Views) -> str:
    """The reason for a label: the answers about the item, or the proof."""
    if recovery.how_codes[row] == How.ASKED:
        return _by_answers(recovery, row, views)
    numbered = r"\b([Ii]tem) (\d+)"
    return re.sub(
        numbered, lambda found: f"{found[1]} {views.title(int(found[2]))}", recovery.explain(row)
    )


def _by_answers(recovery: Recovery, row: int, views: Views) -> str:
    said = []
    for answer in recovery.answers:
        item, comparator = answer.question.item, answer.question.comparator
        if row in (item, comparator):
            other = comparator if item == row else item
            said.append(f"{answer.verdict.value} as {views.title(other)}")
    where = f"{views.title(row)} is in cluster {recovery.labels[row]}"
    return (
        f"{where} by answers: {', '.join(said)}." if said else f"{where}: it is the first member."
    )
