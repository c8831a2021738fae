"""Answers of people: taking them in once each, and taking them back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from samecluster.errors import InvalidInputError, ProtocolError
from samecluster.questions.look import Reply
from samecluster.questions.pair import Verdict
from samecluster.sessions.event_log import Overtaken, Recorder
from samecluster.sessions.intake import SentAnswer, sending_fields
from samecluster.sessions.look_answers import decoys_of, new_answers, said_again
from samecluster.sessions.question import (
    SessionLook,
    SessionQuestion,
    checked_verdict,
    pair_from,
    pair_named,
)
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.state.votes import Vote, pair_of
from samecluster.sessions.storage.look_format import Looked, checked_reply, reply_body


class AnswerDesk:
    """Where answers become events. `samecluster.Session` has these methods."""

    def __init__(self, log: Recorder, queue: QuestionQueue) -> None:
        self._log, self._queue = log, queue
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
        seconds: float | None = None,
        second_looks: int = 0,
    ) -> int:
        """Take an answer in, and return its sequence number once it is safe.

        Telling the same again changes nothing and returns the same number, also after a restart.
        With a ``key`` of the sender's that holds even if the answer was undone in between. Keys
        belong to a person; ProtocolError if this person has sent another answer under the same one.
        Another verdict of the same person replaces the one before. The run hears of a ``deferred``
        answer when it next begins from all answers. ``seconds`` is how long it was looked at, and
        ``second_looks`` how many further looks were taken to confirm it: they count as looks.
        """
        said = checked_verdict(verdict)
        sent = SentAnswer(question_id, said, who, key, seconds, second_looks=second_looks)
        return self.judge(sent, deferred)

    def judge(self, sent: SentAnswer, deferred: bool = False) -> int:
        """Take in what `tell` or `flag` was given."""
        return _judged(lambda: self._take(sent, deferred))

    def flag(
        self,
        question_id: str,
        note: str,
        who: str | None = None,
        *,
        key: str | None = None,
        seconds: float | None = None,
    ) -> int:
        """Say that a question cannot be answered as it stands, and why; counts as "unsure"."""
        return self.judge(SentAnswer(question_id, Verdict.UNSURE, who, key, seconds, note))

    def tell_look(
        self,
        look_id: str,
        reply: Reply | Mapping[str, Any],
        who: str | None = None,
        *,
        key: str | None = None,
        seconds: float | None = None,
        second_looks: int = 0,
    ) -> int:
        """Take the reply to a look in as a whole, and return its sequence number once it is safe.

        ``reply`` is Picks, Marks or Unions about rows, or JSON about keys (`sessions.storage.
        look_format`). ProtocolError or AnswerError, and nothing is written, if it does not fit the
        look, if the look is no longer open, or if it joins what answers separate. Keys and
        second looks are those of `tell`.
        """
        sending = sending_fields(seconds, key, second_looks)
        return _judged(lambda: self._take_look(look_id, reply, who, key, sending))

    def _take_look(
        self,
        look_id: str,
        reply: Reply | Mapping[str, Any],
        who: str | None,
        key: str | None,
        sending: Mapping[str, Any],
    ) -> int:
        state = self._log.state
        shown = self._queue.look(look_id)
        if not isinstance(reply, Mapping):
            reply = reply_body(reply, state.items.keys.__getitem__)
        try:
            looked = checked_reply(Looked(shown.id), dict(reply))
        except InvalidInputError as error:
            raise ProtocolError(f"the reply was not taken: {error}") from None
        before = self.sent_before(who, key)
        if before is not None:
            self._check_same_key(key, before, before.looked == looked)
            return before.sequence
        said = looked.verdicts()
        votes = (state.book.vote(pair_of(items), who) for items, _ in said)
        standing = next((vote for vote in votes if vote and vote.looked == looked), None)
        # What others had settled before this reply was given may have been undone since.
        if standing is not None and not self._queue.is_open(shown):
            self._remember(who, key, standing)
            return standing.sequence
        looked = replace(looked, decoys=decoys_of(looked, who, state, self._queue))
        look, said = SessionLook.of(looked, state.items), looked.verdicts()
        undone = next(state.book.undone_answers(who), None)
        news = None
        if undone is not None and undone.looked == looked:
            news = said_again(state, said)
        if news is None:
            news = new_answers(look, said, who, state, self._queue)
        body = {"look": look.body, "reply": dict(reply), **sending}
        body["answers"] = [list(answer) for answer in news]
        if looked.decoys:
            body["decoys"] = list(looked.decoys)
        sequence = self._log.record("looked", who, body, is_judged=True)
        self._queue.close_look(look, who)
        return sequence

    def undo(
        self, who: str | None = None, lease_seconds: float | None = None
    ) -> SessionQuestion | SessionLook | None:
        """Take a person's last answer back and ask it again first. None if there is none left.

        A look is taken back as a whole. With ``lease_seconds`` nobody else is asked it for that
        time.
        """
        state = self._log.state
        last = state.book.last_answer(who)
        if last is None:
            return None
        self._log.record("retracted", who, {"sequence": last.sequence, "undo": True})
        asked: SessionQuestion | SessionLook
        if last.looked is None:
            asked = SessionQuestion.about(last.items, state.items, last.verdict)
        elif state.items.row_of.keys() >= set(last.looked.keys):
            asked = SessionLook.of(last.looked, state.items)
        else:
            asked = SessionQuestion.about(last.items, state.items)
        return self._queue.hand_out(asked, who, lease_seconds)

    def retract(
        self, sequence: int, items: Iterable[str] | None = None, who: str | None = None
    ) -> None:
        """Take back an answer, a look, an exception or a whole import by its sequence number.

        With ``items`` only what a look or an import said about these two.
        """
        state = self._log.state
        votes = state.book.votes_of_event(sequence)
        body: dict[str, Any] = {"sequence": sequence}
        if items is not None:
            pair = pair_of(items)
            votes = [vote for vote in votes if vote.pair == pair]
            body["items"] = list(pair)
        if not votes and sequence not in state.book.exceptions.values():
            raise ProtocolError(f"event {sequence} is no answer that stands; nothing to take back")
        self._log.record("retracted", who, body)

    def _take(self, sent: SentAnswer, deferred: bool = False) -> int:
        state, who, key = self._log.state, sent.who, sent.key
        before = self.sent_before(who, key)
        if before is not None:
            said = (before.pair, before.verdict, before.note, before.looked)
            now = (pair_named(sent.question_id), sent.verdict, sent.note, None)
            self._check_same_key(key, before, now == said)
            return before.sequence
        pair = pair_from(sent.question_id, state.items)
        vote = state.book.vote(pair, who)
        if vote is None or vote.verdict is not sent.verdict or vote.note != sent.note:
            role = "beside" if deferred else self._queue.role(pair)
            kind, body = sent.event(self._queue.shown_items(pair), role)
            sequence = self._log.record(kind, who, body, is_judged=True)
        else:
            sequence = vote.sequence
            self._remember(who, key, vote)
        self._queue.close(pair, who, sent.verdict)
        return sequence

    def sent_before(self, who: str | None, key: str | None) -> Vote | None:
        """What this person has sent under this key already."""
        if key is None:
            return None
        return self._log.state.book.vote_of_key(who, key) or self._repeated.get((who, key))

    def _check_same_key(self, key: str | None, before: Vote, is_same: bool) -> None:
        if not is_same:
            raise ProtocolError(
                f"the key {key!r} was sent with another answer (event {before.sequence}); this "
                "one is not kept: send it with a key of its own"
            )

    def _remember(self, who: str | None, key: str | None, vote: Vote) -> None:
        if key is not None:
            self._repeated[who, key] = vote


def _judged(judge: Callable[[], int]) -> int:
    """Judge an answer, again if others of the same person were written down meanwhile."""
    while True:
        try:
            return judge()
        except Overtaken:
            continue
