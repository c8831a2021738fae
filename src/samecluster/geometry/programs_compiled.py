"""Compiled gauge programs: single precision proposes, the float check in double disposes.

Same method as `programs.solve`, many points in lock step, one lane each, a lane refilled as
soon as its program is decided. All state has the lane as its last axis, so that inner loops run
over lanes and become vector instructions; D is a tuple's length, hence a constant. The number of
lanes must *not* be a constant: loops would be unrolled before they are vectorised, and unrolled
code cannot be (possible aliasing).
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 64
LANES = 64
REJECTED, ACCEPTED, UNSURE = 0, 1, 2
GOOD_PRICE = 1.1
UNSURE_BAND = np.float32(1e-4)
_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
_FAR = np.float32(1e30)
_FAST = {"nnan", "ninf", "nsz", "contract", "reassoc", "arcp"}


@njit(cache=True, fastmath=_FAST)
def _price(shape, pi, columns, begin, end, best, where):
    """Running best |pi . a_j| and its column in every lane, over one block of columns."""
    for j in range(begin, end):
        for lane in range(pi.shape[1]):
            acc = _ZERO
            for r in range(len(shape)):
                acc += pi[r, lane] * columns[j, r]
            acc = abs(acc)
            better = acc > best[lane]
            best[lane] = acc if better else best[lane]
            where[lane] = np.int32(j) if better else where[lane]


@njit(cache=True, fastmath=_FAST)
def _direction(shape, R, a, sign, alpha):
    """alpha = sign * R a in every lane; zero where the lane takes no part (sign 0)."""
    for i in range(len(shape)):
        for lane in range(sign.shape[0]):
            acc = _ZERO
            for r in range(len(shape)):
                acc += R[i, r, lane] * a[r, lane]
            alpha[i, lane] = acc * sign[lane]


@njit(cache=True, fastmath=_FAST)
def _ratios(shape, weights, signs, alpha, ratio):
    """Where each weight crosses zero along the edge; far away where it does not."""
    for i in range(len(shape)):
        for lane in range(alpha.shape[1]):
            falling = signs[i, lane] * alpha[i, lane] > np.float32(1e-5)
            ratio[i, lane] = weights[i, lane] / alpha[i, lane] if falling else _FAR


@njit(cache=True, fastmath=_FAST)
def _stops(shape, alpha, ratio, slope, leave, step):
    """Where each edge ends: at the first crossing behind which the slope is not negative.

    Adding up the slope behind every crossing takes D^2 steps and no branch, unlike sorting them.
    """
    for i in range(len(shape)):
        for lane in range(slope.shape[0]):
            behind = slope[lane]
            for k in range(len(shape)):
                crossed = ratio[k, lane] <= ratio[i, lane]
                behind += _TWO * abs(alpha[k, lane]) if crossed else _ZERO
            ends = behind >= _ZERO and ratio[i, lane] < step[lane]
            step[lane] = ratio[i, lane] if ends else step[lane]
            leave[lane] = np.int32(i) if ends else leave[lane]


@njit(cache=True, fastmath=_FAST)
def _last_crossing(shape, ratio, lane, leave, step):
    """Rounding can leave the slope negative behind all crossings: the edge ends at the last."""
    far = -_ONE
    for i in range(len(shape)):
        if far < ratio[i, lane] < _FAR:
            far = step[lane] = ratio[i, lane]
            leave[lane] = i


@njit(cache=True, fastmath=_FAST)
def _leaving(shape, signs, alpha, ratio, slope, leave, step):
    """Long-step ratio test: a weight that crosses zero only flips its sign while the slope of the
    objective stays negative. Lanes that take part come with slope < 0."""
    for lane in range(slope.shape[0]):
        step[lane] = _FAR
    _stops(shape, alpha, ratio, slope, leave, step)
    for lane in range(slope.shape[0]):
        if step[lane] >= _FAR:
            step[lane] = _ZERO
            if slope[lane] < _ZERO:
                _last_crossing(shape, ratio, lane, leave, step)
    for i in range(len(shape)):
        for lane in range(slope.shape[0]):
            passed = ratio[i, lane] <= step[lane] and leave[lane] >= 0
            signs[i, lane] = -signs[i, lane] if passed else signs[i, lane]


@njit(cache=True, fastmath=_FAST)
def _exchange(shape, R, row, weights, alpha, step):
    """Subtract the pivot row everywhere; lanes with step = row = 0 keep their state."""
    for i in range(len(shape)):
        for lane in range(step.shape[0]):
            weights[i, lane] -= step[lane] * alpha[i, lane]
        for r in range(len(shape)):
            for lane in range(step.shape[0]):
                R[i, r, lane] -= alpha[i, lane] * row[r, lane]


@njit(cache=True, fastmath=_FAST)
def _duals(shape, R, signs, weights, pi, total):
    """pi = s R and total = |w|_1 in every lane."""
    for r in range(len(shape)):
        for lane in range(total.shape[0]):
            acc = _ZERO
            for i in range(len(shape)):
                acc += signs[i, lane] * R[i, r, lane]
            pi[r, lane] = acc
    for lane in range(total.shape[0]):
        acc = _ZERO
        for i in range(len(shape)):
            acc += abs(weights[i, lane])
        total[lane] = acc


@njit(cache=True, fastmath=_FAST)
def _fill(shape, lane, y, basis, inverse, lane_basis, R, weights, signs):
    """Put a new program into lane; returns its first value."""
    total = _ZERO
    for i in range(len(shape)):
        w = _ZERO
        lane_basis[i, lane] = basis[i]
        for r in range(len(shape)):
            R[i, r, lane] = inverse[i, r]
            w += inverse[i, r] * y[r]
        weights[i, lane] = w
        signs[i, lane] = _ONE if w >= _ZERO else -_ONE
        total += abs(w)
    return total


@njit(cache=True, fastmath=_FAST)
def _finish(shape, lane, p, lane_basis, R, out_basis, out_inverse):
    """Write out the basis of a lane and its inverse."""
    for i in range(len(shape)):
        out_basis[p, i] = lane_basis[i, lane]
        for r in range(len(shape)):
            out_inverse[p, i, r] = R[i, r, lane]


@njit(cache=True, fastmath=_FAST)
def _take_row(shape, R, alpha, leave, row):
    """The scaled pivot row of every lane; zero where nothing leaves."""
    for lane in range(leave.shape[0]):
        at = leave[lane]
        scale = _ONE / alpha[at, lane] if at >= 0 else _ZERO
        at = max(at, 0)
        for r in range(len(shape)):
            row[r, lane] = R[at, r, lane] * scale


@njit(cache=True, fastmath=_FAST)
def _put_row(shape, R, row, weights, signs, lane_basis, leave, sign, step, where):
    """Write the entering column's row, weight and sign."""
    for lane in range(leave.shape[0]):
        at = leave[lane]
        if at >= 0:
            weights[at, lane] = sign[lane] * step[lane]
            signs[at, lane] = sign[lane]
            lane_basis[at, lane] = where[lane]
            for r in range(len(shape)):
                R[at, r, lane] = row[r, lane] * sign[lane]


@njit(cache=True, nogil=True, fastmath=_FAST)
def solve(
    shape,
    lanes,
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
    """Decide each target (p, D); see `programs.solve`. Returns the number of pivots.

    ``private`` is (p, D), or has no rows.
    """
    D, n, m = len(shape), targets.shape[0], columns.shape[0]
    blocks = (m + BLOCK - 1) // BLOCK
    f4 = np.float32
    R = np.zeros((D, D, lanes), f4)
    weights, signs, alpha = (
        np.zeros((D, lanes), f4),
        np.ones((D, lanes), f4),
        np.zeros((D, lanes), f4),
    )
    ratio, a = np.zeros((D, lanes), f4), np.zeros((D, lanes), f4)
    row, pi = np.zeros((D, lanes), f4), np.zeros((D, lanes), f4)
    best, where = np.zeros(lanes, f4), np.zeros(lanes, np.int32)
    sign, slope = np.zeros(lanes, f4), np.zeros(lanes, f4)
    step, total = np.zeros(lanes, f4), np.zeros(lanes, f4)
    leave, seen, count = (
        np.zeros(lanes, np.int32),
        np.zeros(lanes, np.int32),
        np.zeros(lanes, np.int32),
    )
    point = np.full(lanes, -1)
    lane_basis = np.zeros((D, lanes), np.int32)
    fed, done, pivots, block = 0, 0, 0, 0
    low, high = f4(bound) * (_ONE - UNSURE_BAND), f4(bound) * (_ONE + UNSURE_BAND)
    while True:
        for lane in range(lanes):
            p = point[lane]
            if p >= 0 and leave[lane] >= 0:
                acc = _ZERO
                for i in range(D):
                    acc += abs(weights[i, lane])
                if acc <= stop:
                    out_status[p] = ACCEPTED
                    out_total[p] = acc
                    _finish(shape, lane, p, lane_basis, R, out_basis, out_inverse)
                    point[lane] = p = -1
                    done += 1
            while p < 0 and fed < n:
                s = start[fed]
                first = _fill(
                    shape, lane, targets[fed], bases[s], inverses[s], lane_basis, R, weights, signs
                )
                if first <= stop:
                    out_status[fed] = ACCEPTED
                    out_total[fed] = first
                    for i in range(D):
                        out_basis[fed, i] = bases[s, i]
                        for r in range(D):
                            out_inverse[fed, i, r] = inverses[s, i, r]
                    done += 1
                else:
                    point[lane] = p = fed
                    seen[lane] = count[lane] = 0
                    best[lane] = _ZERO
                fed += 1
        if done == n:
            return pivots
        _duals(shape, R, signs, weights, pi, total)
        _price(shape, pi, columns, block * BLOCK, min(m, block * BLOCK + BLOCK), best, where)
        if block == 0 and private.shape[0] > 0:
            for lane in range(lanes):
                if point[lane] >= 0:
                    acc = _ZERO
                    for r in range(D):
                        acc += pi[r, lane] * private[point[lane], r]
                    if abs(acc) > best[lane]:
                        best[lane] = abs(acc)
                        where[lane] = m
        block = block + 1 if block + 1 < blocks else 0
        for lane in range(lanes):
            p = point[lane]
            sign[lane] = slope[lane] = step[lane] = _ZERO
            leave[lane] = -1
            seen[lane] += 1
            if p < 0 or (best[lane] <= GOOD_PRICE and seen[lane] < blocks):
                continue
            price = _ZERO
            for r in range(D):
                a[r, lane] = columns[where[lane], r] if where[lane] < m else private[p, r]
                price += a[r, lane] * pi[r, lane]
            size = abs(price)
            stuck = count[lane] >= max_pivots
            if stuck or (
                seen[lane] >= blocks and (total[lane] > high * size or size <= f4(1.00001))
            ):
                value = total[lane] / max(size, _ONE)
                out_status[p] = (
                    ACCEPTED
                    if total[lane] <= low
                    else REJECTED
                    if value > high and not stuck
                    else UNSURE
                )
                out_total[p] = total[lane]
                for r in range(D):
                    out_pi[p, r] = pi[r, lane] / max(size, _ONE)
                _finish(shape, lane, p, lane_basis, R, out_basis, out_inverse)
                point[lane] = -1
                done += 1
                continue
            sign[lane] = _ONE if price >= _ZERO else -_ONE
            slope[lane] = _ONE - size
            seen[lane] = 0
            best[lane] = _ZERO
            count[lane] += 1
            pivots += 1
        _direction(shape, R, a, sign, alpha)
        _ratios(shape, weights, signs, alpha, ratio)
        _leaving(shape, signs, alpha, ratio, slope, leave, step)
        _take_row(shape, R, alpha, leave, row)
        _exchange(shape, R, row, weights, alpha, step)
        _put_row(shape, R, row, weights, signs, lane_basis, leave, sign, step, where)


@njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
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


@njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
def _apply(shape, R, b, w):
    """w += R b in every lane."""
    for i in range(len(shape)):
        for lane in range(w.shape[1]):
            acc = w[i, lane]
            for r in range(len(shape)):
                acc += R[i, r, lane] * b[r, lane]
            w[i, lane] = acc


@njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
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
    """`programs.confirmed` for the records `chosen`; writes out[record]."""
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
            for i in range(D):
                size += abs(w[i, lane])
                noisy += sums[i, lane] * noise[i]
            for r in range(D):
                rho = abs(rest[r, lane]) + g * weight[r, lane] + noise[r] * (size + 1.0) + 1e-290
                spread += sums[r, lane] * rho
            near = (a[lane] + noisy) * (1.0 + 4.0 * g)
            good = False
            if near < 0.5:
                top = (1.0 + g) * size + (1.0 + 4.0 * g) ** 2 * spread / (1.0 - near)
                good = top * (1.0 + 4.0 * u) <= limit
            out[chosen[begin + lane]] = good


@njit(cache=True, nogil=True, fastmath=_FAST)
def nearest_direction(shape, lanes, lifted, mean, directions, out):
    """The direction (m, d) most nearly parallel to each target, numbered m higher if opposite."""
    d, m = len(shape), directions.shape[0]
    z = np.zeros((d, lanes), np.float32)
    best, where = np.zeros(lanes, np.float32), np.zeros(lanes, np.int32)
    for begin in range(0, lifted.shape[0], lanes):
        count = min(lanes, lifted.shape[0] - begin)
        for lane in range(count):
            best[lane] = _ZERO
            for r in range(d):
                z[r, lane] = lifted[begin + lane, r] - mean[r]
        _price(shape, z, directions, 0, m, best, where)
        for lane in range(count):
            acc = _ZERO
            for r in range(d):
                acc += z[r, lane] * directions[where[lane], r]
            out[begin + lane] = where[lane] if acc >= _ZERO else where[lane] + m


@njit(cache=True, fastmath=_FAST)
def _norms(shape, x, T, offset, scale, number, best, near):
    """Squared whitened norm of every lane against one cluster; keeps the smallest."""
    d = len(shape)
    for lane in range(LANES):
        total = _ZERO
        for r in range(d):
            acc = -offset[r]
            for i in range(r + 1):  # T is triangular
                acc += x[i * LANES + lane] * T[i * d + r]
            total += acc * acc
        total *= scale
        better = total < best[lane]
        best[lane] = total if better else best[lane]
        near[lane] = number if better else near[lane]


@njit(cache=True, nogil=True, fastmath=_FAST)
def nearest_cluster(shape, X, points, T, offsets, scales, out):
    """The cluster in whose (single precision) coordinates each point is most central.

    ``T`` (k, d*d) and ``offsets`` (k, d) whiten: z = x T - offset.
    """
    d = len(shape)
    x = np.zeros(d * LANES, np.float32)
    best, near = np.zeros(LANES, np.float32), np.zeros(LANES, np.int32)
    for begin in range(0, points.shape[0], LANES):
        count = min(LANES, points.shape[0] - begin)
        best[:] = _FAR
        for lane in range(count):
            for i in range(d):
                x[i * LANES + lane] = X[points[begin + lane], i]
        for c in range(T.shape[0]):
            _norms(shape, x, T[c], offsets[c], scales[c], np.int32(c), best, near)
        for lane in range(count):
            out[begin + lane] = near[lane]
