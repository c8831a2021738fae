"""What there is to ask a person now, the most useful first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from samecluster.questions.look import Look
from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.question import pairs_on
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.running.leases import Leases
from samecluster.sessions.running.look_ahead import LookAhead
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, is_tie, pair_of


@dataclass(frozen=True)
class OpenLooks:
    """The looks that are open to one person at one moment.

    ``engine`` has followed the state, ``shown`` has the items of pairs in the order in which people
    saw them, and ``by_pairs`` says that the person can answer pairs only.
    """

    state: State
    engine: Engine
    leases: Leases
    shown: Mapping[Pair, tuple[str, str]]
    who: str | None
    now: float
    by_pairs: bool

    def next(self, wanted: Iterable[Pair], count: int, room: int) -> list[Look]:
        """Up to ``count`` looks, with ``room`` pairs at most; ``wanted`` pairs come first."""
        return list(islice(self._affordable(self._looks(wanted), room), count))

    def next_ahead(self, look_ahead: LookAhead, room: int) -> list[Look]:
        """A look beyond those that others look at, so that nobody has to wait for them."""
        return list(islice(self._affordable(self._looks_ahead(look_ahead), room), 1))

    def _looks(self, wanted: Iterable[Pair]) -> Iterator[Look]:
        run = self.engine.run
        for pair in wanted:
            yield self.engine.question(self.shown[pair])
        yield from self._on_screen()
        yield from run.first_pending() if self.by_pairs else run.looks
        yield from map(self.engine.question, self._second_opinions())

    def _on_screen(self) -> Iterator[Look]:
        """What the person looks at stays, also where others' answers took the plan elsewhere."""
        known, held = self.engine.run.ledger.known, self.leases.held_by(self.who, self.now)
        for look, pairs in [] if self.by_pairs else self.leases.looks_of(self.who):
            left = look.look.left(known)
            if left is None or not pairs <= set(held):
                self.leases.end_look(look, self.who)
                continue
            held = [pair for pair in held if pair not in pairs]
            yield left
        for pair in held:
            if known(self.engine.question(pair)) is None:
                yield self.engine.question(self.shown[pair])

    def _second_opinions(self) -> Iterator[tuple[str, str]]:
        """Pairs on which fewer people than wanted have spoken, or as many for as against."""
        wanted = self.state.parameters.get("opinions") or 1
        for pair, fact in self.state.facts.items():
            votes = self.state.votes(pair)
            if len(votes) < wanted or is_tie(votes):
                yield fact.items

    def _looks_ahead(self, look_ahead: LookAhead) -> Iterator[Look]:
        held, run = self.leases.held_by_others(self.who, self.now), self.engine.run
        if not held or run.done or run.labelling.audit is not None:
            return
        looked_at = [self.shown[pair][0] for pair in held]
        for look in look_ahead.looks(self.engine, self.state, looked_at):
            if self.by_pairs:
                yield from (pair for pair in look.questions if run.ledger.known(pair) is None)
            else:
                yield look

    def _affordable(self, looks: Iterable[Look], room: int) -> Iterator[Look]:
        """Those that nobody else looks at, without what this person has spoken about, once each."""
        seen = set[Pair]()
        for look in looks:
            left = self._unsaid(look)
            if left is None or len(left.questions) > room:
                continue
            pairs = set(map(pair_of, pairs_on(left, self.state.items)))
            held = (self.leases.is_held_by_other(self.who, pair, self.now) for pair in pairs)
            if not any(held) and pairs.isdisjoint(seen):
                seen |= pairs
                room -= len(left.questions)
                yield left

    def _unsaid(self, look: Look) -> Look | None:
        """What of a look this person has not spoken about and is not known; a pair may be known."""
        keys, known = self.state.items.keys, self.engine.run.ledger.known

        def settled(question: Question) -> Verdict | None:
            said = self.state.book.vote(pair_of(keys[row] for row in question.pair), self.who)
            verdict = None if question is look else known(question)
            return verdict or (Verdict.UNSURE if said else None)

        return look.left(settled)
