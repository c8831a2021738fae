"""Prediction that stops at an expected error: in Python, in a session, and on the command line."""

import numpy as np
import pytest

from samecluster import Session, clustering_error, recover
from samecluster.errors import InvalidInputError
from samecluster.estimator import SameCluster
from samecluster.oracles import LabelOracle
from samecluster.sessions.storage.store import MemoryStore
from samecluster.workspace.next_steps import choices, expected_wrong
from samecluster.workspace.request import Request


@pytest.fixture(scope="module")
def touching():
    """Three groups that overlap a little: a model is unsure for a while."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, size=400)
    return rng.normal(size=(400, 2)) + 3.0 * truth[:, None], truth


def found(touching, **options):
    X, truth = touching
    return recover(X, LabelOracle(truth), random_state=0, max_questions=160, **options)


def test_a_larger_share_stops_sooner_and_says_what_it_stopped_at(touching) -> None:
    early, late = (found(touching, expected_error=share) for share in (0.1, 0.005))
    assert 50 < early.n_questions < late.n_questions
    (told,) = (claim for claim in early.claims if claim.kind == "predicted")
    assert told.number is not None
    assert told.number * told.n_items <= 0.1 * len(touching[1])
    assert "among known groups; up to" in str(told)
    assert clustering_error(early.labels, touching[1]) <= 0.2
    again = found(touching, method="predict", expected_error=0.1)
    assert again.n_questions == early.n_questions


def test_nothing_stops_at_an_error_that_is_not_known_yet(touching) -> None:
    stopped = found(touching, expected_error=0.4)
    assert stopped.foresight is not None
    assert stopped.foresight.n_records == 50


def test_it_is_refused_where_nothing_is_predicted(touching) -> None:
    for options in ({"margin": 0.5}, {"method": "everything"}):
        with pytest.raises(InvalidInputError, match="expected_error is about predicted labels"):
            found(touching, expected_error=0.02, **options)
    for wrong in (1.0, -0.1, "2%", float("nan")):
        with pytest.raises(InvalidInputError, match="expected_error must be a share"):
            found(touching, expected_error=wrong)


def test_the_estimator_has_it_too(touching) -> None:
    X, truth = touching
    model = SameCluster(oracle=LabelOracle(truth), expected_error=0.1, random_state=0).fit(X)
    assert model.n_questions_ == found(touching, expected_error=0.1).n_questions


@pytest.mark.parametrize(("text", "share"), [("2%", 0.02), (" 0.5 %", 0.005), ("0.02", 0.02)])
def test_shares_are_read_as_people_write_them(text, share) -> None:
    assert Request("data.csv", stop_at=text).declared() == {"expected_error": pytest.approx(share)}


def test_other_words_are_refused() -> None:
    assert Request("data.csv", stop_at="auto").declared() == {"expected_error": None}
    for wrong in ("2 percent", "100%", "-1%", "nan", ""):
        with pytest.raises(InvalidInputError, match="--stop-at must be a share such as 2%"):
            Request("data.csv", stop_at=wrong).declared()


def test_a_session_keeps_it_and_goes_on_when_it_changes(touching) -> None:
    X, truth = touching
    keys = [f"row {row}" for row in range(len(X))]
    session = Session.create(MemoryStore(), keys, X, parameters={"expected_error": 0.1}, seed=0)

    def answer_all() -> int:
        before = session.state.n_questions
        while session.state.n_questions < 160 and (asked := session.ask()):
            one, two = keys.index(asked[0].item), keys.index(asked[0].comparator)
            session.tell(asked[0].id, "same" if truth[one] == truth[two] else "different")
        return session.state.n_questions - before

    assert answer_all() > 50
    ended = "at most about 10 % of the labels may be wrong, as was asked for"
    assert session.progress().ended == ended
    assert "% wrong among known groups" in expected_wrong(session.snapshot())
    (go_on,) = (c for c in choices(session.snapshot(), session.state.parameters) if c.key == "a")
    with pytest.raises(InvalidInputError, match="expected_error is about predicted"):
        session.set_parameters(margin=0.5)
    session.set_parameters(**go_on.parameters or {})
    assert not session.progress().ended
    assert answer_all() > 0
