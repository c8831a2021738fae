"""The paper's tessellation of an ellipsoid into monochromatic cells.

Supplementary material, section "Monochromatic tessellation", with the ellipsoid's axes as
coordinates and its semi-axes L_i scaled to 1. For an ellipsoid E ⊇ conv(S) such that E/(Φd), or a
translate of it, lies in conv(S):

    β = γ / (c√(2d) Φd)      α = γ / (c√2 Φd)      b = max(0, ⌈log_{1+α}(1/β)⌉)      c = √5

Along each axis the intervals are [0, β], (β, β(1+α)], …, (β(1+α)^{b−1}, β(1+α)^b] on both sides of
zero. If S lies in a cluster of margin γ ≤ 1/2, the points of E in one cell are all in the cluster
or all outside it. The proof has some slack, which also covers rounding (see `slack`). It compares
shapes only (W ⪯ Φ²d²M_E), which is why a translate will do: a separator's centre is its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from samecluster._typing import FloatArray, IntArray

_C = math.sqrt(5.0)
GUARANTEED_MARGIN = 0.5
"""The largest margin for which the cells are proved monochromatic; larger ones count as this."""


@dataclass(frozen=True)
class Tessellation:
    """Cells of an ellipsoid of the given rank, in coordinates where it is the unit ball.

    Parameters
    ----------
    rank : number of axes (the paper's d, or r)
    margin : γ
    stretch : the paper's Φ; E/(Φ·rank), moved, must lie in the hull of the known members
    capped : count a margin above 1/2 as 1/2, as the proof demands. The paper's experiments did
        not; without the cap a cell may mix clusters.

    Examples
    --------
    >>> import numpy as np
    >>> cells = Tessellation(rank=1, margin=0.5)
    >>> cells.n_intervals, cells.keys(np.array([[0.05], [-0.05], [1.0]])).tolist()
    (14, [[1], [-1], [14]])
    """

    rank: int
    margin: float
    stretch: float = 1.0
    capped: bool = True

    @property
    def _margin(self) -> float:
        return min(self.margin, GUARANTEED_MARGIN) if self.capped else self.margin

    @property
    def beta(self) -> float:
        """Half-width of the innermost interval, as a share of the semi-axis."""
        return self._margin / (_C * math.sqrt(2.0 * self.rank) * self.stretch * self.rank)

    @property
    def alpha(self) -> float:
        """Each further interval is 1 + α times as long as the one before."""
        return self._margin / (_C * math.sqrt(2.0) * self.stretch * self.rank)

    @property
    def n_intervals(self) -> int:
        """b + 1: intervals along a semi-axis; there are (2(b + 1))^rank cells in all orthants."""
        return max(0, math.ceil(-math.log(self.beta) / math.log1p(self.alpha))) + 1

    def keys(self, whitened: FloatArray) -> IntArray:
        """The cell of each point (n, rank): for each axis a signed interval number from ±1."""
        if self.rank == 0:
            return np.zeros((len(whitened), 0), dtype=np.int64)
        ratio = np.maximum(np.abs(whitened) / self.beta, 1.0)
        interval = np.ceil(np.log(ratio) / math.log1p(self.alpha)).astype(np.int64) + 1
        return np.where(whitened < 0, -interval, interval)


def group_cells(keys: IntArray) -> IntArray:
    """Number the distinct rows of ``keys`` (n, r) from 0; returns each row's number (n,)."""
    if keys.shape[1] == 0:
        return np.zeros(len(keys), dtype=np.int64)
    return np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def slack(margin: float) -> float:
    """How much d_W may be misjudged before the proof of the capped tessellation breaks.

    The proof needs √(1+γ) − 1 and uses only γ/c of it (with γ capped).
    """
    return math.sqrt(1.0 + margin) - 1.0 - min(margin, GUARANTEED_MARGIN) / _C
