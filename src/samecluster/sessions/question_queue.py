"""Asking and telling: the part of a session that people meet.

Every change is an event: appended and committed first, then taken into the state; the run follows
when somebody next needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from samecluster._typing import FloatArray, IntArray
from samecluster.errors import ProtocolError
from samecluster.questions.pair import Verdict
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.question import (
    SessionQuestion,
    checked_verdict,
    pair_from,
    question_id,
)
from samecluster.sessions.running.engine import Engine
from samecluster.sessions.running.leases import Leases
from samecluster.sessions.running.look_ahead import LookAhead
from samecluster.sessions.state.numbering import NumberedRecovery, numbered
from samecluster.sessions.state.set_apart import with_exceptions
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, pair_of, tied
from samecluster.sessions.storage.events import Event, checked_event
from samecluster.sessions.storage.store import Store

__all__ = ["QuestionQueue"]


class QuestionQueue:
    """A state, the run that follows it, and the store behind both."""

    def __init__(
        self,
        store: Store,
        state: State,
        X: FloatArray,
        hints: IntArray | None,
        clock: Callable[[], datetime],
    ) -> None:
        self._store, self._state, self._clock = store, state, clock
        self._X, self._hints = X, hints
        self._engine = Engine(X, state.items, hints=hints)
        self._ahead = LookAhead(X, hints)
        # What was put to people for the plan's sake: it may have gone on without the answer.
        self._put: set[Pair] = set()
        self._leases = Leases()
        # Questions that somebody wants asked beside the plan's, and whom they are for.
        self._wanted: dict[Pair, str | None] = {}
        self._shown: dict[Pair, tuple[str, str]] = {}
        self._seen: tuple[int, NumberedRecovery] | None = None

    # -- questions -------------------------------------------------------------------------------

    def ask(
        self, who: str | None = None, count: int = 1, lease_seconds: float | None = None
    ) -> list[SessionQuestion]:
        """Up to ``count`` questions for a person; none if there is nothing to ask them now.

        What the person has undone comes first, and alone. With ``lease_seconds`` nobody else gets
        these questions for so long; asking again gives the same ones, and renews that.
        """
        now = self._clock()
        undone = self._state.undone(who)
        if undone is not None and not self._leases.holder_other_than(who, undone.pair, now):
            return [self._hand_out(undone.items, who, lease_seconds, undone.verdict)]
        if self._state.finished:
            return []
        room = min(count, self._n_left(who, now))
        found = list(islice(self._free(self._open_pairs(who), who, now), max(0, room)))
        if not found and room > 0:
            found = list(islice(self._free(self._pairs_ahead(who, now), who, now), 1))
        self._put.update(map(pair_of, found))
        return [self._hand_out(items, who, lease_seconds) for items in found]

    def _free(
        self, pairs: Iterable[tuple[str, str]], who: str | None, now: datetime
    ) -> Iterator[tuple[str, str]]:
        """Those that nobody else looks at and that this person has not spoken about, once each."""
        seen = set()
        for items in pairs:
            pair = pair_of(items)
            is_held = self._leases.holder_other_than(who, pair, now)
            if pair not in seen and not is_held and not self._state.vote(pair, who):
                seen.add(pair)
                yield items

    def question(self, id_: str) -> SessionQuestion:
        """The question of an id, for whoever has to show it again."""
        pair = pair_from(id_, self._state.items)
        return self._question(self._shown.get(pair, pair))

    def release(self, who: str | None = None) -> None:
        """Let others have the questions that were leased to this person, who has left."""
        self._leases.end_all(who)

    def renew(
        self, ids: Iterable[str], who: str | None = None, lease_seconds: float = 60.0
    ) -> list[str]:
        """The person is still looking: lease those that are still theirs for so long from now.

        Returns the ids of these; others may have got the rest.
        """
        now = self._clock()
        held = set(self._leases.held_by(who, now))
        kept = [id_ for id_ in ids if pair_from(id_, self._state.items) in held]
        for id_ in kept:
            pair = pair_from(id_, self._state.items)
            self._leases.take(pair, who, now + timedelta(seconds=lease_seconds))
        return kept

    def tell(
        self,
        question_id: str,
        verdict: Verdict | str,
        who: str | None = None,
        *,
        key: str | None = None,
        deferred: bool = False,
    ) -> int:
        """Take an answer in, and return its sequence number once it is safe.

        Telling the same again changes nothing and returns the same number, also after a restart.
        With a ``key`` of the sender's that holds even if the answer was undone in between. Another
        verdict of the same person replaces the one before. The run hears of a ``deferred`` answer
        when it next begins from all answers.
        """
        verdict = checked_verdict(verdict)
        kind = "unsure" if verdict is Verdict.UNSURE else "answered"
        body = {} if verdict is Verdict.UNSURE else {"verdict": verdict.value}
        return self._take(question_id, verdict, who, key, kind, body, deferred)

    def flag(
        self, question_id: str, note: str, who: str | None = None, *, key: str | None = None
    ) -> int:
        """Say that a question cannot be answered as it stands, and why; counts as "unsure"."""
        return self._take(question_id, Verdict.UNSURE, who, key, "flagged", {"note": note})

    def undo(
        self, who: str | None = None, lease_seconds: float | None = None
    ) -> SessionQuestion | None:
        """Take a person's last answer back and ask it again first. None if there is none left.

        With ``lease_seconds`` nobody else is asked it for so long.
        """
        last = self._state.last_answer(who)
        if last is None:
            return None
        self._append("retracted", who, {"sequence": last.sequence, "undo": True})
        return self._hand_out(last.items, who, lease_seconds, last.verdict)

    def retract(
        self, sequence: int, items: Iterable[str] | None = None, who: str | None = None
    ) -> None:
        """Take back an answer, an exception or a whole import by its sequence number.

        With ``items`` only what an import said about these two.
        """
        standing = self._state.said(sequence)
        body: dict[str, Any] = {"sequence": sequence}
        if items is not None:
            pair = pair_of(items)
            standing = [said for said in standing if said.pair == pair]
            body["items"] = list(pair)
        if not standing and sequence not in self._state.exceptions.values():
            raise ProtocolError(f"event {sequence} is no answer that stands; nothing to take back")
        self._append("retracted", who, body)

    # -- what is known ---------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """What the events add up to, to look at."""
        return self._state

    def snapshot(self) -> Recovery:
        """What is known now, with cluster numbers that stay."""
        return self._numbered().recovery

    def anchors(self) -> dict[int, str]:
        """The anchor item of each cluster."""
        return dict(self._numbered().anchors)

    def prepare(self) -> None:
        """Work out the next questions now rather than when they are asked for."""
        self._engine.follow(self._state)

    def _numbered(self) -> NumberedRecovery:
        if self._seen is None or self._seen[0] != self._state.n_events:
            self.prepare()
            seen = self._number(self._state, self._engine)
            self._seen = (self._state.n_events, seen)
        return self._seen[1]

    def _number(self, state: State, engine: Engine) -> NumberedRecovery:
        recovery = with_exceptions(_as_declared(engine.recovery(), state), state)
        return numbered(recovery, state.items, state.births, state.numbers, engine.differ)

    # -- events ----------------------------------------------------------------------------------

    def _draft(
        self,
        kind: str,
        who: str | None,
        body: Mapping[str, Any],
        numbers: Mapping[str, int] | None = None,
    ) -> Event:
        at = self._clock().astimezone(UTC).isoformat(timespec="milliseconds")
        return Event(kind, at, who, {**body, "numbers": dict(numbers)} if numbers else body)

    def _new_numbers(self) -> dict[str, int]:
        """Numbers to be kept with the next event: the same whether or not anybody has looked.

        After an undo they wait, as working them out might take as long as a resume.
        """
        if not self._state.n_events or self._state.untold:
            return {}
        return self._numbered().new

    def _imagine(self, *drafts: Event) -> tuple[State, Engine]:
        """What state and run would be after these events; nothing is written."""
        state = self._state.copy()
        for draft in drafts:
            state.apply(replace(checked_event(draft), sequence=state.n_events + 1))
        engine = Engine(self._X, state.items, hints=self._hints)
        engine.follow(state)
        return state, engine

    def _append(self, kind: str, who: str | None, body: Mapping[str, Any]) -> int:
        return self._commit(self._draft(kind, who, body, self._new_numbers()))

    def _commit(self, event: Event) -> int:
        events = [*self._audit_begun(), event]
        for event, sequence in zip(events, self._store.append(events), strict=True):
            self._state.apply(replace(event, sequence=sequence))
        return self._state.n_events

    def _audit_begun(self) -> list[Event]:
        """The event that an audit has begun in this epoch, if it has and none says so yet.

        Written with the first answer to it, or whatever else comes first: from then on a new epoch
        has to do with a smaller share of what the confidence leaves.
        """
        state, audit = self._state, self._state.parameters.get("audit")
        if audit is None or state.epoch in state.audited:
            return []
        if self._seen is None or self._seen[0] != state.n_events:
            return []
        if self._seen[1].recovery.audit is None:
            return []
        return [self._draft("audit", None, {"error": audit[0], "confidence": audit[1]})]

    def _take(
        self,
        id_: str,
        verdict: Verdict,
        who: str | None,
        key: str | None,
        kind: str,
        body: dict[str, Any],
        deferred: bool = False,
    ) -> int:
        before = None if key is None else self._state.sent(key)
        if before is not None:
            return before
        pair = pair_from(id_, self._state.items)
        said = self._state.vote(pair, who)
        if said is None or said.verdict is not verdict or said.note != body.get("note"):
            role = "beside" if deferred else self._role(pair)
            body |= {"items": list(self._shown.get(pair, pair)), "role": role}
            if key is not None:
                body["key"] = key
            sequence = self._append(kind, who, body)
        else:
            sequence = said.sequence
        self._leases.end(pair, who)
        self._close_wanted(pair, verdict)
        return sequence

    def _close_wanted(self, pair: Pair, verdict: Verdict) -> None:
        """A wanted question was answered; "same" also answers the others about its item."""
        if self._wanted.pop(pair, self) is not self and verdict is Verdict.SAME:
            item = self._shown[pair][0]
            self._wanted = {
                other: who for other, who in self._wanted.items() if self._shown[other][0] != item
            }

    def _role(self, pair: Pair) -> str:
        """What an answer is to the run; see `samecluster.sessions.storage.events.ROLES`."""
        if self._state.next_untold() == pair:
            return "plan"
        if pair in self._state.facts:
            return "beside"
        self.prepare()
        run, question = self._engine.run, self._engine.question(pair)
        if run.awaits(question):
            return "plan"
        if pair in self._put and pair not in self._wanted and not run.done:
            return "ahead" if run.ledger.known(question) is None else "beside"
        return "extra" if run.ledger.implied(question) is None else "beside"

    # -- which questions -------------------------------------------------------------------------

    def _n_left(self, who: str | None, now: datetime) -> int:
        """How many more questions the budget allows, those that others look at taken off."""
        budget = self._state.parameters.get("max_questions")
        if budget is None:
            return len(self._state.items.keys) ** 2
        return int(budget) - self._state.n_questions - self._leases.n_others(who, now)

    def _open_pairs(self, who: str | None) -> Iterator[tuple[str, str]]:
        """Pairs worth a person's time, the most useful first."""
        self.prepare()
        yield from [self._shown[pair] for pair, person in self._wanted.items() if person == who]
        # What the person looks at stays, also where others' answers have taken the plan elsewhere.
        for pair in self._leases.held_by(who, self._clock()):
            if self._engine.run.ledger.known(self._engine.question(pair)) is None:
                yield self._shown[pair]
        keys = self._state.items.keys
        for question in self._engine.run.pending:
            yield keys[question.item], keys[question.comparator]
        yield from self._second_opinions()

    def _pairs_ahead(self, who: str | None, now: datetime) -> list[tuple[str, str]]:
        """Pairs beyond those that others look at, so that nobody has to wait for them."""
        held = self._leases.held_by_others(who, now)
        if not held or self._engine.run.done or self._engine.run.labelling.audit is not None:
            return []
        return self._ahead.pairs(self._state, [self._shown[pair][0] for pair in held])

    def _second_opinions(self) -> Iterator[tuple[str, str]]:
        """Pairs on which fewer people than wanted have spoken, or as many for as against."""
        wanted = self._state.parameters.get("opinions") or 1
        for pair, fact in self._state.facts.items():
            votes = self._state.votes(pair)
            if len(votes) < wanted or tied(votes):
                yield fact.items

    def _want(self, items: tuple[str, str], who: str | None) -> SessionQuestion:
        """Put a question of one's own before those of the plan."""
        self._wanted[pair_of(items)] = who
        self._shown[pair_of(items)] = items
        return self._question(items)

    def _hand_out(
        self,
        items: tuple[str, str],
        who: str | None,
        lease_seconds: float | None,
        before: Verdict | None = None,
    ) -> SessionQuestion:
        pair = pair_of(items)
        self._shown[pair] = items
        if lease_seconds is not None:
            self._leases.take(pair, who, self._clock() + timedelta(seconds=lease_seconds))
        return self._question(items, before)

    def _question(self, items: tuple[str, str], before: Verdict | None = None) -> SessionQuestion:
        row_of = self._state.items.row_of
        rows = (row_of[items[0]], row_of[items[1]])
        return SessionQuestion(question_id(items), *items, rows, before)


def _as_declared(recovery: Recovery, state: State) -> Recovery:
    """All questions of the session, and the confidence that holds over all its epochs."""
    audit = recovery.audit
    if audit is not None:
        audit = replace(audit, confidence=float(state.parameters["audit"][1]))
    return replace(recovery, n_questions=state.n_questions, audit=audit)
