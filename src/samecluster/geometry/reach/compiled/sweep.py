"""Compiled: show that very many points are in reach, with few columns and nothing to remember.

For sweeps. A program ends as soon as its value is low enough, or is given up when no column of its
few helps. No dual is kept: a point is shown by its weights (`checks.shown`).
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

_NO_PRICE = np.float32(1.00001)  # a column that costs no more than this does not improve


@njit(cache=True, fastmath=FAST)
def _try_basis(shape, R, y, number, best, where):
    """Keep, in every lane, the basis with the smallest |R y|_1 so far."""
    D = len(shape)
    for lane in range(LANES):
        total = ZERO
        for i in range(D):
            acc = ZERO
            for r in range(D):
                acc += R[i * D + r] * y[r * LANES + lane]
            total += abs(acc)
        better = total < best[lane]
        best[lane] = total if better else best[lane]
        where[lane] = number if better else where[lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def best_start(shape, targets, inverses, out):
    """For each target the basis, by its flat inverse (m, D*D), with the smallest weights."""
    D = len(shape)
    y = np.zeros(D * LANES, np.float32)
    best, where = np.zeros(LANES, np.float32), np.zeros(LANES, np.int32)
    for begin in range(0, targets.shape[0], LANES):
        count = min(LANES, targets.shape[0] - begin)
        best[:] = FAR
        for lane in range(count):
            for r in range(D):
                y[r * LANES + lane] = targets[begin + lane, r]
        for m in range(inverses.shape[0]):
            _try_basis(shape, inverses[m], y, np.int32(m), best, where)
        for lane in range(count):
            out[begin + lane] = where[lane]


@njit(cache=True, nogil=True, fastmath=FAST)
def reach(
    shape,
    targets,
    start,
    bases,
    inverses,
    columns,
    numbers,
    stop,
    max_pivots,
    out_reached,
    out_basis,
    out_weights,
    out_inverse,
):
    """Which targets (p, D) flat columns reach with a value of at most ``stop``, by which weights.

    ``numbers`` are what to call columns in ``out_basis``; ``out_inverse`` has no rows where
    inverses are not wanted.
    """
    D, n = len(shape), targets.shape[0]
    m = columns.shape[0] // D
    blocks = (m + BLOCK - 1) // BLOCK
    weights, column = rows_of(D)[0], rows_of(D)[4]
    best, where, sign, _, _, _, value, end = single_rows_of(D)
    state = np.zeros(end * LANES, np.float32)
    seen, count = np.zeros(LANES, np.int32), np.zeros(LANES, np.int32)
    entering = np.zeros(LANES, np.int32)
    point = np.full(LANES, -1)
    lane_basis = np.zeros((D, LANES), np.int32)
    w = np.zeros(D, np.float32)
    fed, done, block = 0, 0, 0
    while True:
        for lane in range(LANES):
            p = point[lane]
            if p >= 0 and state[value * LANES + lane] <= stop:
                out_reached[p] = True
                for i in range(D):
                    out_basis[p, i] = numbers[lane_basis[i, lane]]
                    out_weights[p, i] = state[(weights + i) * LANES + lane]
                if out_inverse.shape[0] > 0:
                    for i in range(D):
                        for r in range(D):
                            out_inverse[p, i, r] = state[(i * D + r) * LANES + lane]
                point[lane] = p = -1
                done += 1
            while p < 0 and fed < n:
                s = start[fed]
                if weigh(shape, targets[fed], inverses[s], w) <= stop:
                    out_reached[fed] = True
                    for i in range(D):
                        out_basis[fed, i] = numbers[bases[s, i]]
                        out_weights[fed, i] = w[i]
                    if out_inverse.shape[0] > 0:
                        out_inverse[fed] = inverses[s]
                    done += 1
                else:
                    point[lane] = p = fed
                    fill(shape, lane, w, bases[s], inverses[s], lane_basis, state)
                    seen[lane] = count[lane] = 0
                fed += 1
        if done == n:
            return
        find_duals(shape, state)
        price(shape, state, columns, block * BLOCK, min(m, block * BLOCK + BLOCK))
        block = block + 1 if block + 1 < blocks else 0
        for lane in range(LANES):
            state[sign * LANES + lane] = ZERO
            seen[lane] += 1
            highest = state[best * LANES + lane]
            if point[lane] < 0 or (highest <= GOOD_PRICE and seen[lane] < blocks):
                continue
            if highest <= _NO_PRICE or count[lane] >= max_pivots:
                out_reached[point[lane]] = False
                point[lane] = -1
                done += 1
                continue
            j = int(state[where * LANES + lane])
            for r in range(D):
                state[(column + r) * LANES + lane] = columns[j * D + r]
            entering[lane] = j
            state[sign * LANES + lane] = ONE
            state[best * LANES + lane] = ZERO
            seen[lane] = 0
            count[lane] += 1
        pivot(shape, state, lane_basis, entering)
        find_values(shape, state)
