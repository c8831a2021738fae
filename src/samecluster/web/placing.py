"""Which group is it: one choice that answers all open questions about an item that it settles.

To say that an item is in a group is to say that it is where the group's anchor is. So the plan's
own questions about the item are answered as answers put the anchor; what is said beyond them is
told only where answers do not imply it. Predicted members answer nothing, and of groups that may
still turn out to be one it is not said that they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from samecluster.errors import ContradictionError, InvalidInputError
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.sessions.asking import SessionQuestion, question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state import State

__all__ = ["place"]

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
