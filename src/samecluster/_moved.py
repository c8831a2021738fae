"""Paths that the documentation once named: modules that have moved since can still be imported.

Python asks this module only when a name under ``samecluster`` is found nowhere else, so it costs
nothing. New code belongs to the new paths.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "points.blocks": "points.protocol",
    "questions.elsewhere": "questions.conflicts.follow_up",
    "questions.reconcile": "questions.conflicts.correlation_clustering",
    "questions.statements": "questions.conflicts.answer_book",
    "questions.suspects": "questions.conflicts.weights",
    "sessions.driving": "sessions.running.drivers",
    "sessions.sqlite": "sessions.storage.sqlite",
    "sessions.store": "sessions.storage.store",
    "tables.inspection": "tables.features.inspect",
    "tables.large": "large.api",
    "tables.results": "tables.writing",
}


class MovedModules:
    """Finds a moved module by its old path and gives the new one, with a warning.

    A finder and a loader by what it does: the classes for that take longer to import than typer.
    """

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        room, _, rest = name.partition(".")
        if room != "samecluster" or rest not in MOVED:
            return None
        return ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new = "samecluster." + MOVED[spec.name.partition(".")[2]]
        warnings.warn(f"{spec.name} has moved to {new}", DeprecationWarning, stacklevel=2)
        return importlib.import_module(new)

    def exec_module(self, module: ModuleType) -> None:
        """The module has run already, under its new name."""


def install() -> None:
    if not any(isinstance(finder, MovedModules) for finder in sys.meta_path):
        sys.meta_path.append(MovedModules())
