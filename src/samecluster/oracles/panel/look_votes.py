"""Looks before a panel: what a person's reply says of each pair, and the reply that verdicts make.

Whoever chooses a group has seen the others and not chosen them: for a panel that is a vote against
them. Otherwise two groups that were each chosen by some would both win, and become one.
"""

from __future__ import annotations

from collections.abc import Mapping

from samecluster.errors import OracleError
from samecluster.questions.look import (
    Board,
    CheckSheet,
    Choice,
    Look,
    Marks,
    Picks,
    Reply,
    Sheet,
    Unions,
    verdicts_of,
)
from samecluster.questions.pair import Question, Verdict


def said_of(look: Look, reply: Reply) -> dict[Question, Verdict]:
    """What a person says about the pairs of a look; those left out are missing."""
    said = dict(verdicts_of(look, reply))
    if isinstance(reply, Picks) and reply.groups:
        return {q: said.get(q, Verdict.DIFFERENT) for q in look.questions}
    return {question: said[question] for question in look.questions if question in said}


def decoys_of(look: Look) -> list[Question]:
    """The pairs of a look that are known to be different, which whoever sees it does not know."""
    if not isinstance(look, CheckSheet):
        return []
    beside = dict(look.cells)
    return [Question(item, beside[item]) for item in look.decoys]


def said_of_decoys(look: Look, reply: Reply) -> dict[Question, Verdict]:
    """What a person says about the decoys of a look: "same" of one that was overlooked."""
    noticed = {*reply.marked, *reply.unsure} if isinstance(reply, Marks) else set()
    return {pair: Verdict.of(pair.item not in noticed) for pair in decoys_of(look)}


def decided(look: Look, verdicts: Mapping[Question, Verdict]) -> bool:
    """Whether nothing about the look is left to be voted on, if these pairs are settled."""
    if isinstance(look, Choice) and Verdict.SAME in verdicts.values():
        return True
    return all(question in verdicts for question in look.questions)


def reply_of(look: Look, verdicts: Mapping[Question, Verdict], noticed: set[int]) -> Reply:
    """The reply that says these verdicts; pairs without one are unsure. Decoys were ``noticed``."""
    match look:
        case Question():
            return verdicts.get(look, Verdict.UNSURE)
        case Choice():
            said = [verdicts.get(question) for question in look.questions]
            if Verdict.SAME in said:
                return Picks((said.index(Verdict.SAME),))
            return Picks(unsure=any(one is not Verdict.DIFFERENT for one in said))
        case Sheet() | CheckSheet():
            pairs = look.questions
            marked = (q.item for q in pairs if verdicts.get(q) is Verdict.DIFFERENT)
            unsure = tuple(q.item for q in pairs if verdicts.get(q) in (None, Verdict.UNSURE))
            return Marks((*marked, *noticed), unsure)
        case Board():
            return _unions(look, verdicts)


def _unions(board: Board, verdicts: Mapping[Question, Verdict]) -> Unions:
    """Groups of items that votes join; items whose votes do not fit together are unsure."""
    groups: list[list[int]] = []
    unsure = set()
    for item in board.items:
        said = [{verdicts.get(Question(item, other)) for other in group} for group in groups]
        joined = [
            group for group, words in zip(groups, said, strict=True) if words == {Verdict.SAME}
        ]
        apart = sum(words == {Verdict.DIFFERENT} for words in said)
        if len(joined) + apart < len(groups) or len(joined) > 1:
            unsure.add(item)
        elif joined:
            joined[0].append(item)
        else:
            groups.append([item])
    return Unions(tuple(tuple(group) for group in groups if len(group) > 1), tuple(sorted(unsure)))


def smaller(look: Look, open_ones: set[Question]) -> Look:
    """The part of a look that asks about these pairs."""
    left = look.left(lambda question: None if question in open_ones else Verdict.DIFFERENT)
    if left is None:
        raise OracleError("nothing of a look is left to be asked")
    return left
