"""Exact clustering from a few "are these two in the same group?" answers.

The names in ``__all__`` are the public ones; they are loaded when first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from samecluster._moved import install as _find_moved_modules

if TYPE_CHECKING:
    from samecluster import errors, instances, oracles
    from samecluster.api import RecoveryRun, learn_cluster, recover, register_method, start
    from samecluster.api_async import recover_async
    from samecluster.assignment.files import load
    from samecluster.assignment.result import Assignment
    from samecluster.estimator import SameCluster
    from samecluster.geometry.margin import ClusterMargin, true_margin
    from samecluster.large.api import recover_large, start_large
    from samecluster.large.result import LargeRecovery
    from samecluster.lifts.lift import Lift
    from samecluster.lifts.polynomial import Polynomial
    from samecluster.notebook import ask
    from samecluster.questions.look import (
        Board,
        Choice,
        LookSeconds,
        LookSizes,
        Marks,
        Picks,
        Sheet,
        Unions,
    )
    from samecluster.questions.pair import Answer, Question, Verdict
    from samecluster.recovery.certify.plan import Certify
    from samecluster.recovery.paper.ask_everything import AskEverything
    from samecluster.recovery.paper.one_cluster import LearnedCluster
    from samecluster.recovery.paper.recur import Recur
    from samecluster.recovery.paper.scq_kmeans import ScqKMeans
    from samecluster.recovery.predict.plan import Predict
    from samecluster.recovery.result.claims import Claim
    from samecluster.recovery.result.clustering_error import clustering_error
    from samecluster.recovery.result.how import How
    from samecluster.recovery.result.result import MarginSearch, Recovery, Round
    from samecluster.sessions.session import Session
    from samecluster.sessions.storage.sqlite import SqliteStore

__version__ = "0.1.0"

_HOME = {
    "Answer": "questions.pair",
    "AskEverything": "recovery.paper.ask_everything",
    "Assignment": "assignment.result",
    "Board": "questions.look",
    "Certify": "recovery.certify.plan",
    "Choice": "questions.look",
    "Claim": "recovery.result.claims",
    "ClusterMargin": "geometry.margin",
    "How": "recovery.result.how",
    "LargeRecovery": "large.result",
    "LearnedCluster": "recovery.paper.one_cluster",
    "Lift": "lifts.lift",
    "LookSeconds": "questions.look",
    "LookSizes": "questions.look",
    "MarginSearch": "recovery.result.result",
    "Marks": "questions.look",
    "Picks": "questions.look",
    "Polynomial": "lifts.polynomial",
    "Predict": "recovery.predict.plan",
    "Question": "questions.pair",
    "Recovery": "recovery.result.result",
    "RecoveryRun": "api",
    "Recur": "recovery.paper.recur",
    "Round": "recovery.result.result",
    "SameCluster": "estimator",
    "ScqKMeans": "recovery.paper.scq_kmeans",
    "Session": "sessions.session",
    "Sheet": "questions.look",
    "SqliteStore": "sessions.storage.sqlite",
    "Unions": "questions.look",
    "Verdict": "questions.pair",
    "ask": "notebook",
    "clustering_error": "recovery.result.clustering_error",
    "learn_cluster": "api",
    "load": "assignment.files",
    "recover": "api",
    "recover_async": "api_async",
    "recover_large": "large.api",
    "register_method": "api",
    "start": "api",
    "start_large": "large.api",
    "true_margin": "geometry.margin",
}
_MODULES = ("errors", "instances", "oracles")

__all__ = [
    "Answer",
    "AskEverything",
    "Assignment",
    "Board",
    "Certify",
    "Choice",
    "Claim",
    "ClusterMargin",
    "How",
    "LargeRecovery",
    "LearnedCluster",
    "Lift",
    "LookSeconds",
    "LookSizes",
    "MarginSearch",
    "Marks",
    "Picks",
    "Polynomial",
    "Predict",
    "Question",
    "Recovery",
    "RecoveryRun",
    "Recur",
    "Round",
    "SameCluster",
    "ScqKMeans",
    "Session",
    "Sheet",
    "SqliteStore",
    "Unions",
    "Verdict",
    "ask",
    "clustering_error",
    "errors",
    "instances",
    "learn_cluster",
    "load",
    "oracles",
    "recover",
    "recover_async",
    "recover_large",
    "register_method",
    "start",
    "start_large",
    "true_margin",
]

_find_moved_modules()


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
