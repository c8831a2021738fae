"""Exact clustering from a few "are these two in the same group?" answers.

The names in ``__all__`` are the public ones; they are loaded when first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samecluster import errors, instances, oracles
    from samecluster.api import RecoveryRun, learn_cluster, recover, start
    from samecluster.estimator import SameCluster
    from samecluster.geometry.margin import ClusterMargin, true_margin
    from samecluster.questions.pair import Answer, Question, Verdict
    from samecluster.recovery.certify import Certify
    from samecluster.recovery.error import clustering_error
    from samecluster.recovery.everything import AskEverything
    from samecluster.recovery.kmeans import ScqKMeans
    from samecluster.recovery.pac import LearnedCluster
    from samecluster.recovery.predict import Predict
    from samecluster.recovery.recur import Recur
    from samecluster.recovery.result import How, MarginSearch, Recovery, Round
    from samecluster.sessions.session import Session
    from samecluster.sessions.sqlite import SqliteStore
    from samecluster.tables.large import recover_large, start_large
    from samecluster.tables.large_result import LargeRecovery

__version__ = "0.1.0"

_HOME = {
    "Answer": "questions.pair",
    "AskEverything": "recovery.everything",
    "Certify": "recovery.certify",
    "ClusterMargin": "geometry.margin",
    "How": "recovery.result",
    "LargeRecovery": "tables.large_result",
    "LearnedCluster": "recovery.pac",
    "MarginSearch": "recovery.result",
    "Predict": "recovery.predict",
    "Question": "questions.pair",
    "Recovery": "recovery.result",
    "RecoveryRun": "api",
    "Recur": "recovery.recur",
    "Round": "recovery.result",
    "SameCluster": "estimator",
    "ScqKMeans": "recovery.kmeans",
    "Session": "sessions.session",
    "SqliteStore": "sessions.sqlite",
    "Verdict": "questions.pair",
    "clustering_error": "recovery.error",
    "learn_cluster": "api",
    "recover": "api",
    "recover_large": "tables.large",
    "start": "api",
    "start_large": "tables.large",
    "true_margin": "geometry.margin",
}
_MODULES = ("errors", "instances", "oracles")

__all__ = [
    "Answer",
    "AskEverything",
    "Certify",
    "ClusterMargin",
    "How",
    "LargeRecovery",
    "LearnedCluster",
    "MarginSearch",
    "Predict",
    "Question",
    "Recovery",
    "RecoveryRun",
    "Recur",
    "Round",
    "SameCluster",
    "ScqKMeans",
    "Session",
    "SqliteStore",
    "Verdict",
    "clustering_error",
    "errors",
    "instances",
    "learn_cluster",
    "oracles",
    "recover",
    "recover_large",
    "start",
    "start_large",
    "true_margin",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"samecluster.{name}")
    if name in _HOME:
        value = getattr(importlib.import_module(f"samecluster.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'samecluster' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
