"""A console for colours and columns on which text that is not ours is harmless."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from samecluster.cli.terminal.harmless import harmless


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
