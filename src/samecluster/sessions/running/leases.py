"""Who is looking at which pairs and looks, until when. In memory: nothing is lost with a lease.

Times are seconds that have passed, never those of a clock on the wall: somebody may set it back.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from samecluster.sessions.question import SessionLook
from samecluster.sessions.state.votes import Pair


class ElapsedTime:
    """Seconds by a clock that never goes back: what another clock goes back is left out."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock, self._last, self._seconds = clock, clock(), 0.0

    def __call__(self) -> float:
        now = self._clock()
        self._seconds += max(0.0, (now - self._last).total_seconds())
        self._last = now
        return self._seconds


@dataclass
class Leases:
    """Pairs that are being shown to somebody, and until when nobody else gets them.

    A look is leased by its pairs, so that those who are asked pairs and those who are asked looks
    keep out of each other's way.
    """

    _held: dict[Pair, tuple[str | None, float]] = field(default_factory=dict)
    # By person and id, with the pairs; these may be somebody else's by now.
    _looks: dict[tuple[str | None, str], tuple[SessionLook, set[Pair]]] = field(
        default_factory=dict
    )

    def is_held_by_other(self, who: str | None, pair: Pair, now: float) -> bool:
        """Whether somebody else holds the pair."""
        lease = self._held.get(pair)
        return lease is not None and lease[0] != who and lease[1] > now

    def held_by(self, who: str | None, now: float) -> list[Pair]:
        """What a person holds, in the order in which it was handed out."""
        return [pair for pair, (holder, end) in self._held.items() if holder == who and end > now]

    def held_by_others(self, who: str | None, now: float) -> list[Pair]:
        """What other people hold."""
        return [pair for pair, (holder, end) in self._held.items() if holder != who and end > now]

    def looks_of(self, who: str | None) -> list[tuple[SessionLook, set[Pair]]]:
        """The looks that were handed out to a person, with their pairs, still leased or not."""
        return [held for (holder, _), held in self._looks.items() if holder == who]

    def n_screens_of_others(self, who: str | None, now: float) -> int:
        """How many screens other people look at: whole looks, and pairs that are in none."""
        held = set(self.held_by_others(who, now))
        looks = (pairs for (holder, _), (_, pairs) in self._looks.items() if holder != who)
        whole = [pairs for pairs in looks if pairs <= held]
        return len(whole) + len(held.difference(*whole))

    def take(self, pair: Pair, who: str | None, until: float) -> None:
        """Give the pair to this person, also if somebody else had it until now."""
        self._held[pair] = (who, until)

    def take_free(self, pairs: Iterable[Pair], who: str | None, now: float, until: float) -> None:
        """Give the pairs to this person, but for those that somebody else has."""
        for pair in pairs:
            if not self.is_held_by_other(who, pair, now):
                self.take(pair, who, until)

    def take_look(self, look: SessionLook, pairs: set[Pair], who: str | None) -> None:
        """The person looks at all these pairs together."""
        self._looks[who, look.id] = (look, pairs)

    def end(self, pair: Pair, who: str | None) -> None:
        """The person is done with the pair; somebody else's lease stays."""
        if pair in self._held and self._held[pair][0] == who:
            del self._held[pair]

    def end_look(self, look: SessionLook, who: str | None) -> None:
        """The person is done with the look as a whole."""
        self._looks.pop((who, look.id), None)

    def end_all(self, who: str | None) -> None:
        """The person has left."""
        self._held = {pair: lease for pair, lease in self._held.items() if lease[0] != who}
        self._looks = {of: look for of, look in self._looks.items() if of[0] != who}

    def end_missing(self, items: Container[str]) -> None:
        """Nobody looks at a pair any more if one of its items is not among these.

        All looks end: they are about the numbers of rows before.
        """
        self._looks = {}
        self._held = {
            pair: lease for pair, lease in self._held.items() if all(item in items for item in pair)
        }
