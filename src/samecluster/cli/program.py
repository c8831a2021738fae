"""The program that answers in place of a person, as the options of a command describe it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samecluster.oracles import CommandOracle
    from samecluster.oracles.wire import Shown

__all__ = ["Program"]


@dataclass(frozen=True)
class Program:
    """A command line, copies side by side, seconds for an answer, and how often to try again.

    ``show`` are the columns of a table that it may see, as the user names them.
    """

    command: str
    parallel: int
    timeout: float
    retries: int
    show: list[str] | None = None

    def oracle(self, shown: Callable[[int], Shown]) -> CommandOracle:
        """What answers by this program, which gets to see of a row what ``shown`` gives."""
        from samecluster.oracles import CommandOracle

        return CommandOracle(
            self.command,
            shown,
            parallel=self.parallel,
            timeout=self.timeout,
            retries=self.retries,
        )
