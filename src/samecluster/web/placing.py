"""Which group is it: one choice that answers all open questions about an item.

The plan's own questions about the item are answered as the choice says, one after the other; what
the choice says beyond them is told only as far as answers do not imply it. So a choice counts as
the questions that it settles.
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
    for question, verdict in _of_the_plan(session, item, group, who):
        done.append(session.tell(question.id, verdict, who, key=f"{key}:{question.id}"))
    for anchor, verdict in _beyond(session, item, group, anchors):
        id_ = question_id((item, anchor))
        done.append(session.tell(id_, verdict, who, key=f"{key}:{id_}"))
    return done


def _of_the_plan(
    session: Session, item: str, group: int | None, who: str | None
) -> Iterator[tuple[SessionQuestion, Verdict]]:
    """Questions about the item that are open now, as long as the other item has a group."""
    row_of = session.state.items.row_of
    told: set[str] = set()
    while True:
        labels = session.snapshot().labels
        for question in session.ask(who, _MOST_OPEN):
            if item not in (question.item, question.comparator) or question.id in told:
                continue
            other = question.comparator if question.item == item else question.item
            number = int(labels[row_of[other]])
            if number >= 0:
                break
        else:
            return
        told.add(question.id)
        yield question, Verdict.of(number == group)


def _beyond(
    session: Session, item: str, group: int | None, anchors: Mapping[int, str]
) -> Iterator[tuple[str, Verdict]]:
    """The item against the anchor of its group, or of all, where answers do not say it yet.

    Of the groups that were not chosen no more is said than the plan asks: two of them may still
    turn out to be one.
    """
    for number in sorted(anchors) if group is None else [group]:
        anchor = anchors[number]
        if anchor != item and _implied(session.state, item, anchor) is None:
            yield anchor, Verdict.of(number == group)


def _implied(state: State, one: str, two: str) -> Verdict | None:
    row_of = state.items.row_of
    ledger = Ledger()
    for fact in state.facts.values():
        question = Question(row_of[fact.items[0]], row_of[fact.items[1]])
        try:
            ledger.record(Answer(question, fact.verdict))
        except ContradictionError:
            continue
    return ledger.implied(Question(row_of[one], row_of[two]))
