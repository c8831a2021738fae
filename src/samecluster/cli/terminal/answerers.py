"""Who answers if not a person: the column with the truth, or a program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from samecluster._typing import IntArray
from samecluster.errors import InvalidInputError
from samecluster.oracles.command_protocol import ShownItem
from samecluster.questions.pair import Question, Verdict
from samecluster.tables.column import Column, typed_value
from samecluster.tables.known_answers import read_labels
from samecluster.workspace.open import OpenSession

__all__ = ["ShownItems", "answer_by_truth", "truth_of_items"]


def truth_of_items(opened: OpenSession, column: str) -> IntArray:
    """The true group of each item as a number."""
    table, rows = opened.table, opened.data.rows
    label_of = dict(read_labels(table, column))
    blank = [row for row in rows.tolist() if row not in label_of]
    if blank:
        raise InvalidInputError(
            f"{table.place(blank[0], column)}: the truth is blank; --truth needs a group for every "
            "item"
        )
    _, groups = np.unique([label_of[row] for row in rows.tolist()], return_inverse=True)
    return np.asarray(groups, dtype=np.int64)


def answer_by_truth(
    truth: IntArray, questions: Iterable[Question]
) -> Iterator[tuple[Question, Verdict]]:
    """Verdicts of somebody who never errs."""
    for question in questions:
        yield question, Verdict.of(bool(truth[question.item] == truth[question.comparator]))


class ShownItems:
    """What a program sees of an item: its key, and the cells of the columns that are shown."""

    def __init__(self, opened: OpenSession, columns: Iterable[str]) -> None:
        self._opened = opened
        self._columns = [opened.table.column(name) for name in columns]

    def __call__(self, row: int) -> ShownItem:
        at = self._opened.table_row(row)
        fields = {column.name: _value(column, at) for column in self._columns}
        return ShownItem(self._opened.data.keys[row], fields)


def _value(column: Column, row: int) -> Any:
    """A number where all of the column are, else the text; None where there is nothing."""
    if column.missing[row]:
        return None
    text, numbers = column.texts[row], column.numbers
    if numbers.has_text or len(numbers.infinite):
        return text
    return typed_value(text, float(numbers.values[row]))
