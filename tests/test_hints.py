"""Hints only choose questions: wrong ones cost some, and never a label or a proof."""

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
