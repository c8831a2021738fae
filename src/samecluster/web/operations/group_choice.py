"""A placement: one choice of a group that answers all open questions about the item it settles.

To say that an item is in a group is to say that it is where the group's anchor is. So the plan's
own questions about the item are answered as the answers so far place the anchor; more is told only
where these answers do not imply it. Predicted members answer nothing, and of groups that may still
turn out to be one it is not said that they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from samecluster.errors import ContradictionError, InvalidInputError, ProtocolError
from samecluster.questions.ledger import Ledger
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.sessions.question import SessionQuestion, question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State

_MOST_OPEN = 500
"""Open questions that are searched for those about the item."""


def place(session: Session, item: str, group: int | None, who: str | None, key: str) -> list[int]:
    """Say that an item is in a group, or in none of them (None); return the events' numbers."""
    anchors = session.anchors()
    if group is not None:
        group = session.cluster(group)
    if item not in session.state.items.row_of:
        raise InvalidInputError(f"there is no item {item!r} in the data")
    _check_key(session.state, item, group, anchors, who, key)
    done: list[int] = []
    for question, verdict in _planned(session, item, group, anchors, who):
        done.append(session.tell(question.id, verdict, who, key=f"{key}:{question.id}"))
    for anchor, verdict in _unplanned(session, item, group, anchors):
        id_ = question_id((item, anchor))
        done.append(session.tell(id_, verdict, who, key=f"{key}:{id_}"))
    return done


def _check_key(
    state: State,
    item: str,
    group: int | None,
    anchors: Mapping[int, str],
    who: str | None,
    key: str,
) -> None:
    """ProtocolError if the person has sent another placement under the same key."""
    sent = state.book.keyed_votes(who, f"{key}:")
    said = _Answers(state) if sent else None
    for vote in sent:
        others = [one for one in vote.items if one != item]
        implied = _implied(said, others[0], group, anchors) if said and len(others) == 1 else None
        if len(others) != 1 or implied not in (None, vote.verdict):
            raise ProtocolError(
                f"the key {key!r} was sent with another placement (event {vote.sequence}); this "
                "one is not kept: send it with a key of its own"
            )


def _planned(
    session: Session, item: str, group: int | None, anchors: Mapping[int, str], who: str | None
) -> Iterator[tuple[SessionQuestion, Verdict]]:
    """Questions about the item that are open now and that the choice answers."""
    done: set[str] = set()
    while True:
        said = _Answers(session.state)
        for question in session.ask(who, _MOST_OPEN):
            if item not in (question.item, question.comparator) or question.id in done:
                continue
            other = question.comparator if question.item == item else question.item
            verdict = _implied(said, other, group, anchors)
            if verdict is not None:
                break
        else:
            return
        done.add(question.id)
        yield question, verdict


def _implied(
    said: _Answers, other: str, group: int | None, anchors: Mapping[int, str]
) -> Verdict | None:
    """The verdict that the choice implies for its item and another one; None if it implies none."""
    if group is not None:
        return said.imply(other, anchors[group])
    inside = any(said.imply(other, anchor) is Verdict.SAME for anchor in anchors.values())
    return Verdict.DIFFERENT if inside else None


def _unplanned(
    session: Session, item: str, group: int | None, anchors: Mapping[int, str]
) -> Iterator[tuple[str, Verdict]]:
    """The item against the anchor of its group (or of each), where answers do not imply it yet."""
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
