"""A session keeps its lift."""

import numpy as np
import pytest

from samecluster import Polynomial, Session
from samecluster.errors import InvalidInputError
from samecluster.instances import make_rings
from samecluster.sessions.storage.store import MemoryStore

MADE = make_rings(300, random_state=0)
KEYS = [f"row {row}" for row in range(300)]


def begun(lift, store=None) -> Session:
    parameters = {"n_clusters": 2, "margin": 2.0, "lift": lift}
    return Session.create(store or MemoryStore(), KEYS, MADE.X, parameters=parameters, seed=0)


def answer(session: Session, most: int = 1000) -> None:
    while most and (questions := session.ask()):
        i, j = questions[0].rows
        same = MADE.labels[i] == MADE.labels[j]
        session.tell(questions[0].id, "same" if same else "different")
        most -= 1


@pytest.mark.parametrize("lift", ["quadratic", Polynomial(2)])
def test_rings_are_proven_in_a_session_and_after_opening_it_again(lift) -> None:
    store = MemoryStore()
    answer(begun(lift, store), 4)
    session = Session.open(store, KEYS, MADE.X)
    answer(session)
    found = session.snapshot()
    assert set(found.how) == {"asked", "proven"}
    assert found.lift is not None
    assert found.lift.said() == "the quadratic lift of columns 0, 1"
    assert session.state.parameters["lift"] == "quadratic"


def test_another_lift_is_refused_and_nothing_is_lost() -> None:
    session = begun("quadratic")
    answer(session, 3)
    for other in ("cubic", None):
        with pytest.raises(InvalidInputError, match="the lift of a session stays"):
            session.set_parameters(lift=other)
    session.set_parameters(lift="quadratic", margin=1.5)
    assert session.state.n_questions == 3
    with pytest.raises(InvalidInputError, match="keeps a lift by its name"):
        begun(np.square)


def test_answers_that_the_margin_forbids_do_not_stop_the_session() -> None:
    session = begun("quadratic")
    rows = np.flatnonzero(MADE.labels == 0).tolist()
    wrong = [(KEYS[i], KEYS[j], "different") for i, j in zip(rows[:9], rows[9:18], strict=True)]
    session.import_answers(wrong, "elsewhere")
    answer(session, 400)
    assert session.snapshot().labels.shape == (300,)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.random.default_rng(0).normal(size=(20, 12)), "degree 4 makes 1,819 columns of 12, and"),
        (np.ones((20, 2)), "no column varies"),
    ],
    ids=["too many columns", "no variation"],
)
def test_a_lift_that_cannot_be_is_refused_in_one_line(X, message) -> None:
    parameters = {"margin": 2.0, "lift": Polynomial(4)}
    with pytest.raises(InvalidInputError, match=message) as error:
        Session.create(MemoryStore(), KEYS[:20], X, parameters=parameters, seed=0)
    assert len(str(error.value).splitlines()) == 1
