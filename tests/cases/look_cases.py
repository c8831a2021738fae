"""Looks for tests: a method that asks by looks, and people who answer them by the truth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from samecluster.api import METHODS, register_method
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
)
from samecluster.questions.pair import Question, Verdict
from samecluster.questions.run import Plan
from samecluster.recovery.labelling import Labelling
from samecluster.recovery.problem import Problem
from samecluster.recovery.result.how import How
from samecluster.recovery.result.result import Recovery
from samecluster.sessions.question import SessionLook
from samecluster.sessions.session import Session


@dataclass(frozen=True)
class Glances:
    """Asks about every point by all kinds of looks: sheets first, a board, then choices.

    With looks="pairs" these are the pairs of the same looks.
    """

    sheet: int = 4
    name = "glances"

    def plan(self, problem: Problem, labelling: Labelling) -> Plan[Recovery]:
        n, step = len(problem.X), self.sheet + 1
        heads = range(0, n - 1, step)
        for first in heads:
            yield [Sheet.of(first, range(first + 1, min(first + step, n)))]
        if len(heads) > 1:
            yield [Board.of(heads[:6])]
        found, groups = np.full(n, -1), list[list[int]]()
        for row in range(n):
            shown = [tuple(group[:3]) for group in groups[: problem.looks.choice]]
            verdicts = (yield [Choice.of(row, shown)]) if shown else ()
            if Verdict.SAME in verdicts:
                found[row] = list(verdicts).index(Verdict.SAME)
                groups[found[row]].append(row)
            elif Verdict.UNSURE not in verdicts:
                found[row] = len(groups)
                groups.append([row])
        items = np.flatnonzero(found >= 0)
        labelling.mark(items, found[items], How.ASKED)
        labelling.close_round()
        return labelling.recovery()


GLANCES = "glances"
if GLANCES not in METHODS:
    register_method(GLANCES, Glances)


def true_reply(look: Look, labels: Sequence[int]) -> Reply:
    """What somebody says who knows the groups of all rows."""
    match look:
        case Question():
            return Verdict.of(labels[look.item] == labels[look.comparator])
        case Choice():
            here = labels[look.item]
            places = (p for p, group in enumerate(look.groups) if labels[group[0]] == here)
            return Picks(tuple(places))
        case Sheet():
            here = labels[look.reference]
            return Marks(tuple(item for item in look.items if labels[item] != here))
        case Board():
            groups: dict[int, list[int]] = {}
            for item in look.items:
                groups.setdefault(labels[item], []).append(item)
            return Unions(tuple(tuple(one) for one in groups.values() if len(one) > 1))
        case CheckSheet():
            wrong = (item for item, beside in look.cells if labels[item] != labels[beside])
            return Marks(tuple(wrong))


def answer_looks(
    session: Session, labels: Sequence[int], n: int | None = None, who: str | None = None
) -> list[str]:
    """Answer looks by the truth until none is left, or n of them; their kinds."""
    kinds: list[str] = []
    while (n is None or len(kinds) < n) and (looks := session.ask_looks(who)):
        (look,) = looks
        kinds.append(tell(session, look, labels, who))
    return kinds


def tell(session: Session, look: object, labels: Sequence[int], who: str | None = None) -> str:
    """Answer one look by the truth; its kind."""
    if isinstance(look, SessionLook):
        session.tell_look(look.id, true_reply(look.look, labels), who)
        return str(look.body["kind"])
    question = Question(*look.rows)  # type: ignore[attr-defined]
    verdict = true_reply(question, labels)
    assert isinstance(verdict, Verdict)
    session.tell(look.id, verdict, who)  # type: ignore[attr-defined]
    return "pair"
