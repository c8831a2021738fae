"""The guide that follows curved groups: what it finds, and how few questions are needed with it."""

import numpy as np
import pytest

from samecluster import recover
from samecluster.instances import make_moons_with_margin, make_nested, make_rings, make_spirals
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check
from samecluster.recovery.certify.guide.connected_groups import connected_groups


def test_groups_that_hang_together_are_found_whatever_their_shape() -> None:
    made = make_rings(2_000, 3, random_state=0)
    groups = connected_groups(made.X, None)
    assert groups is not None
    pairs = set(zip(groups.tolist(), made.labels.tolist(), strict=True))
    assert len(pairs) == 3
    assert connected_groups(made.X, 2) is None


@pytest.mark.parametrize("points", ["one cloud", "few", "equal"])
def test_what_does_not_tell_is_not_used(points) -> None:
    X = np.random.default_rng(0).normal(size=(500, 2))
    X = {"one cloud": X, "few": X[:20], "equal": np.ones((500, 2))}[points]
    assert connected_groups(X, None) is None


GOALS = {
    "two rings": (lambda: make_rings(10_000, random_state=0), 10, 11),
    "three rings": (lambda: make_rings(10_000, 3, random_state=0), 16, 18),
    "moons": (lambda: make_moons_with_margin(10_000, random_state=0), 10, 11),
    "spirals": (lambda: make_spirals(10_000, random_state=0), 10, 11),
    "a whole turn": (lambda: make_spirals(10_000, turns=1.0, random_state=0), 10, 12),
    "shells": (lambda: make_rings(10_000, 2, 3, random_state=0), 18, 19),
    "nested": (lambda: make_nested(10_000, random_state=0), 35, 60),
}


@pytest.mark.parametrize("name", GOALS)
def test_few_questions_prove_everything(name) -> None:
    make, with_k, without_k = GOALS[name]
    made = make()
    for k, most in ((made.n_clusters, with_k), (None, without_k)):
        found = recover(
            made.X,
            LabelOracle(made.labels),
            n_clusters=k,
            margin=made.margin,
            lift=made.lift,
            random_state=0,
        )
        assert set(found.how) == {"asked", "proven"}
        assert found.n_questions <= most
        assert found.proof is not None
        labels = check(made.X, found.proof.lines()).labels
        pairs = set(zip(labels.tolist(), made.labels.tolist(), strict=True))
        assert len(pairs) == made.n_clusters
