"""Which look goes to whom: screens of several pairs, for people who can answer them.

A look is leased by its pairs, so that those who are asked pairs and those who are asked looks keep
out of each other's way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from samecluster.questions.look import CheckSheet, Look
from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.question import SessionLook, SessionQuestion
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.state.votes import Pair, pair_of
from samecluster.sessions.storage.look_format import LargeLook, Looked, checked_look


class LookQueue(QuestionQueue):
    """A queue that also hands out looks. `samecluster.Session` has ask_looks and look of it."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        # The looks that a person has on the screen, by their ids.
        self._looks_held: dict[str | None, dict[str, SessionLook]] = {}
        # Looks that put known pairs once more, and those of them that a person is to see next.
        self._checks: dict[str, set[Pair]] = {}
        self._wanted_looks: dict[str | None, dict[str, SessionLook]] = {}

    @property
    def engine(self) -> Engine:
        """The run whose looks these are, where the state is."""
        return self._known.engine

    def ask_looks(
        self, who: str | None = None, count: int = 1, lease_seconds: float | None = None
    ) -> list[SessionQuestion | SessionLook]:
        """Like `ask`, for people who can answer screens of several pairs.

        With the parameter ``looks`` at "pairs", and where one pair is all there is to ask, these
        are questions. A look that is known in part comes without that part.
        """
        now, items = self._clock(), self._state.items
        for undone in self._state.book.undone_answers(who):
            if undone.looked is not None:
                if not items.row_of.keys() >= set(undone.looked.keys):
                    continue
                look = SessionLook.of(undone.looked, items)
                if self._is_open_again(look):
                    return [self.hand_out_look(look, who, lease_seconds)]
            elif not self._leases.is_held_by_other(who, undone.pair, now):
                return [self.hand_out(undone.items, who, lease_seconds, undone.verdict)]
        if self._state.finished:
            return []
        room, count = self._n_left(who, now), min(count, self._n_looks_left(who, now))
        if count < 1:
            return []
        wanted = list(self._wanted_looks.get(who, {}).values())[:count]
        count -= len(wanted)
        found = list(islice(self._affordable(self._open_looks(who), who, now, room), count))
        if not found and not wanted and room > 0:
            ahead = self._looks_ahead(who, now)
            found = list(islice(self._affordable(ahead, who, now, room), 1))
        first = [self.hand_out_look(look, who, lease_seconds) for look in wanted]
        return [*first, *(self._hand_out_any(look, who, lease_seconds) for look in found)]

    def want_look(self, look: LargeLook, about: Iterable[Pair], who: str | None) -> SessionLook:
        """Put a look before those of the plan, to hear once more ``about`` pairs that are known."""
        shown = SessionLook.about(look, self._state.items)
        self._checks[shown.id] = set(about)
        self._wanted_looks.setdefault(who, {})[shown.id] = shown
        return shown

    def checked_pairs(self, look: SessionLook) -> set[Pair]:
        """The known pairs that a look puts once more."""
        return self._checks.get(look.id, set())

    def hand_out_look(
        self, look: SessionLook, who: str | None, lease_seconds: float | None
    ) -> SessionLook:
        """Lease all pairs of a look to a person, but for those that somebody else has."""
        for question in _all_pairs(look.look):
            self.hand_out(self._keys(question), who, lease_seconds)
        if lease_seconds is not None:
            self._looks_held.setdefault(who, {})[look.id] = look
        return look

    def look(self, id_: str) -> SessionLook:
        """The look of an id, to show it again."""
        return SessionLook.of(checked_look(id_), self._state.items)

    def decoys(self, looked: Looked, who: str | None) -> tuple[str, ...]:
        """The decoys of a look, about which its id says nothing.

        The run that asks it knows them, and so does the answer that this person has taken back. If
        the run has gone elsewhere nobody does, and nothing is learned of what was overlooked.
        """
        if looked.kind != "checks":
            return ()
        undone = (vote.looked for vote in self._state.book.undone_answers(who))
        before = next((one for one in undone if one and one.id == looked.id), None)
        if before is not None:
            return before.decoys
        items = self._state.items
        for look in self.engine.run.looks:
            if isinstance(look, CheckSheet) and SessionLook.about(look, items).id == looked.id:
                return tuple(items.keys[row] for row in look.decoys)
        return ()

    def release(self, who: str | None = None) -> None:
        """Let others have the questions that were leased to this person, who has left."""
        super().release(who)
        self._looks_held.pop(who, None)

    def close_look(self, look: SessionLook, who: str | None) -> None:
        """A person has answered a look: end its leases."""
        for pair in self._pairs(look.look):
            self._leases.end(pair, who)
            self._wanted.pop(pair, None)
        self._looks_held.get(who, {}).pop(look.id, None)
        self._wanted_looks.get(who, {}).pop(look.id, None)

    def take_rows(self) -> None:
        """There are other rows: forget what people wanted asked, and leases of items that went."""
        super().take_rows()
        self._looks_held, self._wanted_looks = {}, {}

    def _is_open_again(self, look: SessionLook) -> bool:
        """Whether something of a look that was undone is to be asked again."""
        again = self._state.next_undone_pair()
        if self.checked_pairs(look):
            return True
        if again is not None and again in self._pairs(look.look):
            return True  # nothing need be worked out to see it
        return look.look.left(self._known.engine.run.ledger.known) is not None

    def _n_looks_left(self, who: str | None, now: float) -> int:
        held = set(self._leases.held_by_others(who, now))
        looks = [
            one
            for other, all_of in self._looks_held.items()
            if other != who
            for one in all_of.values()
        ]
        on_screens = [pairs for look in looks if (pairs := self._pairs(look.look)) <= held]
        return self._less("max_looks", len(on_screens) + len(held.difference(*on_screens)))

    def _open_looks(self, who: str | None) -> Iterator[Look]:
        """Looks worth a person's time, the most useful first, without what is known."""
        engine, now = self._known.engine, self._clock()
        for pair, person in self._wanted.items():
            if person == who:
                yield engine.question(self._shown[pair])
        held = set(self._leases.held_by(who, now))
        for look in list(self._looks_held.get(who, {}).values()):
            pairs = self._pairs(look.look)
            left = look.look.left(engine.run.ledger.known)
            if left is None or not held.issuperset(pairs):
                del self._looks_held[who][look.id]
                continue
            held -= pairs
            yield left
        for pair in held:
            if engine.run.ledger.known(engine.question(pair)) is None:
                yield engine.question(self._shown[pair])
        yield from engine.run.looks
        yield from (engine.question(items) for items in self._second_opinions())

    def _affordable(
        self, looks: Iterable[Look], who: str | None, now: float, room: int
    ) -> Iterator[Look]:
        """Those that nobody else looks at, without what this person has spoken about, once each."""
        known, seen = self._known.engine.run.ledger.known, set[Pair]()

        def is_settled(question: Question) -> Verdict | None:
            said = self._state.vote(pair_of(self._keys(question)), who)
            return known(question) or (Verdict.UNSURE if said else None)

        for look in looks:
            left: Look | None
            if isinstance(look, Question):
                left = None if self._state.vote(pair_of(self._keys(look)), who) else look
            else:
                left = look.left(is_settled)
            pairs = self._pairs(left) if left is not None else set[Pair]()
            is_free = not any(self._leases.is_held_by_other(who, pair, now) for pair in pairs)
            if left and is_free and pairs.isdisjoint(seen) and len(left.questions) <= room:
                seen |= pairs
                room -= len(left.questions)
                yield left

    def _hand_out_any(
        self, look: Look, who: str | None, lease_seconds: float | None
    ) -> SessionQuestion | SessionLook:
        self.plan(self._pairs(look))
        if isinstance(look, Question):
            return self.hand_out(self._keys(look), who, lease_seconds)
        shown = SessionLook.about(look, self._state.items)
        return self.hand_out_look(shown, who, lease_seconds)

    def _pairs(self, look: Look) -> set[Pair]:
        return {pair_of(self._keys(question)) for question in _all_pairs(look)}

    def _pairs_named(self, id_: str) -> list[Pair]:
        """The pairs of a question or a look; InvalidInputError if it is no id."""
        if not id_.startswith("{"):
            return super()._pairs_named(id_)
        return sorted(self._pairs(self.look(id_).look))


def _all_pairs(look: Look) -> tuple[Question, ...]:
    """All pairs on the screen: decoys are leased like the rest, and the same by any id."""
    if isinstance(look, CheckSheet):
        return tuple(Question(*cell) for cell in look.cells)
    return look.questions
