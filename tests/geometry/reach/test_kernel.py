"""Both kernels: what they propose is what it says, and they agree with each other."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from samecluster._typing import Array
from samecluster.geometry.reach.checks import Charges
from samecluster.geometry.reach.kernel import Kernel, compiled_programs
from samecluster.geometry.reach.linear_programs import ACCEPTED, REJECTED, UNSURE, ReachWeights
from samecluster.geometry.reach.members import MemberColumns
from tests.cases.reach_cases import both_kernels, gauge, lifted

seeds = st.integers(0, 10**6)
dimensions = st.sampled_from([1, 2, 4])  # each is compiled for itself
with_numba = pytest.mark.skipif(compiled_programs() is None, reason="numba is not installed")


def programs(seed: int, d: int, count: int = 40) -> tuple[Array, Array, Array, Array, Array]:
    """Single precision targets, where each starts, bases with their inverses, and columns."""
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(90, d))).astype(np.float32)
    bases = np.array([rng.permutation(90)[: d + 1] for _ in range(4)], dtype=np.int32)
    while max(np.linalg.cond(columns[basis]) for basis in bases) > 1e3:
        bases = np.array([rng.permutation(90)[: d + 1] for _ in range(4)], dtype=np.int32)
    inverses = np.linalg.inv(columns[bases].transpose(0, 2, 1))
    targets = lifted(1.5 * rng.normal(size=(count, d))).astype(np.float32)
    return targets, rng.integers(4, size=count), bases, inverses, columns


@both_kernels
@given(seed=seeds, d=st.integers(1, 6), count=st.integers(1, 200))
def test_programs_of_a_sweep_reach_what_is_in_reach(compiled, seed, d, count) -> None:
    """What they reach is a basis with these weights and this inverse; the rest is out of reach."""
    rng = np.random.default_rng(seed)
    columns = lifted(rng.normal(size=(100, d))).astype(np.float32)
    bases = np.array([rng.permutation(100)[: d + 1] for _ in range(4)], dtype=np.int32)
    assume(max(np.linalg.cond(columns[basis]) for basis in bases) < 1e3)
    inverses = np.linalg.inv(columns[bases].transpose(0, 2, 1))
    targets = lifted(1.5 * rng.normal(size=(count, d))).astype(np.float32)
    kernel, numbers, bound = Kernel(compiled), np.arange(100, dtype=np.int32), 1.4
    found = kernel.nothing_reached(count, d + 1, with_inverse=True)
    kernel.reach(targets, bases, inverses, columns, numbers, bound, found, slice(0, count))
    reached = np.flatnonzero(found.reached)
    A = columns[found.basis[reached]].transpose(0, 2, 1)
    made = np.einsum("pri,pi->pr", A, found.weights[reached])
    assert np.abs(made - targets[reached]).max(initial=0) < 1e-3
    assert np.abs(found.weights[reached]).sum(axis=1).max(initial=0) <= bound
    assert np.abs(found.inverse[reached] @ A - np.eye(d + 1)).max(initial=0) < 1e-2
    for at in np.flatnonzero(~found.reached)[:5]:
        assert gauge(columns.astype(np.float64), targets[at]) > bound * (1 - 1e-3)


@with_numba
@given(seeds, dimensions)
def test_both_kernels_decide_alike_and_each_shows_why(seed, d) -> None:
    targets, start, bases, inverses, columns = programs(seed, d)
    bound = 1.4
    plain = Kernel(None).solve(targets, start, bases, inverses, columns, bound)
    quick = Kernel(compiled_programs()).solve(targets, start, bases, inverses, columns, bound)
    sure = (plain.status != UNSURE) & (quick.status != UNSURE)
    assert (plain.status == quick.status)[sure].all()
    assert sure.mean() > 0.9
    for solved in (plain, quick):
        accepted, rejected = solved.status == ACCEPTED, solved.status == REJECTED
        weights = np.einsum("pir,pr->pi", solved.inverse, targets)
        assert np.abs(weights[accepted]).sum(axis=1).max(initial=0) <= bound * (1 + 1e-4)
        assert np.abs(solved.pi[rejected] @ columns.T).max(initial=0) <= 1 + 1e-4
        value = np.abs(np.einsum("pr,pr->p", solved.pi, targets))[rejected]
        assert value.min(initial=np.inf) > bound


@with_numba
@given(seeds, dimensions)
def test_both_kernels_check_alike(seed, d) -> None:
    """Bounds may differ in the last bits only; limits here are all around the values."""
    rng = np.random.default_rng(seed)
    targets, start, bases, inverses, columns = programs(seed, d)
    solved = Kernel(None).solve(targets, start, bases, inverses, columns, 1e9, stop=0.0)
    double, exact = columns.astype(np.float64), targets.astype(np.float64)
    noise, which = np.append(np.full(d, 1e-14), 0.0), np.arange(len(targets))
    charges = Charges.of(double, bases[0], noise)
    for limit in np.quantile(solved.total, [0.1, 0.5, 0.9]) * rng.uniform(0.99, 1.01):
        said = []
        for kernel in (Kernel(None), Kernel(compiled_programs())):
            weights = np.einsum("pir,pr->pi", solved.inverse, targets)
            found = ReachWeights(
                np.ones(len(targets), bool), solved.basis, weights, solved.inverse[:0]
            )
            said.append(kernel.confirmed(exact, solved, which, double, noise, limit))
            said.append(kernel.shown(exact, found, double, charges, limit))
        assert (said[0] == said[2]).all()
        assert (said[1] == said[3]).all()


@with_numba
@given(seeds, dimensions)
def test_both_kernels_find_the_same_directions_and_clusters(seed, d) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, d)) + 4 * rng.integers(3, size=(60, 1))
    box, tau = np.ptp(X, axis=0), 1e-9 * np.ptp(X, axis=0)
    clusters = []
    for first in range(3):
        clusters.append(MemberColumns(X, tau, first, box))
        for point in range(first + 3, 12 + first, 3):
            clusters[-1].ask(point)
    plain, quick = Kernel(None), Kernel(compiled_programs())
    one = clusters[0]
    single = one.whitening.lift(X).astype(np.float32)
    along = np.abs((single[:, :-1] - one.whitening.mean32) @ one.programs.directions.T)
    direction = plain.nearest_direction(single, one.whitening.mean32, one.programs.directions)
    other = quick.nearest_direction(single, one.whitening.mean32, one.programs.directions)
    clear = np.diff(np.sort(along, axis=1)[:, -2:], axis=1)[:, 0] > 1e-4 * along.max(axis=1)
    assert (direction == other)[clear].all()
    points = np.arange(len(X), dtype=np.int32)
    near, also = (kernel.nearest_cluster(X, points, clusters) for kernel in (plain, quick))
    assert (near == also).mean() >= 0.95  # single precision: what is about as near may differ


def test_scratch_memory_is_used_again_for_the_same_name_only() -> None:
    kernel = Kernel(None)
    first = kernel.scratch("a", (4, 2))
    first[:] = 7.0
    assert np.shares_memory(kernel.scratch("a", (2, 2)), first)
    assert not np.shares_memory(kernel.scratch("b", (4, 2)), first)
    assert not np.shares_memory(kernel.scratch("a", (4, 2), np.float32), first)
    rows = np.arange(6.0).reshape(3, 2)
    assert kernel.taken("c", rows, np.array([2, 0])).tolist() == [[4, 5], [0, 1]]
