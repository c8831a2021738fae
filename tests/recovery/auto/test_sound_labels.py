"""What results say about labels that nobody asked about, split groups, and refuted proofs."""

from typing import Any

import numpy as np
import pytest

from samecluster import Certify, Verdict, clustering_error, recover
from samecluster.errors import RefutedError
from samecluster.proof.checker import check
from samecluster.recovery.result.how import How

NUMPY = Certify(kernel="numpy", effort="fast")


def same(truth):
    return lambda i, j: bool(truth[i] == truth[j])


def two_sides(seed, n=60):
    """A group on both sides of another one."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.uniform(-1, 1, (n, 2)) + np.array([at, 0]) for at in (-6, 6, 0)])
    return X, np.repeat([0, 0, 1], n)


def test_a_point_that_only_a_count_names_is_proven_not_asked() -> None:
    X, truth = np.array([[0.0, 0], [1, 0], [50, 50]]), np.array([0, 0, 1])
    found = recover(X, same(truth), margin=1.0, n_clusters=3, method=NUMPY, random_state=0)
    assert found.n_questions == 0
    assert found.count(How.PROVEN) == 3
    assert "nobody was asked" in found.explain(0)
    assert any("exactly 3 clusters" in line for line in found.assumptions)
    assert found.proof is not None
    assert (check(X, found.proof.lines()).labels >= 0).all()


def test_an_audit_compares_founders_that_nobody_was_asked_about() -> None:
    X, truth = np.array([[0.0, 0], [1, 0], [50, 50]]), np.array([0, 0, 1])
    declared: dict[str, Any] = {"margin": 1.0, "n_clusters": 3, "method": NUMPY, "random_state": 0}
    found = recover(X, same(truth), audit=(0.01, 0.95), **declared)
    assert clustering_error(found.labels, truth) == 0
    assert "2 clusters were found where 3 were declared." in found.assumptions


def test_every_asked_label_is_of_an_item_in_an_answer() -> None:
    X, truth = two_sides(0)
    found = recover(X[60:], same(truth[60:]), margin=0.5, method=NUMPY, random_state=0)
    told = {item for answer in found.answers for item in answer.question.pair}
    assert told.issuperset(np.flatnonzero(found.how == "asked").tolist())


@pytest.mark.parametrize("seed", range(3))
def test_a_group_on_two_sides_refutes_a_declared_margin_before_an_audit_reports(seed) -> None:
    X, truth = two_sides(seed)
    declared: dict[str, Any] = {"margin": 1.0, "method": NUMPY, "random_state": seed}
    assert clustering_error(recover(X, same(truth), **declared).labels, truth) > 0.3
    with pytest.raises(RefutedError):
        recover(X, same(truth), audit=(0.05, 0.95), **declared)


@pytest.mark.parametrize("seed", range(3))
def test_with_nothing_declared_a_group_on_two_sides_is_found_to_be_one(seed) -> None:
    X, truth = two_sides(seed, n=150)
    found = recover(X, same(truth), method=NUMPY, random_state=seed)
    assert clustering_error(found.labels, truth) < 0.05


def test_an_audit_answer_against_a_proven_label_refutes_the_margin() -> None:
    rng = np.random.default_rng(4)
    X = np.vstack([rng.uniform(-1, 1, (200, 2)), rng.uniform(-1, 1, (200, 2)) + np.array([6, 0])])
    truth = np.repeat([0, 1], 200)
    flip = rng.choice(400, 12, replace=False)
    truth[flip] = 1 - truth[flip]
    with pytest.raises(RefutedError):
        recover(X, same(truth), margin=1.0, audit=(0.05, 0.95), method=NUMPY, random_state=4)


def test_clusters_that_nobody_could_compare_are_named() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.uniform(-1, 1, (60, 2)) + at for at in ([0, 0], [8, 0], [0, 40])])
    box = np.repeat([0, 1, 2], 60)

    def oracle(i, j):
        return Verdict.UNSURE if {box[i], box[j]} == {0, 1} else Verdict.of(bool(box[i] == box[j]))

    found = recover(X, oracle, margin=0.3, audit=(0.05, 0.9), method=NUMPY, random_state=0)
    assert len(set(found.labels)) == 3
    assert any(line.startswith("Nobody has told clusters") for line in found.assumptions)
    assert found.audit is not None
    assert found.audit.gap.n_pairs == 1
    assert not found.audit.met


def test_more_clusters_than_declared_are_said_where_no_margin_is() -> None:
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 200)
    X = rng.uniform(-1, 1, (600, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[truth]
    found = recover(X, same(truth), n_clusters=2, method=NUMPY, random_state=0)
    assert clustering_error(found.labels, truth) == 0
    assert "3 clusters were found where 2 were declared." in found.assumptions
