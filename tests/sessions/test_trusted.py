"""Sessions in which language models answer and people check: claims rest on people alone."""

import numpy as np
import pytest

from samecluster import How, clustering_error
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.oracles import ConfirmedOracle, LabelOracle
from samecluster.oracles.base import checked_reply
from samecluster.questions.pair import Verdict
from samecluster.sessions.running.drivers import drive_session
from samecluster.sessions.session import Session
from samecluster.sessions.state.state import State
from samecluster.sessions.storage.store import MemoryStore
from samecluster.testing import check_claims
from samecluster.workspace.known_answers import answers_of
from tests.cases.campaign import runs

GOAL = (0.05, 0.9)
MADE = make_ellipsoids(n=240, d=2, k=3, random_state=2)
KEYS = [f"row {i}" for i in range(240)]


def begun(seed=0, **parameters):
    parameters = {"looks": "auto", "method": "predict", **parameters}
    return Session.create(MemoryStore(), KEYS, MADE.X, parameters=parameters, seed=seed)


def misread(share, seed):
    """Groups as a model sees them that misreads some items."""
    rng = np.random.default_rng(seed)
    other = (MADE.labels + rng.integers(1, 3, 240)) % 3
    return np.where(rng.random(240) < share, other, MADE.labels)


def answer(session, groups, who):
    oracle = LabelOracle(groups)
    replies = lambda looks: ((look, checked_reply(oracle, look)) for look in looks)  # noqa: E731
    drive_session(session, replies, who=who, looks=True)


def checked_session(by_model, people=MADE.labels, seed=0):
    session = begun(seed, max_looks=15)
    answer(session, by_model, "model tiny")
    assert session.let_people_check() == ("model tiny",)
    session.set_parameters(audit=GOAL, max_looks=None)
    answer(session, people, "ann")
    return session


@pytest.mark.parametrize("max_looks", [9, 40])
def test_second_looks_are_in_the_log_and_in_the_budget(max_looks) -> None:
    session = begun(max_looks=max_looks)
    asked = ConfirmedOracle(LabelOracle(MADE.labels), max_looks)
    replies = lambda looks: ((look, checked_reply(asked, look)) for look in looks)  # noqa: E731
    drive_session(
        session, replies, who="model tiny", looks=True, second_looks=asked.second_looks_at
    )
    logged = [event.body.get("second_looks", 0) for event in session.events()]
    assert sum(logged) == asked.n_second > 0
    assert session.state.n_looks == asked.n_looks <= max_looks
    assert session.state.book.looks_by_person() == {"model tiny": asked.n_looks}
    assert State(session.events()).n_looks == asked.n_looks
    session.undo("model tiny")
    assert session.state.n_looks == asked.n_looks - 1 - logged[-1]


def test_before_people_come_nothing_is_asked_and_an_audit_is_refused() -> None:
    session = begun()
    answer(session, MADE.labels, "model tiny")
    found = session.snapshot()
    assert not found.count(How.ASKED)
    assert not found.count(How.PROVEN)
    with pytest.raises(InvalidInputError, match="an audit counts answers of people alone"):
        session.set_parameters(audit=GOAL)


def test_asked_means_asked_of_people_and_the_rest_is_drawn_by_the_audit() -> None:
    session = checked_session(misread(0.05, 0))
    found, state = session.snapshot(), session.state
    seen = {state.items.row_of[key] for pair in state.answers_of_people()["ann"] for key in pair}
    asked = set(np.flatnonzero(found.how_codes == How.ASKED).tolist())
    assert asked <= seen
    by_model = {
        state.items.row_of[key]
        for key in KEYS
        if any(key in pair for pair in state.book.pairs_asked_of("model tiny"))
    }
    assert by_model - seen, "the model answered about items that people did not see"
    assert not any(found.how_codes[sorted(by_model - seen)] >= How.PROVEN)
    audit = next(claim for claim in found.claims if claim.kind == "audit")
    assert set(audit.items.tolist()) == set(range(240)) - asked
    assert found.audit is not None
    assert found.audit.met
    assert not found.audit.gap.n_pairs, "people told all anchors apart"
    assert f"checked by ann ({len(state.answers_of_people()['ann'])} answers)" in str(found.audit)
    assert session.progress().n_looks == session.state.book.looks_by_person()["ann"]


def test_what_a_model_said_is_judged_by_what_people_said() -> None:
    groups = misread(0.1, 6)
    session = checked_session(groups)
    (judged,) = session.judged_answers().values()
    assert judged
    for answer, is_wrong in judged.items():
        one, two = (int(MADE.labels[row]) for row in answer.question.pair)
        assert is_wrong == ((answer.verdict is Verdict.SAME) != (one == two))
    assert begun().judged_answers() == {}


def test_a_replayed_session_says_the_same() -> None:
    session = checked_session(misread(0.1, 1))
    again = State(session.events())
    assert again == session.state


@pytest.mark.parametrize("verdict", ["same", "different"])
def test_what_a_model_says_while_people_check_changes_nothing(verdict) -> None:
    session = checked_session(misread(0.05, 2))
    facts, before = dict(session.state.facts), session.snapshot()
    people = set().union(*session.state.answers_of_people().values())
    for one, two in [*sorted(people)[:5], ("row 1", "row 2"), ("row 3", "row 4")]:
        session.tell(f"{one}:{two}".replace(" ", "%20"), verdict, "model tiny")
    assert session.state.facts == facts
    after = session.snapshot()
    assert after.labels.tolist() == before.labels.tolist()
    assert after.how.tolist() == before.how.tolist()


def test_people_outvote_models_also_before_they_check() -> None:
    session = begun()
    (question, *_) = session.ask("model tiny")
    for name in ("model tiny", "model large"):
        session.tell(question.id, "same", name)
    session.tell(question.id, "different", "ann")
    (fact,) = session.state.facts.values()
    assert fact.verdict is Verdict.DIFFERENT
    session.undo("ann")
    (fact,) = session.state.facts.values()
    assert fact.verdict is Verdict.SAME


def test_another_session_gets_what_people_said_and_nothing_else() -> None:
    session = begun()
    answer(session, MADE.labels, "model tiny")
    assert answers_of(session.state, KEYS) == ([], 0)
    session.let_people_check()
    answer(session, MADE.labels, "ann")
    taken, _ = answers_of(session.state, KEYS)
    pairs = {tuple(sorted((one, two))) for one, two, _ in taken}
    assert pairs == session.state.answers_of_people()["ann"]


def test_rows_that_join_have_no_label_of_the_model() -> None:
    session = checked_session(misread(0.05, 3))
    new = [*KEYS, "row new"]
    session.update(new, np.vstack([MADE.X, MADE.X[:1] + 1e-3]))
    answer(session, np.append(MADE.labels, MADE.labels[0]), "ann")
    found = session.snapshot()
    assert found.labels[-1] == found.labels[0]


@pytest.mark.parametrize("liar", ["everything is the same", "right in 60 %"])
def test_a_useless_model_is_noticed_and_said(liar) -> None:
    groups = np.zeros(240, dtype=int) if "same" in liar else misread(0.4, 5)
    alone = begun(audit=GOAL, method="certify")
    answer(alone, MADE.labels, "ann")
    session = checked_session(groups)
    found = session.snapshot()
    assert found.given is not None
    assert found.given.by == ("model tiny",)
    said = next(str(claim) for claim in found.claims if claim.kind == "given")
    assert "model tiny" in said
    assert "put aside" in said or found.given.n_wrong > 0.15 * found.given.n_seen
    assert found.audit is not None
    assert found.audit.met
    assert clustering_error(found.labels, MADE.labels) <= GOAL[0]
    assert session.progress().n_looks <= alone.progress().n_looks + 30


@pytest.mark.parametrize("liar", ["everything is the same", "right in 60 %"])
def test_a_useless_model_is_said_to_be_one_within_30_looks_of_people(liar) -> None:
    groups = np.zeros(240, dtype=int) if "same" in liar else misread(0.4, 5)
    session = begun(max_looks=15)
    answer(session, groups, "model tiny")
    session.let_people_check()
    session.set_parameters(audit=GOAL, max_looks=30)
    answer(session, MADE.labels, "ann")
    said = next(str(claim) for claim in session.snapshot().claims if claim.kind == "given")
    assert "model tiny" in said
    assert "put aside" in said


@pytest.mark.campaign
def test_the_sentence_about_a_model_is_false_no_more_often_than_it_says() -> None:
    n_runs, n_false = runs(4, 400), 0
    for seed in range(n_runs):
        found = checked_session(misread(0.15, seed), seed=seed).snapshot()
        for judged in check_claims(found, MADE.labels):
            n_false += judged.claim.kind == "audit" and judged.is_false
            assert not judged.is_false or judged.claim.kind == "audit"
    assert n_false <= 0.1 * n_runs + 2 * np.sqrt(0.1 * 0.9 * n_runs)


def test_it_would_be_false_if_the_model_were_taken_for_a_person() -> None:
    """That the test above can fail: the audit answered by who misreads is no audit."""
    groups = MADE.labels.copy()
    of_one = np.flatnonzero(groups == 0)
    groups[of_one[MADE.X[of_one, 0] > np.median(MADE.X[of_one, 0])]] = 1  # predicted, too
    found = checked_session(groups, people=groups).snapshot()
    assert found.audit is not None
    assert found.audit.met
    assert clustering_error(found.labels, MADE.labels) > GOAL[0]
