"""Answers that are kept at once, whatever the session is busy with.

Working out the next questions may take seconds, and nobody should wait for that to hear that an
answer is safe. So another thread than the session's may write down an answer that needs no
judgement: one to a question that the plan has asked, under a key and about a pair of which the
person has said nothing. The session takes it in before it does anything else. All other answers are
told to the session itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from samecluster.errors import InvalidInputError, SchemaError
from samecluster.questions.pair import Verdict
from samecluster.sessions.event_log import EventLog
from samecluster.sessions.question import pair_from
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.state.votes import Pair, Vote
from samecluster.sessions.storage.events import Event, checked_event


@dataclass(frozen=True)
class SentAnswer:
    """What somebody says about a question, as `Session.tell` takes it, or `flag` with a note."""

    question_id: str
    verdict: Verdict
    who: str | None = None
    key: str | None = None
    seconds: float | None = None
    note: str | None = None
    second_looks: int = 0

    def event(self, items: Pair, role: str) -> tuple[str, dict[str, Any]]:
        """Kind and body of the event that it becomes."""
        sending = sending_fields(self.seconds, self.key, self.second_looks)
        body = {"items": list(items), "role": role, **sending}
        if self.note is not None:
            return "flagged", {**body, "note": self.note}
        if self.verdict is Verdict.UNSURE:
            return "unsure", body
        return "answered", {**body, "verdict": self.verdict.value}


def sending_fields(seconds: float | None, key: str | None, second_looks: int = 0) -> dict[str, Any]:
    """What is kept of how an answer came: seconds, the sender's key, looks that confirmed it."""
    fields: dict[str, Any] = {} if seconds is None else {"seconds": round(float(seconds), 1)}
    if second_looks:
        fields["second_looks"] = second_looks
    return fields if key is None else {**fields, "key": key}


class Intake:
    """Where other threads leave answers; ``sent_before`` finds what came under a person's key."""

    def __init__(
        self,
        log: EventLog,
        queue: QuestionQueue,
        sent_before: Callable[[str | None, str | None], Vote | None],
    ) -> None:
        self._log, self._queue, self._sent_before = log, queue, sent_before

    def take(self, answers: Sequence[SentAnswer]) -> list[int | None]:
        """Keep those that need no judgement, in one commit: their sequence numbers.

        None for the others, which are to be told to the session. StoreError if none could be kept.
        """
        with self._log.lock:
            kept: dict[int, Event] = {}
            untold = {one for event in self._log.waiting for one in _said(event)}
            for place, sent in enumerate(answers):
                event = self._plain_event(sent)
                if event is not None and untold.isdisjoint(_said(event)):
                    kept[place] = event
                    untold |= _said(event)
            numbers = dict(zip(kept, self._log.append_aside(list(kept.values())), strict=True))
            return [numbers.get(place) for place in range(len(answers))]

    def _plain_event(self, sent: SentAnswer) -> Event | None:
        """The event of an answer; None if the state says that it needs judgement."""
        state = self._log.state
        try:
            pair = pair_from(sent.question_id, state.items)
            if not self._queue.is_planned(pair) or state.run_facts.undone:
                return None
            if state.book.vote(pair, sent.who) or self._sent_before(sent.who, sent.key):
                return None
            # The run takes what it awaits as its own, and all else as put ahead of its turn.
            kind, body = sent.event(self._queue.shown_items(pair), "ahead")
            return checked_event(self._log.draft(kind, sent.who, body))
        except (InvalidInputError, SchemaError):
            return None


def _said(event: Event) -> set[tuple[str | None, object]]:
    """What nobody may say twice without judgement: the person's key, and their pair."""
    said = {tuple(sorted(event.body.get("items", ()))), event.body.get("key")}
    return {(event.who, one) for one in said if one}
