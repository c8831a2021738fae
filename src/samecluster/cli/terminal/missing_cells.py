"""What becomes of missing cells, asked once in a terminal, when a session begins."""

from __future__ import annotations

import sys

from rich.status import Status

from samecluster.cli.terminal.keyboard import read_key
from samecluster.cli.terminal.prompt import Prompt
from samecluster.cli.terminal.screen import Screen
from samecluster.tables.features.missing import MissingCells
from samecluster.workspace.open import MissingDecision

_KEYS = {
    "m": ("median", "fill in the median of the column, and mark it in a 0/1 column"),
    "d": ("drop", "leave these rows out; they get no label"),
    "s": ("error", "stop, to correct the file"),
}


def asks_about_missing(console: Screen, spinner: Status) -> MissingDecision | None:
    """Asks the person at the terminal; None if there is none, and then medians are used.

    The ``spinner`` is gone while it asks.
    """
    if not (console.is_terminal and sys.stdin.isatty()):
        return None

    def ask(missing: MissingCells) -> str:
        spinner.stop()
        prompt = Prompt(console, read_key)
        prompt.say(f"{missing}. What is to be done?")
        for key, (option, what) in _KEYS.items():
            prompt.say(f"  {key}  {what} (--missing {option})")
        said = prompt.read_one_of([*_KEYS, "q"]) or "m"
        spinner.start()
        return _KEYS["s" if said == "q" else said][0]  # q quits, as everywhere

    return ask
