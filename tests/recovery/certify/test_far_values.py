"""Values far beyond all others: no proven label is wrong, and labels are exact all the same.

The margin of every family holds by construction, at any resolution below a tenth of its unit.
"""

from __future__ import annotations

import numpy as np
import pytest

from samecluster import Certify, How, Recovery, clustering_error, recover, start
from samecluster._typing import FloatArray, IntArray
from samecluster.errors import FarValuesWarning
from samecluster.proof.checker import check
from tests.cases.campaign import runs

SIZES = (1e6, 1e7, 1e9, 1e12, 1e15, 1e18, 1e30, 1e100, 1e300)


def balls(rng: np.random.Generator, n: int, d: int, k: int) -> tuple[FloatArray, IntArray]:
    """Balls of radius 1 around centres at least 6 apart: margin 24."""
    centres = np.zeros((k, d))
    centres[:, 0] = 7.0 * np.arange(k)
    centres[:, 1:] = rng.uniform(-9, 9, size=(k, d - 1))
    labels = np.append(np.arange(k), rng.integers(k, size=n - k))
    away = rng.normal(size=(n, d))
    away *= (rng.uniform(size=n) ** (1 / d) / np.linalg.norm(away, axis=1))[:, None]
    return centres[labels] + away, labels


def with_far_group(rng: np.random.Generator, n: int, d: int, k: int) -> tuple[FloatArray, IntArray]:
    """Rows with one far value in one column are a group of their own: a thin slab around it."""
    X, labels = balls(rng, n, d, k)
    rows = rng.permutation(np.arange(k, n))[: rng.integers(1, max(2, n // 20))]
    X[rows, rng.integers(d)] = rng.choice([-1.0, 1.0]) * rng.choice(SIZES)
    labels[rows] = k
    return X, labels


def with_far_members(
    rng: np.random.Generator, n: int, d: int, k: int
) -> tuple[FloatArray, IntArray]:
    """Far values in a column that says nothing; rows stay in their groups, balls in the others."""
    X, labels = balls(rng, n, d, k)
    rows = rng.permutation(n)[: rng.integers(1, max(2, n // 20))]
    noise = rng.normal(size=n)
    noise[rows] = rng.choice([-1.0, 1.0], size=len(rows)) * rng.choice(SIZES, size=len(rows))
    return np.insert(X, rng.integers(d + 1), noise, axis=1), labels


def recovered(X: FloatArray, y: IntArray, k: int | None, seed: int, **settings: object) -> Recovery:
    return recover(
        X,
        lambda i, j: bool(y[i] == y[j]),
        n_clusters=k,
        margin=1.0,
        method=Certify(**settings),  # type: ignore[arg-type]
        random_state=seed,
    )


@pytest.mark.filterwarnings("ignore::samecluster.errors.FarValuesWarning")
@pytest.mark.parametrize("family", [with_far_group, with_far_members])
def test_labels_are_exact_with_far_values_in_any_column(family) -> None:
    for seed in range(runs(12, 600)):
        rng = np.random.default_rng(seed)
        n, d, k = int(rng.choice([40, 100])), int(rng.integers(1, 4)), int(rng.integers(2, 4))
        X, y = family(rng, n, d, k)
        declared = len(set(y.tolist())) if seed % 2 else None
        effort = str(rng.choice(["fast", "auto", "thorough"]))
        found = recovered(X, y, declared, seed, effort=effort)
        assert clustering_error(found.labels, y) == 0, seed
        assert found.proof is not None
        shown = check(X, found.proof.lines())
        for name in range(shown.n_clusters):
            assert len(set(y[shown.labels == name].tolist())) <= 1, seed


@pytest.mark.filterwarnings("ignore::samecluster.errors.FarValuesWarning")
def test_one_far_value_is_a_point_like_any_other() -> None:
    """Two groups and a value of 1e12; two columns of which the one with it tells groups apart."""
    rng = np.random.default_rng(0)
    first, second = rng.uniform(0, 1, 60), rng.uniform(10, 11, 60)
    y = np.repeat([0, 1, 2], [60, 60, 1])
    alone = np.append(np.append(first, second), 1e12)[:, None]
    found = recovered(alone, y, None, 0)
    assert clustering_error(found.labels, y) == 0
    assert found.count(How.PROVEN) > 100
    beside = np.column_stack([rng.uniform(0, 1, 121), alone[:, 0]])
    beside[-1] = 0.5, 1e18
    assert clustering_error(recovered(beside, y, None, 0).labels, y) == 0


@pytest.mark.parametrize("power", [1000.0, -1050.0, -900.0])
def test_very_large_and_very_small_numbers(power) -> None:
    """Around 1e301 and down to numbers with few bits left."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 20)
    values = np.append(rng.integers(-90, -60, 20), rng.integers(60, 90, 20))
    X = np.ldexp(np.column_stack([values, rng.integers(-90, 90, 40)]).astype(float), int(power))
    for scaled in (X, X[:, :1], X * 0.99):
        found = recovered(scaled, y, 2, 0)
        assert clustering_error(found.labels, y) == 0
        assert found.proof is not None
        assert check(scaled, found.proof.lines()).all_different


def test_the_largest_numbers_there_are() -> None:
    rng = np.random.default_rng(2)
    X = np.append(rng.uniform(0.9e308, 1e308, 20), rng.uniform(-1e308, -0.9e308, 20))[:, None]
    y = np.repeat([0, 1], 20)
    assert clustering_error(recovered(X, y, None, 0).labels, y) == 0
    few = np.array([[1e308], [-1e308], [0.0]])
    assert clustering_error(recovered(few, np.array([0, 1, 1]), None, 0).labels, [0, 1, 1]) == 0


def test_a_resolution_of_zero_is_the_papers_margin() -> None:
    """Full-rank groups are proven as before; nothing rests on a resolution, which is said."""
    X, y = balls(np.random.default_rng(3), 200, 3, 3)
    found = recovered(X, y, None, 0, resolution=0)
    assert clustering_error(found.labels, y) == 0
    assert found.count(How.PROVEN) > 150
    assert found.proof is not None
    assert not found.proof.resolution.any()
    assert check(X, found.proof.lines(), resolution=0.0).n_clusters == 3
    usual = recovered(X, y, None, 0)
    assert found.n_questions <= usual.n_questions + 2
    # In a plane nothing is exactly in the span of others, so that nearly all is asked.
    flat = np.column_stack([X[:, :2], X[:, :2] @ [0.3, 0.7]])[:60]
    assert clustering_error(recovered(flat, y[:60], None, 0, resolution=0).labels, y[:60]) == 0


@pytest.mark.filterwarnings("ignore::samecluster.errors.FarValuesWarning")
def test_a_plane_and_one_far_value() -> None:
    """Rank 2 in four columns, and 1e12: the first basis looked singular."""
    rng = np.random.default_rng(4)
    X, y = balls(rng, 150, 2, 3)
    X = X @ rng.normal(size=(2, 4))
    X[9, 2] = 1e12
    y[9] = 3
    found = recovered(X, y, None, 0)
    assert clustering_error(found.labels, y) == 0
    assert found.count(How.PROVEN) > 100


def test_far_values_are_warned_of_by_column_and_row() -> None:
    X, _ = balls(np.random.default_rng(5), 60, 2, 2)
    X[7, 1] = -9.2e18
    with pytest.warns(FarValuesWarning, match=r"Column 1 is far beyond .* in row 7: -9.2e\+18"):
        start(X, margin=1.0)
    pd = pytest.importorskip("pandas")
    with pytest.warns(FarValuesWarning, match="Column 'b'"):
        start(pd.DataFrame(X, columns=["a", "b"]), margin=1.0)
