"""Somebody who answers a session by the truth but for one slip, and what comes of it.

As in the shells, `look_again` is called every ten looks and at the end, and when answers do not fit
together the first remedy is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samecluster import Session
from samecluster.errors import AnswerError
from samecluster.questions.look import Board, Choice, Look, Marks, Picks, Reply, Sheet, Unions
from samecluster.questions.pair import Question, Verdict
from samecluster.sessions.question import SessionLook, SessionQuestion
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.look_cases import true_reply

EVERY = 10


@dataclass
class Outcome:
    """``slipped`` is the kind of the look, if a slip was made; ``found`` how it came to light:
    "refused" (a true reply that does not fit was not taken) or "contradiction"; ``first``: the
    wrong answer was the first one to take back."""

    n_looks: int = 0
    n_checks: int = 0
    n_pointed_out: int = 0
    slipped: str = ""
    found: str = ""
    first: bool = False


def one_session(
    X: Any,
    truth: Any,
    *,
    looks: bool,
    slip: str = "",
    slip_at: int = 0,
    most: int = 200,
    seed: int = 0,
) -> Outcome:
    """``slip`` is "split", "merge" or nothing, in the first look from ``slip_at`` on with room."""
    parameters = {"looks": "auto"} if looks else {}
    keys = [f"item {row}" for row in range(len(X))]
    session = Session.create(MemoryStore(), keys, X, seed=seed, parameters=parameters)
    rng, done, since = np.random.default_rng(seed), Outcome(), 0
    while done.n_looks < most:
        asked = session.ask_looks("Ann")
        if (not asked or since >= EVERY) and (again := session.look_again("Ann")):
            done.n_checks += again.answer is None
            done.n_pointed_out += again.answer is not None
            asked = session.ask_looks("Ann")
            assert asked[0].id == again.question.id
        if not asked:
            break
        since = 0 if since >= EVERY else since + 1
        look = asked[0]
        shown = look.look if isinstance(look, SessionLook) else Question(*look.rows)
        wrong = None
        if slip and not done.slipped and done.n_looks >= slip_at:
            wrong = _wrong_reply(shown, truth, slip, rng)
        done.n_looks += 1
        try:
            _tell(session, look, wrong or true_reply(shown, truth))
        except AnswerError:
            if wrong is None:  # a true reply is refused, and which answers it does not fit is said
                done.found = "refused"
                break
            continue
        done.slipped = done.slipped or ("" if wrong is None else type(shown).__name__)
        if session.trouble:
            conflicts = session.ranked_conflicts()
            done.found = "contradiction"
            first = conflicts[0].answers[0]
            one, two = (keys.index(item) for item in first.items)
            done.first = (first.verdict is Verdict.SAME) != (truth[one] == truth[two])
            break
    return done


def _tell(session: Session, look: SessionQuestion | SessionLook, reply: Reply) -> None:
    if isinstance(look, SessionLook):
        session.tell_look(look.id, reply, "Ann")
    else:
        assert isinstance(reply, Verdict)
        session.tell(look.id, reply, "Ann")


def _wrong_reply(
    look: Look, truth: Sequence[int], slip: str, rng: np.random.Generator
) -> Reply | None:
    """A reply with one thing wrong in it that parts what is one, or joins what is not."""
    right = true_reply(look, truth)
    splits = slip == "split"
    match look, right:
        case Question(), Verdict():
            wanted = Verdict.SAME if splits else Verdict.DIFFERENT
            return Verdict.of(not splits) if right is wanted else None
        case Choice(), Picks():
            if splits:
                return Picks(()) if right.groups else None
            others = [place for place in range(len(look.groups)) if place not in right.groups]
            return Picks((int(rng.choice(others)),)) if others else None
        case Sheet(), Marks():
            rest = [item for item in look.items if item not in right.marked]
            if splits:
                return Marks((*right.marked, int(rng.choice(rest)))) if rest else None
            if not right.marked:
                return None
            left_out = int(rng.choice(right.marked))
            return Marks(tuple(item for item in right.marked if item != left_out))
        case Board(), Unions():
            if splits:
                return Unions(right.joined[1:]) if right.joined else None
            one, *rest = look.items
            others = [item for item in rest if truth[item] != truth[one]]
            if not others or right.joined:
                return None
            return Unions(((one, int(rng.choice(others))),))
    return None
