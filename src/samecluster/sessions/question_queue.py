"""Which question or look goes to whom: leases, what people want asked, what was handed out.

All of it is in memory: nothing is lost with it, as a question can always be asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TypeVar

from samecluster.questions.look import Look
from samecluster.questions.pair import Verdict
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.question import (
    SessionLook,
    SessionQuestion,
    look_for_people,
    pair_from,
    pairs_on,
)
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.running.leases import ElapsedTime, Leases
from samecluster.sessions.running.look_ahead import LookAhead
from samecluster.sessions.running.open_looks import OpenLooks
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, pair_of
from samecluster.sessions.storage.look_format import LargeLook, checked_look

Asked = TypeVar("Asked", bound=SessionQuestion | SessionLook)


class QuestionQueue:
    """The questions and looks of a state and of the run that follows it, which it only reads.

    `samecluster.Session` has the methods ask, ask_looks, look, question, release and renew.
    """

    def __init__(self, state: State, known: KnownLabels, clock: Callable[[], datetime]) -> None:
        self._state, self._known, self._clock = state, known, ElapsedTime(clock)
        self._leases, self._look_ahead = Leases(), LookAhead()
        # Pairs handed out because the plan wanted them; by now it may not.
        self._planned: set[Pair] = set()
        self._is_audit = False
        # Questions that somebody wants asked beside the plan's, and whom they are for.
        self._wanted: dict[Pair, str | None] = {}
        # The items of a pair in the order in which people saw them.
        self._shown: dict[Pair, tuple[str, str]] = {}
        # Looks that put known pairs once more, and those of them that a person is to see next.
        self._checks: dict[str, set[Pair]] = {}
        self._wanted_looks: dict[tuple[str | None, str], SessionLook] = {}

    @property
    def engine(self) -> Engine:
        """The run whose questions these are, where the state is."""
        return self._known.engine

    def ask(
        self, who: str | None = None, count: int = 1, lease_seconds: float | None = None
    ) -> list[SessionQuestion]:
        """Up to ``count`` questions for a person; none if there is nothing to ask them now.

        What the person has undone comes first, and alone. With ``lease_seconds`` nobody else gets
        these questions for that time; asking again gives the same ones, and renews it.
        """
        asked = self._asked(who, count, lease_seconds, by_pairs=True)
        return [one for one in asked if isinstance(one, SessionQuestion)]

    def ask_looks(
        self, who: str | None = None, count: int = 1, lease_seconds: float | None = None
    ) -> list[SessionQuestion | SessionLook]:
        """Like `ask`, for people who can answer screens of several pairs.

        With the parameter ``looks`` at "pairs", and where one pair is all there is to ask, these
        are questions. A look that is known in part comes without that part.
        """
        return self._asked(who, count, lease_seconds, by_pairs=False)

    def hand_out(self, asked: Asked, who: str | None, lease_seconds: float | None) -> Asked:
        """Lease all pairs of a question or a look to a person, but for those that others have.

        Who undoes an answer sees the question again also if somebody else looks at it by now, who
        keeps it.
        """
        shown, now = pairs_on(asked.look, self._state.items), self._clock()
        self._shown |= {pair_of(items): items for items in shown}
        if lease_seconds is not None:
            self._leases.take_free(map(pair_of, shown), who, now, now + lease_seconds)
            if isinstance(asked, SessionLook):
                self._leases.take_look(asked, set(map(pair_of, shown)), who)
        return asked

    def want(self, items: tuple[str, str], who: str | None) -> SessionQuestion:
        """Put a person's own question before those of the plan."""
        self._wanted[pair_of(items)] = who
        self._shown[pair_of(items)] = items
        return SessionQuestion.about(items, self._state.items)

    def want_look(self, look: LargeLook, about: Iterable[Pair], who: str | None) -> SessionLook:
        """Put a look before those of the plan, to hear once more ``about`` pairs that are known."""
        shown = SessionLook.about(look, self._state.items)
        self._checks[shown.id] = set(about)
        self._wanted_looks[who, shown.id] = shown
        return shown

    def checked_pairs(self, look: SessionLook) -> set[Pair]:
        """The known pairs that a look puts once more."""
        return self._checks.get(look.id, set())

    def is_open(self, look: SessionLook) -> bool:
        """Whether answers leave something of a look to be said."""
        return look.look.left(self.engine.run.ledger.known) is not None

    def question(self, id_: str) -> SessionQuestion:
        """The question of an id, to show it again."""
        items = self._state.items
        return SessionQuestion.about(self.shown_items(pair_from(id_, items)), items)

    def look(self, id_: str) -> SessionLook:
        """The look of an id, to show it again."""
        return SessionLook.of(checked_look(id_), self._state.items)

    def shown_items(self, pair: Pair) -> tuple[str, str]:
        """The items of a pair in the order in which people saw them."""
        return self._shown.get(pair, pair)

    def release(self, who: str | None = None) -> None:
        """Let others have the questions that were leased to this person, who has left."""
        self._leases.end_all(who)

    def renew(
        self, ids: Iterable[str], who: str | None = None, lease_seconds: float = 60.0
    ) -> list[str]:
        """The person is still looking: lease those that are still theirs for that time from now.

        Returns the ids of these; others may have got the rest.
        """
        now, pairs_of_id = self._clock(), {id_: self._pairs_named(id_) for id_ in ids}
        held = set(self._leases.held_by(who, now))
        renewed = [id_ for id_, pairs in pairs_of_id.items() if pairs <= held]
        for id_ in renewed:
            self._leases.take_free(pairs_of_id[id_], who, now, now + lease_seconds)
        return renewed

    def plan(self, pairs: Iterable[Pair]) -> None:
        """Answers about these pairs come from what the plan has asked."""
        self._is_audit = self.engine.run.labelling.audit is not None
        self._planned.update(pairs)

    def is_planned(self, pair: Pair) -> bool:
        """Whether an answer about a pair needs no judgement: only the plan has asked about it.

        Not in an audit, whose beginning has to be written down before answers to it. Another thread
        may ask this.
        """
        return pair in self._planned and pair not in self._wanted and not self._is_audit

    def role(self, pair: Pair) -> str:
        """What an answer is to the run; see `samecluster.sessions.storage.events.ROLES`."""
        if self._state.run_facts.next_undone_pair() == pair:
            return "plan"
        if pair in self._state.facts:
            return "beside"
        engine = self.engine
        run, question = engine.run, engine.question(pair)
        if run.awaits(question):
            return "plan"
        if pair in self._planned and pair not in self._wanted:
            return "ahead" if run.ledger.known(question) is None else "beside"
        return "extra" if run.ledger.implied(question) is None else "beside"

    def close(self, pair: Pair, who: str | None, verdict: Verdict) -> None:
        """A person has answered: end the lease and what was wanted.

        "Same" also answers the other wanted questions about the item.
        """
        self._leases.end(pair, who)
        if pair not in self._wanted:
            return
        del self._wanted[pair]
        if verdict is Verdict.SAME:
            item = self._shown[pair][0]
            self._wanted = {
                other: person
                for other, person in self._wanted.items()
                if self._shown[other][0] != item
            }

    def close_look(self, look: SessionLook, who: str | None) -> None:
        """A person has answered a look: end its leases."""
        for pair in self._pairs(look.look):
            self._leases.end(pair, who)
            self._wanted.pop(pair, None)
        self._leases.end_look(look, who)
        self._wanted_looks.pop((who, look.id), None)

    def take_rows(self) -> None:
        """There are other rows: forget what people wanted asked, and leases of items that went."""
        self._wanted, self._wanted_looks = {}, {}
        self._leases.end_missing(self._state.items.row_of)

    # -- which questions -------------------------------------------------------------------------

    def _asked(
        self, who: str | None, count: int, lease_seconds: float | None, *, by_pairs: bool
    ) -> list[SessionQuestion | SessionLook]:
        """What to ask a person next; ``by_pairs`` if they can answer pairs only."""
        now = self._clock()
        undone = self._undone(who, now, by_pairs)
        if undone is not None:
            return [self.hand_out(undone, who, lease_seconds)]
        room = self._left("max_questions", len(self._leases.held_by_others(who, now)))
        count = min(count, self._left("max_looks", self._leases.n_screens_of_others(who, now)))
        if self._state.finished or count < 1:
            return []
        looks = [] if by_pairs else [v for of, v in self._wanted_looks.items() if of[0] == who]
        first, pairs = looks[:count], [pair for pair, of in self._wanted.items() if of == who]
        open_ = OpenLooks(self._state, self.engine, self._leases, self._shown, who, now, by_pairs)
        found = open_.next(pairs, count - len(first), room)
        if not found and not first and room > 0:
            found = open_.next_ahead(self._look_ahead, room)
        self.plan(pair for look in found for pair in self._pairs(look))
        asked = [*first, *(look_for_people(look, self._state.items) for look in found)]
        return [self.hand_out(one, who, lease_seconds) for one in asked]

    def _undone(
        self, who: str | None, now: float, by_pairs: bool
    ) -> SessionQuestion | SessionLook | None:
        """What a person has undone and is to be asked again."""
        items = self._state.items
        for undone in self._state.book.undone_answers(who):
            if undone.looked is None:
                if not self._leases.is_held_by_other(who, undone.pair, now):
                    return SessionQuestion.about(undone.items, items, undone.verdict)
            elif not by_pairs and items.row_of.keys() >= set(undone.looked.keys):
                look = SessionLook.of(undone.looked, items)
                if self._is_open_again(look):
                    return look
        return None

    def _is_open_again(self, look: SessionLook) -> bool:
        """Whether something of a look that was undone is to be asked again."""
        if self.checked_pairs(look):
            return True
        if self._state.run_facts.next_undone_pair() in self._pairs(look.look):
            return True  # nothing need be worked out to see it
        return look.look.left(self.engine.run.ledger.known) is not None

    def _left(self, budget: str, n_held: int) -> int:
        """What a budget still allows, less what others look at."""
        left = self._state.budgets_left.get(budget)
        return len(self._state.items.keys) ** 2 if left is None else left - n_held

    def _pairs(self, look: Look) -> set[Pair]:
        return set(map(pair_of, pairs_on(look, self._state.items)))

    def _pairs_named(self, id_: str) -> set[Pair]:
        """The pairs of a question or a look; InvalidInputError if it is no id."""
        if not id_.startswith("{"):
            return {pair_from(id_, self._state.items)}
        return self._pairs(self.look(id_).look)
