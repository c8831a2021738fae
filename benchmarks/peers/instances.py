"""The data of the comparison: what a tool sees, and the truth that it is measured by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

from samecluster.instances import make_ellipsoids

N = 10_000


@dataclass(frozen=True, eq=False)
class Case:
    """Points and their true labels; ``margin`` is what certify and RECUR are told."""

    X: npt.NDArray[np.float64]
    labels: npt.NDArray[np.int64]
    margin: float

    @property
    def n_clusters(self) -> int:
        return len(np.unique(self.labels))


def _ellipsoids(d: int, k: int = 5, **options: object) -> Callable[[int], Case]:
    def make(seed: int) -> Case:
        made = make_ellipsoids(N, d, k, random_state=seed, **options)  # type: ignore[arg-type]
        return Case(made.X, made.labels, made.margin)

    return make


def _digits(seed: int) -> Case:
    del seed
    digits = load_digits()
    # Its true margin takes too long to compute; nobody who has only the pictures knows it either.
    return Case(digits.data, digits.target.astype(np.int64), 0.1)


INSTANCES: dict[str, tuple[str, Callable[[int], Case]]] = {
    "paper": ("The paper's: margin 1, n=10,000, k=5, d=4", _ellipsoids(4)),
    "rare": (
        "A rare cluster: 60, 35, 4.9 and 0.1 % of 10,000, d=4",
        _ellipsoids(4, 4, sizes=[60, 35, 4.9, 0.1]),
    ),
    "hollow": ("Hollow clusters: n=10,000, k=5, d=4", _ellipsoids(4, fill="shell")),
    "low-rank": ("Low rank: rank 2 in d=8, n=10,000, k=5", _ellipsoids(8, rank=2)),
    "narrow": ("Margin 0.2: n=10,000, k=5, d=4", _ellipsoids(4, margin=0.2)),
    "digits": ("Digits: n=1,797, k=10, d=64 (pixels)", _digits),
}
