"""The state of a session, by replay of its events. Pure: no files, no clock, no geometry.

Beside what was said it keeps what the run is made from. A run begins an *epoch* with facts that it
is *given*, and is then *told* the answers to its own questions, in order. Whatever else happens (an
answer that it did not ask for, a retraction of anything but the last fact, an import, other
parameters, other rows) begins a new epoch, in which all facts are given. So the run is a function
of the events: a resumed session is where the interrupted one was.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from samecluster.errors import SchemaError
from samecluster.questions.pair import Verdict
from samecluster.sessions.state.items import Items
from samecluster.sessions.state.vote_book import VoteBook
from samecluster.sessions.state.votes import Pair, SettledPair, Vote, pair_of, settled
from samecluster.sessions.storage.events import Event

__all__ = ["OWN_PARAMETERS", "State"]

OWN_PARAMETERS = ("opinions",)
"""The parameters that are the session's business and not the run's."""


class State(VoteBook):
    """What events add up to.

    Attributes
    ----------
    items : the rows as they are now
    parameters, preparation, seed : as they were given
    facts : the verdict on each pair that somebody spoke about, in the order of the first to do so
    given, told : what the run of this epoch is made from
    ahead : the told pairs that were put ahead of their turn
    n_asked_before : questions asked before this epoch, which its budget does not have any more
    audited : the epochs in which an audit has begun
    numbers : public cluster numbers by anchor item; never given twice
    names : names of clusters by public number
    exceptions : items whose answers are kept from the run
    births : the order in which items first turned up in answers, taken back or not
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        super().__init__()
        self.parameters: dict[str, Any] = {}
        self.preparation: dict[str, Any] = {}
        self.seed = 0
        self.n_events = 0
        self.epoch = 0
        self.n_asked_before = 0
        self.finished = False
        self.facts: dict[Pair, SettledPair] = {}
        self.given: list[SettledPair] = []
        self.told: list[SettledPair] = []
        self.ahead: set[Pair] = set()
        # Told facts that were taken back, the last one first to be told again.
        self.untold: list[SettledPair] = []
        self.beside: set[Pair] = set()
        self.numbers: dict[str, int] = {}
        self.names: dict[int, str] = {}
        self.audited: set[int] = set()
        self._seen_digests: dict[str, str] = {}
        for event in events:
            self.apply(event)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, State) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def copy(self) -> State:
        """A state of its own, to try something out."""
        twin = State()
        for name, value in vars(self).items():
            setattr(twin, name, _copied(value))
        return twin

    def next_untold(self) -> Pair | None:
        """A pair that the run certainly asks about now, since it did before a retraction."""
        return self.untold[-1].pair if self.untold else None

    # -- events ----------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Take the next event in."""
        if event.sequence != self.n_events + 1 or (event.kind == "opened") != (not self.n_events):
            raise SchemaError(
                f"event {event.sequence} ({event.kind}) cannot follow event {self.n_events}"
            )
        self.n_events = event.sequence
        self.finished = event.kind == "closed"
        self.numbers.update(event.body.get("numbers", {}))
        getattr(self, f"_apply_{event.kind}")(event)

    def _apply_opened(self, event: Event) -> None:
        self.items = Items.from_body(event.body)
        self._seen_digests = dict(self.items.digest_of)
        self.parameters = dict(event.body["parameters"])
        self.preparation = dict(event.body["preparation"])
        self.seed = event.body["seed"]

    def _apply_answered(self, event: Event) -> None:
        self._hear(event, Verdict(event.body["verdict"]))

    def _apply_unsure(self, event: Event) -> None:
        self._hear(event, Verdict.UNSURE)

    def _apply_flagged(self, event: Event) -> None:
        if "item" in event.body:
            self.exceptions[event.body["item"]] = event.sequence
            self._settle_all()
        else:
            self._hear(event, Verdict.UNSURE, event.body["note"])

    def _apply_retracted(self, event: Event) -> None:
        sequence = event.body["sequence"]
        excepted = [item for item, at in self.exceptions.items() if at == sequence]
        for item in excepted:
            del self.exceptions[item]
        if excepted:
            self._settle_all()
            return
        gone = self._said.pop(sequence, [])
        if "items" in event.body:
            pair = pair_of(event.body["items"])
            self._said[sequence] = [said for said in gone if said.pair != pair]
            gone = [said for said in gone if said.pair == pair]
        for said in gone:
            self._forget(said)
            if event.body.get("undo"):
                self._undone.setdefault(said.who, []).append(said)
        if len(gone) == 1:
            self._settle(gone[0].pair, "extra")
        else:
            self._settle_all()

    def _apply_named(self, event: Event) -> None:
        self.numbers[event.body["anchor"]] = event.body["number"]
        self.names[event.body["number"]] = event.body["text"]

    def _apply_imported(self, event: Event) -> None:
        said = [
            Vote(event.sequence, (a, b), Verdict(verdict), event.who, event.body["source"])
            for a, b, verdict in event.body["answers"]
        ]
        self._said[event.sequence] = said
        for one in said:
            self._remember(one)
        self._settle_all()

    def _apply_updated(self, event: Event) -> None:
        for key in event.body.get("confirmed", ()):
            self._outdated.pop(key, None)
        self.preparation = dict(event.body.get("preparation", self.preparation))
        if "keys" in event.body:
            self.items = Items.from_body(event.body)
            for key, digest in self.items.digest_of.items():
                if self._seen_digests.setdefault(key, digest) != digest:
                    self._seen_digests[key] = digest
                    self._outdated[key] = event.sequence
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

    # -- answers in and out ----------------------------------------------------------------------

    def _hear(self, event: Event, verdict: Verdict, note: str | None = None) -> None:
        one, two = event.body["items"]
        said = Vote(event.sequence, (one, two), verdict, event.who, None, note)
        self._said[event.sequence] = [said]
        self._remember(said)
        self._latest.setdefault(event.who, []).append(event.sequence)
        self._asked[said.pair] = self._asked.get(said.pair, 0) + 1
        if "key" in event.body:
            self._sent[event.body["key"]] = event.sequence
        self._close_undone(said)
        self._settle(said.pair, event.body["role"])

    # -- what the run is made from ---------------------------------------------------------------

    def _settle(self, pair: Pair, role: str) -> None:
        """Bring the fact about one pair up to date, and with it what the run is made from."""
        before, fact = self.facts.get(pair), settled(self.votes(pair))
        if before == fact or (before and fact and before.verdict is fact.verdict):
            return
        if fact is None:
            del self.facts[pair]
        else:
            self.facts[pair] = fact
        is_last = bool(self.told) and self.told[-1].pair == pair and not self.beside
        if before is None and fact is not None:
            self._take_new(fact, role)
        elif pair in self.beside:
            self.beside -= {pair} if fact is None else set()
        elif is_last and fact is None:
            self.untold.append(self.told.pop())
            self.ahead.discard(pair)
        elif is_last and fact is not None:
            self.told[-1] = fact
            self.untold = []
        else:
            self._begin_epoch()

    def _take_new(self, fact: SettledPair, role: str) -> None:
        if role == "beside":
            self.beside.add(fact.pair)
        elif role == "ahead":
            self.told.append(fact)
            self.ahead.add(fact.pair)
            self.untold = []
        elif role == "plan":
            again = bool(self.untold) and self.untold.pop() == fact
            self.untold = self.untold if again else []
            self.told.append(fact)
        else:
            self._begin_epoch()

    def _settle_all(self) -> None:
        """Facts from scratch, in their old order where they had one, and a new epoch."""
        order = {pair: place for place, pair in enumerate(self.facts)}
        pairs = sorted(self._votes, key=lambda pair: order.get(pair, len(order)))
        found = ((pair, settled(self.votes(pair))) for pair in pairs)
        self.facts = {pair: fact for pair, fact in found if fact is not None}
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self.epoch += 1
        self.n_asked_before = self.n_questions
        self.given = list(self.facts.values())
        self.told, self.untold, self.ahead, self.beside = [], [], set(), set()


def _copied(value: Any) -> Any:
    """Containers anew, with what is in them shared."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | set):
        return value.copy()
    return value
