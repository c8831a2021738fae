"""Which question or look goes to whom: leases, what people want asked, what was handed out.

All of it is in memory: nothing is lost with it, as a question can always be asked again. A look, a
screen of several pairs, is leased by its pairs, so that those who are asked pairs and those who are
asked looks keep out of each other's way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice

from samecluster.questions.look import CheckSheet, Look
from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.question import SessionLook, SessionQuestion, pair_from, question_id
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.running.leases import ElapsedTime, Leases
from samecluster.sessions.running.look_ahead import LookAhead
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, is_tie, pair_of
from samecluster.sessions.storage.look_format import LargeLook, Looked, checked_look


class QuestionQueue:
    """The questions and looks of a state and of the run that follows it, which it only reads.

    `samecluster.Session` has the methods ask, ask_looks, look, question, release and renew.
    """

    def __init__(self, state: State, known: KnownLabels, clock: Callable[[], datetime]) -> None:
        self._state, self._known, self._clock = state, known, ElapsedTime(clock)
        self._look_ahead = LookAhead()
        self._leases = Leases()
        # Pairs handed out because the plan wanted them; by now it may not.
        self._planned: set[Pair] = set()
        self._is_audit = False
        # Questions that somebody wants asked beside the plan's, and whom they are for.
        self._wanted: dict[Pair, str | None] = {}
        # The items of a pair in the order in which people saw them.
        self._shown: dict[Pair, tuple[str, str]] = {}
        # The looks that a person has on the screen, by their ids.
        self._looks_held: dict[str | None, dict[str, SessionLook]] = {}
        # Looks that put known pairs once more, and those of them that a person is to see next.
        self._checks: dict[str, set[Pair]] = {}
        self._wanted_looks: dict[str | None, dict[str, SessionLook]] = {}

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

    def hand_out(
        self,
        items: tuple[str, str],
        who: str | None,
        lease_seconds: float | None,
        before: Verdict | None = None,
    ) -> SessionQuestion:
        """The question about two items, leased to a person; ``before`` is what they undid.

        Who undoes an answer sees the question again also if somebody else looks at it by now, who
        keeps it.
        """
        pair, now = pair_of(items), self._clock()
        self._shown[pair] = items
        if lease_seconds is not None and not self._leases.is_held_by_other(who, pair, now):
            self._leases.take(pair, who, now + lease_seconds)
        return self._question(items, before)

    def hand_out_look(
        self, look: SessionLook, who: str | None, lease_seconds: float | None
    ) -> SessionLook:
        """Lease all pairs of a look to a person, but for those that somebody else has."""
        for question in _all_pairs(look.look):
            self.hand_out(self._keys(question), who, lease_seconds)
        if lease_seconds is not None:
            self._looks_held.setdefault(who, {})[look.id] = look
        return look

    def want(self, items: tuple[str, str], who: str | None) -> SessionQuestion:
        """Put a person's own question before those of the plan."""
        self._wanted[pair_of(items)] = who
        self._shown[pair_of(items)] = items
        return self._question(items)

    def want_look(self, look: LargeLook, about: Iterable[Pair], who: str | None) -> SessionLook:
        """Put a look before those of the plan, to hear once more ``about`` pairs that are known."""
        shown = SessionLook.about(look, self._state.items)
        self._checks[shown.id] = set(about)
        self._wanted_looks.setdefault(who, {})[shown.id] = shown
        return shown

    def checked_pairs(self, look: SessionLook) -> set[Pair]:
        """The known pairs that a look puts once more."""
        return self._checks.get(look.id, set())

    def question(self, id_: str) -> SessionQuestion:
        """The question of an id, to show it again."""
        return self._question(self.shown_items(pair_from(id_, self._state.items)))

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

    def shown_items(self, pair: Pair) -> tuple[str, str]:
        """The items of a pair in the order in which people saw them."""
        return self._shown.get(pair, pair)

    def release(self, who: str | None = None) -> None:
        """Let others have the questions that were leased to this person, who has left."""
        self._leases.end_all(who)
        self._looks_held.pop(who, None)

    def renew(
        self, ids: Iterable[str], who: str | None = None, lease_seconds: float = 60.0
    ) -> list[str]:
        """The person is still looking: lease those that are still theirs for that time from now.

        Returns the ids of these; others may have got the rest.
        """
        now = self._clock()
        held = set(self._leases.held_by(who, now))
        pairs_of_id = {id_: self._pairs_named(id_) for id_ in ids}
        renewed = [id_ for id_, pairs in pairs_of_id.items() if held.issuperset(pairs)]
        for id_ in renewed:
            for pair in pairs_of_id[id_]:
                self._leases.take(pair, who, now + lease_seconds)
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
        self._looks_held.get(who, {}).pop(look.id, None)
        self._wanted_looks.get(who, {}).pop(look.id, None)

    def take_rows(self) -> None:
        """There are other rows: forget what people wanted asked, and leases of items that went."""
        self._wanted, self._looks_held, self._wanted_looks = {}, {}, {}
        self._leases.end_missing(self._state.items.row_of)

    # -- which questions -------------------------------------------------------------------------

    def _asked(
        self, who: str | None, count: int, lease_seconds: float | None, *, by_pairs: bool
    ) -> list[SessionQuestion | SessionLook]:
        """What to ask a person next; ``by_pairs`` if they can answer pairs only."""
        now = self._clock()
        undone = self._undone(who, now, lease_seconds, by_pairs)
        if undone is not None:
            return [undone]
        room = self._left("max_questions", len(self._leases.held_by_others(who, now)))
        count = min(count, self._n_looks_left(who, now))
        if self._state.finished or count < 1:
            return []
        wanted = [] if by_pairs else list(self._wanted_looks.get(who, {}).values())[:count]
        open_ = self._affordable(self._open_looks(who, now, by_pairs), who, now, room)
        found = list(islice(open_, count - len(wanted)))
        if not found and not wanted and room > 0:
            ahead = self._looks_ahead(who, now, by_pairs)
            found = list(islice(self._affordable(ahead, who, now, room), 1))
        self.plan(pair for look in found for pair in self._pairs(look))
        first = [self.hand_out_look(look, who, lease_seconds) for look in wanted]
        return [*first, *(self._hand_out_any(look, who, lease_seconds) for look in found)]

    def _undone(
        self, who: str | None, now: float, lease_seconds: float | None, by_pairs: bool
    ) -> SessionQuestion | SessionLook | None:
        """What a person has undone and is to be asked again."""
        items = self._state.items
        for undone in self._state.book.undone_answers(who):
            if undone.looked is None:
                if not self._leases.is_held_by_other(who, undone.pair, now):
                    return self.hand_out(undone.items, who, lease_seconds, undone.verdict)
            elif not by_pairs and items.row_of.keys() >= set(undone.looked.keys):
                look = SessionLook.of(undone.looked, items)
                if self._is_open_again(look):
                    return self.hand_out_look(look, who, lease_seconds)
        return None

    def _is_open_again(self, look: SessionLook) -> bool:
        """Whether something of a look that was undone is to be asked again."""
        again = self._state.run_facts.next_undone_pair()
        if self.checked_pairs(look):
            return True
        if again is not None and again in self._pairs(look.look):
            return True  # nothing need be worked out to see it
        return look.look.left(self.engine.run.ledger.known) is not None

    def _n_looks_left(self, who: str | None, now: float) -> int:
        held = set(self._leases.held_by_others(who, now))
        looks = [
            one
            for other, all_of in self._looks_held.items()
            if other != who
            for one in all_of.values()
        ]
        on_screens = [pairs for look in looks if (pairs := self._pairs(look.look)) <= held]
        return self._left("max_looks", len(on_screens) + len(held.difference(*on_screens)))

    def _left(self, budget: str, n_held: int) -> int:
        """What a budget still allows, less what others look at."""
        left = self._state.budgets_left.get(budget)
        return len(self._state.items.keys) ** 2 if left is None else left - n_held

    def _open_looks(self, who: str | None, now: float, by_pairs: bool) -> Iterator[Look]:
        """Looks worth a person's time, the most useful first, without what is known."""
        engine = self.engine
        known = engine.run.ledger.known
        for pair, person in self._wanted.items():
            if person == who:
                yield engine.question(self._shown[pair])
        # What the person looks at stays, also where others' answers have taken the plan elsewhere.
        held = dict.fromkeys(self._leases.held_by(who, now))
        for look in [] if by_pairs else list(self._looks_held.get(who, {}).values()):
            pairs, left = self._pairs(look.look), look.look.left(known)
            if left is None or not held.keys() >= pairs:
                del self._looks_held[who][look.id]
                continue
            held = {pair: None for pair in held if pair not in pairs}
            yield left
        for pair in held:
            if known(engine.question(pair)) is None:
                yield engine.question(self._shown[pair])
        yield from engine.run.first_pending() if by_pairs else engine.run.looks
        yield from map(engine.question, self._second_opinions())

    def _affordable(
        self, looks: Iterable[Look], who: str | None, now: float, room: int
    ) -> Iterator[Look]:
        """Those that nobody else looks at, without what this person has spoken about, once each."""
        known, seen = self.engine.run.ledger.known, set[Pair]()

        def is_settled(question: Question) -> Verdict | None:
            said = self._state.book.vote(pair_of(self._keys(question)), who)
            return known(question) or (Verdict.UNSURE if said else None)

        for look in looks:
            left: Look | None
            if isinstance(look, Question):
                left = None if self._state.book.vote(pair_of(self._keys(look)), who) else look
            else:
                left = look.left(is_settled)
            pairs = self._pairs(left) if left is not None else set[Pair]()
            is_free = not any(self._leases.is_held_by_other(who, pair, now) for pair in pairs)
            if left and is_free and pairs.isdisjoint(seen) and len(left.questions) <= room:
                seen |= pairs
                room -= len(left.questions)
                yield left

    def _looks_ahead(self, who: str | None, now: float, by_pairs: bool) -> Iterator[Look]:
        """Looks beyond those that others look at, so that nobody has to wait for them."""
        held, run = self._leases.held_by_others(who, now), self.engine.run
        if not held or run.done or run.labelling.audit is not None:
            return
        looked_at = [self._shown[pair][0] for pair in held]
        for look in self._look_ahead.looks(self.engine, self._state, looked_at):
            if by_pairs:
                yield from (pair for pair in look.questions if run.ledger.known(pair) is None)
            else:
                yield look

    def _hand_out_any(
        self, look: Look, who: str | None, lease_seconds: float | None
    ) -> SessionQuestion | SessionLook:
        if isinstance(look, Question):
            return self.hand_out(self._keys(look), who, lease_seconds)
        shown = SessionLook.about(look, self._state.items)
        return self.hand_out_look(shown, who, lease_seconds)

    def _pairs(self, look: Look) -> set[Pair]:
        return {pair_of(self._keys(question)) for question in _all_pairs(look)}

    def _keys(self, question: Question) -> tuple[str, str]:
        keys = self._state.items.keys
        return keys[question.item], keys[question.comparator]

    def _pairs_named(self, id_: str) -> list[Pair]:
        """The pairs of a question or a look; InvalidInputError if it is no id."""
        if not id_.startswith("{"):
            return [pair_from(id_, self._state.items)]
        return sorted(self._pairs(self.look(id_).look))

    def _second_opinions(self) -> Iterator[tuple[str, str]]:
        """Pairs on which fewer people than wanted have spoken, or as many for as against."""
        wanted = self._state.parameters.get("opinions") or 1
        for pair, fact in self._state.facts.items():
            votes = self._state.votes(pair)
            if len(votes) < wanted or is_tie(votes):
                yield fact.items

    def _question(self, items: tuple[str, str], before: Verdict | None = None) -> SessionQuestion:
        row_of = self._state.items.row_of
        rows = (row_of[items[0]], row_of[items[1]])
        return SessionQuestion(question_id(items), *items, rows, before)


def _all_pairs(look: Look) -> tuple[Question, ...]:
    """All pairs on the screen: decoys are leased like the rest, and the same by any id."""
    if isinstance(look, CheckSheet):
        return tuple(Question(*cell) for cell in look.cells)
    return look.questions
