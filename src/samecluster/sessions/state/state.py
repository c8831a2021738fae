"""The state of a session, by replay of its events. Pure: no files, no clock, no geometry.

Beside what was said it keeps what the run is made from. A run begins an *epoch* with its *initial
facts*, and is then *told* the answers to its own questions, in order. Whatever else happens (an
answer that it did not ask for, a retraction of anything but the last fact, an import, other
parameters, other rows) begins a new epoch, in which all facts are initial. So the run is a function
of the events: a resumed session is where the interrupted one was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from samecluster.errors import SchemaError
from samecluster.questions.pair import Verdict
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.vote_book import VoteBook, copied
from samecluster.sessions.state.votes import Pair, SettledPair, Vote, is_model, majority, pair_of
from samecluster.sessions.storage.events import Event
from samecluster.sessions.storage.look_format import Looked, text_of

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


class State:
    """What events add up to.

    Attributes
    ----------
    book : what people and imports have said, and the rows that it is about
    parameters, preparation, seed : as they were given
    facts : the verdict on each pair that somebody spoke about, in the order of the first to do so
    initial_facts : what the run of this epoch begins with
    told_facts : what it was told since, in order
    early_facts : the told pairs that were asked about before the run came to them
    undone_facts : told facts that were taken back, the last one first to be told again
    unused_facts : pairs with a fact that the run has no use for
    spent_before : of each budget, what was spent before this epoch
    audited : the epochs in which an audit has begun
    newcomers : keys of rows that an update added, to be asked about first
    numbers : public cluster numbers by anchor item, in the order in which the items got them; no
        number is ever given to another cluster
    names : names of clusters by public number
    seconds : of each kind of look: how many were timed, what they answered, and how long they took
    given : labels of items by language models, which people check; None while models answer, too
    given_by : these models
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
        self.initial_facts: list[SettledPair] = []
        self.told_facts: list[SettledPair] = []
        self.early_facts: set[Pair] = set()
        self.undone_facts: list[SettledPair] = []
        self.unused_facts: set[Pair] = set()
        self.newcomers: frozenset[str] = frozenset()
        self.numbers: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.audited: set[int] = set()
        self.seconds: dict[str, TimedLooks] = {}
        self.given: dict[str, int] | None = None
        self.given_by: tuple[str, ...] = ()
        for event in events:
            self.apply(event)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> State:
        """A state of its own, to try something out."""
        twin = State()
        for name, value in vars(self).items():
            setattr(twin, name, copied(value))
        twin.book = self.book.copy()
        return twin

    @property
    def items(self) -> Items:
        """The rows as they are now."""
        return self.book.items

    @property
    def exceptions(self) -> dict[str, int]:
        """Items whose answers are kept from the run, with the event that made them so."""
        return self.book.exceptions

    @property
    def n_questions(self) -> int:
        """The pairs that people were asked about; imports do not count.

        Where people check the labels of models, what models were asked does not count, either.
        """
        if self.given is None:
            return self.book.n_questions
        return len(set[Pair]().union(*self.answers_of_people().values()))

    @property
    def n_looks(self) -> int:
        """The screens that people have answered and whose answers stand; counted like these."""
        if self.given is None:
            return self.book.n_looks
        by = self.book.looks_by_person()
        return sum(number for who, number in by.items() if not is_model(who))

    @property
    def n_shown(self) -> int:
        """The items on all these screens together."""
        people = self.people if self.given is None else self.answers_of_people()
        return self.book.n_shown_to(people)

    def answers_of_people(self) -> dict[str | None, set[Pair]]:
        """The pairs that each person was asked about, without language models."""
        people = (who for who in self.people if not is_model(who))
        return {who: self.book.pairs_asked_of(who) for who in people}

    def spent_of(self, budget: str) -> int:
        """How much of a budget was spent."""
        return self.n_looks if budget == "max_looks" else self.n_questions

    def left_of(self, budget: str) -> int | None:
        """How much of a budget is left; None if there is no limit."""
        limit = self.parameters.get(budget)
        return None if limit is None else int(limit) - self.spent_of(budget)

    @property
    def spent_budgets(self) -> list[str]:
        """The budgets of which nothing is left."""
        return [name for name in BUDGETS if (left := self.left_of(name)) is not None and left <= 0]

    @property
    def people(self) -> list[str | None]:
        """Everybody who has answered something that stands."""
        return self.book.people

    @property
    def models(self) -> list[str]:
        """The language models among them."""
        return [who for who in self.people if who is not None and is_model(who)]

    def counted(self, votes: list[Vote]) -> list[Vote]:
        """Those of the votes on a pair that settle it: people's, where people are sure.

        Where people check the labels of models, people's alone.
        """
        trusted = [vote for vote in votes if vote.is_trusted]
        is_said = any(vote.verdict is not Verdict.UNSURE for vote in trusted)
        return trusted if is_said or self.given is not None else votes

    def votes(self, pair: Pair) -> list[Vote]:
        """The votes that settle a pair: the last one of each person and import that counts."""
        return self.counted(self.book.votes(pair))

    def answers(self) -> list[Vote]:
        """All answers that stand and are about the rows as they are, in their order."""
        return self.book.answers()

    def set_aside(self) -> list[Vote]:
        """Answers about items that changed or are gone, until these are confirmed or return."""
        return self.book.set_aside()

    def vote(self, pair: Pair, who: str | None) -> Vote | None:
        """What this person said last about a pair, also if it is kept from the run."""
        return self.book.vote(pair, who)

    def last_answer(self, who: str | None) -> Vote | None:
        """A person's last answer that stands, about items that are there; the first of a look."""
        return self.book.last_answer(who)

    def next_undone_pair(self) -> Pair | None:
        """A pair that the run certainly asks about now, since it did before a retraction."""
        return self.undone_facts[-1].pair if self.undone_facts else None

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
        self._add_answer(event, Verdict(event.body["verdict"]))

    def _apply_unsure(self, event: Event) -> None:
        self._add_answer(event, Verdict.UNSURE)

    def _apply_flagged(self, event: Event) -> None:
        if "item" in event.body:
            self.book.make_exception(event.body["item"], event.sequence)
            self._settle_all()
        else:
            self._add_answer(event, Verdict.UNSURE, event.body["note"])

    def _apply_retracted(self, event: Event) -> None:
        sequence, items = event.body["sequence"], event.body.get("items")
        if self.book.end_exception(sequence):
            self._settle_all()
            return
        pair = None if items is None else pair_of(items)
        gone = self.book.take_back(sequence, pair, is_undo=bool(event.body.get("undo")))
        if len(gone) == 1 or (gone and gone[0].looked is not None):
            # The last one first, and before all others what the run had no use for.
            unused = self.unused_facts.copy()
            gone.sort(key=lambda vote: vote.pair in unused)
            for vote in reversed(gone):
                self._settle(vote.pair, "extra")
        else:
            self._settle_all()

    def _apply_named(self, event: Event) -> None:
        self.numbers[event.body["anchor"]] = event.body["number"]
        self.names[event.body["number"]] = event.body["text"]

    def _apply_imported(self, event: Event) -> None:
        votes = [
            Vote(event.sequence, (a, b), Verdict(verdict), event.who, event.body["source"])
            for a, b, verdict in event.body["answers"]
        ]
        self.book.add_votes(event.sequence, votes)
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

    def _apply_audit(self, event: Event) -> None:
        del event
        self.audited.add(self.epoch)

    def _apply_closed(self, event: Event) -> None:
        pass

    def _apply_trusted(self, event: Event) -> None:
        labels = event.body.get("labels")
        self.given = None
        if labels is not None:
            self.given = dict(zip(self.items.keys, labels, strict=True))
        self.given_by = tuple(event.body.get("models", ()))
        self._settle_all()

    def _apply_looked(self, event: Event) -> None:
        decoys = tuple(event.body.get("decoys", ()))
        looked = Looked(text_of(event.body["look"]), text_of(event.body["reply"]), decoys)
        said = {pair_of(items): verdict for items, verdict in looked.verdicts()}
        votes = []
        for one, two, verdict, _ in event.body["answers"]:
            if said.get(pair_of((one, two))) is not Verdict(verdict):
                raise ValueError(f"the reply does not say that {one} and {two} are {verdict}")
            pair = (one, two)
            votes.append(Vote(event.sequence, pair, Verdict(verdict), event.who, looked=looked))
        self._take(event, votes, looked.kind)
        for vote, (*_, role) in zip(votes, event.body["answers"], strict=True):
            self._settle(vote.pair, role)

    def _add_answer(self, event: Event, verdict: Verdict, note: str | None = None) -> None:
        one, two = event.body["items"]
        vote = Vote(event.sequence, (one, two), verdict, event.who, None, note)
        self._take(event, [vote], "pair")
        self._settle(vote.pair, event.body["role"])

    def _take(self, event: Event, votes: list[Vote], kind: str) -> None:
        if not votes:
            raise ValueError("nothing was said")
        self.book.add_answers(votes, event.body.get("key"))
        if "second_looks" in event.body:
            self.book.second_looks[event.sequence] = event.body["second_looks"]
        if "seconds" in event.body:
            before = self.seconds.get(kind, TimedLooks())
            self.seconds[kind] = TimedLooks(
                before.n_looks + 1,
                before.n_answers + len(votes),
                before.seconds + event.body["seconds"],
            )

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
        else:
            self.facts[pair] = fact
        is_last = (
            bool(self.told_facts) and self.told_facts[-1].pair == pair and not self.unused_facts
        )
        if before is None and fact is not None:
            self._add_fact(fact, role)
        elif pair in self.unused_facts:
            self.unused_facts -= {pair} if fact is None else set()
        elif is_last and fact is None:
            self.undone_facts.append(self.told_facts.pop())
            self.early_facts.discard(pair)
        elif is_last and fact is not None:
            self.told_facts[-1] = fact
            self.undone_facts = []
        else:
            self._begin_epoch()

    def _add_fact(self, fact: SettledPair, role: str) -> None:
        if role == "beside":
            self.unused_facts.add(fact.pair)
        elif role == "ahead":
            self.told_facts.append(fact)
            self.early_facts.add(fact.pair)
            self.undone_facts = []
        elif role == "plan":
            is_again = bool(self.undone_facts) and self.undone_facts.pop() == fact
            self.undone_facts = self.undone_facts if is_again else []
            self.told_facts.append(fact)
        else:
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
        self.initial_facts = list(self.facts.values())
        self.told_facts, self.undone_facts = [], []
        self.early_facts, self.unused_facts = set(), set()
