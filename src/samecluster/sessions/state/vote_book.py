"""What people and imports have said, person by person; what of it stands, and what counts.

An answer stands until it is taken back. It counts unless it is about rows that changed or are gone,
or about an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from samecluster.sessions.state.items import Items
from samecluster.sessions.state.votes import Pair, SettledPair, Vote, Voter, settled

__all__ = ["VoteBook"]


class VoteBook:
    """Answers that stand, by event, by pair and person, and by person."""

    def __init__(self) -> None:
        self.items = Items((), ())
        self.exceptions: dict[str, int] = {}
        self.births: dict[str, int] = {}
        self._said: dict[int, list[Vote]] = {}
        self._votes: dict[Pair, dict[Voter, list[Vote]]] = {}
        self._asked: dict[Pair, int] = {}
        self._latest: dict[str | None, list[int]] = {}
        self._undone: dict[str | None, list[Vote]] = {}
        self._sent: dict[str, int] = {}
        # Answers up to this event are about content that the item no longer has.
        self._outdated: dict[str, int] = {}

    @property
    def n_questions(self) -> int:
        """The pairs that people were asked about; imports do not count."""
        return len(self._asked)

    @property
    def people(self) -> list[str | None]:
        """Everybody who has answered something that stands."""
        return [who for who, latest in self._latest.items() if latest]

    def answers(self) -> Iterator[Vote]:
        """All answers that stand and are about the rows as they are, in their order."""
        for sequence in sorted(self._said):
            yield from (said for said in self._said[sequence] if self._counts(said))

    def set_aside(self) -> list[Vote]:
        """Answers about items that changed or are gone, until these are confirmed or return."""
        return [
            said
            for sequence in sorted(self._said)
            for said in self._said[sequence]
            if not self._is_current(said)
        ]

    def votes(self, pair: Pair) -> list[Vote]:
        """What each person and import said last about a pair."""
        return self._latest_votes(pair, self._counts)

    def vote(self, pair: Pair, who: str | None) -> Vote | None:
        """What this person said last about a pair, also if it is kept from the run."""
        history = reversed(self._votes.get(pair, {}).get(who, []))
        return next((said for said in history if self._is_current(said)), None)

    def kept_back(self) -> list[SettledPair]:
        """What is said about exceptions."""
        about = [pair for pair in self._votes if self.exceptions.keys() & set(pair)]
        found = (settled(self._latest_votes(pair, self._is_current)) for pair in about)
        return [fact for fact in found if fact is not None]

    def said(self, sequence: int) -> list[Vote]:
        """What stands of an event: one answer, those of an import, or nothing."""
        return list(self._said.get(sequence, ()))

    def last_answer(self, who: str | None) -> Vote | None:
        """A person's last answer that stands, about items that are there."""
        latest = (self._said[sequence][0] for sequence in reversed(self._latest.get(who, [])))
        return next((said for said in latest if self._are_there(said)), None)

    def undone(self, who: str | None) -> Vote | None:
        """The answer that a person has undone and is to be asked again first."""
        stack = reversed(self._undone.get(who, []))
        return next((said for said in stack if self._are_there(said)), None)

    def sent(self, key: str) -> int | None:
        """The event that an answer with this key has become, retracted or not."""
        return self._sent.get(key)

    def _remember(self, said: Vote) -> None:
        self._votes.setdefault(said.pair, {}).setdefault(said.voter, []).append(said)
        for item in said.items:
            self.births.setdefault(item, len(self.births))

    def _forget(self, said: Vote) -> None:
        voters = self._votes[said.pair]
        voters[said.voter].remove(said)
        if not voters[said.voter]:
            del voters[said.voter]
        if said.source is None:
            self._latest[said.who].remove(said.sequence)
            self._asked[said.pair] -= 1
            if not self._asked[said.pair]:
                del self._asked[said.pair]

    def _close_undone(self, said: Vote) -> None:
        """What was undone is asked again as long as the same is said again."""
        stack = self._undone.get(said.who, [])
        before = next((one for one in stack if one.pair == said.pair), None)
        if before is None:
            return
        kept = [one for one in stack if one.pair != said.pair]
        self._undone[said.who] = kept if before.verdict is said.verdict else []

    def _latest_votes(self, pair: Pair, counts: Callable[[Vote], bool]) -> list[Vote]:
        latest = (
            next((said for said in reversed(history) if counts(said)), None)
            for history in self._votes.get(pair, {}).values()
        )
        return sorted((said for said in latest if said), key=lambda said: said.sequence)

    def _are_there(self, said: Vote) -> bool:
        return all(item in self.items.row_of for item in said.items)

    def _is_current(self, said: Vote) -> bool:
        return self._are_there(said) and all(
            self._outdated.get(item, 0) < said.sequence for item in said.items
        )

    def _counts(self, said: Vote) -> bool:
        return self._is_current(said) and not self.exceptions.keys() & set(said.items)
