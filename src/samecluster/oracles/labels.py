"""The simulated oracle: it knows the labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from samecluster.errors import InvalidInputError
from samecluster.oracles.base import Oracle
from samecluster.questions.look import Board, Choice, Sheet
from samecluster.questions.pair import Question, Verdict


class LabelOracle(Oracle):
    """Answers from known labels, one per item.

    >>> LabelOracle(["a", "b", "a"]).answer(Question(0, 2))
    <Verdict.SAME: 'same'>
    """

    def __init__(self, labels: Any) -> None:
        self._labels = np.asarray(labels)
        if self._labels.ndim != 1:
            raise InvalidInputError(
                f"labels must be a list with one label an item, got shape {self._labels.shape}"
            )

    def __repr__(self) -> str:
        return f"LabelOracle(<{len(self._labels)} labels>)"

    def bound_to(self, X: Any) -> LabelOracle:
        if len(X) != len(self._labels):
            raise InvalidInputError(
                f"the oracle has {len(self._labels)} labels for {len(X)} points"
            )
        return self

    def answer(self, question: Question) -> Verdict:
        return Verdict.of(bool(self._labels[question.item] == self._labels[question.comparator]))

    def choose(self, choice: Choice) -> tuple[int, ...]:
        mine = self._labels[choice.item]
        alike = [self._labels[group[0]] == mine for group in choice.groups]
        return tuple(np.flatnonzero(alike).tolist())

    def sort(self, sheet: Sheet) -> list[int]:
        mine = self._labels[sheet.reference]
        return [item for item in sheet.items if self._labels[item] != mine]

    def join(self, board: Board) -> list[list[int]]:
        groups: dict[Any, list[int]] = {}
        for item in board.items:
            groups.setdefault(self._labels[item], []).append(item)
        return [group for group in groups.values() if len(group) > 1]
