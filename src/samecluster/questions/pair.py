"""The words of the dialogue: question, verdict, answer."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


class Verdict(enum.Enum):
    """What can be said about a pair. "Unsure" concludes nothing."""

    SAME = "same"
    DIFFERENT = "different"
    UNSURE = "unsure"

    @classmethod
    def of(cls, same: bool) -> Verdict:
        return cls.SAME if same else cls.DIFFERENT


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Are ``item`` and ``comparator`` in the same cluster?

    Two questions about the same two items are equal: the order only says which of the two is
    to be placed, for the display.

    >>> Question(7, 3) == Question(3, 7)
    True
    """

    item: int
    comparator: int

    def __post_init__(self) -> None:
        if self.item == self.comparator:
            raise ValueError(f"a question needs two different items, got {self.item} twice")

    @property
    def pair(self) -> tuple[int, int]:
        """Both items, the smaller number first."""
        if self.item < self.comparator:
            return self.item, self.comparator
        return self.comparator, self.item

    @property
    def questions(self) -> tuple[Question]:
        """The pairs that this look can settle: itself. A pair is the smallest look."""
        return (self,)

    @property
    def shown(self) -> tuple[int, int]:
        """All items on the screen."""
        return self.item, self.comparator

    def left(self, known: Callable[[Question], Verdict | None]) -> Question | None:
        """What is still to be asked of it."""
        return self if known(self) is None else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and self.pair == other.pair

    def __hash__(self) -> int:
        return hash(self.pair)

    def __str__(self) -> str:
        return f"{self.item} and {self.comparator}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict on a question, who gave it and the look that it is part of (where known).

    ``look`` is None for a pair that was put alone.
    """

    question: Question
    verdict: Verdict
    who: str | None = None
    look: Any = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        by = f" ({self.who})" if self.who else ""
        return f"{self.question} {self.verdict.value}{by}"
