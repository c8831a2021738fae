"""What prediction is measured against on real sets, in pairs as it is.

The learners and COBRAS are those of `benchmarks.peers`. *Graph* is the plainest model of all
points: a graph of nearest neighbours, labels that spread in it, and the most doubtful point next.
It is not told k, as prediction is not: a point that is in none of the groups founds another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.cluster import MiniBatchKMeans
from sklearn.neighbors import NearestNeighbors

from benchmarks.peers import clusterers, learners
from benchmarks.peers.counting import CountingOracle, Trace
from benchmarks.peers.instances import Case
from samecluster import clustering_error
from samecluster.recovery.predict.similarity import features

_NEIGHBOURS, _STAYS, _STEPS = 10, 0.99, 50
_CELLS = 20
_MOST_PRODUCTS = 20  # columns up to which squares and products are a learner's features

Labels = npt.NDArray[np.int64]


class Marks(Trace):
    """The errors that a tool has at some numbers of questions."""

    def __init__(self, truth: Labels, oracle: CountingOracle, marks: Sequence[int]) -> None:
        self._truth, self._oracle, self._marks = truth, oracle, list(marks)
        self._last: Labels | None = None
        self.errors: dict[int, float] = {}

    def note(self, labels: npt.ArrayLike) -> None:
        asked = self._oracle.n_questions
        while self._marks and self._marks[0] < asked:
            self._close()
        self._last = np.asarray(labels, dtype=np.int64)
        while self._marks and self._marks[0] == asked:
            self._close()

    def _close(self) -> None:
        """The labels of the last note are those at the next mark."""
        mark = self._marks.pop(0)
        if self._last is not None:
            self.errors[mark] = clustering_error(self._last, self._truth)

    def end(self, how: str) -> None:
        """A tool that stopped keeps its labels; at the limit the last ones are those that count."""
        del how
        while self._marks:
            self._close()


def graph(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    """Label spreading on the neighbours of all points."""
    X = features(case.X, np.arange(len(case.X)))
    spread = _graph(X)
    cells = MiniBatchKMeans(_CELLS, random_state=seed, n_init=3).fit(X)
    start = [
        int(i)
        for i in NearestNeighbors(n_neighbors=1)
        .fit(X)
        .kneighbors(cells.cluster_centers_, return_distance=False)[:, 0]
    ]
    groups: list[list[int]] = []
    while True:
        scores = _spread(spread, groups, len(X))
        asked = [item for group in groups for item in group]
        if groups:
            labels = scores.argmax(axis=1)
            for name, members in enumerate(groups):
                labels[members] = name
            trace.note(labels)
        left = [item for item in start if item not in asked]
        if left:
            item = left[0]
        elif len(asked) == len(X):
            return
        else:
            item = _most_doubtful(scores, asked)
        _place(item, scores[item], groups, oracle)


def _graph(X: npt.NDArray[np.float64]) -> Any:
    """S = D^-½ W D^-½, with weights by the distances to the seventh neighbours."""
    gaps, near = NearestNeighbors(n_neighbors=_NEIGHBOURS + 1).fit(X).kneighbors(X)
    scale = np.maximum(gaps[:, 7], 1e-12)
    weights = np.exp(-(gaps[:, 1:] ** 2) / (scale[:, None] * scale[near[:, 1:]]))
    rows = np.repeat(np.arange(len(X)), _NEIGHBOURS)
    one = sp.csr_matrix((weights.ravel(), (rows, near[:, 1:].ravel())), shape=(len(X), len(X)))
    both = one.maximum(one.T)
    degree = np.asarray(both.sum(axis=1)).ravel()
    half = sp.diags(1.0 / np.sqrt(np.maximum(degree, 1e-12)))
    return (half @ both @ half).tocsr().astype(np.float32)


def _spread(spread: Any, groups: list[list[int]], n: int) -> npt.NDArray[np.float32]:
    known = np.zeros((n, max(len(groups), 1)), dtype=np.float32)
    for name, members in enumerate(groups):
        known[members, name] = 1.0
    found = known.copy()
    for _ in range(_STEPS):
        found = _STAYS * (spread @ found) + known
    return np.asarray(found)


def _most_doubtful(scores: npt.NDArray[np.float32], asked: list[int]) -> int:
    share = np.sort(scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-12), axis=1)
    doubt = 1.0 - (share[:, -1] - (share[:, -2] if share.shape[1] > 1 else 0.0))
    doubt[asked] = -1.0
    return int(doubt.argmax())


def _place(
    item: int, scores: npt.NDArray[np.float32], groups: list[list[int]], oracle: CountingOracle
) -> None:
    for name in np.argsort(-scores[: len(groups)], kind="stable").tolist():
        if oracle.same(item, groups[name][0]):
            groups[name].append(item)
            return
    groups.append([item])


def _activeml(case: Case, oracle: CountingOracle, trace: Trace, seed: int) -> None:
    degree = 2 if case.X.shape[1] <= _MOST_PRODUCTS else 1
    learners.scikit_activeml(case, oracle, trace, seed, degree=degree)


BASELINES: dict[str, Callable[[Case, CountingOracle, Trace, int], None]] = {
    "graph": graph,
    "svm": partial(learners.rbf_svm, C=100.0),
    "cobras": clusterers.cobras,
    "activeml": _activeml,
}
