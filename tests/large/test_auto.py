"""Data in blocks without a margin, and audits of its labels."""

from typing import Any

import numpy as np
import pytest

from samecluster import Certify, How, clustering_error
from samecluster.instances import make_ellipsoids
from samecluster.large.api import recover_large
from samecluster.large.result import LargeRecovery
from samecluster.oracles import LabelOracle
from samecluster.oracles.functions import RowOracle

MADE = make_ellipsoids(12_000, 3, 3, random_state=4)
RNG = np.random.default_rng(0)
BLOBS = np.concatenate([RNG.normal(size=(4_000, 12)) + 9.0 * at for at in range(3)])


def recovered(X: Any, labels: Any, **options: Any) -> LargeRecovery:
    settings: dict[str, Any] = {
        "random_state": 0,
        "sample": 3_000,
        "block": 1_000,
        "method": Certify(kernel="numpy"),
    }
    return recover_large(X, LabelOracle(labels), **settings | options)


def test_a_margin_is_guessed_on_the_sample_and_infers_the_rest() -> None:
    """Nothing is claimed to be proven; neither blocks nor threads make a difference."""
    found = recovered(MADE.X, MADE.labels)
    assert found.search is not None
    assert found.search.margin is not None
    assert found.margin == found.search.margin
    assert not found.count(How.PROVEN)
    assert found.count(How.INFERRED) > 10_000
    assert clustering_error(found.labels, MADE.labels) < 0.001
    again = recovered(MADE.X, MADE.labels, block=777, threads=1)
    assert again.answers == found.answers
    assert (again.labels == found.labels).all()
    assert (again.how_codes == found.how_codes).all()


def test_where_no_margin_helps_the_rest_is_predicted() -> None:
    """Few points in many columns: clouds of the sample's labels say where other rows belong."""
    truth = np.repeat([0, 1, 2], 4_000)
    found = recovered(BLOBS, truth, sample=400)
    assert found.search is not None
    assert found.search.margin is None
    assert found.count(How.PREDICTED) > 11_000
    assert not found.count(How.INFERRED)
    assert clustering_error(found.labels, truth) < 0.01


def test_rows_far_from_everything_get_no_label() -> None:
    X = np.concatenate([MADE.X, MADE.X.max(axis=0) + 1e3 * (1 + np.arange(3)[:, None])])
    labels = np.concatenate([MADE.labels, [7, 8, 9]])
    options: dict[str, Any] = {"sample": 500, "random_state": 3}
    found = recovered(X, labels, **options)
    apart = found.labels[-3:] < 0
    assert apart.all()


@pytest.mark.parametrize("margin", [1.0, "auto"])
def test_an_audit_bounds_the_share_of_wrong_labels(margin) -> None:
    """By questions about random rows of all the data, wherever they are."""
    found = recovered(MADE.X, MADE.labels, margin=margin, n_clusters=3, audit=(0.02, 0.95))
    assert found.audit is not None
    assert found.audit.met
    assert found.audit.n_audits > 50
    assert found.count(How.ASKED) > found.audit.n_audits
    audited = [answer.question.pair for answer in found.answers[-50:]]
    assert len({row for pair in audited for row in pair}) > 50
    assert clustering_error(found.labels, MADE.labels) < 0.001


def test_an_audit_does_not_claim_what_is_not_so() -> None:
    """Labels by clouds where a tenth of the rows follows no cloud: the bound is above the truth."""
    truth = np.repeat([0, 1, 2], 4_000)
    odd = np.random.default_rng(1).random(12_000) < 0.1
    truth = np.where(odd, (truth + 1) % 3, truth)
    found = recovered(BLOBS, truth, sample=400, audit=(0.02, 0.95))
    assert found.audit is not None
    assert not found.audit.met
    wrong = clustering_error(found.labels, truth) * 12_000
    assert found.audit.n_wrong_at_most >= wrong


def test_rows_outside_the_sample_are_shown_to_whoever_audits(tmp_path) -> None:
    np.save(tmp_path / "points.npy", MADE.X)
    place = {row.tobytes(): label for row, label in zip(MADE.X, MADE.labels, strict=True)}
    found = recover_large(
        tmp_path / "points.npy",
        RowOracle(lambda x, y: bool(place[x.tobytes()] == place[y.tobytes()])),
        n_clusters=3,
        margin=1.0,
        sample=500,
        random_state=0,
        audit=(0.05, 0.9),
        method=Certify(kernel="numpy"),
    )
    assert found.audit is not None
    assert found.audit.met
