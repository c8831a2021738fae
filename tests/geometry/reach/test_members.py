"""Members as columns: coordinates, witnesses, and what happens to them as the data changes."""

import pickle
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samecluster._typing import FloatArray
from samecluster.geometry.reach.kernel import Kernel
from samecluster.geometry.reach.linear_programs import REJECTED
from samecluster.geometry.reach.members import MemberColumns
from samecluster.geometry.reach.programs import row_scaled_inverse, spread_basis
from samecluster.geometry.reach.slabs import unit_directions
from tests.cases.reach_cases import gauge, lifted

seeds = st.integers(0, 10**6)


def cloud(seed: int, n: int = 60, d: int = 2) -> FloatArray:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.normal(size=(n, d)) @ rng.normal(size=(d, d)))


def cluster_of(X: FloatArray, asked: list[int]) -> MemberColumns:
    extent = np.ptp(X, axis=0)
    cluster = MemberColumns(X, 1e-9 * extent, asked[0], extent)
    for point in asked[1:]:
        cluster.ask(point)
    return cluster


def gauges(cluster: MemberColumns, points: FloatArray) -> list[float]:
    return [gauge(cluster.columns, target) for target in cluster.whitening.lift(points)]


@given(seeds, st.integers(1, 4))
def test_the_gauge_does_not_depend_on_the_coordinates(seed, d) -> None:
    X = cloud(seed, 20, d)
    asked = list(range(d + 4))
    assume(np.linalg.cond(lifted(X[: d + 1])) < 1e3)
    columns = lifted(X[asked])
    for y, found in zip(X[17:], gauges(cluster_of(X, asked), X[17:]), strict=True):
        assert found == pytest.approx(gauge(columns, np.append(y, 1.0)), rel=1e-5)


def test_columns_are_the_resolution_and_then_the_members() -> None:
    X = cloud(0)
    cluster = cluster_of(X, [3, 1, 4])
    assert cluster.ids.tolist() == [-1, -2, 3, 1, 4]
    assert cluster.members.tolist() == cluster.asked == [3, 1, 4]
    assert cluster.columns[:2].tolist() == [
        [*(cluster.tau[j] * cluster.whitening.T[j]), 0] for j in range(2)
    ]
    assert (cluster.columns[2:] == cluster.whitening.lift(X[[3, 1, 4]])).all()


def test_the_noise_covers_columns_of_a_resolution_above_the_range() -> None:
    """Rows of one value, or of a subset of the data in which a column hardly varies."""
    X = cloud(8) * [1.0, 1e-12]
    cluster = MemberColumns(X, np.array([1e-9, 1.0]), 0, np.ptp(X, axis=0))
    for axis in range(2):
        tau = Fraction(float(cluster.tau[axis]))
        for r, noise in enumerate(cluster.whitening.noise[:-1].tolist()):
            true = tau * Fraction(float(cluster.whitening.T[axis, r]))
            assert abs(Fraction(float(cluster.columns[axis, r])) - true) <= Fraction(noise)
    assert (
        cluster.whitening.noise[:-1] >= 2.0**-53 * (cluster.tau @ np.abs(cluster.whitening.T))
    ).all()


def test_a_cluster_that_absorbs_another_has_the_members_of_both_once() -> None:
    X = cloud(1)
    kept, gone = cluster_of(X, [0, 1, 2, 3]), cluster_of(X, [10, 11, 12])
    kept.append(np.array([20]))
    gone.append(np.array([20, 21]))
    before = kept.added
    kept.absorb(gone)
    assert kept.asked == [0, 1, 2, 3, 10, 11, 12]
    assert sorted(kept.members.tolist()) == [0, 1, 2, 3, 10, 11, 12, 20, 21]
    assert kept.added == before + 4  # what is known of the cluster has changed
    alone = cluster_of(X, [0, 1, 2, 3, 10, 11, 12, 20, 21])
    assert gauges(kept, X[30:40]) == pytest.approx(gauges(alone, X[30:40]), rel=1e-5)
    assert gone.members.tolist() == [10, 11, 12, 20, 21]


def test_a_cluster_can_be_rebased_on_data_that_has_grown() -> None:
    X = cloud(2)
    cluster = cluster_of(X[:30], [0, 1, 2, 3])
    before = cluster.columns.copy()
    cluster.rebase(X)
    assert cluster.X is X
    assert (cluster.columns == before).all()
    cluster.ask(45)
    assert (cluster.columns[-1] == cluster.whitening.lift(X[[45]])[0]).all()
    cluster.whiten()
    assert sorted(cluster.members.tolist()) == [0, 1, 2, 3, 45]


def test_what_goes_to_a_worker_decides_points_alike_and_is_small() -> None:
    X = cloud(3, 5_000)
    cluster = cluster_of(X, [0, 1, 2, 3, 4])
    sent = pickle.loads(pickle.dumps(cluster.for_worker()))
    assert len(pickle.dumps(sent)) < 0.5 * X.nbytes
    assert len(cluster.X) == len(X)
    assert len(cluster.slabs.buffer)
    assert (sent.whitening.lift(X[:9]) == cluster.whitening.lift(X[:9])).all()
    assert (sent.whitening.noise == cluster.whitening.noise).all()
    single = cluster.whitening.lift(X[10:90]).astype(np.float32)
    kernel, outcomes = Kernel(None), []
    for one in (cluster, sent):
        start = kernel.nearest_direction(single, one.whitening.mean32, one.programs.directions)
        args = single, start, one.programs.bases, one.programs.inverses, one.programs.columns, 1.5
        outcomes.append(kernel.solve(*args))
    assert (outcomes[0].status == outcomes[1].status).all()
    assert (outcomes[0].basis == outcomes[1].basis).all()


def test_a_witness_is_kept_until_a_column_breaks_it() -> None:
    X, bound = cloud(4, 200), 1.2
    cluster = cluster_of(X, [0, 1, 2])
    points = np.arange(3, 200)
    single = cluster.whitening.lift(X[points]).astype(np.float32)
    start = np.zeros(len(points), dtype=np.int64)
    solved = Kernel(None).solve(
        single,
        start,
        cluster.programs.bases,
        cluster.programs.inverses,
        cluster.programs.columns,
        bound,
    )
    out = np.flatnonzero(solved.status == REJECTED)
    value = np.abs(np.einsum("pr,pr->p", solved.pi[out], single[out]))
    cluster.witnesses.keep(points[out], solved.pi[out], value)
    assert not len(cluster.witnesses.broken(bound))
    far = points[out[np.argmax(value)]]
    cluster.append(np.array([far]))
    freed = cluster.witnesses.broken(bound)
    assert far in freed
    assert set(freed) | set(cluster.witnesses.rejected) == set(points[out])
    # Those that are left are still out of reach with the new column.
    assert min(gauges(cluster, X[cluster.witnesses.rejected]), default=np.inf) > bound * (1 - 1e-4)


@given(seeds, st.integers(1, 3))
def test_the_score_is_at_most_the_gauge(seed, d) -> None:
    X = cloud(seed, 40, d)
    cluster = cluster_of(X, list(range(8)))
    score = cluster.slabs.score(cluster.whitening.lift(X[8:12]).astype(np.float32))
    assert (score <= np.array(gauges(cluster, X[8:12])) * (1 + 1e-3)).all()


def test_extremes_stick_out_and_pruning_keeps_them_and_the_asked() -> None:
    X = cloud(5, 400)
    cluster = cluster_of(X, [0, 1, 2])
    points = np.arange(3, 400)
    for part in np.array_split(points, 8):
        new = cluster.slabs.extremes(part, cluster.whitening.lift(X[part]).astype(np.float32))
        assert np.isin(new, part).all()
        if len(new):
            cluster.append(new)
    again = cluster.slabs.extremes(points, cluster.whitening.lift(X[points]).astype(np.float32))
    assert np.isin(again, cluster.members).all()
    before, high = len(cluster.ids), cluster.slabs.high.copy()
    cluster.prune()
    assert len(cluster.ids) == cluster.pruned < before
    assert np.isin([0, 1, 2], cluster.members).all()
    assert (cluster.programs.columns[cluster.slabs.owner[0], :-1] @ cluster.slabs.dirs).max(
        axis=0
    ) == pytest.approx(high, rel=1e-5)


def test_refining_looks_along_more_directions_and_drops_witnesses() -> None:
    cluster = cluster_of(cloud(6), [0, 1, 2, 3])
    cluster.witnesses.keep(np.array([7]), np.ones((1, 3), np.float32), np.array([9.0], np.float32))
    count = cluster.slabs.dirs.shape[1]
    cluster.refine(3)
    assert cluster.slabs.dirs.shape[1] == 3 * count
    assert not len(cluster.witnesses.rejected)


@given(seeds, st.integers(1, 5), st.integers(0, 20))
def test_a_spread_basis_is_a_basis(seed, d, extra) -> None:
    columns = lifted(cloud(seed, d + 1 + extra, d))
    assume(np.linalg.matrix_rank(columns) == d + 1)
    basis = spread_basis(columns)
    assert len(set(basis.tolist())) == d + 1
    assert np.linalg.matrix_rank(columns[basis]) == d + 1


def test_directions_are_unit_vectors_and_always_the_same() -> None:
    directions = unit_directions(64, 3)
    assert np.linalg.norm(directions, axis=1) == pytest.approx(np.ones(64), rel=1e-6)
    assert (directions == unit_directions(64, 3)).all()


def test_members_that_are_one_point_or_lie_in_a_line_have_finite_coordinates() -> None:
    X = np.repeat(cloud(7, 6, 1), 3, axis=1) * [1.0, 2.0, 0.0]
    extent = np.ptp(X, axis=0)
    cluster = MemberColumns(X, np.where(extent > 0, 1e-9 * extent, 1.0), 0, extent)
    for point in (1, 2, 3):
        cluster.ask(point)
    assert np.isfinite(cluster.columns).all()
    assert np.linalg.matrix_rank(cluster.columns[spread_basis(cluster.columns)]) == 4


@given(seeds, st.integers(1, 3), st.integers(1, 5), st.floats(1e-6, 0.3))
def test_no_slab_says_more_than_the_gauge(seed, d, n, share) -> None:
    """Members may be one point, or lie in a line: then the resolution is what bounds the gauge."""
    X = cloud(seed, 30, d)
    extent = np.ptp(X, axis=0)
    cluster = MemberColumns(X, share * extent, 0, extent)
    for point in range(1, n):
        cluster.ask(point)
    targets = cluster.whitening.lift(X[25:])
    tau = np.column_stack([np.diag(cluster.tau), np.zeros(d)])
    columns = np.vstack([lifted(X[:n]), tau])
    for bound, y in zip(
        cluster.slabs.score(targets.astype(np.float32)), lifted(X[25:]), strict=True
    ):
        assert bound <= gauge(columns, y) * (1 + 1e-4)
    assert (np.abs(cluster.columns @ cluster.slabs.rows().T) <= 1 + 1e-5).all()


def test_a_resolution_of_zero_is_a_column_that_confirms_nothing() -> None:
    """Programs are solved with a thickness in its place; no basis with it is believed."""
    X = cloud(3) * [1.0, 1.0]
    cluster = MemberColumns(X, np.zeros(2), 0, np.ptp(X, axis=0), np.full(2, 1e-9))
    for point in (1, 2, 3):
        cluster.ask(point)
        assert not cluster.columns[:2].any()
        assert np.linalg.matrix_rank(cluster.solving[spread_basis(cluster.solving)]) == 3
    cluster.prune()
    assert (cluster.columns[2:] == cluster.solving[2:]).all()
    assert (cluster.programs.columns == cluster.solving.astype(np.float32)).all()


@pytest.mark.parametrize("size", [1e12, 1e30, 1e300])
@np.errstate(over="ignore", invalid="ignore")  # as whoever asks about such points
def test_coordinates_with_a_value_far_beyond_all_others(size) -> None:
    """In a plane of three columns; the far value is a member, and then it is not."""
    X = cloud(4, 40, 2) @ np.random.default_rng(5).normal(size=(2, 3))
    X[7, 1] = size
    tau, box = np.full(3, 1e-9), np.ptp(X, axis=0)
    for asked in ([0, 1, 2, 3, 7], [0, 1, 2, 3]):
        cluster = MemberColumns(X, tau, 0, box, near=np.full(3, 20.0))
        for point in asked[1:]:
            cluster.ask(point)
        assert np.isfinite(cluster.whitening.T).all()
        assert np.isfinite(cluster.columns).all()
        basis = spread_basis(cluster.solving)
        assert len(set(basis.tolist())) == 4
        assert np.isfinite(row_scaled_inverse(cluster.solving[basis].T)).all()
    usual, both = cluster.whitening.noise_of(X[[8]]), cluster.whitening.noise_of(X[[8, 7]])
    assert usual.max() < 1e-3
    assert (both[0] == usual[0]).all()
    assert both[1].max() > 1e-4 * size * usual.max()


def test_an_inverse_of_rows_of_any_size() -> None:
    regular = np.array([[1.0, 1.0, 1.0], [1e300, 2e300, 5e300], [1e-12, 3e-12, 4e-12]])
    found = row_scaled_inverse(np.stack([regular, np.zeros((3, 3)), np.eye(3)]))
    exact: list[list[Fraction]] = [[Fraction(x) for x in row] for row in regular.tolist()]
    for row in range(3):
        for column in range(3):
            own = [Fraction(float(found[0, at, column])) for at in range(3)]
            entry = sum(map(mul, exact[row], own), Fraction(0))
            size = max(exact[row]) / max(exact[column])
            assert abs(entry - (row == column)) <= Fraction(1, 10**12) * size
    assert np.isnan(found[1]).all()
    assert (found[2] == np.eye(3)).all()
