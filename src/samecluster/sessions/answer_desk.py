"""Answers of people: taking them in once each, and taking them back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from samecluster.errors import ProtocolError
from samecluster.questions.pair import Verdict
from samecluster.sessions.question import SessionQuestion, checked_verdict, pair_from, pair_named
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.recorder import Recorder
from samecluster.sessions.state.votes import Vote, pair_of


class AnswerDesk:
    """Where answers become events. `samecluster.Session` has these methods."""

    def __init__(self, recorder: Recorder, queue: QuestionQueue) -> None:
        self._recorder, self._queue = recorder, queue
        # Keys under which what stood already was said again: no event has them.
        self._repeated: dict[tuple[str | None, str], Vote] = {}

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
        With a ``key`` of the sender's that holds even if the answer was undone in between. Keys
        belong to a person; ProtocolError if this person has sent another answer under the same one.
        Another verdict of the same person replaces the one before. The run hears of a ``deferred``
        answer when it next begins from all answers.
        """
        verdict = checked_verdict(verdict)
        if verdict is Verdict.UNSURE:
            return self._take("unsure", {}, question_id, verdict, who, key, deferred)
        body = {"verdict": verdict.value}
        return self._take("answered", body, question_id, verdict, who, key, deferred)

    def flag(
        self, question_id: str, note: str, who: str | None = None, *, key: str | None = None
    ) -> int:
        """Say that a question cannot be answered as it stands, and why; counts as "unsure"."""
        return self._take("flagged", {"note": note}, question_id, Verdict.UNSURE, who, key)

    def undo(
        self, who: str | None = None, lease_seconds: float | None = None
    ) -> SessionQuestion | None:
        """Take a person's last answer back and ask it again first. None if there is none left.

        With ``lease_seconds`` nobody else is asked it for that time.
        """
        last = self._recorder.state.last_answer(who)
        if last is None:
            return None
        self._recorder.append("retracted", who, {"sequence": last.sequence, "undo": True})
        return self._queue.hand_out(last.items, who, lease_seconds, last.verdict)

    def retract(
        self, sequence: int, items: Iterable[str] | None = None, who: str | None = None
    ) -> None:
        """Take back an answer, an exception or a whole import by its sequence number.

        With ``items`` only what an import said about these two.
        """
        state = self._recorder.state
        votes = state.book.votes_of_event(sequence)
        body: dict[str, Any] = {"sequence": sequence}
        if items is not None:
            pair = pair_of(items)
            votes = [vote for vote in votes if vote.pair == pair]
            body["items"] = list(pair)
        if not votes and sequence not in state.exceptions.values():
            raise ProtocolError(f"event {sequence} is no answer that stands; nothing to take back")
        self._recorder.append("retracted", who, body)

    def has_key(self, who: str | None, key: str) -> bool:
        """Whether this person has sent something under this key."""
        known = self._recorder.state.book.vote_of_key(who, key)
        return known is not None or (who, key) in self._repeated

    def _take(
        self,
        kind: str,
        body: dict[str, Any],
        id_: str,
        verdict: Verdict,
        who: str | None,
        key: str | None,
        deferred: bool = False,
    ) -> int:
        state = self._recorder.state
        before = None
        if key is not None:
            before = state.book.vote_of_key(who, key) or self._repeated.get((who, key))
        if before is not None:
            sent = (pair_named(id_), verdict, body.get("note"))
            if sent != (before.pair, before.verdict, before.note):
                raise ProtocolError(
                    f"the key {key!r} was sent with another answer (event {before.sequence}); this "
                    "one is not kept: send it with a key of its own"
                )
            return before.sequence
        pair = pair_from(id_, state.items)
        vote = state.vote(pair, who)
        if vote is None or vote.verdict is not verdict or vote.note != body.get("note"):
            role = "beside" if deferred else self._queue.role(pair)
            body |= {"items": list(self._queue.shown_items(pair)), "role": role}
            if key is not None:
                body["key"] = key
            sequence = self._recorder.append(kind, who, body)
        else:
            sequence = vote.sequence
            if key is not None:
                self._repeated[who, key] = vote
        self._queue.close(pair, who, verdict)
        return sequence
