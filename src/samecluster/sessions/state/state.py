"""The state of a session, by replay of its events. Pure: no files, no clock, no geometry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from samecluster.errors import SchemaError
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.run_facts import RunFacts
from samecluster.sessions.state.vote_book import VoteBook, copied
from samecluster.sessions.state.votes import (
    Pair,
    SettledPair,
    Trust,
    Vote,
    is_model,
    majority,
    pair_of,
    votes_in,
)
from samecluster.sessions.storage.events import Event

BUDGETS = {"max_questions": "question", "max_looks": "look"}
"""The parameters that limit what is asked, and what they count."""

OWN_PARAMETERS = ("opinions",)
"""The parameters that are the session's business and not the run's."""


@dataclass(frozen=True)
class TimedLooks:
    """How many looks of a kind were timed, the pairs that they answered, and their seconds."""

    n_looks: int = 0
    n_answers: int = 0
    seconds: float = 0.0

    @property
    def mean(self) -> float:
        """Seconds per look."""
        return self.seconds / self.n_looks if self.n_looks else 0.0

    def and_another(self, n_answers: int, seconds: float) -> TimedLooks:
        """These and one more look."""
        return TimedLooks(self.n_looks + 1, self.n_answers + n_answers, self.seconds + seconds)


class State:
    """What events add up to.

    Attributes
    ----------
    book : what people and imports have said, and the rows that it is about
    parameters, preparation, seed : as they were given
    facts : the verdict on each pair that somebody spoke about, in the order of the first to do so
    run_facts : what the run of this epoch is made from
    spent_before : of each budget, what was spent before this epoch
    audited : the epochs in which an audit has begun
    newcomers : keys of rows that an update added, to be asked about first
    numbers : public cluster numbers by anchor item, in the order in which the items got them; no
        number is ever given to another cluster
    names : names of clusters by public number
    seconds : of each kind of look: how many were timed, what they answered, and how long they took
    trust : whose answers count
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.book = VoteBook()
        self.parameters: dict[str, Any] = {}
        self.preparation: dict[str, Any] = {}
        self.seed = 0
        self.n_events = 0
        self.epoch = 0
        self.spent_before = dict.fromkeys(BUDGETS, 0)
        self.finished = False
        self.facts: dict[Pair, SettledPair] = {}
        self.run_facts = RunFacts()
        self.newcomers: frozenset[str] = frozenset()
        self.numbers: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.audited: set[int] = set()
        self.seconds: dict[str, TimedLooks] = {}
        self.trust = Trust()
        for event in events:
            self.apply(event)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and vars(self) == vars(other)

    def copy(self) -> State:
        """A state of its own, to try something out."""
        twin = State()
        vars(twin).update(copied(vars(self)))
        return twin

    @property
    def items(self) -> Items:
        """The rows as they are now."""
        return self.book.items

    @property
    def n_questions(self) -> int:
        """The pairs that people were asked about; imports do not count.

        Where people check the labels of models, what models were asked does not count, either.
        """
        if self.trust.people_only:
            return len(set[Pair]().union(*self.answers_of_people().values()))
        return self.book.n_questions

    @property
    def n_looks(self) -> int:
        """The screens that people have answered and whose answers stand; counted like these."""
        looks = self.book.looks_by_person()
        return sum(number for who, number in looks.items() if self.trust.covers(who))

    @property
    def n_shown(self) -> int:
        """The items on all these screens together."""
        return self.book.n_shown_to(filter(self.trust.covers, self.book.people))

    def answers_of_people(self) -> dict[str | None, set[Pair]]:
        """The pairs that each person was asked about, without language models."""
        people = self.book.people
        return {who: self.book.pairs_asked_of(who) for who in people if not is_model(who)}

    def spent_of(self, budget: str) -> int:
        """How much of a budget was spent."""
        return self.n_looks if budget == "max_looks" else self.n_questions

    @property
    def budgets_left(self) -> dict[str, int]:
        """How much is left of each budget that has a limit."""
        return {
            name: int(self.parameters[name]) - self.spent_of(name)
            for name in BUDGETS
            if self.parameters.get(name) is not None
        }

    @property
    def spent_budgets(self) -> list[str]:
        """The budgets of which nothing is left."""
        return [name for name, left in self.budgets_left.items() if left <= 0]

    def votes(self, pair: Pair) -> list[Vote]:
        """The votes that settle a pair: the last one of each person and import that counts."""
        return self.trust.settling(self.book.votes(pair))

    def answers(self) -> list[Vote]:
        """All answers that stand and are about the rows as they are, in their order."""
        return self.book.answers()

    def set_aside(self) -> list[Vote]:
        """Answers about items that changed or are gone, until these are confirmed or return."""
        return self.book.set_aside()

    # -- events ----------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Take the next event in."""
        if event.sequence != self.n_events + 1 or (event.kind == "opened") != (not self.n_events):
            raise SchemaError(
                f"event {event.sequence} ({event.kind}) cannot follow event {self.n_events}"
            )
        self.n_events = event.sequence
        self.finished = event.kind == "closed"
        self._note_numbers(event.body.get("numbers", {}))
        try:
            getattr(self, f"_apply_{event.kind}")(event)
        except (KeyError, TypeError, ValueError) as error:
            # Its fields are as they should be, one by one, but say something impossible together.
            raise SchemaError(
                f"event {event.sequence} ({event.kind}) does not fit those before it ({error!a})"
            ) from error

    def _apply_opened(self, event: Event) -> None:
        self.book.take_rows(Items.from_body(event.body), event.sequence)
        self.parameters = dict(event.body["parameters"])
        self.preparation = dict(event.body["preparation"])
        self.seed = event.body["seed"]

    def _apply_answered(self, event: Event) -> None:
        self._take_answers(event, [event.body["role"]])

    _apply_unsure = _apply_answered

    def _apply_flagged(self, event: Event) -> None:
        if "item" in event.body:
            self.book.make_exception(event.body["item"], event.sequence)
            self._settle_all()
        else:
            self._apply_answered(event)

    def _apply_looked(self, event: Event) -> None:
        self._take_answers(event, [role for *_, role in event.body["answers"]])

    def _apply_retracted(self, event: Event) -> None:
        sequence, items = event.body["sequence"], event.body.get("items")
        if self.book.end_exception(sequence):
            self._settle_all()
            return
        pair = None if items is None else pair_of(items)
        gone = self.book.take_back(sequence, pair, is_undo=bool(event.body.get("undo")))
        if len(gone) == 1 or (gone and gone[0].looked is not None):
            # The last one first, and before all others what the run had no use for.
            unused = self.run_facts.unused.copy()
            gone.sort(key=lambda vote: vote.pair in unused)
            for vote in reversed(gone):
                self._settle(vote.pair, "extra")
        else:
            self._settle_all()

    def _apply_named(self, event: Event) -> None:
        self.numbers[event.body["anchor"]] = event.body["number"]
        self.names[event.body["number"]] = event.body["text"]

    def _apply_imported(self, event: Event) -> None:
        self.book.add_votes(event.sequence, votes_in(event))
        self._settle_all()

    def _apply_updated(self, event: Event) -> None:
        self.book.confirm(event.body.get("confirmed", ()))
        self.preparation = dict(event.body.get("preparation", self.preparation))
        if "keys" in event.body:
            rows = Items.from_body(event.body)
            if "preparation" not in event.body:  # a sample that grows asks as it did
                added = rows.row_of.keys() - self.items.row_of.keys()
                self.newcomers = (self.newcomers | added) & rows.row_of.keys()
            self.book.take_rows(rows, event.sequence)
        self._settle_all()

    def _apply_parameters(self, event: Event) -> None:
        changes = event.body["parameters"]
        self.parameters.update(changes)
        if changes.keys() - set(OWN_PARAMETERS):
            self._begin_epoch()

    def _apply_audit(self, _: Event) -> None:
        self.audited.add(self.epoch)

    def _apply_closed(self, _: Event) -> None:
        pass

    def _apply_trusted(self, event: Event) -> None:
        labels = event.body.get("labels")
        by_item = None if labels is None else dict(zip(self.items.keys, labels, strict=True))
        self.trust = Trust(by_item, tuple(event.body.get("models", ())))
        self._settle_all()

    def _take_answers(self, event: Event, roles: list[str]) -> None:
        """Take in what a person said on one screen, each answer with its role."""
        votes = votes_in(event)
        if not votes:
            raise ValueError("nothing was said")
        self.book.add_answers(votes, event.body.get("key"), event.body.get("second_looks", 0))
        if "seconds" in event.body:
            kind = votes[0].looked.kind if votes[0].looked else "pair"
            timed = self.seconds.get(kind, TimedLooks())
            self.seconds[kind] = timed.and_another(len(votes), event.body["seconds"])
        for vote, role in zip(votes, roles, strict=True):
            self._settle(vote.pair, role)

    def _note_numbers(self, found: Mapping[str, int]) -> None:
        """Anchors of clusters; one that is noted again comes after the others."""
        births = self.book.births
        for key in sorted(found, key=lambda key: (births.get(key, len(births)), key)):
            self.numbers.pop(key, None)
            self.numbers[key] = found[key]

    # -- what the run is made from ---------------------------------------------------------------

    def _settle(self, pair: Pair, role: str) -> None:
        """Bring the fact about one pair up to date, and with it what the run is made from."""
        before, fact = self.facts.get(pair), majority(self.votes(pair))
        if before == fact or (before and fact and before.verdict is fact.verdict):
            return
        if fact is None:
            del self.facts[pair]
            can_go_on = self.run_facts.take_back(pair)
        else:
            self.facts[pair] = fact
            can_go_on = self.run_facts.replace(fact) if before else self.run_facts.add(fact, role)
        if not can_go_on:
            self._begin_epoch()

    def _settle_all(self) -> None:
        """Facts from scratch, in their old order where they had one, and a new epoch."""
        order = {pair: place for place, pair in enumerate(self.facts)}
        pairs = sorted(self.book.pairs, key=lambda pair: order.get(pair, len(order)))
        found = ((pair, majority(self.votes(pair))) for pair in pairs)
        self.facts = {pair: fact for pair, fact in found if fact is not None}
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self.epoch += 1
        self.spent_before = {budget: self.spent_of(budget) for budget in BUDGETS}
        self.run_facts = RunFacts(list(self.facts.values()))
