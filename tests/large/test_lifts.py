"""Rings in blocks: the same questions and proofs as in memory, lifted block by block."""

from typing import Any

import numpy as np
import pytest

from samecluster import clustering_error, recover, recover_large
from samecluster.errors import InvalidInputError
from samecluster.instances import make_rings
from samecluster.oracles import LabelOracle
from samecluster.proof.checker import check
from samecluster.proof.files import read_lines
from samecluster.testing import check_claims
from tests.cases.campaign import LONG

MADE = make_rings(30_000, random_state=0)
ORACLE = LabelOracle(MADE.labels)


def same_groups(labels: Any) -> bool:
    return len(set(zip(labels.tolist(), MADE.labels.tolist(), strict=True))) == 2


def test_blocks_ask_what_memory_asks_and_the_proof_of_all_rows_holds(tmp_path) -> None:
    declared: dict[str, Any] = {"margin": 2.0, "lift": "quadratic", "random_state": 0}
    inside = recover(MADE.X, ORACLE, **declared)
    found = recover_large(
        MADE.X, ORACLE, sample=5_000, block=7_000, proof=tmp_path / "proof.parquet", **declared
    )
    assert [a.question for a in found.answers] == [a.question for a in inside.answers]
    assert set(np.unique(found.how_codes)) == set(np.unique(inside.how_codes))
    assert same_groups(found.labels)
    verified = check(MADE.X, read_lines(tmp_path / "proof.parquet"))
    assert (verified.labels >= 0).all()
    assert "in the quadratic lift of columns 0, 1" in found.assumptions[-1]
    assert all(one.true for one in check_claims(found, MADE.labels, MADE.X))


@pytest.mark.skipif(not LONG, reason="takes longer than all others here")
def test_54_lifted_columns_in_blocks(tmp_path) -> None:
    made, path = make_rings(4_000, 2, 9, random_state=0), tmp_path / "proof.parquet"
    found = recover_large(
        made.X,
        LabelOracle(made.labels),
        n_clusters=2,
        margin=made.margin,
        lift="quadratic",
        sample=500,
        block=900,
        proof=path,
        random_state=0,
    )
    assert (check(made.X, read_lines(path)).labels >= 0).all()
    assert made.margin_holds()
    assert clustering_error(np.asarray(found.labels), made.labels) == 0
    assert found.n_questions <= 112


def test_with_a_guessed_margin_other_rows_follow_in_the_lift() -> None:
    found = recover_large(
        MADE.X, ORACLE, n_clusters=2, lift="quadratic", sample=5_000, random_state=0
    )
    assert same_groups(found.labels[found.labels >= 0]) or np.mean(found.labels < 0) < 0.01
    assert found.n_questions < 60


def test_dask_lifts_where_the_data_lives() -> None:
    array = pytest.importorskip("dask.array")
    found = recover_large(
        array.from_array(MADE.X, chunks=(9_000, 2)),
        ORACLE,
        margin=2.0,
        lift="quadratic",
        sample=5_000,
        random_state=0,
    )
    assert same_groups(found.labels)
    assert found.n_questions == 11


def test_a_function_can_lift_blocks_but_not_be_stated_in_their_proof(tmp_path) -> None:
    def squares(points):
        return np.column_stack([points, (points**2).sum(axis=1)])

    declared: dict[str, Any] = {"margin": 2.0, "lift": squares, "sample": 5_000, "random_state": 0}
    assert same_groups(recover_large(MADE.X, ORACLE, **declared).labels)
    with pytest.raises(InvalidInputError, match="a function cannot be stated"):
        recover_large(MADE.X, ORACLE, proof=tmp_path / "proof.parquet", **declared)


def test_auto_is_refused_and_says_what_to_do() -> None:
    with pytest.raises(InvalidInputError, match="find a lift with recover on a sample"):
        recover_large(MADE.X, ORACLE, lift="auto", sample=5_000, random_state=0)
