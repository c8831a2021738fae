"""More rows than are compared pair by pair: neighbours by faiss, and cells of their graph."""

import os
import sys

import numpy as np
import pytest

from samecluster import Recovery, clustering_error, recover
from samecluster.oracles import LabelOracle
from samecluster.recovery import distances
from samecluster.recovery.cluster_names import ClusterNames
from samecluster.recovery.distances import nearest, nearest_of_many
from samecluster.recovery.predict import core_set, model
from samecluster.recovery.predict.core_set import GraphCells

NOBODY = np.zeros(0, dtype=np.int64)


def bent(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 20) on three bent sheets of four dimensions, and which sheet each is on."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(3, size=n)
    maps = rng.normal(size=(3, 4, 20))
    flat = rng.normal(size=(n, 4))
    points = np.tanh((flat[:, None] @ maps[groups])[:, 0]) + 2.0 * groups[:, None]
    return points, groups


def test_nine_of_ten_neighbours_are_found_and_threads_make_no_difference(monkeypatch) -> None:
    points = bent(20_000, 0)[0].astype(np.float32)
    exact = nearest(points, points, 10, own=True)[0]
    monkeypatch.setattr(distances, "_ROWS_AT_ONCE", 3000)
    found = []
    for threads in (1, 4):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        found.append(nearest_of_many(points, 10))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)
    numbers, squares = found[0]
    assert not (numbers == np.arange(len(points))[:, None]).any()
    both = [len(set(a) & set(b)) for a, b in zip(numbers.tolist(), exact.tolist(), strict=True)]
    assert np.mean(both) >= 9.0
    apart = np.sum((points[numbers[:, 3]] - points) ** 2, axis=1)
    assert np.allclose(apart, squares[:, 3], rtol=1e-3, atol=1e-3)
    assert (np.diff(squares, axis=1) >= 0).all()


def test_where_cells_hold_too_few_a_point_stands_in_for_what_is_missing(monkeypatch) -> None:
    monkeypatch.setattr(distances, "_SEARCHED", 1)
    points = np.concatenate([np.zeros((300, 2)), 9.0 * np.eye(2)]).astype(np.float32)
    points[:300] += np.random.default_rng(0).normal(scale=0.01, size=(300, 2))
    numbers, squares = nearest_of_many(points, 10)
    assert (numbers >= 0).all()
    assert np.isfinite(squares).all()


@pytest.fixture
def cells() -> GraphCells:
    points, _ = bent(9000, 1)
    points[8000:] = points[:1000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_set, "_CELLS", 500)
        included = np.array([5, 11, 8011])
        return GraphCells.of(points.astype(np.float32), np.random.default_rng(0), included)


def test_every_row_is_in_a_cell_and_copies_are_in_one(cells) -> None:
    m = len(cells.core)
    assert 500 <= m <= 510
    assert np.array_equal(cells.place[cells.core], np.arange(m))
    assert np.array_equal(np.unique(cells.place), np.arange(m))
    assert np.array_equal(cells.place[8000:], cells.place[:1000])
    assert {5, 11} <= set(cells.core.tolist())


def test_cells_follow_the_edges_between_rows(cells) -> None:
    _, groups = bent(9000, 1)
    groups[8000:] = groups[:1000]
    assert np.mean(groups == groups[cells.core[cells.place]]) > 0.999
    links = cells.links.toarray()
    assert np.array_equal(links, links.T)
    assert not np.diagonal(links).any()
    own = groups[cells.core]
    assert links[own[:, None] != own].sum() < 0.001 * links.sum()


def test_rows_are_told_what_their_cells_and_those_around_say(cells) -> None:
    _, groups = bent(9000, 1)
    groups[8000:] = groups[:1000]
    chances = 0.04 + 0.88 * np.eye(3)[groups[cells.core]]
    found = cells.extended(chances)
    assert np.mean(found.argmax(axis=1) == groups) > 0.999
    assert np.allclose(found.sum(axis=1), 1.0, atol=1e-5)
    assert found.max() <= 0.92 + 1e-5  # no surer than cells are


def test_a_part_of_the_graph_that_no_drawn_row_is_in_gets_a_cell(monkeypatch) -> None:
    monkeypatch.setattr(core_set, "_CELLS", 20)
    points, _ = bent(4000, 2)
    points[:12] += 100.0
    for seed in range(3):
        found = GraphCells.of(points.astype(np.float32), np.random.default_rng(seed), NOBODY)
        assert not set(found.place[:12].tolist()) & set(found.place[12:].tolist())


def _found(questions: int) -> tuple[Recovery, np.ndarray]:
    points, groups = bent(9000, 3)
    groups[:12] = 3
    points[:12] += 30.0
    oracle = LabelOracle(groups)
    found = recover(points, oracle, method="predict", max_questions=questions, random_state=0)
    return found, groups


@pytest.fixture
def many(monkeypatch) -> None:
    """9,000 rows are too many to be compared pair by pair."""
    monkeypatch.setattr(core_set, "_LARGEST", 5500)
    monkeypatch.setattr(core_set, "_CELLS", 4500)


@pytest.mark.usefixtures("many")
def test_all_rows_are_modelled_and_threads_do_not_change_the_questions(monkeypatch) -> None:
    runs = []
    for threads in (1, 3):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        runs.append(_found(60))
    (first, groups), (second, _) = runs
    assert first.answers == second.answers
    assert np.array_equal(first.labels, second.labels)
    assert clustering_error(first.labels, groups) < 0.001
    assert not any("a sample of" in line for line in first.assumptions)


def _learn_next(predictor: model.Predictor, names: ClusterNames, groups: np.ndarray) -> None:
    item = predictor.next_item(names.name_of)
    assert item is not None
    mates = (name for other, name in names.name_of.items() if groups[other] == groups[item])
    name = next(mates, None)
    if name is None:
        names.found(item)
    else:
        names.add(item, name)
    predictor.learn(item)


def test_the_graph_comes_after_the_first_answers() -> None:
    """The first points need none, and it takes longer than all else."""
    points, groups = bent(4500, 4)
    names = ClusterNames()
    predictor = model.Predictor(points, names, np.random.default_rng(0))
    while predictor.is_starting:
        assert not predictor.rows.has_graph
        _learn_next(predictor, names, groups)
    assert predictor.rows.has_graph


@pytest.mark.usefixtures("many")
def test_rows_beside_an_asked_one_are_not_known(monkeypatch) -> None:
    """Whatever is said of their cell: they may be wrong, and nobody draws them any more."""
    points, groups = bent(9000, 5)
    names = ClusterNames()
    predictor = model.Predictor(points, names, np.random.default_rng(0))
    while predictor.rows.sizes is None or len(names.name_of) < 60:
        _learn_next(predictor, names, groups)
    asked = list(names.name_of)
    beside = np.isin(predictor.rows.place, predictor.rows.place[asked]).sum() - len(asked)
    assert beside > 0
    monkeypatch.setattr(predictor.core.track, "unseen", lambda: 0.0)
    assert predictor.unseen() == pytest.approx(beside / 9000)
    monkeypatch.setattr(predictor.core, "right", lambda chances: np.zeros(len(chances)))
    assert predictor.expected_error == pytest.approx(1.0 - len(asked) / 9000)


@pytest.mark.usefixtures("many")
def test_without_the_library_a_sample_is_modelled_and_said(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    found, _ = _found(60)
    (told,) = [line for line in found.assumptions if "a sample of 5,000 rows" in line]
    assert "a small group may be missed" in told
    assert "pip install samecluster[neighbours]" in told
