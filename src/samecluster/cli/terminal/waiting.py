"""What a terminal shows while somebody waits: what is being done, and when code is compiled."""

from __future__ import annotations

import sys

from rich.progress import ProgressColumn
from rich.text import Text

_COMPILING = "compiling for data of this width, which is kept: once, up to 20 s"


def is_compiling() -> bool:
    """Whether numba is at work: it has a lock while it compiles, or reads what it compiled."""
    numba = sys.modules.get("numba.core.compiler_lock")
    lock = None if numba is None else getattr(numba.global_compiler_lock, "_lock", None)
    if lock is None or not lock.acquire(blocking=False):
        return lock is not None
    lock.release()
    return False


class Work:
    """What is being done, for a spinner, as it is at the moment when it is drawn."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __rich__(self) -> Text:
        return Text(f"{self._what} ({_COMPILING})" if is_compiling() else self._what)


class CompilingColumn(ProgressColumn):
    """Of a bar: that code is compiled, while it is."""

    max_refresh = 0.5

    def render(self, _task: object) -> Text:
        return Text(_COMPILING if is_compiling() else "")
