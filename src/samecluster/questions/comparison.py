"""The paper's other question, CMP: which of two pairs is closer?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Pair: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Is the ``first`` pair of items at most as far apart as the ``second``?

    >>> str(Comparison((2, 1), (1, 0)))
    '2 to 1, against 1 to 0'
    """

    first: Pair
    second: Pair

    def __str__(self) -> str:
        return f"{self.first[0]} to {self.first[1]}, against {self.second[0]} to {self.second[1]}"
