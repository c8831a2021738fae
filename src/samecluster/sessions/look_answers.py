"""What of a reply to a look is news, pair by pair, and what each answer is to the run.

What follows from answers that there are, or from others of the same reply, is not written down: it
is no answer of its own, and does not count as a question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TypeAlias

from samecluster.errors import ContradictionError, ProtocolError
from samecluster.questions.ledger import Ledger
from samecluster.questions.look import Board, CheckSheet, Choice
from samecluster.questions.pair import Answer, Question, Verdict
from samecluster.sessions.question import SessionLook
from samecluster.sessions.question_queue import QuestionQueue
from samecluster.sessions.state.state import State
from samecluster.sessions.state.votes import Pair, pair_of
from samecluster.sessions.storage.look_format import Looked

Said: TypeAlias = list[tuple[tuple[str, str], Verdict]]
NewAnswers: TypeAlias = list[tuple[str, str, str, str]]
"""Two keys, the verdict and the role of each answer, as events have them."""


def said_again(state: State, said: Said) -> NewAnswers | None:
    """The answers of a reply that was undone and is given again; None if the run was elsewhere.

    Nothing need be worked out for it: the run goes on where it was.
    """
    verdict_of = {pair_of(items): verdict for items, verdict in said}
    told = []
    for fact in reversed(state.run_facts.undone):
        if verdict_of.get(fact.pair) is not fact.verdict:
            break
        told.append((*fact.items, fact.verdict.value, "plan"))
    if not told:
        return None
    second = [(*items, v.value, "beside") for items, v in said if pair_of(items) in state.facts]
    return [*told, *second]


def new_answers(
    look: SessionLook, said: Said, who: str | None, state: State, queue: QuestionQueue
) -> NewAnswers:
    """What is news in a reply.

    ProtocolError if all of the look is known by now; ContradictionError if it joins what answers
    separate.
    """
    engine = queue.engine
    ledger = engine.run.ledger
    if again := queue.checked_pairs(look):
        return list(_said_of_known(said, again, queue))
    if not queue.is_open(look):
        raise ProtocolError("this look is no longer open: answers have settled it; take the next")
    questions = [engine.question(items) for items, _ in said]
    if any(map(engine.run.awaits, look.look.questions)):
        queue.plan(pair_of(items) for items, _ in said)
    known = _known_among({row for question in questions for row in question.pair}, ledger)
    # A reply to a choice that is about one group says nothing about the others.
    is_one_group = isinstance(look.look, Choice) and len(said) == 1
    may_disagree = not isinstance(look.look, Board | Choice) or is_one_group
    news: NewAnswers = []
    for (items, verdict), question in zip(said, questions, strict=True):
        pair, implied = pair_of(items), known.implied(question)
        vote, role = state.book.vote(pair, who), queue.role(pair)
        disagrees = implied is not None and verdict not in (implied, Verdict.UNSURE)
        if disagrees and verdict is Verdict.SAME and isinstance(look.look, CheckSheet):
            continue  # overlooked, and perhaps a decoy of a run that has gone elsewhere
        if disagrees and verdict is Verdict.SAME and not may_disagree:
            raise ContradictionError((*ledger.reasons(question), Answer(question, verdict)))
        if pair in state.facts:
            if vote is None or vote.verdict is not verdict:
                news.append((*items, verdict.value, "beside"))
        elif implied is None or disagrees:
            news.append((*items, verdict.value, role))
        if implied is None:
            known.record(Answer(question, verdict))
    return news


def decoys_of(
    looked: Looked, who: str | None, state: State, queue: QuestionQueue
) -> tuple[str, ...]:
    """The decoys of a look, about which its id says nothing.

    The run that asks it knows them, and so does the answer that this person has taken back. If the
    run has gone elsewhere nobody does, and nothing is learned of what was overlooked.
    """
    if looked.kind != "checks":
        return ()
    for undone in state.book.undone_answers(who):
        if undone.looked is not None and undone.looked.id == looked.id:
            return undone.looked.decoys
    for look in queue.engine.run.looks:
        if isinstance(look, CheckSheet) and SessionLook.about(look, state.items).id == looked.id:
            return tuple(state.items.keys[row] for row in look.decoys)
    return ()


def _said_of_known(
    said: Said, again: set[Pair], queue: QuestionQueue
) -> Iterator[tuple[str, str, str, str]]:
    """What a check says of the pairs that it is about, and whatever else is not as it was known."""
    engine = queue.engine
    for items, verdict in said:
        known = engine.run.ledger.implied(engine.question(items))
        if pair_of(items) in again or verdict not in (known, Verdict.UNSURE):
            yield *items, verdict.value, queue.role(pair_of(items))


def _known_among(rows: Iterable[int], ledger: Ledger) -> Ledger:
    """What a ledger implies about pairs of these rows."""
    among = Ledger()
    for one, two in combinations(sorted(rows), 2):
        implied = ledger.implied(Question(one, two))
        if implied is not None:
            among.record(Answer(Question(one, two), implied))
    return among
