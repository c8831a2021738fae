"""Compiled: linear programs in single precision. Not trusted: what they accept is checked.

The method of `linear_programs.solve`, many points in lock step, a lane refilled as soon as its
program is decided; the steps are those of `lanes`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from samecluster.geometry.reach.compiled.lanes import (
    BLOCK,
    FAR,
    FAST,
    GOOD_PRICE,
    LANES,
    ONE,
    ZERO,
    fill,
    find_duals,
    find_values,
    pivot,
    price,
    rows_of,
    single_rows_of,
    weigh,
)

REJECTED, ACCEPTED, UNSURE = 0, 1, 2
UNSURE_BAND = np.float32(1e-4)
NO_PRICE = np.float32(1.00001)  # a column that costs no more than this does not improve


@njit(cache=True, fastmath=FAST)
def _finish(shape, lane, p, lane_basis, state, out_basis, out_inverse):
    """Write out the basis of a lane and its inverse."""
    D = len(shape)
    for i in range(D):
        out_basis[p, i] = lane_basis[i, lane]
        for r in range(D):
            out_inverse[p, i, r] = state[(i * D + r) * LANES + lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def solve(
    shape,
    targets,
    start,
    bases,
    inverses,
    columns,
    bound,
    stop,
    max_pivots,
    private,
    out_status,
    out_total,
    out_basis,
    out_inverse,
    out_pi,
):
    """Decide each target (p, D); see `linear_programs.solve`.

    ``columns`` is flat; ``private`` is (p, D), or has no rows.
    """
    D, n = len(shape), targets.shape[0]
    m = columns.shape[0] // D
    blocks = (m + BLOCK - 1) // BLOCK
    column, dual = rows_of(D)[4], rows_of(D)[6]
    best, where, sign, _, _, _, value, end = single_rows_of(D)
    state = np.zeros(end * LANES, np.float32)
    seen, count = np.zeros(LANES, np.int32), np.zeros(LANES, np.int32)
    entering = np.zeros(LANES, np.int32)
    point = np.full(LANES, -1)
    lane_basis = np.zeros((D, LANES), np.int32)
    w = np.zeros(D, np.float32)
    fed, done, block = 0, 0, 0
    low, high = np.float32(bound) * (ONE - UNSURE_BAND), np.float32(bound) * (ONE + UNSURE_BAND)
    while True:
        for lane in range(LANES):
            p = point[lane]
            if p >= 0 and state[value * LANES + lane] <= stop:
                out_status[p] = ACCEPTED
                out_total[p] = state[value * LANES + lane]
                _finish(shape, lane, p, lane_basis, state, out_basis, out_inverse)
                point[lane] = p = -1
                done += 1
            while p < 0 and fed < n:
                s = start[fed]
                first = weigh(shape, targets[fed], inverses[s], w)
                if first <= stop:
                    out_status[fed] = ACCEPTED
                    out_total[fed] = first
                    out_basis[fed] = bases[s]
                    out_inverse[fed] = inverses[s]
                    done += 1
                else:
                    point[lane] = p = fed
                    fill(shape, lane, w, bases[s], inverses[s], lane_basis, state)
                    state[value * LANES + lane] = first
                    seen[lane] = count[lane] = 0
                fed += 1
        if done == n:
            return
        find_duals(shape, state)
        price(shape, state, columns, block * BLOCK, min(m, block * BLOCK + BLOCK))
        if block == 0 and private.shape[0] > 0:
            for lane in range(LANES):
                if point[lane] >= 0:
                    acc = ZERO
                    for r in range(D):
                        acc += state[(dual + r) * LANES + lane] * private[point[lane], r]
                    if abs(acc) > state[best * LANES + lane]:
                        state[best * LANES + lane] = abs(acc)
                        state[where * LANES + lane] = m
        block = block + 1 if block + 1 < blocks else 0
        for lane in range(LANES):
            p = point[lane]
            state[sign * LANES + lane] = ZERO
            seen[lane] += 1
            size = state[best * LANES + lane]
            if p < 0 or (size <= GOOD_PRICE and seen[lane] < blocks):
                continue
            total = state[value * LANES + lane]
            stuck = count[lane] >= max_pivots
            if stuck or (seen[lane] >= blocks and (total > high * size or size <= NO_PRICE)):
                lowest = total / max(size, ONE)
                out_status[p] = (
                    ACCEPTED
                    if total <= low
                    else REJECTED
                    if lowest > high and not stuck
                    else UNSURE
                )
                out_total[p] = total
                for r in range(D):
                    out_pi[p, r] = state[(dual + r) * LANES + lane] / max(size, ONE)
                _finish(shape, lane, p, lane_basis, state, out_basis, out_inverse)
                point[lane] = -1
                done += 1
                continue
            j = int(state[where * LANES + lane])
            for r in range(D):
                state[(column + r) * LANES + lane] = columns[j * D + r] if j < m else private[p, r]
            entering[lane] = j
            state[sign * LANES + lane] = ONE
            state[best * LANES + lane] = ZERO
            seen[lane] = 0
            count[lane] += 1
        pivot(shape, state, lane_basis, entering)
        find_values(shape, state)


@njit(cache=True, fastmath=FAST)
def _along(shape, z, directions, number, best, where):
    """Keep, in every lane, the direction along which z is longest so far, either way."""
    d = len(shape)
    for lane in range(LANES):
        acc = ZERO
        for r in range(d):
            acc += z[r * LANES + lane] * directions[number * d + r]
        acc = abs(acc)
        better = acc > best[lane]
        best[lane] = acc if better else best[lane]
        where[lane] = np.int32(number) if better else where[lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def nearest_direction(shape, lifted, mean, directions, out):
    """The direction (flat, m of them) most nearly parallel to each target, m more if opposite."""
    d = len(shape)
    m = directions.shape[0] // d
    z = np.zeros(d * LANES, np.float32)
    best, where = np.zeros(LANES, np.float32), np.zeros(LANES, np.int32)
    for begin in range(0, lifted.shape[0], LANES):
        count = min(LANES, lifted.shape[0] - begin)
        best[:] = ZERO
        for lane in range(count):
            for r in range(d):
                z[r * LANES + lane] = lifted[begin + lane, r] - mean[r]
        for number in range(m):
            _along(shape, z, directions, number, best, where)
        for lane in range(count):
            acc = ZERO
            for r in range(d):
                acc += z[r * LANES + lane] * directions[where[lane] * d + r]
            out[begin + lane] = where[lane] if acc >= ZERO else where[lane] + m


@njit(cache=True, fastmath=FAST)
def _norms(shape, x, T, offset, scale, number, best, near):
    """Squared whitened norm of every lane against one cluster; keeps the smallest."""
    d = len(shape)
    for lane in range(LANES):
        total = ZERO
        for r in range(d):
            acc = -offset[r]
            for i in range(r + 1):  # T is triangular
                acc += x[i * LANES + lane] * T[i * d + r]
            total += acc * acc
        total *= scale
        better = total < best[lane]
        best[lane] = total if better else best[lane]
        near[lane] = number if better else near[lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def nearest_cluster(shape, X, points, T, offsets, scales, out):
    """The cluster in whose (single precision) coordinates each point is most central.

    ``T`` (k, d*d) and ``offsets`` (k, d) whiten: z = x T - offset.
    """
    d = len(shape)
    x = np.zeros(d * LANES, np.float32)
    best, near = np.zeros(LANES, np.float32), np.zeros(LANES, np.int32)
    for begin in range(0, points.shape[0], LANES):
        count = min(LANES, points.shape[0] - begin)
        best[:] = FAR
        for lane in range(count):
            for i in range(d):
                x[i * LANES + lane] = X[points[begin + lane], i]
        for c in range(T.shape[0]):
            _norms(shape, x, T[c], offsets[c], scales[c], np.int32(c), best, near)
        for lane in range(count):
            out[begin + lane] = near[lane]
