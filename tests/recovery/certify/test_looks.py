"""Certify by looks: a sheet spans a cluster, a board tells all apart; the proof is one of pairs."""

import numpy as np
import pytest

import samecluster
from samecluster.instances import make_ellipsoids
from samecluster.oracles import FunctionOracle, LabelOracle
from samecluster.proof.checker import check
from samecluster.questions.look import Board, CheckSheet, Choice, LookSizes, Sheet

MADE = {d: make_ellipsoids(n=20_000, d=d, k=5, margin=1.0, random_state=d) for d in (2, 4)}


def found(d: int, **settings):
    made = MADE[d]
    settings = {"oracle": LabelOracle(made.labels), "looks": "auto", **settings}
    return samecluster.recover(made.X, margin=1.0, random_state=0, **settings)


@pytest.mark.parametrize("d", [2, 4])
@pytest.mark.parametrize(("k", "most"), [(5, 6), (None, 7)])
def test_a_look_per_cluster_and_one_for_all_prove_every_label(d, k, most) -> None:
    recovery = found(d, n_clusters=k)
    assert samecluster.clustering_error(recovery.labels, MADE[d].labels) == 0.0
    assert set(recovery.how) == {"asked", "proven"}
    assert recovery.n_looks <= most
    assert check(MADE[d].X, recovery.proof.lines()).all_different
    by_pairs = found(d, n_clusters=k, looks="pairs")
    boards_aside = sum(not isinstance(answer.look, Board) for answer in recovery.answers)
    assert boards_aside <= 1.15 * by_pairs.n_questions
    assert by_pairs.n_looks == by_pairs.n_questions


def test_a_sheet_is_not_filled_beyond_what_spans_the_cluster() -> None:
    sheets = {answer.look for answer in found(4, n_clusters=5).answers}
    assert {len(sheet.items) for sheet in sheets if isinstance(sheet, Sheet)} == {4}


def test_points_of_other_clusters_are_placed_by_choices() -> None:
    rng = np.random.default_rng(0)
    hints = rng.integers(0, 3, len(MADE[2].X))  # worthless, so that sheets hold what is marked
    recovery = found(2, hint=hints)
    assert samecluster.clustering_error(recovery.labels, MADE[2].labels) == 0.0
    assert any(isinstance(answer.look, Choice) for answer in recovery.answers)


def test_an_oracle_without_a_kind_of_look_is_asked_pairs_for_it() -> None:
    labels = MADE[2].labels
    truth = LabelOracle(labels)
    plain = found(2, oracle=lambda i, j: bool(labels[i] == labels[j]))
    assert plain.answers == found(2, looks="pairs").answers
    some = found(
        2, oracle=FunctionOracle(lambda i, j: bool(labels[i] == labels[j]), sort=truth.sort)
    )
    assert {type(answer.look) for answer in some.answers} == {Sheet, type(None)}


def test_a_budget_of_looks_is_kept() -> None:
    recovery = found(2, max_looks=2)
    assert recovery.n_looks == 2
    assert (recovery.labels >= 0).all()


def test_sizes_are_kept() -> None:
    recovery = found(4, n_clusters=5, looks=LookSizes(sheet=2))
    assert {len(a.look.items) for a in recovery.answers if isinstance(a.look, Sheet)} == {2}
    assert samecluster.clustering_error(recovery.labels, MADE[4].labels) == 0.0


def test_where_the_reach_stalls_a_point_of_each_cluster_is_on_one_sheet() -> None:
    """Few points in many columns: their spread ones do not reach the rest."""
    made = make_ellipsoids(n=2_000, d=6, k=4, margin=1.0, random_state=0)
    by_looks, by_pairs = (
        samecluster.recover(
            made.X, LabelOracle(made.labels), margin=1.0, looks=looks, random_state=0
        )
        for looks in ("auto", "pairs")
    )
    assert samecluster.clustering_error(by_looks.labels, made.labels) == 0.0
    sheets = {answer.look for answer in by_looks.answers if isinstance(answer.look, CheckSheet)}
    assert sheets
    assert max(len(sheet.cells) for sheet in sheets) >= 3
    beside_boards = sum(not isinstance(answer.look, Board) for answer in by_looks.answers)
    assert beside_boards <= 1.15 * by_pairs.n_questions
    assert by_looks.n_looks <= by_pairs.n_questions / 4
    assert by_looks.proof is not None
    assert check(made.X, by_looks.proof.lines()).all_different
