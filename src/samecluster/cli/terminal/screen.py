"""A console for colours and columns on which text that is not ours is harmless."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text

from samecluster.cli.terminal.harmless import harmless
from samecluster.cli.terminal.waiting import Work

_UNNOTICED = 0.4  # seconds: a spinner that comes and goes sooner only flickers


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
