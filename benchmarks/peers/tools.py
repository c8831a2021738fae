"""The tools that are compared, and what is said of each in the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.peers import clusterers, learners, own
from benchmarks.peers.counting import CountingOracle, Trace
from benchmarks.peers.instances import Case


@dataclass(frozen=True)
class Tool:
    """``knows``: whether it knows when it is done. ``ours``: part of samecluster."""

    title: str
    knows: str
    run: Callable[[Case, CountingOracle, Trace, int], None]
    ours: bool = False


REFERENCE = "certify"
TOOLS = {
    "auto": Tool("samecluster, nothing declared", "stops; not proven", own.nothing_declared, True),
    "certify": Tool("samecluster certify, k and margin given", "yes, proven", own.certify, True),
    "recur": Tool("RECUR, k and margin given", "yes, proven", own.recur, True),
    "scq-k-means": Tool("SCQ-k-means, k given", "stops; not proven", own.scq_k_means, True),
    "cobras": Tool("COBRAS", "no", clusterers.cobras),
    "scikit-activeml": Tool(
        "scikit-activeml, quadratic, C=1, k given", "no", learners.scikit_activeml
    ),
    "scikit-activeml-100": Tool(
        "scikit-activeml, quadratic, C=100, k given",
        "no",
        partial(learners.scikit_activeml, C=100.0),
    ),
    "rbf-svm": Tool("RBF SVM, margin sampling, C=1, k given", "no", learners.rbf_svm),
    "rbf-svm-100": Tool(
        "RBF SVM, margin sampling, C=100, k given", "no", partial(learners.rbf_svm, C=100.0)
    ),
    "active-semi": Tool(
        "active-semi-supervised-clustering, k given", "no", clusterers.explore_consolidate
    ),
    "gaussian-mixture": Tool("Gaussian mixture, k given", "no", clusterers.gaussian_mixture),
    "k-means": Tool("k-means, k given", "no", clusterers.k_means),
}
