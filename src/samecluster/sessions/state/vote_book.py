"""What people and imports have said, person by person; what of it stands, and what counts.

A vote stands until it is taken back. It counts unless it is about rows that changed or are gone,
or about an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samecluster.questions.pair import Verdict
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.votes import Pair, SettledPair, Vote, Voter, is_model, majority


@dataclass
class VoteBook:
    """Votes that stand, by event, by pair and voter, and by person.

    Attributes
    ----------
    items : the rows as they are now
    exceptions : items whose votes are kept from the run, with the event that made them so
    births : the order in which items first turned up in votes, taken back or not
    """

    items: Items = field(default_factory=lambda: Items((), ()))
    exceptions: dict[str, int] = field(default_factory=dict)
    births: dict[str, int] = field(default_factory=dict)
    _by_event: dict[int, list[Vote]] = field(default_factory=dict)
    _by_pair: dict[Pair, dict[Voter, list[Vote]]] = field(default_factory=dict)
    # How many votes of people stand on a pair; imports are not counted.
    _n_answers: dict[Pair, int] = field(default_factory=dict)
    _events_of: dict[str | None, list[int]] = field(default_factory=dict)
    # Of events, the looks beside the first that it took to confirm their answers.
    _second_looks: dict[int, int] = field(default_factory=dict)
    _undone: dict[str | None, list[Vote]] = field(default_factory=dict)
    # A key is its sender's own name for an answer: two people may use the same one.
    _vote_of_key: dict[tuple[str | None, str], Vote] = field(default_factory=dict)
    _last_digests: dict[str, str] = field(default_factory=dict)
    # Votes up to this event are about content that the item no longer has.
    _outdated: dict[str, int] = field(default_factory=dict)

    def copy(self) -> VoteBook:
        """A book of its own; votes are shared."""
        return VoteBook(**{name: copied(value) for name, value in vars(self).items()})

    # -- to read ---------------------------------------------------------------------------------

    @property
    def n_questions(self) -> int:
        """The pairs that people were asked about; imports do not count."""
        return len(self._n_answers)

    def pairs_asked_of(self, who: str | None) -> set[Pair]:
        """The pairs that a person has answered about."""
        events = self._events_of.get(who, ())
        return {vote.pair for event in events for vote in self._by_event[event]}

    def n_shown_to(self, people: Iterable[str | None]) -> int:
        """The items on all the screens together that these people have answered."""
        firsts = (self._by_event[event][0] for who in people for event in self._events_of[who])
        return sum(len(vote.looked.keys) if vote.looked else 2 for vote in firsts)

    def looks_by_person(self) -> dict[str | None, int]:
        """How many screens each person has answered, second looks too, whose answers stand."""
        return {
            who: len(events) + sum(self._second_looks.get(event, 0) for event in events)
            for who, events in self._events_of.items()
            if events
        }

    @property
    def people(self) -> list[str | None]:
        """Everybody who has a vote that stands."""
        return [who for who, events in self._events_of.items() if events]

    @property
    def models(self) -> list[str]:
        """The language models among them."""
        return [who for who in self.people if who is not None and is_model(who)]

    @property
    def pairs(self) -> Iterable[Pair]:
        """All pairs that there ever was a vote on."""
        return self._by_pair.keys()

    def answers(self) -> list[Vote]:
        """All votes that stand and count, in their order."""
        return [vote for vote in self._standing() if self._counts(vote)]

    def set_aside(self) -> list[Vote]:
        """Votes about items that changed or are gone, until these are confirmed or return."""
        return [vote for vote in self._standing() if not self._is_current(vote)]

    def votes(self, pair: Pair) -> list[Vote]:
        """The last vote of each person and import on a pair."""
        return self._latest(pair, self._counts)

    def vote(self, pair: Pair, who: str | None) -> Vote | None:
        """This person's last vote on a pair, also if it is kept from the run."""
        history = reversed(self._by_pair.get(pair, {}).get(who, []))
        return next((vote for vote in history if self._is_current(vote)), None)

    def votes_of_event(self, sequence: int) -> list[Vote]:
        """What stands of an event: one vote, those of a look or an import, or nothing."""
        return list(self._by_event.get(sequence, ()))

    def facts_on_exceptions(self, counted: Callable[[list[Vote]], list[Vote]]) -> list[SettledPair]:
        """The majorities on pairs with an exception, of ``counted`` votes; not for the run."""
        about = [pair for pair in self._by_pair if self.exceptions.keys() & set(pair)]
        found = (majority(counted(self._latest(pair, self._is_current))) for pair in about)
        return [fact for fact in found if fact is not None]

    def last_answer(self, who: str | None) -> Vote | None:
        """A person's last vote that stands, about items that are there; the first of a look."""
        latest = (self._by_event[event][0] for event in reversed(self._events_of.get(who, [])))
        return next((vote for vote in latest if self._are_there(vote)), None)

    def undone_answers(self, who: str | None) -> Iterator[Vote]:
        """The votes that a person has undone, to be asked for again; one of each look."""
        return (vote for vote in reversed(self._undone.get(who, [])) if self._are_there(vote))

    def vote_of_key(self, who: str | None, key: str) -> Vote | None:
        """What this person has said under this key, retracted or not."""
        return self._vote_of_key.get((who, key))

    # -- to write --------------------------------------------------------------------------------

    def add_answers(
        self, votes: Sequence[Vote], key: str | None = None, second_looks: int = 0
    ) -> None:
        """Take in the votes that a person was asked for on one screen."""
        first = votes[0]
        self.add_votes(first.sequence, votes)
        self._events_of.setdefault(first.who, []).append(first.sequence)
        for vote in votes:
            self._n_answers[vote.pair] = self._n_answers.get(vote.pair, 0) + 1
        if second_looks:
            self._second_looks[first.sequence] = second_looks
        if key is not None:
            self._vote_of_key[first.who, key] = first
        self._close_undone(votes)

    def add_votes(self, sequence: int, votes: Sequence[Vote]) -> None:
        """Take in all votes of an event."""
        self._by_event[sequence] = list(votes)
        for vote in votes:
            self._by_pair.setdefault(vote.pair, {}).setdefault(vote.voter, []).append(vote)
            for item in vote.items:
                self.births.setdefault(item, len(self.births))

    def take_back(self, sequence: int, pair: Pair | None, is_undo: bool) -> list[Vote]:
        """Remove the votes of an event, or those on one pair, and return them."""
        gone = self._by_event.pop(sequence, [])
        if pair is not None:
            self._by_event[sequence] = [vote for vote in gone if vote.pair != pair]
            gone = [vote for vote in gone if vote.pair == pair]
        if not self._by_event.get(sequence) and gone and gone[0].source is None:
            self._events_of[gone[0].who].remove(sequence)
        for vote in gone:
            self._remove(vote)
        if is_undo and gone:
            self._undone.setdefault(gone[0].who, []).append(gone[0])
        return gone

    def make_exception(self, item: str, sequence: int) -> None:
        """Keep all votes on an item from the run."""
        self.exceptions[item] = sequence

    def end_exception(self, sequence: int) -> bool:
        """Undo what `make_exception` did at an event; whether it did anything."""
        items = [item for item, event in self.exceptions.items() if event == sequence]
        for item in items:
            del self.exceptions[item]
        return bool(items)

    def take_rows(self, items: Items, sequence: int) -> None:
        """Go on with other rows: votes so far on those that changed do not count."""
        self.items = items
        for key, digest in items.digest_of.items():
            if self._last_digests.setdefault(key, digest) != digest:
                self._last_digests[key] = digest
                self._outdated[key] = sequence

    def confirm(self, keys: Iterable[str]) -> None:
        """Votes on these items hold for what they are now."""
        for key in keys:
            self._outdated.pop(key, None)

    def _remove(self, vote: Vote) -> None:
        voters = self._by_pair[vote.pair]
        voters[vote.voter].remove(vote)
        if not voters[vote.voter]:
            del voters[vote.voter]
        if vote.source is None:
            self._n_answers[vote.pair] -= 1
            if not self._n_answers[vote.pair]:
                del self._n_answers[vote.pair]

    def _close_undone(self, votes: Sequence[Vote]) -> None:
        """Further undone votes are asked for again as long as the same is said again."""
        stack, first = self._undone.get(votes[0].who, []), votes[0]
        said = {vote.pair: vote.verdict for vote in votes}
        again = [one for one in stack if _asks_the_same(one, first, said)]
        if not again:
            return
        is_same = (
            again[0].looked == first.looked
            if again[0].looked
            else again[0].verdict is said[again[0].pair]
        )
        kept = [one for one in stack if one not in again]
        self._undone[first.who] = kept if is_same else []

    # -- which votes count -----------------------------------------------------------------------

    def _standing(self) -> Iterator[Vote]:
        for sequence in sorted(self._by_event):
            yield from self._by_event[sequence]

    def _latest(self, pair: Pair, counts: Callable[[Vote], bool]) -> list[Vote]:
        latest = (
            next((vote for vote in reversed(history) if counts(vote)), None)
            for history in self._by_pair.get(pair, {}).values()
        )
        return sorted((vote for vote in latest if vote), key=lambda vote: vote.sequence)

    def _are_there(self, vote: Vote) -> bool:
        return all(item in self.items.row_of for item in vote.items)

    def _is_current(self, vote: Vote) -> bool:
        return self._are_there(vote) and all(
            self._outdated.get(item, 0) < vote.sequence for item in vote.items
        )

    def _counts(self, vote: Vote) -> bool:
        return self._is_current(vote) and not self.exceptions.keys() & set(vote.items)


def _asks_the_same(undone: Vote, first: Vote, said: Mapping[Pair, Verdict]) -> bool:
    """Whether what was undone is what has been answered now: the same look, or one of its pairs."""
    if undone.looked is None:
        return undone.pair in said
    return first.looked is not None and first.looked.id == undone.looked.id


def copied(value: Any) -> Any:
    """Copies of containers and of what can copy itself; all else is shared."""
    if isinstance(value, dict):
        return {key: copied(inner) for key, inner in value.items()}
    return value.copy() if hasattr(value, "copy") else value
