# mypy: ignore-errors
"""The interior point method of `solver`, compiled: the same steps, entry by entry.

Most of the plain version's time goes into calling NumPy for small matrices; this one takes about
a third of it. Types are found by numba, not by mypy.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from samecluster.geometry.semidefinite.solver import (
    FAR_ABOVE,
    FEASIBLE_GAP,
    INFEASIBLE_GAP,
    LEAST_CENTRE,
    MAX_STEPS,
    NO_STEP,
    RIDGE,
    TO_BOUNDARY,
    UNDECIDABLE_GAP,
)

_ROOT = np.sqrt(2.0)


@njit(cache=True)
def _matrix(entries, out):
    """The symmetric matrix of weighted entries, row by row of the upper triangle."""
    at = 0
    for i in range(len(out)):
        out[i, i] = entries[at]
        at += 1
        for j in range(i + 1, len(out)):
            out[i, j] = out[j, i] = entries[at] / _ROOT
            at += 1


@njit(cache=True)
def _add_entries(matrix, out):
    at = 0
    for i in range(len(matrix)):
        out[at] += matrix[i, i]
        at += 1
        for j in range(i + 1, len(matrix)):
            out[at] += matrix[i, j] * _ROOT
            at += 1


@njit(cache=True)
def _normal_matrix(G, ratio, Z, inverse):
    """Gᵀ(z/s)G and, on the entries of Q, E ↦ the symmetric part of Z E Q⁻¹."""
    H = np.dot(G.T, G * ratio.reshape(len(ratio), 1))
    D, row = len(Z), 0
    for a in range(D):
        for b in range(a, D):
            column = 0
            for c in range(D):
                for d in range(c, D):
                    if column >= row:
                        v = Z[a, c] * inverse[b, d] + Z[a, d] * inverse[b, c]
                        v += Z[b, c] * inverse[a, d] + Z[b, d] * inverse[a, c]
                        v *= 0.25 * (1.0 if a == b else _ROOT) * (1.0 if c == d else _ROOT)
                        H[row, column] += v
                        if column > row:
                            H[column, row] += v
                    column += 1
            row += 1
    for k in range(len(H)):
        H[k, k] *= 1.0 + RIDGE
    return H


@njit(cache=True)
def _longest(root, move, values, change):
    """The share of a move, at most 1, that leaves the matrix and the values positive."""
    worst = max(TO_BOUNDARY, -np.linalg.eigvalsh(np.dot(np.dot(root, move), root.T))[0])
    for k in range(len(values)):
        worst = max(worst, -change[k] / values[k])
    return TO_BOUNDARY / worst


@njit(cache=True)
def _direction(G, H, s, z, goal, complement, roots, moves):
    """Moves of x, s and z, those of Q and Z into ``moves``, and how far they may go."""
    dx = np.linalg.solve(H, goal)
    ds = -np.dot(G, dx)
    dz = complement - z - z / s * ds
    _matrix(dx, moves[0])
    _matrix(np.dot(dz, G), moves[1])
    a = _longest(roots[0], moves[0], s, ds)
    return dx, ds, dz, a, _longest(roots[1], moves[1], z, dz)


@njit(cache=True)
def _step(G, x, s, z, D):
    """One predictor and corrector step in place; False where it led nowhere."""
    Q, Z, moves = np.empty((D, D)), np.empty((D, D)), np.empty((2, D, D))
    _matrix(x, Q)
    _matrix(np.dot(z, G), Z)
    roots = np.empty((2, D, D))
    roots[0] = np.linalg.inv(np.linalg.cholesky(Q))
    roots[1] = np.linalg.inv(np.linalg.cholesky(Z))
    inverse = np.dot(roots[0].T, roots[0])
    H = _normal_matrix(G, z / s, Z, inverse)
    goal = np.zeros(len(x))
    goal[-1] = 1.0
    _, ds, dz, a, b = _direction(G, H, s, z, goal, np.zeros(len(z)), roots, moves)
    gap = np.dot(s, z) + np.sum(Q * Z)
    left = np.dot(s + a * ds, z + b * dz) + np.sum((Q + a * moves[0]) * (Z + b * moves[1]))
    centre = max((left / gap) ** 3, LEAST_CENTRE) * gap / (len(z) + D)
    complement = (centre - ds * dz) / s
    curve = np.dot(np.dot(moves[1], moves[0]), inverse)
    goal -= np.dot(complement, G)
    _add_entries(centre * inverse - 0.5 * (curve + curve.T), goal)
    dx, ds, dz, a, b = _direction(G, H, s, z, goal, complement, roots, moves)
    x += a * dx
    z += b * dz
    return a > NO_STEP or b > NO_STEP


@njit(cache=True)
def run(G, h, x, z, D, limit, clear, polish):
    """Move x and z in place until the side of the limit is clear; as `solver` does it."""
    m = int(h.sum())
    for _ in range(MAX_STEPS):
        s = h - np.dot(G, x)
        rho, bound = x[-1], z[:m].sum()
        over, under = rho - limit * (1 + clear), limit * (1 - clear) - bound
        done = rho > FAR_ABOVE * limit or bound - rho < FEASIBLE_GAP * over
        if over > 0 and (polish <= 0 or done):
            break
        if under > 0 and (polish <= 0 or bound - rho < INFEASIBLE_GAP * under):
            break
        if bound - rho < UNDECIDABLE_GAP * clear * limit:
            break
        if over > 0 or under > 0:
            polish -= 1
        if not _step(G, x, s, z, D):
            break
