"""Compiled: the checks that a label by reach rests on. All of this must be right.

The bounds are those of `samecluster.geometry.reach.checks`, line by line, in double precision and
for some records at a time, the lane last. They hold for sums in any order, so the compiler may
reorder and fuse; it may not assume that numbers are finite, as what is not must compare as False.
"""

from __future__ import annotations

import numpy as np
from numba import njit

ANY_ORDER = {"contract", "reassoc", "nsz"}
UNDERFLOW = 1e-290


@njit(cache=True, fastmath=ANY_ORDER)
def _products(shape, R, A, sums, unit_error, size):
    """For every lane: column sums of |RA - I| plus their rounding, the largest into `size`."""
    D = len(shape)
    u = 2.0**-53
    g = (D + 4) * u / (1 - (D + 4) * u)
    for j in range(D):
        for lane in range(size.shape[0]):
            unit_error[lane] = g
        for i in range(D):
            one = 1.0 if i == j else 0.0
            for lane in range(size.shape[0]):
                acc = 0.0
                for r in range(D):
                    acc += R[i, r, lane] * A[j, r, lane]
                unit_error[lane] += abs(acc - one)
        for lane in range(size.shape[0]):
            acc = 0.0
            for r in range(D):
                acc += sums[r, lane] * abs(A[j, r, lane])
            acc = unit_error[lane] + g * acc
            size[lane] = acc if acc > size[lane] else size[lane]


@njit(cache=True, fastmath=ANY_ORDER)
def _apply(shape, R, b, w):
    """w += R b in every lane."""
    for i in range(len(shape)):
        for lane in range(w.shape[1]):
            acc = w[i, lane]
            for r in range(len(shape)):
                acc += R[i, r, lane] * b[r, lane]
            w[i, lane] = acc


@njit(cache=True, fastmath=ANY_ORDER)
def _residual(shape, A, w, b, rest, weight):
    """rest = b - A w and weight = |A||w| + |b| in every lane."""
    for r in range(len(shape)):
        for lane in range(w.shape[1]):
            acc = b[r, lane]
            tot = abs(b[r, lane])
            for j in range(len(shape)):
                acc -= A[j, r, lane] * w[j, lane]
                tot += abs(A[j, r, lane] * w[j, lane])
            rest[r, lane] = acc
            weight[r, lane] = tot


@njit(cache=True, nogil=True)
def confirmed(shape, lanes, targets, basis, inverse, columns, private, noise, limit, chosen, out):
    """`checks.confirmed` for the records `chosen`; writes out[record]."""
    D = len(shape)
    u = 2.0**-53
    g = (D + 4) * u / (1 - (D + 4) * u)
    R, A = np.zeros((D, D, lanes)), np.zeros((D, D, lanes))
    sums, b, w = np.zeros((D, lanes)), np.zeros((D, lanes)), np.zeros((D, lanes))
    rest, weight = np.zeros((D, lanes)), np.zeros((D, lanes))
    unit_error, a = np.zeros(lanes), np.zeros(lanes)
    for begin in range(0, chosen.shape[0], lanes):
        count = min(lanes, chosen.shape[0] - begin)
        for lane in range(count):
            p = chosen[begin + lane]
            for i in range(D):
                own = basis[p, i] == columns.shape[0]
                for r in range(D):
                    R[i, r, lane] = inverse[p, i, r]
                    A[i, r, lane] = private[p, r] if own else columns[basis[p, i], r]
                b[i, lane] = targets[p, i]
        for r in range(D):
            for lane in range(lanes):
                acc = 0.0
                for i in range(D):
                    acc += abs(R[i, r, lane])
                sums[r, lane] = acc
        a[:] = 0.0
        w[:] = 0.0
        _products(shape, R, A, sums, unit_error, a)
        _apply(shape, R, b, w)
        _residual(shape, A, w, b, rest, weight)
        _apply(shape, R, rest, w)
        _residual(shape, A, w, b, rest, weight)
        for lane in range(count):
            size, spread, noisy = 0.0, 0.0, 0.0
            at = chosen[begin + lane] if noise.shape[0] > 1 else 0
            for i in range(D):
                size += abs(w[i, lane])
                noisy += sums[i, lane] * noise[at, i]
            for r in range(D):
                rho = abs(rest[r, lane]) + g * weight[r, lane] + UNDERFLOW
                rho += noise[at, r] * (size + 1.0)
                spread += sums[r, lane] * rho
            near = (a[lane] + noisy) * (1.0 + 4.0 * g)
            good = False
            if near < 0.5:
                top = (1.0 + g) * size + (1.0 + 4.0 * g) ** 2 * spread / (1.0 - near)
                good = top * (1.0 + 4.0 * u) <= limit
            out[chosen[begin + lane]] = good


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def shown(shape, targets, basis, weights, columns, largest, noise, costs, limit, out):
    """`checks.shown`; looks at the records that ``out`` says and leaves those that hold."""
    D = len(shape)
    u = 2.0**-53
    g = (D + 4) * u / (1 - (D + 4) * u)
    rest = np.zeros(D)
    for p in range(targets.shape[0]):
        if not out[p]:
            continue
        size = 0.0
        for r in range(D):
            rest[r] = targets[p, r]
        for i in range(D):
            w = np.float64(weights[p, i])
            size += abs(w)
            for r in range(D):
                rest[r] -= w * columns[basis[p, i], r]
        top = (1.0 + g) * size
        for r in range(D):
            rho = abs(rest[r]) + g * (largest[r] * size + abs(targets[p, r]))
            top += costs[r] * (rho + noise[r] * (size + 1.0) + UNDERFLOW)
        out[p] = top * (1.0 + 4.0 * g) <= limit
