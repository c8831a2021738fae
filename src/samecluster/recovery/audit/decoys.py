"""Decoys: cells of a sheet that are known to be wrong, to measure how much is overlooked.

A decoy should be as hard to see as a wrong label: an asked item of a near group, beside the member
of the sheet's group that is nearest to it. No pair is shown twice, and how many there are on a
sheet is drawn, so that nobody can stop after the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np

from samecluster.questions.look import CheckSheet, Look, looks_of
from samecluster.questions.pair import Answer, Question

_AMONG = 5  # the nearest that have not been shown, of which one is drawn


KnownOutside: TypeAlias = Callable[[int, int], Iterable[tuple[int, int]]]
"""Asked items that answers put outside of a label, each with a member of it, by an item and its
label: those nearest to the item come first."""


class Decoys:
    """Decoys for sheets of ``size`` cells, ``mean`` per sheet on average."""

    def __init__(self, size: int, mean: int, rng: np.random.Generator) -> None:
        self._size, self._rng = size, rng
        self._most = min(2 * mean, size // 2)
        self._seen: set[Question] = set()
        self._n_next = self._drawn_number()

    def _drawn_number(self) -> int:
        return int(self._rng.integers(self._most + 1))

    @property
    def n_checks(self) -> int:
        """How many checks the next sheet has room for."""
        return self._size - self._n_next

    @property
    def per_check(self) -> float | None:
        """How many are expected per check; None if there are none at all."""
        return self._most / (2 * self._size - self._most) if self._most else None

    def sheets(
        self, cells: Sequence[Question], labels: Sequence[int], outside: KnownOutside
    ) -> list[Look]:
        """Sheets for questions about items that have these labels, with decoys among them."""
        sheets: list[Look] = []
        start = 0
        while start < len(cells):
            end, n_decoys = start + self.n_checks, self._n_next
            self._n_next = self._drawn_number()
            taken = {question.item for question in cells[start:end]}
            decoys: dict[int, int] = {}
            for at in self._rng.integers(start, min(end, len(cells)), n_decoys).tolist():
                found = self._drawn(outside(cells[at].item, labels[at]), taken | decoys.keys())
                decoys.update(found)
            shown = [(q.item, q.comparator) for q in cells[start:end]] + list(decoys.items())
            order = self._rng.permutation(len(shown)).tolist()
            sheets.append(CheckSheet.of([shown[at] for at in order], decoys))
            start = end
        return sheets

    def _drawn(self, outside: Iterable[tuple[int, int]], taken: set[int]) -> dict[int, int]:
        near: list[tuple[int, int]] = []
        for other, member in outside:
            if other not in taken and Question(other, member) not in self._seen:
                near.append((other, member))
                if len(near) == _AMONG:
                    break
        if not near:
            return {}
        other, member = near[int(self._rng.integers(len(near)))]
        self._seen.add(Question(other, member))
        return {other: member}


def decoys_shown(answers: Iterable[Answer]) -> tuple[int, int]:
    """How many decoys were on the sheets that these answers came from, and how many overlooked."""
    sheets = [
        look
        for look in looks_of(answers)
        if isinstance(look, CheckSheet) and look.overlooked is not None
    ]
    return sum(len(s.decoys) for s in sheets), sum(len(s.overlooked or ()) for s in sheets)


def on_sheets(answers: Iterable[Answer]) -> bool:
    """Whether any of these answers came from a sheet of an audit."""
    return any(isinstance(look, CheckSheet) for look in looks_of(answers))
