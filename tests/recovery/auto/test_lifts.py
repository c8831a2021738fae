"""Nothing declared, and clusters that no ellipsoid separates: lifts are guessed, never trusted."""

import pytest

from samecluster import clustering_error, recover, start
from samecluster.errors import InvalidInputError
from samecluster.instances import (
    make_ellipsoids,
    make_moons_with_margin,
    make_nested,
    make_rings,
    make_spirals,
)
from samecluster.oracles import LabelOracle
from samecluster.testing import check_claims

MOST = {
    "rings": (lambda: make_rings(5_000, random_state=0), 31),
    "moons": (lambda: make_moons_with_margin(5_000, random_state=0), 31),
    "spirals": (lambda: make_spirals(5_000, turns=1.0, random_state=0), 32),
    "shells": (lambda: make_rings(5_000, 2, 3, random_state=0), 39),
}


@pytest.mark.parametrize("name", MOST)
def test_curved_groups_are_inferred_with_few_questions(name) -> None:
    make, most = MOST[name]
    made = make()
    found = recover(made.X, LabelOracle(made.labels), lift="auto", random_state=0)
    assert clustering_error(found.labels, made.labels) == 0.0
    assert set(found.how) == {"asked", "inferred"}
    assert found.n_questions <= most
    assert found.search is not None
    assert "in the quadratic lift of columns 0, 1" in str(found.search)
    assert any("guessed margin" in line and "quadratic lift" in line for line in found.assumptions)
    assert not any(one.is_false for one in check_claims(found, made.labels))


def test_after_the_columns_as_they_are_fail_the_next_degree_is_tried() -> None:
    """The graph of neighbours does not tell these two apart, so nothing suggests a lift."""
    made = make_nested(4_000, random_state=1)
    found = recover(made.X, LabelOracle(made.labels), lift="auto", random_state=1)
    assert clustering_error(found.labels, made.labels) == 0.0
    assert found.lift is not None
    assert found.n_questions <= 110
    assert "proven" not in set(found.how)


def test_ellipsoids_need_no_lift_and_ask_what_they_asked() -> None:
    made = make_ellipsoids(3_000, 2, 3, random_state=0)
    plain = recover(made.X, LabelOracle(made.labels), random_state=0)
    found = recover(made.X, LabelOracle(made.labels), lift="auto", random_state=0)
    assert found.lift is None
    assert [a.question for a in found.answers] == [a.question for a in plain.answers]


def test_where_proofs_do_not_pay_a_lift_does_not_either() -> None:
    made = make_rings(200, random_state=0)
    found = recover(made.X, LabelOracle(made.labels), lift="auto", random_state=0)
    assert clustering_error(found.labels, made.labels) < 0.05
    assert "proven" not in set(found.how)


def test_a_declared_margin_needs_a_declared_lift() -> None:
    with pytest.raises(InvalidInputError, match="a declared margin is one in a declared lift"):
        start(make_rings(200, random_state=0).X, margin=1.0, lift="auto")
