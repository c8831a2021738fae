"""The judge of claims: what is false is called false, and premises are judged by the truth."""

from dataclasses import replace

import numpy as np
import pytest

from samecluster import How, Recovery, recover
from samecluster.errors import InvalidInputError
from samecluster.instances import make_ellipsoids
from samecluster.proof.log import ProofLog
from samecluster.recovery.result.audit_report import AuditReport
from samecluster.testing import Held, JudgedClaim, check_claims
from tests.recovery.result.test_claims import by_hand

MADE = make_ellipsoids(n=120, d=2, k=3, random_state=0)


@pytest.fixture(scope="module")
def proven() -> Recovery:
    return recover(
        MADE.X, lambda i, j: MADE.labels[i] == MADE.labels[j], margin=1.0, random_state=0
    )


def judged(recovery: Recovery, truth: np.ndarray) -> dict[str, JudgedClaim]:
    return {one.claim.kind: one for one in check_claims(recovery, truth)}


def test_a_wrong_label_makes_a_certain_claim_false(proven) -> None:
    row = int(np.flatnonzero(proven.how_codes == How.PROVEN)[0])
    labels = proven.labels.copy()
    labels[row] = (labels[row] + 1) % 3
    found = judged(replace(proven, labels=labels), MADE.labels)
    assert found["proven"].is_false
    assert not found["asked"].is_false


def test_two_labels_of_one_cluster_make_it_false_and_are_the_premise_that_fails(proven) -> None:
    """The truth has two groups where the answers told three apart: then answers are wrong."""
    found = judged(proven, np.minimum(MADE.labels, 1))
    assert found["asked"].true is False
    assert found["asked"].held is Held.NO


def test_labels_that_nobody_compared_are_judged_as_such() -> None:
    told = by_hand([0, 0, 1, 1], How.PROVEN, [(0, 1, "same"), (2, 3, "same")])
    assert judged(told, np.zeros(4, int))["asked"].premises == (Held.NO, Held.YES)
    apart = judged(told, np.array([0, 0, 1, 1]))
    assert apart["asked"].held is Held.YES
    assert apart["asked"].true
    assert apart["uncompared"].true


def test_a_margin_that_does_not_hold_excuses_a_wrong_label(proven) -> None:
    row = int(np.flatnonzero(proven.how_codes == How.PROVEN)[0])
    truth = MADE.labels.copy()
    truth[row] = 3
    found = judged(proven, truth)
    assert found["proven"].true is False
    assert found["proven"].held is Held.NO


@pytest.mark.parametrize(
    ("gap", "resolution", "held"),
    [
        (3.0, 0.1, Held.YES),
        (1.5, 0.1, Held.NO),
        # The boundary of the group would have to be sharper than the resolution.
        (3.0, 9.0, Held.UNDECIDED),
    ],
)
def test_margins_are_judged_at_the_resolution_of_the_proof(gap, resolution, held) -> None:
    """Members at 0 and 2, others at 2+gap and further: around 1 the margin is (1+gap)² − 1."""
    X = np.array([[0.0], [2.0], [1.0], [2.0 + gap], [4.0 + gap]])
    truth = np.array([0, 0, 0, 1, 1])
    said = [(0, 1, "same"), (3, 4, "same"), (0, 3, "different")]
    log = ProofLog("", 8.0, None, np.array([resolution]))
    told = replace(by_hand(truth.tolist(), How.PROVEN, said, margin=8.0, proof=log), points=X)
    assert judged(told, truth)["proven"].premises == (held, Held.YES)


def test_without_points_a_margin_is_undecided(proven) -> None:
    no_points = replace(proven, points=None)
    assert judged(no_points, MADE.labels)["proven"].held is Held.UNDECIDED


def test_the_bound_of_an_audit_is_compared_with_the_number_of_wrong_labels() -> None:
    report = AuditReport(3, 1, 0.9, 3, 0, 1, True)
    said = [(0, 1, "same"), (1, 2, "different")]
    told = by_hand([0, 0, 1, 0, 0, 1], How.PREDICTED, said, audit=report)
    assert judged(told, np.array([0, 0, 1, 0, 1, 1]))["audit"].true
    wrong = judged(told, np.array([0, 0, 1, 1, 1, 1]))["audit"]
    assert wrong.is_false
    assert wrong.actual == 2


def test_a_prediction_is_not_refuted_by_one_case_but_its_error_is_told() -> None:
    told = by_hand([0, 0, 1, 0, 0, 1], How.PREDICTED, [(0, 1, "same"), (1, 2, "different")])
    found = judged(told, np.array([0, 0, 1, 1, 0, 1]))["predicted"]
    assert found.true is None
    assert found.actual == pytest.approx(1 / 3)


def test_the_truth_must_be_one_number_per_item(proven) -> None:
    with pytest.raises(InvalidInputError, match="truth must be 120 integers"):
        check_claims(proven, ["a", "b"])
