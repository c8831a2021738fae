"""The ways in which a label can be known."""

from __future__ import annotations

import enum


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
