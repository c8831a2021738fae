"""The ways in which a label can be known."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt


class How(enum.IntEnum):
    """How a label is known, from nothing at all to an answer about this very point."""

    UNASSIGNED = 0
    """There is no label (it is -1)."""
    PREDICTED = 1
    """By a model; may be wrong."""
    INFERRED = 2
    """By the rules of a proof from a premise that nobody vouches for, such as a guessed margin."""
    PROVEN = 3
    """By proof from the answers, under the declared margin (and number of clusters)."""
    ASKED = 4
    """By answers about this point."""


_WORDS = np.array([how.name.lower() for how in How])


def ways(counts: Mapping[How, int]) -> str:
    """How many labels are known in which way, the surest first.

    >>> ways({How.PROVEN: 1200, How.ASKED: 3})
    '3 asked, 1,200 proven'
    """
    return ", ".join(
        f"{counts[how]:,} {how.name.lower()}" for how in reversed(How) if counts.get(how)
    )


class CodedLabels:
    """Labels with a code for each that says how it is known: what all results have in common."""

    how_codes: npt.NDArray[np.int8]

    @property
    def how(self) -> npt.NDArray[np.str_]:
        """How each label is known: asked, proven, inferred, predicted or unassigned."""
        return np.asarray(_WORDS[self.how_codes])

    def count(self, how: How) -> int:
        """How many labels are known this way."""
        return int(np.count_nonzero(self.how_codes == how))

    @property
    def by_how(self) -> dict[How, int]:
        """How many labels are known in each way."""
        return {how: self.count(how) for how in How}
