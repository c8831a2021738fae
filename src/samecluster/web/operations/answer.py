"""Operations of somebody who answers: the next questions, leases, answers, undo, placements.

A placement says which group an item is in: one choice that answers all open questions about the
item that it settles. To say that an item is in a group is to say that it is where the group's
anchor is. So the plan's own questions about the item are answered as answers put the anchor; what
is said beyond them is told only where answers do not imply it. Predicted members answer nothing,
and of groups that may still turn out to be one it is not said that they differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from samecluster.errors import ContradictionError, InvalidInputError
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.sessions.question import SessionQuestion, question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State
from samecluster.web.context import Call, Handler, ServerContext
from samecluster.web.session_thread import Urgency

__all__ = ["OPERATIONS", "place"]


# More at once cost more questions: people who would wait get one that is put ahead of its turn, but
# the checks of an audit all come at once, however many these are.
_SEVERAL = 2


async def _next(desk: ServerContext, call: Call) -> Any:
    def ask(session: Session) -> tuple[list[SessionQuestion], str]:
        if len(desk.seen) > 1:
            session.widen(_SEVERAL)
        asked = session.ask(call.who, call["count"], desk.lease_seconds)
        return asked, "" if asked else session.progress().ended

    asked, ended = await desk.board.call(ask, Urgency.ASK)
    summary = desk.board.summary
    return {
        "questions": [desk.views.question(one, summary) for one in asked],
        "ended": ended,
        "waiting": not asked and not ended,
    }


async def _heartbeat(desk: ServerContext, call: Call) -> Any:
    held = await desk.board.call(
        lambda session: session.renew(call["questions"], call.who, desk.lease_seconds),
        Urgency.ASK,
    )
    return {"held": held}


async def _release(desk: ServerContext, call: Call) -> Any:
    await desk.board.call(lambda session: session.release(call.who), Urgency.ASK)
    return {}


async def _answer(desk: ServerContext, call: Call) -> Any:
    return await _take(
        desk,
        lambda session: session.tell(call["question"], call["verdict"], call.who, key=call["key"]),
    )


async def _flag(desk: ServerContext, call: Call) -> Any:
    return await _take(
        desk,
        lambda session: session.flag(call["question"], call["note"], call.who, key=call["key"]),
    )


async def _place(desk: ServerContext, call: Call) -> Any:
    def put(session: Session) -> list[int]:
        done = place(session, call["item"], call["group"], call.who, call["key"])
        if done:
            desk.placed[call.who] = done
        return done

    sequences = await desk.board.call(put, Urgency.ANSWER)
    summary = desk.board.summary
    last = max(sequences, default=summary.sequence)
    return {"sequence": last, "settled": len(sequences), "progress": summary.progress}


async def _undo(desk: ServerContext, call: Call) -> Any:
    def back(session: Session) -> SessionQuestion | None:
        placed, last = desk.placed.pop(call.who, []), session.state.last_answer(call.who)
        together = last is not None and last.sequence in placed
        question = None
        for _ in placed if together else [None]:
            question = session.undo(call.who, desk.lease_seconds)
        return question

    question = await desk.board.call(back, Urgency.ANSWER)
    summary = desk.board.summary
    return {"question": None if question is None else desk.views.question(question, summary)}


async def _groups(desk: ServerContext, call: Call) -> Any:
    if "item" in call.given:
        row: int | None = desk.views.row(call["item"])
    else:
        asked = await desk.board.call(
            lambda session: session.ask(call.who, 1, desk.lease_seconds), Urgency.ASK
        )
        row = asked[0].rows[0] if asked else None
    return desk.views.groups(row, desk.board.summary)


async def _take(desk: ServerContext, work: Callable[[Session], int]) -> Any:
    """An answer: the reply comes after it is committed, and does not wait for what follows."""
    sequence = await desk.board.call(work, Urgency.ANSWER)
    return {"sequence": sequence, "progress": desk.board.summary.progress}


OPERATIONS: dict[str, Handler] = {
    "next": _next,
    "heartbeat": _heartbeat,
    "release": _release,
    "answer": _answer,
    "flag": _flag,
    "place": _place,
    "undo": _undo,
    "groups": _groups,
}


_MOST_OPEN = 500


def place(session: Session, item: str, group: int | None, who: str | None, key: str) -> list[int]:
    """Say that an item is in a group, or with None in none that there is; the events of it."""
    anchors = session.anchors()
    if group is not None and group not in anchors:
        known = ", ".join(map(str, sorted(anchors))) or "none yet"
        raise InvalidInputError(f"group must be one of {known}, got {group}")
    if item not in session.state.items.row_of:
        raise InvalidInputError(f"there is no item {item!r} in the data")
    done: list[int] = []
    for question, verdict in _of_the_plan(session, item, group, anchors, who):
        done.append(session.tell(question.id, verdict, who, key=f"{key}:{question.id}"))
    for anchor, verdict in _beyond(session, item, group, anchors):
        id_ = question_id((item, anchor))
        done.append(session.tell(id_, verdict, who, key=f"{key}:{id_}"))
    return done


def _of_the_plan(
    session: Session, item: str, group: int | None, anchors: Mapping[int, str], who: str | None
) -> Iterator[tuple[SessionQuestion, Verdict]]:
    """Questions about the item that are open now and that the choice answers."""
    told: set[str] = set()
    while True:
        said = _Answers(session.state)
        for question in session.ask(who, _MOST_OPEN):
            if item not in (question.item, question.comparator) or question.id in told:
                continue
            other = question.comparator if question.item == item else question.item
            verdict = _follows(said, other, group, anchors)
            if verdict is not None:
                break
        else:
            return
        told.add(question.id)
        yield question, verdict


def _follows(
    said: _Answers, other: str, group: int | None, anchors: Mapping[int, str]
) -> Verdict | None:
    """What the choice says of its item and another one; None if nothing."""
    if group is not None:
        return said.imply(other, anchors[group])
    inside = any(said.imply(other, anchor) is Verdict.SAME for anchor in anchors.values())
    return Verdict.DIFFERENT if inside else None


def _beyond(
    session: Session, item: str, group: int | None, anchors: Mapping[int, str]
) -> Iterator[tuple[str, Verdict]]:
    """The item against the anchor of its group, or of all, where answers do not say it yet."""
    for number in sorted(anchors) if group is None else [group]:
        anchor = anchors[number]
        if anchor != item and _Answers(session.state).imply(item, anchor) is None:
            yield anchor, Verdict.of(number == group)


class _Answers:
    """What the answers so far imply about pairs of items."""

    def __init__(self, state: State) -> None:
        self._row_of = state.items.row_of
        self._ledger = Ledger()
        for fact in state.facts.values():
            try:
                self._ledger.record(Answer(self._question(*fact.items), fact.verdict))
            except ContradictionError:
                continue

    def imply(self, one: str, two: str) -> Verdict | None:
        return Verdict.SAME if one == two else self._ledger.implied(self._question(one, two))

    def _question(self, one: str, two: str) -> Question:
        return Question(self._row_of[one], self._row_of[two])
