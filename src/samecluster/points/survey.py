"""What all of the data looks like, from one look at it: size, extremes, fingerprint."""

from __future__ import annotations

from dataclasses import dataclass

from samecluster._typing import FloatArray

__all__ = ["Survey"]


@dataclass(frozen=True, eq=False)
class Survey:
    """The size of the data and the smallest and largest number of each column.

    ``fingerprint`` is that of proofs, empty where none was asked for.
    """

    n: int
    low: FloatArray
    high: FloatArray
    fingerprint: str = ""

    @classmethod
    def of(cls, X: FloatArray) -> Survey:
        """A survey of data in memory (n, d)."""
        return cls(len(X), X.min(axis=0), X.max(axis=0))

    @property
    def extent(self) -> FloatArray:
        """The range of each column."""
        return self.high - self.low
