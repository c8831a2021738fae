"""Three stretched clusters that point the same way: the instance of the paper's Figure 1.

The paper shows it without saying how it was made. Two layouts are here. "side by side": the
centres in a line across the long axis. "in a triangle": an equilateral one before everything is
stretched, so that whitening undoes the stretch.
"""

from __future__ import annotations

import math

import numpy as np

from samecluster.geometry.ellipsoid import Ellipsoid
from samecluster.instances import Instance

LAYOUTS = ("side by side", "in a triangle")
_CLUSTERS = 3
_JUST_ABOVE = 1.0 + 1e-6


def make_aligned(n: int, layout: str, stretch: float, margin: float, seed: int) -> Instance:
    """n points uniform in three ellipses, ``stretch`` times as long as they are thick.

    Before the stretch they are unit discs; neighbours are as close as the margin allows.
    """
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n, dtype=np.int64) % _CLUSTERS)
    gaussian = rng.normal(size=(n, 2))
    discs = gaussian / np.linalg.norm(gaussian, axis=1, keepdims=True) * rng.random((n, 1)) ** 0.5
    apart = (1.0 + math.sqrt(1.0 + margin)) * _JUST_ABOVE
    if layout == "side by side":
        centres = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, -1.0]]) * apart
    else:
        angles = math.pi / 2 + 2 * math.pi / _CLUSTERS * np.arange(_CLUSTERS)
        centres = np.stack([np.cos(angles), np.sin(angles)], axis=1) * apart / math.sqrt(3.0)
    lengths = np.array([stretch, 1.0])
    ellipsoids = tuple(Ellipsoid(centre * lengths, np.eye(2), lengths) for centre in centres)
    return Instance((discs + centres[labels]) * lengths, labels, margin, ellipsoids)
