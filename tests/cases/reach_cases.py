"""Reach by an independent solver, and both kernels, for tests of geometry."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from samecluster._typing import FloatArray
from samecluster.geometry.reach.kernel import compiled_programs

_KERNELS = [None, *([compiled_programs()] if compiled_programs() else [])]
both_kernels = pytest.mark.parametrize(
    "compiled", _KERNELS, ids=["numpy", "compiled"][: len(_KERNELS)]
)


def lifted(points: FloatArray) -> FloatArray:
    return np.column_stack([points, np.ones(len(points))])


def gauge(columns: FloatArray, target: FloatArray) -> float:
    """min ‖w‖₁ with Σ w·column = target, by HiGHS."""
    m = len(columns)
    solved = linprog(np.ones(2 * m), A_eq=np.hstack([columns.T, -columns.T]), b_eq=target)
    return float(solved.fun) if solved.status == 0 else math.inf
