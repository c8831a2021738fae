"""Commands that are printed to be typed: they work as printed, whatever the names are."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

_NAME = "samecluster"


def typed(*words: object) -> str:
    """A command with these words after `samecluster`."""
    return shlex.join([*_program(), *map(str, words)])


def typed_again() -> str:
    """The command that is running, with all its options."""
    return typed(*sys.argv[1:])


def _program() -> list[str]:
    """The name of the program, or what was typed for it where the name alone is not found."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py" and called.parent.name == _NAME:
        return [sys.executable, "-m", _NAME]
    if called.stem != _NAME or not called.is_file():
        return [_NAME]
    found = shutil.which(_NAME)
    return [_NAME] if found is not None and called.samefile(found) else [str(called)]
