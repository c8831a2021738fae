"""The data of a session: where its file is, that rows are the same, and other rows."""

import numpy as np
import pytest

from samecluster import clustering_error, start
from samecluster.errors import (
    DataMismatchError,
    InvalidInputError,
    SessionNotFoundError,
    StoreError,
)
from samecluster.instances import make_ellipsoids
from samecluster.sessions.question import question_id
from samecluster.sessions.session import Session
from samecluster.sessions.state.votes import pair_of
from samecluster.sessions.storage.sqlite import SqliteStore
from samecluster.sessions.storage.store import MemoryStore
from tests.cases.session_cases import (
    Clock,
    answer,
    answer_all,
    instance,
    keys_of,
    new_session,
    reopened,
    same_known,
    store_of,
    truth,
)

MADE = instance()


def test_a_session_moves_with_its_file(tmp_path) -> None:
    with new_session(store=SqliteStore(tmp_path / "a.samecluster", create=True)) as session:
        answer(session, 6)
        labels = session.snapshot().labels
    (tmp_path / "a.samecluster").rename(tmp_path / "b.samecluster")
    with Session.open(SqliteStore(tmp_path / "b.samecluster"), keys_of(90), MADE.X) as session:
        assert (session.snapshot().labels == labels).all()
        answer_all(session)
    with pytest.raises(StoreError, match="closed"):
        session.tell(question_id(("item 1", "item 2")), "same")


def test_the_file_holds_no_coordinates(tmp_path) -> None:
    path = tmp_path / "a.samecluster"
    with new_session(store=SqliteStore(path, create=True)) as session:
        answer_all(session)
    content = path.read_bytes()
    for value in MADE.X[:20].ravel():
        assert repr(float(value)).encode() not in content
        assert np.float64(value).tobytes() not in content


def test_other_data_is_refused_and_the_way_out_is_named() -> None:
    session = new_session()
    for keys, X in (
        (keys_of(90), MADE.X + 1e-9),
        (keys_of(89), MADE.X[:-1]),
        ([*keys_of(89), "stranger"], MADE.X),
        (keys_of(90)[::-1], MADE.X[::-1]),
    ):
        with pytest.raises(DataMismatchError, match="`samecluster update SESSION DATA`"):
            Session.open(store_of(session), keys, X)
    with pytest.raises(SessionNotFoundError, match="create one first"):
        Session.open(MemoryStore(), keys_of(90), MADE.X)
    with pytest.raises(StoreError, match="holds a session already"):
        new_session(store=store_of(session))


def test_contents_stand_for_rows_that_are_computed() -> None:
    contents = [f"cells of {row}" for row in range(90)]
    store = MemoryStore()
    Session.create(store, keys_of(90), MADE.X, contents=contents, parameters={"margin": 1.0})
    Session.open(store, keys_of(90), MADE.X * (1 + 1e-15), contents=contents)
    contents[3] = "other cells"
    with pytest.raises(DataMismatchError, match="0 rows added, 0 removed, 1 changed"):
        Session.open(store, keys_of(90), MADE.X, contents=contents)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"keys": ["a", "a"]}, "'a' is given to 2 rows"),
        ({"keys": ["a"]}, "1 keys, 2 rows"),
        ({"keys": ["a", 3]}, "got 3 for row 1"),
        ({"contents": ["x"]}, "1 contents, 2 rows"),
        ({"parameters": {"colour": 1}}, "got 'colour'"),
        ({"parameters": {"margin": -1.0}}, "margin must be above 0"),
        ({"parameters": {"margin": 1.0, "max_questions": 0}}, "max_questions must be a whole"),
        ({"parameters": {"margin": 1.0, "method": {"name": "magic"}}}, "got 'magic'"),
        ({"parameters": {"margin": 1.0, "method": {"name": "certify", "x": 1}}}, "no such setting"),
    ],
)
def test_bad_sessions_are_not_begun(changes, message) -> None:
    store = MemoryStore()
    arguments = {"keys": ["a", "b"], "X": [[0.0], [1.0]], "parameters": {"margin": 1.0}, **changes}
    with pytest.raises(InvalidInputError, match=message):
        Session.create(store, **arguments)
    assert list(store.read()) == []


def test_an_update_keeps_answers_and_sets_those_about_changed_rows_aside() -> None:
    session = new_session()
    asked = answer(session, 12)
    gone, moved = asked[3].item, asked[7].item
    keep = [row for row in range(90) if f"item {row}" != gone]
    X = MADE.X.copy()
    X[int(moved.split()[1])] += 1e-6
    keys = [f"item {row}" for row in keep]
    with pytest.raises(DataMismatchError, match="0 rows added, 1 removed, 1 changed"):
        Session.open(store_of(session), keys, X[keep])
    changes = session.update(keys, X[keep])
    assert (changes.removed, changes.changed) == ((gone,), (moved,))
    aside = session.state.set_aside()
    assert {said.pair for said in aside} == {
        pair_of((q.item, q.comparator)) for q in asked if {gone, moved} & {q.item, q.comparator}
    }
    resumed = Session.open(store_of(session), keys, X[keep])
    same_known(session, resumed)
    session.confirm([moved])
    assert all(gone in said.items for said in session.state.set_aside())
    session.update(keys_of(90), X)
    assert session.state.set_aside() == []
    assert session.state.n_questions == 12
    answer_all(session)
    assert clustering_error(session.snapshot().labels, MADE.labels) == 0


def test_an_update_needs_the_new_rows_only() -> None:
    """As on the command line: the old file is gone when the new one is there."""
    live, later = new_session(), new_session()
    for session in (live, later):
        answer(session, 15)
    keys, X = keys_of(90)[5:], MADE.X[5:]
    live.update(keys, X)
    later = Session.open(store_of(later), keys, X, update=True, clock=Clock())
    assert {s.pair for s in live.state.answers()} == {s.pair for s in later.state.answers()}
    assert (live.snapshot().labels == later.snapshot().labels).all()
    same_known(later, Session.open(store_of(later), keys, X, clock=Clock()))
    assert not later.update(keys, X)


def test_an_update_that_cannot_be_used_changes_nothing() -> None:
    session = new_session()
    answer(session, 5)
    with pytest.raises(InvalidInputError, match="nan at row 0"):
        session.update(keys_of(90), np.full((90, 2), np.nan))
    same_known(session, reopened(session))


@pytest.mark.parametrize(
    "parameters", [{"margin": 1.0}, {}, {"method": {"name": "predict", "expected_error": 0.02}}]
)
def test_new_rows_are_asked_about_first_and_old_answers_are_kept(parameters) -> None:
    made = make_ellipsoids(240, 3, 3, random_state=2)
    n = 80  # the rows before
    keys = keys_of(240)
    session = Session.create(MemoryStore(), keys[:n], made.X[:n], parameters=parameters, seed=0)
    answer_all(session, made)
    before = session.state.answers()
    session.update(keys, made.X)
    about_new = []
    while questions := session.ask():
        about_new.append(max(questions[0].rows) >= n)
        session.tell(questions[0].id, truth(questions[0], made))
    assert session.state.answers()[: len(before)] == before
    # Every eighth point of prediction is drawn at random, and groups may be compared.
    assert all(about_new[:7]), about_new
    assert sum(about_new) >= 0.8 * len(about_new)
    assert session.snapshot().labels.min() >= 0


def test_rows_to_ask_about_first_are_checked() -> None:
    for wrong in (["a"], [-1], [90], [[1]], [0.5]):
        with pytest.raises(InvalidInputError, match="first must be numbers of rows"):
            start(MADE.X, first=wrong)
    assert start(MADE.X, first=[], random_state=0).pending == start(MADE.X, random_state=0).pending
