"""Answers that are kept at once, whatever the session is busy with.

Working out the next questions may take seconds, and nobody should wait for that to hear that an
answer is safe. So an answer to a question that was handed out for it (it has a *ticket*) is written
to the store by another thread than the session's. The session takes it in before it does anything
else. All other answers go to the session itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from samecluster.errors import InvalidInputError, SchemaError
from samecluster.questions.pair import Verdict
from samecluster.sessions.event_log import EventLog
from samecluster.sessions.question import checked_verdict, pair_named
from samecluster.sessions.state.votes import Pair
from samecluster.sessions.storage.events import Event

Tickets = dict[tuple[str | None, Pair], tuple[str, str]]
"""By person and pair: the items as they were shown. The person has said nothing about them yet."""


@dataclass(frozen=True)
class SentAnswer:
    """The arguments of `Session.tell`; ``more`` are further fields of the event."""

    question_id: str
    verdict: Verdict | str
    who: str | None = None
    key: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)


class Intake:
    """Where another thread leaves answers; any number of them may call."""

    def __init__(
        self, log: EventLog, tickets: Tickets, is_known_key: Callable[[str | None, str], bool]
    ) -> None:
        self._log, self._tickets, self._is_known_key = log, tickets, is_known_key

    def take(self, answers: Sequence[SentAnswer]) -> list[int | None]:
        """Keep those that can be kept at once, in one commit: their sequence numbers.

        None for the others, which are to be told to the session. StoreError if none could be kept.
        """
        with self._log.lock:
            kept: dict[int, Event] = {}
            used = {}
            keys = {(event.who, event.body.get("key")) for event in self._log.waiting}
            for place, sent in enumerate(answers):
                ticket, event = self._event(sent, keys)
                if event is not None and ticket in self._tickets:
                    used[ticket], kept[place] = self._tickets.pop(ticket), event
                    keys.add((sent.who, sent.key))
            try:
                numbers = self._log.append_aside(list(kept.values()))
            except SchemaError:
                self._tickets.update(used)
                return [None] * len(answers)
            except BaseException:
                self._tickets.update(used)
                raise
        found: list[int | None] = [None] * len(answers)
        for place, number in zip(kept, numbers, strict=True):
            found[place] = number
        return found

    def _event(
        self, sent: SentAnswer, keys: set[tuple[str | None, Any]]
    ) -> tuple[tuple[str | None, Pair], Event | None]:
        """The ticket that an answer needs, and its event; None if the session must decide."""
        try:
            ticket = (sent.who, pair_named(sent.question_id))
            verdict = checked_verdict(sent.verdict)
        except InvalidInputError:
            return (None, ("", "")), None
        if sent.key is not None and (
            (sent.who, sent.key) in keys or self._is_known_key(sent.who, sent.key)
        ):
            return ticket, None
        # The run takes what it does not wait for as put ahead of its turn, so this is true of both.
        body = {**sent.more, "items": list(self._tickets.get(ticket, ())), "role": "ahead"}
        body |= {} if sent.key is None else {"key": sent.key}
        if verdict is Verdict.UNSURE:
            return ticket, self._log.draft("unsure", sent.who, body)
        return ticket, self._log.draft("answered", sent.who, {**body, "verdict": verdict.value})
