"""A second copy of the session to try things out on, so that nobody waits for a preview."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TypeVar

from samecluster.sessions.session import Session
from samecluster.sessions.sqlite import SqliteStore
from samecluster.workbench.opening import Opened

__all__ = ["on_a_twin"]

T = TypeVar("T")


def on_a_twin(opened: Opened, look: Callable[[Session], T]) -> T:
    """What a look at the session as it is in its file gives; takes as long as a resume."""
    with contextlib.closing(SqliteStore(opened.path, read_only=True)) as store:
        return look(opened.prepared.session(store))
