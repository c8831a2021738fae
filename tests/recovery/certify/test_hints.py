"""Hints only choose questions: wrong ones cost some, and never a label or a proof."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from samecluster import Certify, Recovery, clustering_error, recover, start
from samecluster.errors import InvalidInputError
from samecluster.instances import Instance, make_ellipsoids
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check
from samecluster.recovery.hints import hinted_components, one_of_each_hint
from samecluster.sessions.session import Session
from samecluster.sessions.storage.store import MemoryStore
from samecluster.workspace.open import open_session, reopen
from samecluster.workspace.request import Request
from tests.cases.session_cases import answer, answer_all, instance, keys_of, same_known


def recovered(made: Instance, hint: Any, **options: Any) -> Recovery:
    return recover(made.X, LabelOracle(made.labels), hint=hint, random_state=0, **options)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_hints_say_labels_are_right_and_proofs_hold(data: st.DataObject) -> None:
    """Random groups over clusters of any shape, from one group for all to one for each point."""
    seed = data.draw(st.integers(0, 10**6))
    k, d = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 4))
    made = make_ellipsoids(20 * k, d, k, margin=0.5, random_state=seed)
    n_groups = data.draw(st.sampled_from([1, 2, k, 3 * k, 20 * k]))
    hint = np.random.default_rng(seed).integers(-1, n_groups, size=len(made.X))
    n_clusters = data.draw(st.sampled_from([None, k]))
    method = Certify(kernel="numpy")
    found = recovered(made, hint, margin=made.margin, n_clusters=n_clusters, method=method)
    assert clustering_error(found.labels, made.labels) == 0
    assert set(found.how) <= {"asked", "proven"}
    assert found.proof is not None
    verified = check(made.X, found.proof.lines())
    assert clustering_error(verified.labels, found.labels) == 0


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_good_hints_do_not_cost_questions_where_k_is_unknown(share) -> None:
    rng = np.random.default_rng(0)
    for seed in range(4):
        made = make_ellipsoids(600, 3, 6, random_state=seed)
        hint = np.where(rng.random(600) < share, made.labels, -1)
        with_hints, without = (recovered(made, h, margin=made.margin) for h in (hint, None))
        assert with_hints.n_questions <= without.n_questions
        assert clustering_error(with_hints.labels, made.labels) == 0


def test_predict_begins_with_a_point_of_each_hint_group() -> None:
    """And hints are no answers."""
    made = make_ellipsoids(200, 2, 4, random_state=1)
    run = start(made.X, hint=made.labels, method="predict", random_state=0)
    assert len(run.ledger) == 0
    first = one_of_each_hint(made.X, made.labels)
    for _ in range(4):
        (question,) = run.pending
        i, j = question.pair
        assert {i, j} <= set(first)
        run.tell(question, same=bool(made.labels[i] == made.labels[j]))


def test_components_are_the_hint_groups_and_others_go_with_the_nearest() -> None:
    points = np.array([[0.0], [1.0], [9.0], [10.0], [8.0]])
    hints = np.array([7, -1, 3, 3, -1])
    components = hinted_components(points, hints)
    assert components is not None
    assert components.tolist() == [1, 1, 0, 0, 0]
    assert hinted_components(points, np.full(5, -1)) is None
    assert one_of_each_hint(points, hints) == [2, 0]


def test_hints_that_make_no_sense_are_named() -> None:
    with pytest.raises(InvalidInputError, match="hint must have a group for each of the 3 rows"):
        start([[0.0], [1.0], [2.0]], hint=["a"])
    with pytest.raises(InvalidInputError, match="hint must have a group for each of the 90 rows"):
        Session.create(MemoryStore(), keys_of(90), instance().X, hints=[1, 2])


def test_a_session_asks_first_about_each_hint_group_and_so_does_a_resumed_one() -> None:
    made, store = instance(), MemoryStore()
    parameters = {"method": "predict"}
    session = Session.create(
        store, keys_of(90), made.X, parameters=parameters, hints=made.labels, seed=7
    )
    first = one_of_each_hint(made.X, made.labels)
    for question in answer(session, 2):
        assert set(question.rows) <= set(first)
    same_known(session, Session.open(store, keys_of(90), made.X, hints=made.labels))
    answer_all(session)
    assert clustering_error(session.snapshot().labels, made.labels) == 0


def test_rows_that_are_taken_in_have_their_own_hints() -> None:
    made, store = instance(), MemoryStore()
    with Session.create(store, keys_of(60), made.X[:60], hints=made.labels[:60]) as session:
        answer(session, 3)
        session.update(keys_of(90), made.X, hints=made.labels)
        answer_all(session)
        assert clustering_error(session.snapshot().labels, made.labels) == 0


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A table whose column `guess` has a group for every other row, one of them wrong."""
    made = instance()
    guess = ["" if row % 2 else f"kind {label}" for row, label in enumerate(made.labels)]
    guess[0] = "kind 0" if made.labels[0] else "kind 1"
    rows = [f"i{n},{x},{y},{g}" for n, ((x, y), g) in enumerate(zip(made.X, guess, strict=True))]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["name,x,y,guess", *rows]) + "\n")
    return path


def test_labels_as_hint_are_no_answers_and_stay_with_the_session(data: Path) -> None:
    begun = Request(str(data), id_column="name", labels="guess", labels_as="hint", margin="0.5")
    with open_session(begun) as opened:
        assert list(opened.session.state.answers()) == []
        asked = opened.session.ask()
        hints = opened.data.hints()
    assert hints is not None
    assert hints[1] is None
    with reopen(Path(f"{data}.samecluster")) as opened:
        assert opened.data.hints() == hints
        assert opened.session.ask() == asked
    with open_session(Request(str(data), labels="guess")) as opened:
        assert list(opened.session.state.answers()) == [], "the session says what they are for"
    with open_session(Request(str(data), labels="guess", labels_as="known")) as opened:
        assert len(list(opened.session.state.answers())) > 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": "guess", "labels_as": "gospel"}, "must be 'known' or 'hint', got 'gospel'"),
        ({"labels_as": "hint"}, "--labels-as needs the column of the labels"),
    ],
)
def test_labels_as_something_else_is_refused(data: Path, options, message) -> None:
    with pytest.raises(InvalidInputError, match=message):
        open_session(Request(str(data), id_column="name", **options))
    assert not Path(f"{data}.samecluster").exists()


def test_a_session_that_has_begun_takes_no_hints(data: Path) -> None:
    open_session(Request(str(data), id_column="name", ignore=["guess"])).session.close()
    with pytest.raises(InvalidInputError, match="--labels-as hint cannot change"):
        open_session(Request(str(data), labels="guess", labels_as="hint"))
