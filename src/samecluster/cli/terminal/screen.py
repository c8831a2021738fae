"""A console on which text that is not ours is harmless, and which says what it is waiting for."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import ProgressColumn
from rich.text import Text

from samecluster.cli.terminal.harmless import harmless

if TYPE_CHECKING:
    from samecluster.workspace.request import Request

_UNNOTICED = 0.4  # seconds: a spinner that comes and goes sooner only flickers
_COMPILING = "compiling for data of this width, which is kept: once, up to 20 s"


def reading(request: Request) -> str:
    """What takes the time when a session is opened: many answers take longer than the data."""
    from samecluster.workspace.open import session_path

    known = session_path(request).exists()
    return "reading the data and going through the answers so far" if known else "reading the data"


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


def shown(text: str, style: str = "") -> Text:
    """Text for a console or a cell of a table: one line, no markup."""
    return Text(harmless(text), style=style)


class Screen(Console):
    """A console to which every text is as it says and nothing is markup."""

    def __init__(self, **how: Any) -> None:
        super().__init__(highlight=False, **how)

    def print(self, *objects: Any, **how: Any) -> None:
        """Print texts, each on one line, or tables made of `shown` texts."""
        super().print(*(shown(one) if isinstance(one, str) else one for one in objects), **how)

    @contextmanager
    def waiting(self, what: str) -> Iterator[None]:
        """A spinner that says what is being done, if it takes a while."""
        if not self.is_terminal:
            yield
            return
        shown_work = self.status(Work(what))
        begin = threading.Timer(_UNNOTICED, shown_work.start)
        begin.start()
        try:
            yield
        finally:
            begin.cancel()
            begin.join()  # it may be starting just now
            shown_work.stop()
