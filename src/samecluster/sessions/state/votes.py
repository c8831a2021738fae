"""What people said about pairs, and the one verdict per pair that the run gets to see."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from samecluster.questions.pair import Verdict
from samecluster.sessions.storage.look_format import Looked

Pair: TypeAlias = tuple[str, str]
"""Two keys, the smaller first."""

Voter: TypeAlias = str | int | None
"""A person by name, nobody in particular, or an import by its sequence number."""

MODEL = "model "
"""How the names begin under which language models answer."""


def is_model(who: str | None) -> bool:
    """Whether this is the name of a language model, whose word nothing is claimed by."""
    return who is not None and who.startswith(MODEL)


def pair_of(items: Iterable[str]) -> Pair:
    one, two = sorted(items)
    return one, two


@dataclass(frozen=True, slots=True)
class Vote:
    """One verdict of one person, or of one import, on a pair.

    ``items`` are in the order in which they were shown, ``source`` is where an import came from,
    ``note`` is what was noted with a flag, and ``looked`` is the look that it is part of, with the
    reply, if more than this pair was on the screen.
    """

    sequence: int
    items: tuple[str, str]
    verdict: Verdict
    who: str | None = None
    source: str | None = None
    note: str | None = None
    looked: Looked | None = None

    @property
    def pair(self) -> Pair:
        return pair_of(self.items)

    @property
    def voter(self) -> Voter:
        return self.who if self.source is None else self.sequence

    @property
    def is_trusted(self) -> bool:
        """Whether claims may rest on it: not if a language model said it."""
        return not is_model(self.who if self.source is None else self.source)

    def __str__(self) -> str:
        by = self.source or self.who
        text = f"answer {self.sequence}: {self.items[0]} and {self.items[1]} {self.verdict.value}"
        return f"{text} ({by})" if by else text


@dataclass(frozen=True, slots=True)
class SettledPair:
    """The one verdict on a pair that the run gets, whatever the number of votes.

    ``looked`` is the look of the first who spoke about it, if more was on the screen.
    """

    items: tuple[str, str]
    verdict: Verdict
    looked: Looked | None = None

    @property
    def pair(self) -> Pair:
        return pair_of(self.items)


def majority(votes: Iterable[Vote]) -> SettledPair | None:
    """The verdict of most of those who are sure; "unsure" if it is a tie or nobody is sure."""
    votes = list(votes)
    if not votes:
        return None
    same, different = _count(votes)
    verdict = Verdict.UNSURE if same == different else Verdict.of(same > different)
    return SettledPair(votes[0].items, verdict, votes[0].looked)


def is_tie(votes: Iterable[Vote]) -> bool:
    """Whether as many said "same" as "different", and somebody said so."""
    same, different = _count(votes)
    return same == different > 0


def _count(votes: Iterable[Vote]) -> tuple[int, int]:
    verdicts = [vote.verdict for vote in votes]
    return verdicts.count(Verdict.SAME), verdicts.count(Verdict.DIFFERENT)
