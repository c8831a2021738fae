"""Principal components of a feature matrix, with a product whose bits do not depend on BLAS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samecluster._typing import FloatArray
from samecluster.errors import InvalidInputError
from samecluster.tables.features.encoders import KeptAsJson

_NUMBERS_AT_ONCE = 16_384  # a slice of the product that stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Components(KeptAsJson):
    """Projection (x - mean) · axes onto the principal components of fitted data."""

    mean: FloatArray
    axes: FloatArray

    @classmethod
    def fit(cls, X: FloatArray, count: int) -> Components:
        """The first ``count`` principal components of X (n, d)."""
        from sklearn.decomposition import PCA

        most = min(X.shape)
        if count > most:
            raise InvalidInputError(
                f"reduce must be at most {most} for {X.shape[0]:,} rows of {X.shape[1]:,} "
                f"features, got {count}"
            )
        found = PCA(count, random_state=0).fit(X)
        return cls(np.asarray(found.mean_), np.ascontiguousarray(found.components_.T))

    @property
    def width(self) -> int:
        return int(self.axes.shape[1])

    def apply(self, X: FloatArray) -> FloatArray:
        return ordered_product(X - self.mean, self.axes)


def ordered_product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A (n, d) times B (d, r), every sum from the first term to the last.

    A BLAS sums in an order that depends on machine and threads. Here each step is one rounded
    product and one rounded sum, so the bits are the same everywhere.
    """
    n, r = A.shape[0], B.shape[1]
    product = np.zeros((n, r))
    step = max(1, _NUMBERS_AT_ONCE // r)
    term = np.empty((step, r))
    for begin in range(0, n, step):
        part = product[begin : begin + step]
        columns = np.ascontiguousarray(A[begin : begin + step].T)
        for column, row in zip(columns, B, strict=True):
            np.multiply(column[:, None], row, out=term[: len(part)])
            part += term[: len(part)]
    return product
