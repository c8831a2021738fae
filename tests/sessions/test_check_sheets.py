"""Sheets of audits in sessions: what is overlooked is counted, and nobody can tell the decoys."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from samecluster import start
from samecluster.errors import ProtocolError
from samecluster.instances import make_ellipsoids
from samecluster.questions.look import CheckSheet, Marks
from samecluster.sessions.question import SessionLook
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.look_cases import answer_looks, tell, true_reply
from tests.cases.session_cases import Clock, answer_all, keys_of, same_known, store_of

N = 400
MADE = make_ellipsoids(n=N, d=2, k=3, margin=1.0, random_state=0)
TRUTH = MADE.labels.tolist()
AUDIT = (0.05, 0.9)


def audited(**parameters: Any) -> Session:
    parameters = {"margin": 1.0, "looks": "auto", "audit": AUDIT, **parameters}
    return Session.create(
        MemoryStore(), keys_of(N), MADE.X, parameters=parameters, clock=Clock(), seed=0
    )


def reopened(session: Session) -> Session:
    return Session.open(store_of(session), keys_of(N), MADE.X, clock=Clock())


def first_checks(session: Session, who: str | None = None) -> SessionLook:
    """Answer until an audit's sheet with decoys is to be answered."""
    while True:
        (look,) = session.ask_looks(who, 1, 60.0)
        if isinstance(look, SessionLook) and isinstance(look.look, CheckSheet) and look.look.decoys:
            return look
        tell(session, look, TRUTH, who)


def careless(look: SessionLook) -> Marks:
    """What somebody says who overlooks all decoys."""
    assert isinstance(look.look, CheckSheet)
    marked = true_reply(look.look, TRUTH)
    assert isinstance(marked, Marks)
    return Marks(tuple(item for item in marked.marked if item not in look.look.decoys))


def decoys(session: Session) -> tuple[int, int]:
    """How many were shown, and how many overlooked."""
    report = session.snapshot().audit
    assert report is not None
    return report.n_decoys, report.n_overlooked


def test_a_session_asks_the_sheets_that_a_run_asks() -> None:
    session = audited()
    # The first audit of a session leaves a fifth of what the confidence allows to later ones.
    told = start(MADE.X, margin=1.0, looks="auto", audit=(0.05, 0.92), random_state=0)
    kinds = []
    while not told.done:
        (look,), (asked,) = told.looks, session.ask_looks()
        if isinstance(asked, SessionLook):
            assert asked.look == look
        kinds.append(tell(session, asked, TRUTH))
        told.tell_look(look, true_reply(look, TRUTH))
    assert not session.ask_looks()
    assert "checks" in kinds
    assert "pair" not in kinds
    mine, theirs = session.snapshot().audit, told.result.audit
    assert mine is not None
    assert theirs is not None
    assert mine.met
    assert (mine.n_decoys, mine.n_overlooked) == (theirs.n_decoys, theirs.n_overlooked)
    assert mine.n_wrong_at_most == theirs.n_wrong_at_most
    assert "0 of" in str(mine)
    assert "decoys overlooked" in str(mine)
    same_known(session, reopened(session))


def test_nothing_about_a_sheet_says_which_cells_are_decoys() -> None:
    session = audited()
    places = set()
    for _ in range(4):
        look = first_checks(session)
        assert isinstance(look.look, CheckSheet)
        assert json.loads(look.id) == look.body == {"kind": "checks", "cells": look.body["cells"]}
        assert session.look(look.id).look == CheckSheet(look.look.cells)
        places |= {look.look.items.index(item) for item in look.look.decoys}
        tell(session, look, TRUTH)
    assert len(places) > 1


def test_what_was_overlooked_counts_also_after_a_restart_and_nothing_is_in_trouble() -> None:
    session = audited()
    look = first_checks(session)
    assert isinstance(look.look, CheckSheet)
    n_before = session.state.n_questions
    session.tell_look(look.id, careless(look))
    assert decoys(session)[1] == len(look.look.decoys)
    assert session.state.n_questions - n_before == len(look.look.questions)
    assert not session.trouble
    assert decoys(reopened(session)) == decoys(session)
    same_known(session, reopened(session))


@pytest.mark.parametrize("restarts", [False, True])
def test_an_undone_sheet_comes_again_with_its_marks_and_only_the_last_reply_counts(
    restarts: bool,
) -> None:
    session = audited()
    look = first_checks(session, "ann")
    assert isinstance(look.look, CheckSheet)
    session.tell_look(look.id, careless(look), "ann")
    overlooked = decoys(session)[1]
    back = session.undo("ann", 60.0)
    assert isinstance(back, SessionLook)
    assert back.id == look.id
    assert back.before == {"marked": []}
    session = reopened(session) if restarts else session
    assert [one.id for one in session.ask_looks("ann", 1, 60.0)] == [look.id]
    tell(session, look, TRUTH, "ann")
    assert overlooked == len(look.look.decoys)
    assert decoys(session) == (len(look.look.decoys), 0)
    assert decoys(reopened(session)) == decoys(session)


def test_a_sheet_on_the_screen_stays_the_same_and_others_get_another() -> None:
    session = audited()
    session.widen(2)
    look = first_checks(session, "ann")
    (again,) = session.ask_looks("ann", 1, 60.0)
    (other,) = session.ask_looks("bob", 1, 60.0)
    assert again.id == look.id
    assert isinstance(other, SessionLook)
    assert isinstance(other.look, CheckSheet)
    assert isinstance(look.look, CheckSheet)
    assert not set(other.look.cells) & set(look.look.cells)
    assert session.renew([look.id], "ann") == [look.id]
    tell(session, other, TRUTH, "bob")
    tell(session, look, TRUTH, "ann")
    answer_looks(session, TRUTH)
    report = session.snapshot().audit
    assert report is not None
    assert report.met


def test_a_reply_to_a_sheet_of_another_run_is_kept_without_its_decoys() -> None:
    session = audited()
    look = first_checks(session, "ann")
    assert isinstance(look.look, CheckSheet)
    session.set_parameters(n_clusters=3)  # the run begins again, and draws other checks
    session.tell_look(look.id, careless(look), "ann")
    assert not session.trouble
    told = {frozenset(fact.items) for fact in session.state.facts.values()}
    keys = session.state.items.keys
    assert all(frozenset(keys[row] for row in q.pair) in told for q in look.look.questions)
    assert decoys(session) == (0, 0)
    with pytest.raises(ProtocolError, match="no longer open"):
        session.tell_look(look.id, careless(look), "bob")


def test_an_audit_that_is_answered_by_pairs_has_no_decoys() -> None:
    session = audited()
    answer_all(session, MADE)
    assert decoys(session) == (0, 0)
    assert "decoy" not in str(session.progress())
    same_known(session, reopened(session))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda body: {"marked": ["nobody"]}, "not on the sheet"),
        (lambda body: {"marked": [], "odd_reference": True}, "'marked'"),
        (lambda body: {"joined": []}, "'marked'"),
        (lambda body: {"marked": [body["cells"][0][0]], "unsure": [body["cells"][0][0]]}, "both"),
    ],
)
def test_a_reply_that_does_not_fit_is_refused_and_changes_nothing(
    spoil: Callable[[Any], dict[str, Any]], told: str
) -> None:
    session = audited()
    look = first_checks(session)
    before = session.state.n_events
    with pytest.raises(ProtocolError, match=told):
        session.tell_look(look.id, spoil(look.body))
    assert session.state.n_events == before


def test_a_session_of_several_rounds_is_the_same_after_a_restart() -> None:
    """Two groups that touch: checks fail, and labels are learned again."""
    rng = np.random.default_rng(1)
    labels = np.arange(N) % 2
    X = rng.normal(size=(N, 2)) + 2.6 * labels[:, None] * [1, 0]
    parameters = {"audit": (0.08, 0.9), "looks": "auto"}
    session = Session.create(MemoryStore(), keys_of(N), X, parameters=parameters, seed=3)
    answer_looks(session, labels.tolist())
    again = Session.open(store_of(session), keys_of(N), X)
    assert session.snapshot().audit == again.snapshot().audit
    assert session.snapshot().audit is not None
