"""Which question goes to whom: leases, questions that people want asked, what was handed out.

All of it is in memory: nothing is lost with it, as a question can always be asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import islice

from samecluster.questions.look import Look
from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.known_labels import KnownLabels
from samecluster.sessions.question import SessionQuestion, pair_from, question_id
from samecluster.sessions.running.leases import ElapsedTime, Leases
from samecluster.sessions.running.look_ahead import LookAhead
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, is_tie, pair_of


class QuestionQueue:
    """The questions of a state and of the run that follows it, both of which it only reads.

    `samecluster.Session` has the methods ask, question, release and renew.
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

    def ask(
        self, who: str | None = None, count: int = 1, lease_seconds: float | None = None
    ) -> list[SessionQuestion]:
        """Up to ``count`` questions for a person; none if there is nothing to ask them now.

        What the person has undone comes first, and alone. With ``lease_seconds`` nobody else gets
        these questions for that time; asking again gives the same ones, and renews it.
        """
        now = self._clock()
        stack = self._state.book.undone_answers(who)
        undone = next((one for one in stack if one.looked is None), None)
        if undone is not None and not self._leases.is_held_by_other(who, undone.pair, now):
            return [self.hand_out(undone.items, who, lease_seconds, undone.verdict)]
        if self._state.finished:
            return []
        room = min(count, self._n_left(who, now), self._n_looks_left(who, now))
        found = list(islice(self._free(self._open_pairs(who), who, now), max(0, room)))
        if not found and room > 0:
            found = list(islice(self._free(self._pairs_ahead(who, now), who, now), 1))
        self.plan(map(pair_of, found))
        return [self.hand_out(items, who, lease_seconds) for items in found]

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

    def want(self, items: tuple[str, str], who: str | None) -> SessionQuestion:
        """Put a person's own question before those of the plan."""
        self._wanted[pair_of(items)] = who
        self._shown[pair_of(items)] = items
        return self._question(items)

    def question(self, id_: str) -> SessionQuestion:
        """The question of an id, to show it again."""
        return self._question(self.shown_items(pair_from(id_, self._state.items)))

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
        self._is_audit = self._known.engine.run.labelling.audit is not None
        self._planned.update(pairs)

    def is_planned(self, pair: Pair) -> bool:
        """Whether an answer about a pair needs no judgement: only the plan has asked about it.

        Not in an audit, whose beginning has to be written down before answers to it. Another thread
        may ask this.
        """
        return pair in self._planned and pair not in self._wanted and not self._is_audit

    def role(self, pair: Pair) -> str:
        """What an answer is to the run; see `samecluster.sessions.storage.events.ROLES`."""
        if self._state.next_undone_pair() == pair:
            return "plan"
        if pair in self._state.facts:
            return "beside"
        engine = self._known.engine
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

    def take_rows(self) -> None:
        """There are other rows: forget what people wanted asked, and leases of items that went."""
        self._wanted = {}
        self._leases.end_missing(self._state.items.row_of)

    # -- which questions -------------------------------------------------------------------------

    def _n_left(self, who: str | None, now: float) -> int:
        """The questions that the budget still allows, less those that others look at."""
        return self._less("max_questions", len(self._leases.held_by_others(who, now)))

    def _n_looks_left(self, who: str | None, now: float) -> int:
        """The same for screens."""
        return self._less("max_looks", len(self._leases.held_by_others(who, now)))

    def _less(self, budget: str, n_held: int) -> int:
        left = self._state.left_of(budget)
        return len(self._state.items.keys) ** 2 if left is None else left - n_held

    def _free(
        self, pairs: Iterable[tuple[str, str]], who: str | None, now: float
    ) -> Iterator[tuple[str, str]]:
        """Those that nobody else looks at and that this person has not spoken about, once each."""
        seen = set()
        for items in pairs:
            pair = pair_of(items)
            is_held = self._leases.is_held_by_other(who, pair, now)
            if pair not in seen and not is_held and not self._state.vote(pair, who):
                seen.add(pair)
                yield items

    def _open_pairs(self, who: str | None) -> Iterator[tuple[str, str]]:
        """Pairs worth a person's time, the most useful first."""
        engine = self._known.engine
        yield from [self._shown[pair] for pair, person in self._wanted.items() if person == who]
        # What the person looks at stays, also where others' answers have taken the plan elsewhere.
        for pair in self._leases.held_by(who, self._clock()):
            if engine.run.ledger.known(engine.question(pair)) is None:
                yield self._shown[pair]
        yield from map(self._keys, engine.run.first_pending())
        yield from self._second_opinions()

    def _pairs_ahead(self, who: str | None, now: float) -> Iterator[tuple[str, str]]:
        """Pairs beyond those that others look at, so that nobody has to wait for them."""
        known = self._known.engine.run.ledger.known
        for look in self._looks_ahead(who, now):
            yield from (self._keys(pair) for pair in look.questions if known(pair) is None)

    def _looks_ahead(self, who: str | None, now: float) -> Iterable[Look]:
        held, engine = self._leases.held_by_others(who, now), self._known.engine
        if not held or engine.run.done or engine.run.labelling.audit is not None:
            return ()
        looked_at = [self._shown[pair][0] for pair in held]
        return self._look_ahead.looks(engine, self._state, looked_at)

    def _keys(self, question: Question) -> tuple[str, str]:
        keys = self._state.items.keys
        return keys[question.item], keys[question.comparator]

    def _pairs_named(self, id_: str) -> list[Pair]:
        """The pairs that an id names; InvalidInputError if it is no id."""
        return [pair_from(id_, self._state.items)]

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
