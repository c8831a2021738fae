"""Compiled: the steps of gauge programs in lock step, one program in each of `LANES` lanes.

All that lanes hold is in one flat array of rows, the lane last, and both `LANES` and D (the length
of a tuple) are constants. So the compiler sees that rows do not overlap, and loops over lanes
become vector instructions; with an array for each kind of row it gave up on the most expensive
loops, and the whole took twice as long. Conditions must be choices between values already computed:
a branch would end that too.

Numba keeps compiled code by the file of the function called, not of those it calls: after a change
here, `touch` the files that import this one.

Constants are those of `linear_programs`, in single precision.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LANES = 48  # three vectors of 16 or six of 8 (decision 14: other numbers were no faster)
BLOCK = 64
GOOD_PRICE = np.float32(1.1)
FAST = {"nnan", "ninf", "nsz", "contract", "reassoc", "arcp"}  # what comes out is checked elsewhere
ZERO, ONE, TWO, FAR = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(1e30)
_FALLS = np.float32(1e-5)  # a weight that changes less does not leave: dividing by it is noise


@njit(cache=True)
def rows_of(D):
    """The first row of each kind. First D*D rows of the inverse, then D rows each of weights, their
    signs, how they change, where they cross zero, the entering column, the pivot row, the dual."""
    at = D * D
    return at, at + D, at + 2 * D, at + 3 * D, at + 4 * D, at + 5 * D, at + 6 * D


@njit(cache=True)
def single_rows_of(D):
    """The rows of which there is one each: best price, its column, sign and slope of the entering
    column, step, number of the weight that leaves or -1, value of the program. And their end."""
    at = D * D + 7 * D
    return at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7


@njit(cache=True, fastmath=FAST)
def weigh(shape, y, inverse, w):
    """The weights w = R y of a target in the basis of an inverse; returns |w|_1."""
    total = ZERO
    for i in range(len(shape)):
        acc = ZERO
        for r in range(len(shape)):
            acc += inverse[i, r] * y[r]
        w[i] = acc
        total += abs(acc)
    return total


@njit(cache=True, fastmath=FAST)
def fill(shape, lane, w, basis, inverse, lane_basis, state):
    """Put a program with weights w in a basis, which has this inverse, into a lane."""
    D = len(shape)
    weights, signs, _, _, _, _, _ = rows_of(D)
    best = single_rows_of(D)[0]
    for i in range(D):
        lane_basis[i, lane] = basis[i]
        state[(weights + i) * LANES + lane] = w[i]
        state[(signs + i) * LANES + lane] = ONE if w[i] >= ZERO else -ONE
        for r in range(D):
            state[(i * D + r) * LANES + lane] = inverse[i, r]
    state[best * LANES + lane] = ZERO


@njit(cache=True, fastmath=FAST)
def find_duals(shape, state):
    """The dual s R of every lane."""
    D = len(shape)
    _, signs, _, _, _, _, dual = rows_of(D)
    for r in range(D):
        for lane in range(LANES):
            acc = ZERO
            for i in range(D):
                acc += state[(signs + i) * LANES + lane] * state[(i * D + r) * LANES + lane]
            state[(dual + r) * LANES + lane] = acc


@njit(cache=True, fastmath=FAST)
def price(shape, state, columns, begin, end):
    """Running best |dual . a_j| and its column in every lane, over one block of flat columns."""
    D = len(shape)
    dual = rows_of(D)[6]
    best, where = single_rows_of(D)[0], single_rows_of(D)[1]
    for j in range(begin, end):
        number = np.float32(j)
        for lane in range(LANES):
            acc = ZERO
            for r in range(D):
                acc += state[(dual + r) * LANES + lane] * columns[j * D + r]
            acc = abs(acc)
            before, column = state[best * LANES + lane], state[where * LANES + lane]
            state[best * LANES + lane] = acc if acc > before else before
            state[where * LANES + lane] = number if acc > before else column


@njit(cache=True, fastmath=FAST)
def pivot(shape, state, lane_basis, entering):
    """Exchange a column in every lane whose sign is 1; those with sign 0 keep what they have."""
    _enter(shape, state)
    _cross(shape, state)
    _leave(shape, state)
    _take_row(shape, state)
    _exchange(shape, state)
    _put_row(shape, state, lane_basis, entering)


@njit(cache=True, fastmath=FAST)
def find_values(shape, state):
    """|w|_1 of every lane."""
    D = len(shape)
    weights, value = rows_of(D)[0], single_rows_of(D)[6]
    for lane in range(LANES):
        acc = ZERO
        for i in range(D):
            acc += abs(state[(weights + i) * LANES + lane])
        state[value * LANES + lane] = acc


@njit(cache=True, fastmath=FAST)
def _enter(shape, state):
    """The sign of the entering column, how the value changes along it, and how the weights do."""
    D = len(shape)
    _, _, changes, _, column, _, dual = rows_of(D)
    sign, slope = single_rows_of(D)[2], single_rows_of(D)[3]
    for lane in range(LANES):
        acc = ZERO
        for r in range(D):
            acc += state[(column + r) * LANES + lane] * state[(dual + r) * LANES + lane]
        takes_part = state[sign * LANES + lane]
        state[slope * LANES + lane] = (ONE - abs(acc)) * takes_part
        state[sign * LANES + lane] = takes_part if acc >= ZERO else -takes_part
    for i in range(D):
        for lane in range(LANES):
            acc = ZERO
            for r in range(D):
                acc += state[(i * D + r) * LANES + lane] * state[(column + r) * LANES + lane]
            state[(changes + i) * LANES + lane] = acc * state[sign * LANES + lane]


@njit(cache=True, fastmath=FAST)
def _cross(shape, state):
    """Where each weight crosses zero along the edge; far away where it does not."""
    D = len(shape)
    weights, signs, changes, crossings, _, _, _ = rows_of(D)
    for i in range(D):
        for lane in range(LANES):
            falls = state[(signs + i) * LANES + lane] * state[(changes + i) * LANES + lane]
            ratio = abs(state[(weights + i) * LANES + lane]) / max(falls, _FALLS)
            state[(crossings + i) * LANES + lane] = ratio if falls > _FALLS else FAR


@njit(cache=True, fastmath=FAST)
def _leave(shape, state):
    """Long-step ratio test: a weight that crosses zero only flips its sign while the value still
    falls behind it. The edge ends at the first crossing behind which it does not.

    Adding up the slope behind every crossing takes D^2 steps and no branch, unlike sorting them.
    """
    D = len(shape)
    _, signs, changes, crossings, _, _, _ = rows_of(D)
    _, _, _, slope, step, leave, _, _ = single_rows_of(D)
    for lane in range(LANES):
        state[step * LANES + lane] = FAR
        state[leave * LANES + lane] = -ONE
    for i in range(D):
        number = np.float32(i)
        for lane in range(LANES):
            mine = state[(crossings + i) * LANES + lane]
            behind = state[slope * LANES + lane]
            for k in range(D):
                crossed = state[(crossings + k) * LANES + lane] <= mine
                behind += TWO * abs(state[(changes + k) * LANES + lane]) if crossed else ZERO
            first, who = state[step * LANES + lane], state[leave * LANES + lane]
            ends = behind >= ZERO and mine < first
            state[step * LANES + lane] = mine if ends else first
            state[leave * LANES + lane] = number if ends else who
    for lane in range(LANES):
        if state[step * LANES + lane] >= FAR:
            state[step * LANES + lane] = -ONE
            if state[slope * LANES + lane] < ZERO:
                _leave_at_the_last(shape, state, lane)
    for i in range(D):
        for lane in range(LANES):
            passed = state[(crossings + i) * LANES + lane] <= state[step * LANES + lane]
            state[(signs + i) * LANES + lane] *= -ONE if passed else ONE
    for lane in range(LANES):
        state[step * LANES + lane] = max(state[step * LANES + lane], ZERO)


@njit(cache=True, fastmath=FAST)
def _leave_at_the_last(shape, state, lane):
    """Rounding can leave the slope negative behind all crossings: the edge ends at the last."""
    D = len(shape)
    crossings = rows_of(D)[3]
    step, leave = single_rows_of(D)[4], single_rows_of(D)[5]
    for i in range(D):
        crossing = state[(crossings + i) * LANES + lane]
        if state[step * LANES + lane] < crossing < FAR:
            state[step * LANES + lane] = crossing
            state[leave * LANES + lane] = np.float32(i)


@njit(cache=True, fastmath=FAST)
def _take_row(shape, state):
    """The scaled pivot row of every lane; zero where nothing leaves."""
    D = len(shape)
    _, _, changes, _, _, row, _ = rows_of(D)
    leave = single_rows_of(D)[5]
    for lane in range(LANES):
        at = int(state[leave * LANES + lane])
        scale = ONE / state[(changes + at) * LANES + lane] if at >= 0 else ZERO
        at = max(at, 0)
        for r in range(D):
            state[(row + r) * LANES + lane] = state[(at * D + r) * LANES + lane] * scale


@njit(cache=True, fastmath=FAST)
def _exchange(shape, state):
    """Subtract the pivot row everywhere; lanes with step = row = 0 keep what they have."""
    D = len(shape)
    weights, _, changes, _, _, row, _ = rows_of(D)
    step = single_rows_of(D)[4]
    for i in range(D):
        for lane in range(LANES):
            change = state[(changes + i) * LANES + lane]
            state[(weights + i) * LANES + lane] -= state[step * LANES + lane] * change
        for r in range(D):
            for lane in range(LANES):
                change = state[(changes + i) * LANES + lane]
                state[(i * D + r) * LANES + lane] -= change * state[(row + r) * LANES + lane]


@njit(cache=True, fastmath=FAST)
def _put_row(shape, state, lane_basis, entering):
    """Write the entering column's row, weight and sign."""
    D = len(shape)
    weights, signs, _, _, _, row, _ = rows_of(D)
    _, _, sign, _, step, leave, _, _ = single_rows_of(D)
    for lane in range(LANES):
        at = int(state[leave * LANES + lane])
        if at >= 0:
            up = state[sign * LANES + lane]
            state[(weights + at) * LANES + lane] = up * state[step * LANES + lane]
            state[(signs + at) * LANES + lane] = up
            lane_basis[at, lane] = entering[lane]
            for r in range(D):
                state[(at * D + r) * LANES + lane] = state[(row + r) * LANES + lane] * up
