"""The enclosing ellipsoid against the same problem as a generic conic program in clarabel.

Goal: at least 20 times faster for 5,000 points in 8 dimensions, to ε = 1e-3.
"""

from __future__ import annotations

import time

import clarabel
import numpy as np
from scipy import sparse

from samecluster._typing import FloatArray
from samecluster.geometry.mvee import enclosing_ellipsoid

N_POINTS, DIMENSION, EPSILON, GOAL = 5000, 8, 1e-3, 20.0


def conic_log_det(points: FloatArray) -> float:
    """log det A of the ellipsoid |Ax + b| ≤ 1 around the points, by clarabel.

    Variables: A (upper triangle), b, a lower triangular Z, and t with t_i ≤ log Z_ii, where
    [[A, Z], [Zᵀ, diag Z]] ⪰ 0 makes Σ t the concave log det A.
    """
    d = points.shape[1]
    upper = {(i, j): k for k, (i, j) in enumerate((i, j) for j in range(d) for i in range(j + 1))}
    n_a = len(upper)
    lower = {(i, j): k for k, (i, j) in enumerate((i, j) for i in range(d) for j in range(i + 1))}
    at_b, at_z = n_a, n_a + d
    at_t = at_z + len(lower)
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    offsets: list[float] = []
    cones: list[object] = []

    def put(column: int, value: float) -> None:
        rows.append(len(offsets))
        columns.append(column)
        values.append(value)

    for point in points:  # (1, A x + b) in the second-order cone
        offsets.append(1.0)
        for i in range(d):
            for j in range(d):
                put(upper[min(i, j), max(i, j)], -float(point[j]))
            put(at_b + i, -1.0)
            offsets.append(0.0)
        cones.append(clarabel.SecondOrderConeT(d + 1))
    for i in range(d):  # (t, 1, Z_ii) in the exponential cone
        put(at_t + i, -1.0)
        offsets.append(0.0)
        offsets.append(1.0)
        put(at_z + lower[i, i], -1.0)
        offsets.append(0.0)
        cones.append(clarabel.ExponentialConeT())
    for column in range(2 * d):  # upper triangle by columns, off-diagonal entries times √2
        for row in range(column + 1):
            scale = 1.0 if row == column else float(np.sqrt(2.0))
            if column < d:
                put(upper[row, column], -scale)
            elif row < d and row >= column - d:
                put(at_z + lower[row, column - d], -scale)
            elif row == column:
                put(at_z + lower[row - d, row - d], -scale)
            offsets.append(0.0)
    cones.append(clarabel.PSDTriangleConeT(2 * d))

    n_variables = at_t + d
    cost = np.zeros(n_variables)
    cost[at_t:] = -1.0
    matrix = sparse.csc_matrix((values, (rows, columns)), shape=(len(offsets), n_variables))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = EPSILON * 1e-2
    empty = sparse.csc_matrix((n_variables, n_variables))
    solver = clarabel.DefaultSolver(empty, cost, matrix, np.array(offsets), cones, settings)
    return -float(solver.solve().obj_val)


def main() -> None:
    rng = np.random.default_rng(0)
    ratios = []
    for seed in range(3):
        points = rng.normal(size=(N_POINTS, DIMENSION))
        points *= rng.random((N_POINTS, 1)) ** (1 / DIMENSION) / np.linalg.norm(
            points, axis=1, keepdims=True
        )
        points = points @ rng.normal(size=(DIMENSION, DIMENSION))
        start = time.perf_counter()
        ours = enclosing_ellipsoid(points, EPSILON)
        middle = time.perf_counter()
        theirs = conic_log_det(points)
        end = time.perf_counter()
        ratios.append((end - middle) / (middle - start))
        excess = theirs + float(np.log(ours.ellipsoid.lengths).sum())
        print(
            f"run {seed}: clarabel / ours = {ratios[-1]:.0f}, "
            f"log volume ours - theirs = {excess:+.1e}, rounding / d = "
            f"{ours.rounding / DIMENSION:.5f}"
        )
    print(f"smallest ratio {min(ratios):.0f} (goal: at least {GOAL:.0f})")


if __name__ == "__main__":
    main()
