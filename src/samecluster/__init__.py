"""Exact clustering from a few "are these two in the same group?" answers.

The names in ``__all__`` are the public ones; they are loaded when first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from samecluster._moved import install as _find_moved_modules

if TYPE_CHECKING:
    from samecluster import errors as errors
    from samecluster import instances as instances
    from samecluster import oracles as oracles
    from samecluster.api import RecoveryRun as RecoveryRun
    from samecluster.api import learn_cluster as learn_cluster
    from samecluster.api import recover as recover
    from samecluster.api import register_method as register_method
    from samecluster.api import start as start
    from samecluster.api_async import recover_async as recover_async
    from samecluster.assignment.files import load as load
    from samecluster.assignment.result import Assignment as Assignment
    from samecluster.estimator import SameCluster as SameCluster
    from samecluster.geometry.margin import ClusterMargin as ClusterMargin
    from samecluster.geometry.margin import true_margin as true_margin
    from samecluster.large.api import recover_large as recover_large
    from samecluster.large.api import start_large as start_large
    from samecluster.large.result import LargeRecovery as LargeRecovery
    from samecluster.lifts.lift import Lift as Lift
    from samecluster.lifts.polynomial import Polynomial as Polynomial
    from samecluster.notebook import ask as ask
    from samecluster.questions.look import Board as Board
    from samecluster.questions.look import Choice as Choice
    from samecluster.questions.look import Marks as Marks
    from samecluster.questions.look import Picks as Picks
    from samecluster.questions.look import Sheet as Sheet
    from samecluster.questions.look import Unions as Unions
    from samecluster.questions.look_sizes import LookSeconds as LookSeconds
    from samecluster.questions.look_sizes import LookSizes as LookSizes
    from samecluster.questions.pair import Answer as Answer
    from samecluster.questions.pair import Question as Question
    from samecluster.questions.pair import Verdict as Verdict
    from samecluster.recovery.certify.plan import Certify as Certify
    from samecluster.recovery.paper.ask_everything import AskEverything as AskEverything
    from samecluster.recovery.paper.one_cluster import LearnedCluster as LearnedCluster
    from samecluster.recovery.paper.recur import Recur as Recur
    from samecluster.recovery.paper.scq_kmeans import ScqKMeans as ScqKMeans
    from samecluster.recovery.predict.plan import Predict as Predict
    from samecluster.recovery.result.claims import Claim as Claim
    from samecluster.recovery.result.clustering_error import clustering_error as clustering_error
    from samecluster.recovery.result.how import How as How
    from samecluster.recovery.result.result import MarginSearch as MarginSearch
    from samecluster.recovery.result.result import Recovery as Recovery
    from samecluster.recovery.result.result import Round as Round
    from samecluster.sessions.session import Session as Session
    from samecluster.sessions.storage.sqlite import SqliteStore as SqliteStore

__version__ = "0.1.0"

_NAMES = {
    "api": "RecoveryRun learn_cluster recover register_method start",
    "api_async": "recover_async",
    "assignment.files": "load",
    "assignment.result": "Assignment",
    "estimator": "SameCluster",
    "geometry.margin": "ClusterMargin true_margin",
    "large.api": "recover_large start_large",
    "large.result": "LargeRecovery",
    "lifts.lift": "Lift",
    "lifts.polynomial": "Polynomial",
    "notebook": "ask",
    "questions.look": "Board Choice Marks Picks Sheet Unions",
    "questions.look_sizes": "LookSeconds LookSizes",
    "questions.pair": "Answer Question Verdict",
    "recovery.certify.plan": "Certify",
    "recovery.paper.ask_everything": "AskEverything",
    "recovery.paper.one_cluster": "LearnedCluster",
    "recovery.paper.recur": "Recur",
    "recovery.paper.scq_kmeans": "ScqKMeans",
    "recovery.predict.plan": "Predict",
    "recovery.result.claims": "Claim",
    "recovery.result.clustering_error": "clustering_error",
    "recovery.result.how": "How",
    "recovery.result.result": "MarginSearch Recovery Round",
    "sessions.session": "Session",
    "sessions.storage.sqlite": "SqliteStore",
}
"""By the module that has them."""
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
_MODULES = ("errors", "instances", "oracles")

__all__ = sorted([*_HOME, *_MODULES])

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
