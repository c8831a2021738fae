"""Columns and bases by direction: they show nothing that is out of reach, and nearly all else."""

import numpy as np
import pytest

from samecluster.geometry.reach.checks import confirmed, limit_for
from samecluster.geometry.reach.column_subsets import ColumnSubsets
from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.members import MemberColumns
from tests.cases.reach_cases import both_kernels, gauge


@both_kernels
@pytest.mark.parametrize("with_basis", [False, True])
@pytest.mark.parametrize("d", [2, 4])
def test_what_is_shown_is_in_reach_and_hardly_anything_is_missed(d, with_basis, compiled) -> None:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(420, d)) / 3
    extent, margin = np.ptp(X, axis=0), 1.0
    cluster = MemberColumns(X, 1e-9 * extent, 0, extent)
    for point in range(1, d + 2):
        cluster.ask(point)
    cluster.append(np.arange(d + 2, 300))
    cluster.whiten()
    kernel, bound, limit = Kernel(compiled), float(np.sqrt(1 + margin)), limit_for(margin)
    cluster.programs.deepen(kernel, bound)
    subsets = ColumnSubsets(
        cluster, cluster.whitening.lift(X[:300]).astype(np.float32), kernel, bound
    )
    points = cluster.whitening.lift(np.vstack([X[300:], 3 * X[300:]]))
    order, shown, basis = subsets.show(kernel, cluster, points, bound, limit, with_basis)
    assert sorted(order.tolist()) == list(range(240))
    for at in np.flatnonzero(shown)[::40]:
        assert gauge(cluster.columns, points[order[at]]) <= bound * (1 + 1e-9)
    missed = [gauge(cluster.columns, points[order[at]]) for at in np.flatnonzero(~shown)]
    assert np.count_nonzero(np.array(missed) < bound * (1 - 1e-3)) <= 0.02 * shown.sum()
    assert shown.sum() > 110
    if with_basis:
        inverse = np.linalg.inv(cluster.columns[basis[shown]].transpose(0, 2, 1))
        target = points[order[shown]]
        args = target, basis[shown], inverse, cluster.columns, cluster.whitening.noise, limit
        assert confirmed(*args).all()


def test_a_direction_without_members_begins_in_a_basis_of_the_cluster() -> None:
    """All known points on one side: programs on the other side begin somewhere, and are right."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) / 3
    extent = np.ptp(X, axis=0)
    cluster = MemberColumns(X, 1e-9 * extent, 0, extent)
    cluster.append(np.arange(1, 200))
    cluster.whiten()
    kernel, bound, limit = Kernel(None), float(np.sqrt(2.0)), limit_for(1.0)
    lifted = cluster.whitening.lift(X)
    right = lifted[:, 0] > cluster.whitening.mean[0]
    subsets = ColumnSubsets(cluster, lifted[right].astype(np.float32), kernel, bound)
    _, shown, _ = subsets.show(kernel, cluster, lifted, bound, limit, False)
    assert shown.mean() > 0.9
